//! Why a hit is where it is, in words: one sentence from its ledger, or a line for each step.

use mainstem_client::Reason;
use mainstem_core::answer::Why;
use mainstem_core::contract::Channel;
use mainstem_core::ledger::{Contribution, Freshness, Ledger, Reranking, Step};
use serde_json::{Map, Value};

/// How many lists a sentence names.
const NAMED: usize = 3;

/// A factor nearer to 1 than this is not worth a word.
const NOTABLE: f64 = 0.02;

/// One sentence, from what counted most.
pub fn sentence(ledger: &Ledger) -> String {
    let parts: Vec<String> = ledger.steps.iter().filter_map(part).collect();
    if parts.is_empty() { "it is among the candidates".to_owned() } else { parts.join("; ") }
}

fn part(step: &Step) -> Option<String> {
    match step {
        Step::Aggregate { chunks, .. } => Some(format!("{} parts of the document count", chunks.len())),
        Step::Collapse { absorbed, .. } => {
            let copies: Vec<&str> = absorbed.iter().map(|copy| copy.id.as_str()).take(NAMED).collect();
            Some(format!("it stands for {} that are the same ({})", absorbed.len(), copies.join(", ")))
        }
        Step::Fuse { lists, .. } => Some(found(lists)),
        Step::Prior { factor, source, .. } => ((factor - 1.0).abs() > NOTABLE)
            .then(|| format!("× {factor:.2}, as other sources answer this query better than {source}")),
        Step::Learned { score, .. } => Some(format!("the learned model made it {score:.3}")),
        Step::Rerank { reranking: Reranking::Below { .. }, .. } => {
            Some("the reranker did not look at it".to_owned())
        }
        Step::Rerank { score, .. } => Some(format!("the reranker made it {score:.3}")),
        Step::Recency { freshness, .. } => fresh(freshness),
        Step::Diversify { similarity, nearest: Some(nearest), .. } if *similarity > NOTABLE => {
            Some(format!("lowered for being like `{nearest}`"))
        }
        Step::Diversify { .. } | Step::Neighbours { .. } => None,
        Step::Guarantee { source, from, to, .. } => {
            Some(format!("moved from rank {from} to {to} by a guarantee for {source}"))
        }
    }
}

/// Which lists hold it, those first that gave most.
fn found(lists: &[Contribution]) -> String {
    let mut holding: Vec<(&Contribution, u32)> =
        lists.iter().filter_map(|list| Some((list, list.rank?))).collect();
    holding.sort_by(|(a, _), (b, _)| b.contribution.total_cmp(&a.contribution));
    let several = lists.iter().any(|list| list.variant > 0);
    let one = |(list, rank): &(&Contribution, u32)| {
        let (source, channel) = list.list.rsplit_once('/').unwrap_or(("", &list.list));
        let way = match channel {
            "dense" => "by meaning",
            "lexical" => "by words",
            other => other,
        };
        let place = if source.is_empty() { String::new() } else { format!(" of {source}") };
        let variant = if several { format!(", query {}", list.variant + 1) } else { String::new() };
        format!("{way} (rank {rank}{place}{variant})")
    };
    let named: Vec<String> = holding.iter().take(NAMED).map(one).collect();
    match named.len() {
        0 => "scored by lists that did not find it themselves".to_owned(),
        _ if holding.len() > NAMED => {
            format!("found {} and in {} more lists", named.join(", "), holding.len() - NAMED)
        }
        _ => format!("found {}", named.join(" and ")),
    }
}

fn fresh(freshness: &Freshness) -> Option<String> {
    let age =
        |days: &Option<f64>| days.map_or("without a date".to_owned(), |days| format!("{days:.0} days old"));
    match freshness {
        Freshness::Decay { age_days, freshness, .. } => {
            Some(format!("{}, freshness {freshness:.2}", age(age_days)))
        }
        Freshness::Window { age_days, inside: true, factor, .. } => {
            Some(format!("{}, raised by {factor} for being recent", age(age_days)))
        }
        Freshness::Window { .. } | Freshness::Untouched => None,
    }
}

/// A line for each step, with its numbers.
pub fn steps(ledger: &Ledger) -> Vec<String> {
    let mut lines = Vec::new();
    for step in &ledger.steps {
        let Ok(Value::Object(fields)) = serde_json::to_value(step) else { continue };
        if let Step::Fuse { lists, .. } = step {
            lines.extend(lists.iter().map(contribution));
        }
        let name = fields.get("stage").map(number).unwrap_or_default();
        let outcome = fields.get("score").map(|score| format!(" = {}", number(score))).unwrap_or_default();
        let apart = ["stage", "score", "lists"];
        lines.push(format!("{name}: {}{outcome}", listed(&fields, &apart)));
    }
    lines
}

fn contribution(list: &Contribution) -> String {
    let rank = list.rank.map_or("not in the list".to_owned(), |rank| format!("rank {rank}"));
    let score = list.score.map(|score| format!(", score {score:.4}")).unwrap_or_default();
    let value = list.value.map(|value| format!(", as {value:.4}")).unwrap_or_default();
    let variant = if list.variant > 0 { format!(" (query {})", list.variant + 1) } else { String::new() };
    format!("{}{variant}: {rank}{score}{value}, weight {} = {:.4}", list.list, list.weight, list.contribution)
}

fn listed(fields: &Map<String, Value>, apart: &[&str]) -> String {
    let named = fields.iter().filter(|(name, _)| !apart.contains(&name.as_str()));
    named.map(|(name, value)| format!("{name} {}", number(value))).collect::<Vec<_>>().join(", ")
}

fn number(value: &Value) -> String {
    match (value.as_f64().filter(|_| value.is_f64()), value.as_str()) {
        (Some(number), _) => format!("{number:.4}"),
        (_, Some(text)) => text.to_owned(),
        _ => value.as_object().map_or_else(|| value.to_string(), |fields| listed(fields, &[])),
    }
}

/// Why something is no hit.
pub fn why_not(why: Option<&Why>) -> String {
    match why {
        None => "no list holds it: neither its words nor its meaning are near enough to the query, or the filters \
                 leave it out"
            .to_owned(),
        Some(Why::Collapsed { into, .. }) => format!("it is the same thing as `{into}` and was collapsed into it"),
        Some(Why::BelowMinScore { score, min_score }) => {
            format!("its score {score:.4} is below the least one wanted, {min_score}")
        }
        Some(Why::BehindLimit { rank, score }) => format!("it is at rank {rank} with score {score:.4}, behind the hits"),
        Some(Why::BeforeOffset { rank, .. }) => format!("it is at rank {rank}, on an earlier page"),
        Some(Why::NotChosen { score }) => {
            format!("with relevance {score:.4}, others were more relevant or less like those already chosen")
        }
    }
}

/// Which parts of two documents are alike.
pub fn alike(reason: &Reason) -> String {
    let by = match reason.channel {
        Channel::Dense => "mean about the same",
        Channel::Lexical => "share their words",
    };
    format!("`{}` and `{}` {by}", reason.from, reason.to)
}

#[cfg(test)]
mod tests {
    use mainstem_core::ledger::{Rule, Unit};

    use super::*;

    fn list(name: &str, variant: u32, rank: Option<u32>, contribution: f64) -> Contribution {
        Contribution {
            list: name.into(),
            variant,
            rank,
            score: Some(0.5),
            value: None,
            weight: 1.0,
            contribution,
        }
    }

    fn fused(lists: Vec<Contribution>) -> Step {
        Step::Fuse { method: "rrf", rule: Rule::Sum, lists, score: 0.5 }
    }

    #[test]
    fn the_sentence_names_what_counted_most_first() {
        let lists = vec![list("wiki/lexical", 0, Some(3), 0.1), list("wiki/dense", 0, Some(1), 0.4)];
        let prior =
            Step::Prior { source: "wiki".into(), best: 0.5, of: 1.0, power: 1.0, factor: 0.5, score: 0.25 };
        let freshness = Freshness::Decay {
            age_days: Some(3.2),
            half_life_days: 14.0,
            weight: 0.2,
            freshness: 0.85,
            scaled: false,
        };
        let recency = Step::Recency { relevance: Unit::AsIs, freshness, score: 0.3 };
        let ledger = Ledger { steps: vec![fused(lists), prior, recency] };
        assert_eq!(
            sentence(&ledger),
            "found by meaning (rank 1 of wiki) and by words (rank 3 of wiki); × 0.50, as other sources answer this \
             query better than wiki; 3 days old, freshness 0.85"
        );
    }

    #[test]
    fn variants_are_told_apart() {
        let lists = (0..5).map(|variant| list("a/dense", variant, Some(variant + 1), 0.1)).collect();
        let ledger = Ledger { steps: vec![fused(lists)] };
        assert_eq!(
            sentence(&ledger),
            "found by meaning (rank 1 of a, query 1), by meaning (rank 2 of a, query 2), by meaning (rank 3 of a, \
             query 3) and in 2 more lists"
        );
        assert_eq!(sentence(&Ledger::default()), "it is among the candidates");
    }

    #[test]
    fn every_step_has_a_line_with_its_outcome() {
        let ledger = Ledger { steps: vec![fused(vec![list("a/dense", 0, None, 0.25)])] };
        assert_eq!(
            steps(&ledger),
            [
                "a/dense: not in the list, score 0.5000, weight 1 = 0.2500",
                "fuse: method rrf, rule sum = 0.5000"
            ]
        );
    }
}
