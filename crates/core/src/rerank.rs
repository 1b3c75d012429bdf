//! # Reranking
//!
//! The algebra of it: a reranker (elsewhere) reads the best [`RerankSpec::top`] hits and scores them; here its scores are
//! merged with the fused ones, in a way that can never break the answer.
//!
//! ```text
//! blend     α · reranked + (1 − α) · fused        both in [0, 1]
//! replace   reranked
//! ```
//!
//! Reranker scores that all lie in \[0, 1\] are probabilities and taken as they are; others are divided by the best one.
//! Hits that the reranker did not score keep their order below those it did. If it failed, was late or talked nonsense (an id
//! that it was not given, a score that is NaN or infinite, nothing at all), the fused order *and scale* stay, and the status
//! says so: scores on another scale would fall under a threshold and empty the answer.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::item::Item;
use crate::ledger::{Reranking, Unit};
use crate::leg::is_sane;

/// The settings of the stage, as written.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct RerankSpec {
    /// How many of the best hits the reranker reads.
    pub top: usize,
    /// How many characters of `title text` it reads of each.
    pub chars: usize,
    /// The weight of the reranker against the fused score, from 0 to 1.
    pub blend: f64,
    /// Whether the reranker's score replaces the fused one; `blend` has no meaning then.
    pub replace: bool,
}

impl Default for RerankSpec {
    fn default() -> Self {
        Self { top: 30, chars: 1000, blend: 0.7, replace: false }
    }
}

impl RerankSpec {
    /// Checks the settings.
    ///
    /// # Errors
    /// When a number is out of range.
    pub fn check(&self) -> Result<(), Error> {
        if !(0.0..=1.0).contains(&self.blend) {
            return Err(Error::range("`rerank.blend`", "a number from 0 to 1", self.blend));
        }
        if self.top == 0 || self.chars == 0 {
            return Err(Error::range("`rerank.top` and `rerank.chars`", "at least 1", 0));
        }
        Ok(())
    }

    /// What the reranker reads of an item: at most `chars` characters of title and text, cut between characters.
    pub fn passage(&self, item: &Item) -> String {
        let parts: Vec<_> = [&item.title, &item.text].into_iter().filter_map(Option::as_deref).collect();
        parts.join(" ").chars().take(self.chars).collect()
    }
}

/// A hit as a reranker reads it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Passage {
    /// Its id.
    pub id: String,
    /// What the reranker reads.
    pub text: String,
}

/// What came back from the reranker.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Verdict {
    /// A score for each id that it scored.
    Scores(IndexMap<String, f64>),
    /// It failed or was late, for this reason.
    Error(String),
}

/// Why a reranker's scores were not used.
pub(crate) fn nonsense(verdict: &Verdict, asked: impl Fn(&str) -> bool) -> Option<String> {
    match verdict {
        Verdict::Error(reason) => Some(reason.clone()),
        Verdict::Scores(scores) if scores.is_empty() => Some("the reranker scored nothing".into()),
        Verdict::Scores(scores) => scores.iter().find_map(|(id, score)| {
            if !is_sane(*score) {
                Some(format!("the reranker gave `{id}` the score {score}"))
            } else if !asked(id) {
                Some("the reranker scored an item that it was not asked about".into())
            } else {
                None
            }
        }),
    }
}

/// How reranker scores are brought to \[0, 1\].
pub(crate) fn unit_of(scores: &IndexMap<String, f64>) -> Unit {
    let probabilities = scores.values().all(|score| (0.0..=1.0).contains(score));
    Unit::for_scores(probabilities, scores.values().copied())
}

impl RerankSpec {
    /// What the stage does to a hit with this reranker score.
    pub(crate) fn reranking(&self, raw: f64, unit: Unit) -> Reranking {
        if self.replace {
            Reranking::Replace { raw, unit }
        } else {
            Reranking::Blend { alpha: self.blend, raw, unit }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_passage_is_cut_between_characters() {
        let item =
            Item { title: Some("회의".into()), text: Some("주간 회의록".into()), ..Item::default() };
        let spec = RerankSpec { chars: 5, ..RerankSpec::default() };
        assert_eq!(spec.passage(&item), "회의 주간");
        assert_eq!(RerankSpec::default().passage(&Item::default()), "");
    }

    #[test]
    fn nonsense_is_recognised() {
        let scores = |pairs: &[(&str, f64)]| {
            Verdict::Scores(pairs.iter().map(|(id, score)| ((*id).to_owned(), *score)).collect())
        };
        let asked = |id: &str| id == "a" || id == "b";
        assert_eq!(nonsense(&scores(&[("a", 0.3)]), asked), None);
        for verdict in [
            scores(&[]),
            scores(&[("a", f64::NAN)]),
            scores(&[("a", 0.1), ("z", 0.2)]),
            Verdict::Error("timed out".into()),
        ] {
            assert!(nonsense(&verdict, asked).is_some(), "{verdict:?}");
        }
    }

    #[test]
    fn settings_have_ranges() {
        for spec in [
            RerankSpec { blend: 1.1, ..RerankSpec::default() },
            RerankSpec { blend: f64::NAN, ..RerankSpec::default() },
            RerankSpec { top: 0, ..RerankSpec::default() },
        ] {
            assert!(spec.check().is_err(), "{spec:?}");
        }
    }
}
