//! # Weighted linear combination
//!
//! ```text
//! score(d) = Σ w · value(d) / Σ w        (or the plain sum, or the greatest w · value)
//! ```
//!
//! with the scores normalised by `minmax`, `zscore`, `theoretical` bounds, `three_sigma` or not at all
//! ([`super::normalise`]).
//!
//! **Source.** C. C. Vogt, G. W. Cottrell: *Fusion via a linear combination of scores*, Information Retrieval 1999. For
//! dense and lexical legs: S. Bruch, S. Gai, A. Ingber, TOIS 2023: the convex combination beats RRF in and out of domain, and
//! a few dozen judged queries are enough to choose its weight.
//!
//! **When to use it.** Whenever scores are honest, and above all when the weights can be chosen on judged queries.
//!
//! **When not.** One leg's scores mean nothing (a constant, a rank in disguise): use [`super::rrf`].
//!
//! **Absent items** count as 0 by default, which under `minmax` equals the list's worst hit, and under `zscore` its *mean*.
//! `missing = "min"` gives them the value of the list's last hit instead.

use serde::{Deserialize, Serialize};

use super::normalise::Normalise;
use super::tally::{Combine, Field, Term};
use crate::candidates::RankedList;

/// How weighted values become the score.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Total {
    /// Their sum divided by the sum of the weights.
    #[default]
    Mean,
    /// Their sum.
    Sum,
    /// The greatest of them.
    Max,
}

/// What an item gets from a list that does not hold it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Missing {
    /// Nothing.
    #[default]
    Zero,
    /// The value of the list's last item.
    Min,
    /// The term of the rank behind the last one (RRF only).
    Last,
}

/// The settings of the weighted linear combination.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Linear {
    /// How scores are normalised.
    pub normalise: Normalise,
    /// How the values become the score.
    pub total: Total,
    /// Whether an absent item counts as the list's last one; as 0 otherwise.
    pub absent_is_min: bool,
}

impl Linear {
    pub(super) fn terms(&self, list: &RankedList, terms: &mut Vec<Term>) -> Term {
        self.normalise.terms(list, terms);
        let least = terms.iter().map(|term| term.value).min_by(f64::total_cmp);
        match least.filter(|_| self.absent_is_min) {
            Some(value) => Term::of_value(value, list.leg().weight),
            None => Term::NOTHING,
        }
    }

    pub(super) fn combine(&self, field: &Field<'_>) -> Combine {
        self.total.combine(field)
    }

    pub(super) fn is_unit(&self) -> bool {
        self.total == Total::Mean && self.normalise.is_unit()
    }

    pub(super) fn most(&self, weight: f64, field_weight: f64) -> Option<f64> {
        let most = self.normalise.most()? * weight;
        Some(if self.total == Total::Mean { most / field_weight } else { most })
    }
}

impl Total {
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Mean => "mean",
            Self::Sum => "sum",
            Self::Max => "greatest",
        }
    }

    pub(super) fn combine(self, field: &Field<'_>) -> Combine {
        match self {
            Self::Mean => Combine::Mean { divisor: field.weight() },
            Self::Sum => Combine::Sum,
            Self::Max => Combine::Max,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fuse::Fusion;
    use crate::fuse::normalise::Norm;
    use crate::fuse::tests::{assert_ranking, two_lists};

    #[test]
    fn weights_are_relative() {
        let mut candidates = two_lists();
        candidates.reweigh(|leg| if leg.name == "dense" { 3.0 } else { 1.0 });
        let expected = [("b", 0.886364), ("c", 0.54), ("a", 0.25), ("d", 0.0)];
        assert_ranking(&Fusion::Linear(Linear::default()), &candidates, &expected);
    }

    #[test]
    fn zscores_can_count_an_absent_item_as_the_last() {
        let fusion =
            Linear { normalise: Normalise::new(Norm::Zscore), total: Total::Sum, absent_is_min: true };
        // Checked against ranx: sum after zmuv, with the lists' least values filled in.
        let expected = [("b", 1.087067), ("a", -0.175142), ("c", -0.911925), ("d", -2.621265)];
        assert_ranking(&Fusion::Linear(fusion), &two_lists(), &expected);
    }

    #[test]
    fn the_greatest_value_can_decide() {
        let fusion = Linear { total: Total::Max, ..Linear::default() };
        // a and b tie at 1.0 and at best rank 1; a has the better raw score.
        let expected = [("a", 1.0), ("b", 1.0), ("c", 0.72), ("d", 0.0)];
        assert_ranking(&Fusion::Linear(fusion), &two_lists(), &expected);
    }
}
