//! # Reciprocal rank fusion
//!
//! ```text
//! score(d) = Σ over lists  w / (k + rank(d))        rank from 1, k = 60
//! ```
//!
//! **Source.** G. V. Cormack, C. L. A. Clarke, S. Büttcher: *Reciprocal rank fusion outperforms Condorcet and individual
//! rank learning methods*, SIGIR 2009.
//!
//! **When to use it.** The lists' scores cannot be compared or are not known, and the lists answer the same question over
//! the same documents. It needs no tuning, and one bad score cannot wreck it.
//!
//! **When not.** Across sources: every list's first hit gets the same amount, so a useless source places its first hit
//! beside the true one. When one leg is much stronger: the weak one pulls the result down towards itself. And where scores
//! are honest, since they are thrown away ([`super::linear`] is better then).
//!
//! **"RRF" is not one function.** Engines count ranks from 0 or 1, with k = 0, 2, 50, 60 or 61, and one of them weighs
//! the rank instead of the term. [`Rrf`] has a setting for each, and [`super::compat`] names the combinations.
//!
//! The order is not changed by scaling all weights; ties are frequent, since ranks are small integers, and are broken as
//! said in [`super::Fused`].

use serde::{Deserialize, Serialize};

use super::tally::{Combine, Field, Term};
use crate::candidates::RankedList;
use crate::error::Error;
use crate::leg::is_sane;

/// What a weight multiplies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Weighting {
    /// The term: `w / (k + rank)`.
    #[default]
    Term,
    /// The rank, as Qdrant does: `1 / (k − 1 + (rank0 + 1) / w)`. Not invariant under scaling of the weights.
    Rank,
}

/// How the terms of the lists become the score.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Total {
    /// Their sum.
    #[default]
    Sum,
    /// Their sum divided by the sum of the weights.
    Mean,
    /// Scaled so that an item that is first in every list gets 1.
    Unit,
}

/// The settings of reciprocal rank fusion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rrf {
    k: f64,
    rank_base: u32,
    /// What a weight multiplies.
    pub weighting: Weighting,
    /// How the terms become the score.
    pub total: Total,
    /// Whether an item that a list does not hold counts as ranked just behind its last one, as in Vespa.
    pub absent_is_last: bool,
}

impl Default for Rrf {
    fn default() -> Self {
        Self { k: 60.0, rank_base: 1, weighting: Weighting::Term, total: Total::Sum, absent_is_last: false }
    }
}

impl Rrf {
    /// RRF with another constant, and ranks that count from 0 or 1.
    ///
    /// # Errors
    /// When k is negative, NaN or infinite, when `rank_base` is neither 0 nor 1, or when `k + rank_base` is 0.
    pub fn new(k: f64, rank_base: u32) -> Result<Self, Error> {
        if !(k >= 0.0 && is_sane(k)) {
            return Err(Error::range("`k`", "a finite number ≥ 0, up to 1e100", k));
        }
        if rank_base > 1 {
            return Err(Error::range("`rank_base`", "0 or 1", rank_base));
        }
        if k + f64::from(rank_base) <= 0.0 {
            return Err(Error::range(
                "`k` with `rank_base` 0",
                "a number > 0 (the first rank would divide by 0)",
                k,
            ));
        }
        Ok(Self { k, rank_base, ..Self::default() })
    }

    /// The constant that flattens the top of the lists.
    pub fn k(&self) -> f64 {
        self.k
    }

    /// The number of the first rank, 0 or 1.
    pub fn rank_base(&self) -> u32 {
        self.rank_base
    }

    /// What a rank (from 1) in a list of this weight is worth.
    pub fn term(&self, rank: u32, weight: f64) -> f64 {
        let counted = f64::from(rank - 1 + self.rank_base);
        match self.weighting {
            Weighting::Term => weight / (self.k + counted),
            Weighting::Rank => 1.0 / (f64::from(rank) / weight + self.k + f64::from(self.rank_base) - 1.0),
        }
    }

    pub(super) fn formula(&self) -> String {
        let from = if self.rank_base == 0 { ", ranks from 0" } else { "" };
        let total = match self.total {
            Total::Sum => "sum",
            Total::Mean => "mean",
            Total::Unit => "scaled sum",
        };
        match self.weighting {
            Weighting::Term => format!("{total} of weight / ({} + rank){from}", self.k),
            // The weight divides the rank from 1, whatever the base: the base only shifts the constant.
            Weighting::Rank => {
                let constant = self.k + f64::from(self.rank_base) - 1.0;
                format!("{total} of 1 / ({constant} + rank / weight)")
            }
        }
    }

    pub(super) fn terms(&self, list: &RankedList, terms: &mut Vec<Term>) -> Term {
        let weight = list.leg().weight;
        let length = list.len() as u32;
        terms.extend((1..=length).map(|rank| Term::of_rank(self.term(rank, weight))));
        if self.absent_is_last { Term::of_rank(self.term(length + 1, weight)) } else { Term::NOTHING }
    }

    pub(super) fn combine(&self, field: &Field<'_>) -> Combine {
        match self.total {
            Total::Sum => Combine::Sum,
            Total::Mean => Combine::Mean { divisor: field.weight() },
            Total::Unit => Combine::Scaled { factor: self.unit_factor(field.weight()) },
        }
    }

    fn unit_factor(&self, weight: f64) -> f64 {
        (self.k + f64::from(self.rank_base)) / weight
    }

    pub(super) fn is_unit(&self) -> bool {
        self.total == Total::Unit && self.weighting == Weighting::Term
    }

    pub(super) fn most(&self, weight: f64, field_weight: f64) -> f64 {
        let first = self.term(1, weight);
        match self.total {
            Total::Sum => first,
            Total::Mean => first / field_weight,
            Total::Unit => first * self.unit_factor(field_weight),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fuse::Fusion;
    use crate::fuse::tests::{assert_ranking, ranking, two_lists};

    #[test]
    fn cormack() {
        let expected = [("b", 0.032522), ("c", 0.032002), ("a", 0.016393), ("d", 0.015873)];
        assert_ranking(&Fusion::default(), &two_lists(), &expected);
    }

    #[test]
    fn ranks_can_count_from_zero() {
        let fusion = Fusion::Rrf(Rrf::new(60.0, 0).unwrap());
        let expected = [("b", 0.033060), ("c", 0.032522), ("a", 0.016667), ("d", 0.016129)];
        assert_ranking(&fusion, &two_lists(), &expected);
    }

    #[test]
    fn k_has_a_range() {
        for (k, base) in [(-1.0, 1), (f64::NAN, 1), (f64::INFINITY, 1), (0.0, 0), (60.0, 2)] {
            assert!(Rrf::new(k, base).is_err(), "k {k}, base {base}");
        }
        assert_eq!(Rrf::new(0.0, 1).unwrap().term(1, 1.0), 1.0);
    }

    #[test]
    fn qdrant_weighs_the_rank() {
        let rrf = Rrf { weighting: Weighting::Rank, ..Rrf::new(2.0, 0).unwrap() };
        let mut candidates = two_lists();
        candidates.reweigh(|leg| if leg.name == "dense" { 3.0 } else { 1.0 });
        let expected = [("b", 1.083333), ("c", 0.85), ("a", 0.5), ("d", 0.5)];
        assert_ranking(&Fusion::Rrf(rrf), &candidates, &expected);
    }

    #[test]
    fn a_missing_leg_can_add_at_most_its_first_term() {
        assert_eq!(Rrf::default().most(2.0, 2.0), 2.0 / 61.0);
    }

    #[test]
    fn the_unit_total_gives_one_to_the_first_of_all() {
        let rrf = Rrf { total: Total::Unit, ..Rrf::default() };
        let mut candidates = crate::Candidates::new();
        for name in ["x", "y", "z"] {
            candidates.ranked(crate::Leg::new(name), ["first", "second"]).unwrap();
        }
        assert!((ranking(&Fusion::Rrf(rrf), &candidates)[0].1 - 1.0).abs() < 1e-12);
    }
}
