//! The ledger: a typed record of what each stage did to a hit.
//!
//! A ledger is data, not prose: every step holds the numbers it worked with and can be applied again.
//! [`Ledger::replay`] applies all steps in order and gives the final score, to the last bit.

use serde::{Deserialize, Serialize};

use crate::fuse::condorcet::points;
use crate::fuse::{rsf, tally};
use crate::word::{Word, word};

/// What one list gave a hit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Contribution {
    /// The list.
    pub list: String,
    /// Which rewrite of the query the list answers, from 0.
    pub variant: u32,
    /// The hit's rank in the list, from 1; nothing when the list does not hold it but still counts it.
    pub rank: Option<u32>,
    /// The score that the list gave.
    pub score: Option<f64>,
    /// The score after normalisation, for methods that look at scores.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
    /// The weight of the list in this search.
    pub weight: f64,
    /// What the list adds, before the lists are combined.
    pub contribution: f64,
}

/// How contributions became a score.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "rule", rename_all = "snake_case")]
pub enum Rule {
    /// Their sum.
    Sum,
    /// Their sum divided by the weights of all lists.
    Mean {
        /// The sum of the weights.
        divisor: f64,
    },
    /// Their sum times a constant.
    Scaled {
        /// The constant.
        factor: f64,
    },
    /// Their sum times the number of lists that hold the hit.
    SumTimesLists {
        /// That number.
        holders: u32,
    },
    /// The greatest of them.
    Max,
    /// The clamped mean inside each variant, then the mean over the variants that hold the hit plus a bonus, clamped.
    Variants {
        /// The sum of the weights, per variant.
        divisors: Vec<f64>,
        /// The bonus per further variant.
        bonus: f64,
    },
    /// Wins and half the draws in the comparison with every other candidate.
    Pairwise {
        /// How many candidates the hit beats.
        wins: u32,
        /// How many it draws with.
        draws: u32,
    },
}

impl Rule {
    /// The score that these contributions give.
    pub fn apply(&self, lists: &[Contribution]) -> f64 {
        let sum = || lists.iter().fold(0.0, |sum, list| sum + list.contribution);
        match self {
            Self::Sum => sum(),
            Self::Mean { divisor } => sum() / divisor,
            Self::Scaled { factor } => tally::scaled(sum(), *factor),
            Self::SumTimesLists { holders } => sum() * f64::from(*holders),
            Self::Max => lists.iter().map(|list| list.contribution).fold(f64::NEG_INFINITY, f64::max),
            Self::Variants { divisors, .. } => across_variants(lists, divisors),
            Self::Pairwise { wins, draws } => points(*wins, *draws),
        }
    }
}

fn across_variants(lists: &[Contribution], divisors: &[f64]) -> f64 {
    let mut total = 0.0;
    let mut holding = 0;
    for (variant, divisor) in (0..).zip(divisors) {
        let of_variant = lists.iter().filter(|list| list.variant == variant);
        if let Some(sum) = of_variant.map(|list| list.contribution).reduce(|sum, amount| sum + amount) {
            total += rsf::unit(sum / divisor);
            holding += 1;
        }
    }
    rsf::across(total, holding)
}

/// Why two items were taken for the same thing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "because", rename_all = "snake_case")]
pub enum Sameness {
    /// Their exact keys are equal.
    Key {
        /// The key.
        key: String,
    },
    /// Their words overlap.
    Jaccard {
        /// By how much.
        similarity: f64,
    },
    /// Their vectors point the same way.
    Cosine {
        /// By how much.
        similarity: f64,
    },
}

/// An item that was collapsed into a hit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Absorbed {
    /// Its id.
    pub id: String,
    /// Its source.
    pub source: String,
    /// Why it was taken for the same thing.
    #[serde(flatten)]
    pub sameness: Sameness,
}

/// Which part of a pipeline collapsed duplicates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// Inside one source, before fusion.
    Within,
    /// Across sources, after fusion.
    Across,
}

/// How a score was brought to \[0, 1\].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "unit", rename_all = "snake_case")]
pub enum Unit {
    /// It is in \[0, 1\] by construction.
    AsIs,
    /// It was divided by the best one.
    OfBest {
        /// The best one.
        best: f64,
    },
    /// The best one is not positive, so it was set against its distance from the best: `1 / (1 + best − score)`.
    FromBest {
        /// The best one.
        best: f64,
    },
}

impl Unit {
    /// The relevance in \[0, 1\].
    pub fn of(self, score: f64) -> f64 {
        match self {
            Self::AsIs => score,
            Self::OfBest { best } => (score / best).max(0.0),
            Self::FromBest { best } => 1.0 / (1.0 + (best - score)),
        }
    }

    /// The conversion for these scores, which are in \[0, 1\] already if `by_construction`.
    pub fn for_scores(by_construction: bool, scores: impl IntoIterator<Item = f64>) -> Self {
        if by_construction {
            return Self::AsIs;
        }
        match scores.into_iter().max_by(f64::total_cmp) {
            None => Self::AsIs,
            Some(best) if best > 0.0 => Self::OfBest { best },
            Some(best) => Self::FromBest { best },
        }
    }
}

/// How recency changed a score.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Freshness {
    /// `(1 − weight) · relevance + weight · freshness`, the latter times relevance where it is scaled.
    Decay {
        /// The age used, in days.
        age_days: Option<f64>,
        /// The half-life, in days.
        half_life_days: f64,
        /// The weight of freshness.
        weight: f64,
        /// From 1 (now) down to 0; 0.5 without a time.
        freshness: f64,
        /// Whether freshness counts in proportion to relevance.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        scaled: bool,
    },
    /// `relevance · (1 + factor)` inside the window.
    Window {
        /// The age, in days.
        age_days: Option<f64>,
        /// The window, in days.
        days: f64,
        /// The boost.
        factor: f64,
        /// Whether the item is inside.
        inside: bool,
    },
    /// No rule for this source, or no time and `missing = "skip"`: the score stays.
    Untouched,
}

impl Freshness {
    /// The score after recency.
    pub fn apply(&self, relevance: f64) -> f64 {
        match self {
            Self::Decay { weight, freshness, scaled, .. } => {
                let fresh = if *scaled { relevance * freshness } else { *freshness };
                (1.0 - weight) * relevance + weight * fresh
            }
            Self::Window { factor, inside: true, .. } => relevance * (1.0 + factor),
            Self::Window { .. } | Self::Untouched => relevance,
        }
    }
}

/// How a reranker changed a score.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Reranking {
    /// `alpha · relevance + (1 − alpha) · fused`, both in \[0, 1\].
    Blend {
        /// The weight of the reranker.
        alpha: f64,
        /// The reranker's score.
        raw: f64,
        /// How that was brought to \[0, 1\].
        #[serde(flatten)]
        unit: Unit,
    },
    /// The reranker's score in \[0, 1\] alone.
    Replace {
        /// The reranker's score.
        raw: f64,
        /// How that was brought to \[0, 1\].
        #[serde(flatten)]
        unit: Unit,
    },
    /// The reranker did not score it: below all that it did, in the fused order, `floor · fused / 2`.
    Below {
        /// The least score that the reranker's stage gave.
        floor: f64,
    },
}

impl Reranking {
    /// The score after reranking, from the fused relevance in \[0, 1\].
    pub fn apply(&self, fused: f64) -> f64 {
        match self {
            Self::Blend { alpha, raw, unit } => alpha * unit.of(*raw) + (1.0 - alpha) * fused,
            Self::Replace { raw, unit } => unit.of(*raw),
            Self::Below { floor } => floor * fused / 2.0,
        }
    }
}

/// Which side of a guarantee moved a hit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Bound {
    /// At least so many of a source.
    Min,
    /// At most so many of a source.
    Max,
}

impl Bound {
    /// The name, as written in a configuration.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Min => "min",
            Self::Max => "max",
        }
    }
}

/// What one stage did.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "stage", rename_all = "snake_case")]
pub enum Step {
    /// Chunks were brought together to their document, list by list.
    Aggregate {
        /// How.
        #[serde(deserialize_with = "word")]
        method: Word,
        /// The chunks.
        chunks: Vec<String>,
    },
    /// Duplicates were collapsed into this hit.
    Collapse {
        /// Where.
        scope: Scope,
        /// What was collapsed.
        absorbed: Vec<Absorbed>,
    },
    /// The lists were fused.
    Fuse {
        /// The method.
        #[serde(deserialize_with = "word")]
        method: Word,
        /// How the contributions were combined.
        #[serde(flatten)]
        rule: Rule,
        /// What each list gave.
        lists: Vec<Contribution>,
        /// The score.
        score: f64,
    },
    /// The hit took some of the score of those that it is like.
    Neighbours {
        /// What they weigh.
        weight: f64,
        /// The mean of their scores.
        mean: f64,
        /// The nearest of them.
        #[serde(skip_serializing_if = "Option::is_none")]
        nearest: Option<String>,
        /// The score.
        score: f64,
    },
    /// The hit was weighed by the best that its source has to offer.
    Prior {
        /// The source.
        source: String,
        /// The best score of the source.
        best: f64,
        /// The best score of all.
        of: f64,
        /// How much it counts.
        power: f64,
        /// `(best / of)^power`.
        factor: f64,
        /// The score.
        score: f64,
    },
    /// The learned model spoke.
    Learned {
        /// How the score before was brought to \[0, 1\].
        fused: Unit,
        /// What was done.
        #[serde(flatten)]
        reranking: Reranking,
        /// The score.
        score: f64,
    },
    /// The reranker spoke.
    Rerank {
        /// How the fused score was brought to \[0, 1\].
        fused: Unit,
        /// What was done.
        #[serde(flatten)]
        reranking: Reranking,
        /// The score.
        score: f64,
    },
    /// Recency was weighed.
    Recency {
        /// How the score was brought to \[0, 1\], where decay needs that.
        relevance: Unit,
        /// What was done.
        #[serde(flatten)]
        freshness: Freshness,
        /// The score.
        score: f64,
    },
    /// The hit was set against those already chosen.
    Diversify {
        /// How the score was brought to \[0, 1\].
        relevance: Unit,
        /// The weight of relevance.
        lambda: f64,
        /// The similarity to the nearest hit chosen before.
        similarity: f64,
        /// That hit.
        #[serde(skip_serializing_if = "Option::is_none")]
        nearest: Option<String>,
        /// The score.
        score: f64,
    },
    /// A guarantee moved the hit into the first ones, or out of them.
    Guarantee {
        /// The source whose guarantee it is.
        source: String,
        /// Which side of it.
        rule: Bound,
        /// The rank before, from 1.
        from: usize,
        /// The rank after.
        to: usize,
        /// The score of the hit that was displaced less that of the one that was lifted.
        cost: f64,
        /// The score, which stays.
        score: f64,
    },
}

impl Step {
    /// The same step with its outcome written down.
    pub(crate) fn with_score(mut self, outcome: f64) -> Self {
        match &mut self {
            Self::Aggregate { .. } | Self::Collapse { .. } => {}
            Self::Fuse { score, .. }
            | Self::Neighbours { score, .. }
            | Self::Prior { score, .. }
            | Self::Learned { score, .. }
            | Self::Rerank { score, .. }
            | Self::Recency { score, .. }
            | Self::Diversify { score, .. }
            | Self::Guarantee { score, .. } => *score = outcome,
        }
        self
    }

    /// The score after this step, from the score before it.
    pub fn apply(&self, before: f64) -> f64 {
        match self {
            Self::Aggregate { .. } | Self::Collapse { .. } | Self::Guarantee { .. } => before,
            Self::Fuse { rule, lists, .. } => rule.apply(lists),
            Self::Neighbours { weight, mean, .. } => (1.0 - weight) * before + weight * mean,
            Self::Prior { factor, .. } => before * factor,
            Self::Learned { fused, reranking, .. } | Self::Rerank { fused, reranking, .. } => {
                reranking.apply(fused.of(before))
            }
            Self::Recency { relevance, freshness, .. } => freshness.apply(relevance.of(before)),
            Self::Diversify { relevance, lambda, similarity, .. } => {
                lambda * relevance.of(before) - (1.0 - lambda) * similarity
            }
        }
    }
}

/// All that happened to one hit, in order.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Ledger {
    /// The steps.
    pub steps: Vec<Step>,
}

impl Ledger {
    /// The score that the steps give.
    pub fn replay(&self) -> f64 {
        self.steps.iter().fold(0.0, |score, step| step.apply(score))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unit_relevance_has_one_rule_for_each_scale() {
        assert_eq!(Unit::for_scores(true, [0.4]), Unit::AsIs);
        let unit = Unit::for_scores(false, [0.016, 0.032]);
        assert_eq!((unit.of(0.032), unit.of(0.016)), (1.0, 0.5));
        let negative = Unit::for_scores(false, [-3.0, -1.0]);
        assert_eq!((negative.of(-1.0), negative.of(-3.0)), (1.0, 1.0 / 3.0));
    }
}
