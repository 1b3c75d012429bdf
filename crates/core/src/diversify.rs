//! # Maximal marginal relevance
//!
//! ```text
//! next = argmax  λ · relevance(d) − (1 − λ) · max over chosen c of similarity(d, c)
//! ```
//!
//! λ is the weight of relevance: 1 keeps the order, 0 looks at diversity alone; the default is 0.7. (OpenSearch and Qdrant
//! count the other way round.) Relevance is in \[0, 1\]; similarity is the cosine of dense vectors where both hits have one, and the
//! Jaccard overlap of their words otherwise, so that hits without a vector are never lost. The value at which a hit was chosen
//! becomes its score, and ties go to the earlier hit. From the second pick on it never rises; the first has nothing to be
//! like, so that a second one whose cosine to it is negative can have the greater value.
//!
//! **Source.** J. Carbonell, J. Goldstein: *The use of MMR, diversity-based reranking for reordering documents and producing
//! summaries*, SIGIR 1998.
//!
//! **When to use it.** A context for a language model, or an overview, where the third near-copy of a fact is worth nothing.
//!
//! **When not.** Looking for one known thing; and as a stand-in for dedup, which also says what it removed.

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::similarity::Profile;

/// The settings of the stage, as written.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct DiversifySpec {
    /// The weight of relevance against novelty, from 0 to 1.
    pub lambda: f64,
}

impl Default for DiversifySpec {
    fn default() -> Self {
        Self { lambda: 0.7 }
    }
}

impl DiversifySpec {
    /// Checks the settings.
    ///
    /// # Errors
    /// When λ is not from 0 to 1.
    pub fn check(&self) -> Result<(), Error> {
        if (0.0..=1.0).contains(&self.lambda) {
            Ok(())
        } else {
            Err(Error::range("`diversify.lambda`", "a number from 0 to 1", self.lambda))
        }
    }
}

/// One pick: which hit, and the hit chosen before that it is most like.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Pick {
    pub(crate) index: usize,
    pub(crate) nearest: Option<(usize, f64)>,
}

impl Pick {
    pub(crate) fn similarity(&self) -> f64 {
        self.nearest.map_or(0.0, |(_, similarity)| similarity)
    }
}

/// Chooses `wanted` hits one after another. `relevance` is in order, best first, in \[0, 1\].
pub(crate) fn choose(relevance: &[f64], profiles: &[Profile<'_>], lambda: f64, wanted: usize) -> Vec<Pick> {
    let mut open: Vec<Pick> = (0..relevance.len()).map(|index| Pick { index, nearest: None }).collect();
    let value = |pick: &Pick| lambda * relevance[pick.index] - (1.0 - lambda) * pick.similarity();
    let mut chosen: Vec<Pick> = Vec::with_capacity(wanted.min(open.len()));
    while chosen.len() < wanted {
        // `max_by` keeps the last of equals; reversed, that is the earliest hit.
        let best = (0..open.len()).rev().max_by(|&a, &b| value(&open[a]).total_cmp(&value(&open[b])));
        let Some(best) = best else { break };
        let pick = open.remove(best);
        chosen.push(pick);
        for other in &mut open {
            let similarity = profiles[other.index].similarity(&profiles[pick.index]);
            if other.nearest.is_none_or(|(_, nearest)| similarity > nearest) {
                other.nearest = Some((pick.index, similarity));
            }
        }
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::item::Item;

    fn order(texts: &[&str], relevance: &[f64], lambda: f64) -> Vec<usize> {
        let items: Vec<_> =
            texts.iter().map(|text| Item { text: Some((*text).into()), ..Item::default() }).collect();
        let profiles: Vec<_> = items.iter().map(Profile::of).collect();
        choose(relevance, &profiles, lambda, texts.len()).iter().map(|pick| pick.index).collect()
    }

    #[test]
    fn a_near_copy_gives_way_to_something_new() {
        let texts = ["king pawn ending", "king pawn ending", "rook ending"];
        assert_eq!(order(&texts, &[1.0, 0.95, 0.7], 0.7), [0, 2, 1]);
        assert_eq!(order(&texts, &[1.0, 0.95, 0.7], 1.0), [0, 1, 2]);
    }

    #[test]
    fn ties_go_to_the_earlier_hit() {
        assert_eq!(order(&["a", "b", "c"], &[0.5, 0.5, 0.5], 0.7), [0, 1, 2]);
    }

    #[test]
    fn vectors_decide_where_there_are_some() {
        let at =
            |x, y, text: &str| Item { vector: Some(vec![x, y]), text: Some(text.into()), ..Item::default() };
        let items =
            [at(1.0, 0.0, "a"), at(1.0, 0.01, "b"), Item { text: Some("c".into()), ..Item::default() }];
        let profiles: Vec<_> = items.iter().map(Profile::of).collect();
        let picks = choose(&[1.0, 0.9, 0.5], &profiles, 0.7, 3);
        assert_eq!(picks.iter().map(|pick| pick.index).collect::<Vec<_>>(), [0, 2, 1]);
    }

    #[test]
    fn a_prefix_of_the_picks_does_not_depend_on_how_many_are_wanted() {
        let items: Vec<_> = (0..9)
            .map(|n| Item { text: Some(format!("w{} w{} x", n % 3, n % 2)), ..Item::default() })
            .collect();
        let profiles: Vec<_> = items.iter().map(Profile::of).collect();
        let relevance: Vec<_> = (0..9).map(|n| 1.0 - f64::from(n) / 10.0).collect();
        let all = choose(&relevance, &profiles, 0.5, 9);
        for wanted in 0..9 {
            assert_eq!(choose(&relevance, &profiles, 0.5, wanted), all[..wanted]);
        }
    }
}
