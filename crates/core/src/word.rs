//! Names of stages and methods, as an answer that was written by another process has them.

use serde::{Deserialize as _, Deserializer};

use crate::fuse::Method;

/// A name that is one of a few.
pub(crate) type Word = &'static str;

/// The stages of the status, and the ways to bring chunks together.
const WORDS: [Word; 16] = [
    "aggregate",
    "collapse_across",
    "collapse_within",
    "cut",
    "diversify",
    "first",
    "fuse",
    "guarantee",
    "learned",
    "max",
    "mean",
    "merge",
    "neighbours",
    "prior",
    "recency",
    "rerank",
];

/// Reads a name. One that only a newer version knows is `other`: the answer can be shown all the same.
pub(crate) fn word<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Word, D::Error> {
    let given = String::deserialize(deserializer)?;
    let known = WORDS.into_iter().chain(Method::ALL.iter().map(|method| method.as_str()));
    Ok(known.into_iter().find(|word| *word == given).unwrap_or("other"))
}

#[cfg(test)]
mod tests {
    use crate::answer::Why;
    use crate::ledger::{
        Absorbed, Bound, Contribution, Freshness, Ledger, Reranking, Rule, Sameness, Scope, Step, Unit,
    };
    use crate::status::{StageState, StageStatus, Status};

    fn list(rank: Option<u32>, value: Option<f64>) -> Contribution {
        let (list, score) = ("wiki/dense".to_owned(), Some(1.0));
        Contribution { list, variant: 1, rank, score, value, weight: 2.0, contribution: 0.1 + 0.2 }
    }

    fn fuse(rule: Rule) -> Step {
        Step::Fuse {
            method: "rrf",
            rule,
            lists: vec![list(Some(1), None), list(None, Some(0.5))],
            score: 1.0,
        }
    }

    fn absorbed(sameness: Sameness) -> Absorbed {
        Absorbed { id: "b".into(), source: "wiki".into(), sameness }
    }

    fn rerank(reranking: Reranking) -> Step {
        Step::Rerank { fused: Unit::FromBest { best: -1.0 }, reranking, score: 0.25 }
    }

    fn recency(freshness: Freshness) -> Step {
        Step::Recency { relevance: Unit::OfBest { best: 3.0 }, freshness, score: 0.5 }
    }

    /// Every kind of step there is, with every kind of part.
    fn steps() -> Vec<Step> {
        let (source, nearest) = ("wiki".to_owned(), Some("a".to_owned()));
        let same = [
            Sameness::Key { key: "k".into() },
            Sameness::Jaccard { similarity: 0.9 },
            Sameness::Cosine { similarity: 1.0 },
        ];
        let decay = |age_days, scaled| Freshness::Decay {
            age_days,
            half_life_days: 7.0,
            weight: 0.2,
            freshness: 0.5,
            scaled,
        };
        vec![
            Step::Aggregate { method: "max", chunks: vec!["a#0".into()] },
            Step::Collapse { scope: Scope::Within, absorbed: same.map(absorbed).to_vec() },
            Step::Collapse { scope: Scope::Across, absorbed: Vec::new() },
            fuse(Rule::Sum),
            fuse(Rule::Mean { divisor: 2.0 }),
            fuse(Rule::Scaled { factor: 60.0 }),
            fuse(Rule::SumTimesLists { holders: 2 }),
            fuse(Rule::Max),
            fuse(Rule::Variants { divisors: vec![1.0, 2.0], bonus: 0.1 }),
            fuse(Rule::Pairwise { wins: 3, draws: 1 }),
            Step::Neighbours { weight: 0.3, mean: 0.2, nearest: nearest.clone(), score: 0.1 },
            Step::Neighbours { weight: 0.3, mean: 0.2, nearest: None, score: 0.1 },
            Step::Prior { source: source.clone(), best: 0.5, of: 1.0, power: 0.4, factor: 0.7, score: 0.1 },
            Step::Learned { fused: Unit::AsIs, reranking: Reranking::Below { floor: 0.1 }, score: 0.2 },
            rerank(Reranking::Blend { alpha: 0.5, raw: 3.0, unit: Unit::OfBest { best: 4.0 } }),
            rerank(Reranking::Replace { raw: 0.5, unit: Unit::AsIs }),
            recency(decay(Some(3.0), true)),
            recency(decay(None, false)),
            recency(Freshness::Window { age_days: Some(1.0), days: 30.0, factor: 0.15, inside: true }),
            recency(Freshness::Untouched),
            Step::Diversify { relevance: Unit::AsIs, lambda: 0.7, similarity: 0.9, nearest, score: -0.1 },
            Step::Guarantee { source, rule: Bound::Min, from: 9, to: 2, cost: 0.25, score: 0.5 },
        ]
    }

    #[test]
    fn a_ledger_reads_as_it_was_written() {
        let ledger = Ledger { steps: steps() };
        let text = serde_json::to_string(&ledger).unwrap();
        let read: Ledger = serde_json::from_str(&text).unwrap();
        assert_eq!(read, ledger);
        assert_eq!(read.replay().to_bits(), ledger.replay().to_bits());
    }

    #[test]
    fn a_status_reads_as_it_was_written_and_a_new_stage_is_another() {
        let stage =
            |stage, reason| StageStatus { stage, state: StageState::Failed, before: 2, after: 1, reason };
        let stages = vec![stage("rerank", Some("late".to_owned())), stage("prior", None)];
        let status = Status { partial: true, stages, notes: vec!["n".into()], ..Status::default() };
        let text = serde_json::to_string(&status).unwrap();
        assert_eq!(serde_json::from_str::<Status>(&text).unwrap(), status);
        let newer: Status = serde_json::from_str(&text.replace("rerank", "oracle")).unwrap();
        assert_eq!(newer.stages[0].stage, "other");
    }

    #[test]
    fn what_was_dropped_reads_as_it_was_written() {
        let whys = [
            Why::Collapsed { into: "a".into(), scope: Scope::Across },
            Why::BelowMinScore { score: 0.1, min_score: 0.2 },
            Why::BehindLimit { rank: 11, score: 0.1 },
            Why::BeforeOffset { rank: 1, score: 0.9 },
            Why::NotChosen { score: 0.5 },
        ];
        let text = serde_json::to_string(&whys).unwrap();
        assert_eq!(serde_json::from_str::<[Why; 5]>(&text).unwrap(), whys);
    }
}
