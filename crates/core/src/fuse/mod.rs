//! Fusion: many ranked lists in, one ranked list out.
//!
//! Every method answers two questions. *What is a place in a list worth?* Each method's own file says so, with its
//! formula and citation. *How do the lists' amounts combine?* [`Combine`] says so, and the
//! [ledger](crate::ledger) records both, so that a score can always be recomputed.
//!
//! | method | looks at | use it when |
//! |---|---|---|
//! | [`rrf`] | ranks | scores are not comparable, or unknown; the safe default for two legs |
//! | [`rsf`] | scores | scores are honest within a list; fused scores shall be in \[0, 1\] |
//! | [`comb`] (CombSUM, CombMNZ) | scores | lists come from similar engines; agreement shall count (MNZ) |
//! | [`linear`] | scores | weights are known or tuned; the strongest method where that is so |
//! | [`dbsf`] | scores | a list has outliers that would flatten min-max |
//! | [`isr`] | ranks | only the very top of each list is trusted |
//! | [`borda`] | ranks | every list ranks (nearly) all candidates: votes, not searches |
//! | [`condorcet`] | ranks | a majority of lists shall decide, whatever the margins |
//!
//! None of the rank-only methods is fit for merging lists of *different sources*: the first hit of a useless source
//! ties with the first hit of the right one.

pub mod borda;
pub mod comb;
pub mod compat;
pub mod condorcet;
pub mod dbsf;
mod fused;
pub mod isr;
pub mod linear;
pub mod normalise;
pub mod rrf;
pub mod rsf;
mod spec;
pub(crate) mod tally;

pub use comb::Comb;
pub use compat::Compat;
pub use dbsf::Dbsf;
pub use fused::{Cell, Fused, FusedHit};
pub use linear::{Linear, Missing};
pub use normalise::{Deviation, Norm, Normalise};
pub use rrf::Rrf;
pub use spec::{FuseSpec, Method};
pub use tally::Combine;

use crate::candidates::{Candidates, Id, RankedList};
use crate::error::Error;
use tally::{Field, Term};

/// How ranked lists are fused, with all settings checked.
#[derive(Clone, Debug, PartialEq)]
pub enum Fusion {
    /// Reciprocal rank fusion.
    Rrf(Rrf),
    /// Relative score fusion, also across variants.
    Rsf,
    /// Sum of normalised scores.
    CombSum(Comb),
    /// Sum of normalised scores, times the number of lists that hold the item.
    CombMnz(Comb),
    /// Weighted linear combination of normalised scores.
    Linear(Linear),
    /// Distribution-based score fusion.
    Dbsf(Dbsf),
    /// Inverse square ranks.
    Isr,
    /// Borda count.
    Borda,
    /// Condorcet: pairwise majorities.
    Condorcet,
}

impl Default for Fusion {
    /// RRF with k = 60 and ranks from 1.
    fn default() -> Self {
        Self::Rrf(Rrf::default())
    }
}

impl Fusion {
    /// The method's name, the same in configuration, documentation and code.
    pub fn method(&self) -> Method {
        match self {
            Self::Rrf(_) => Method::Rrf,
            Self::Rsf => Method::Rsf,
            Self::CombSum(_) => Method::Combsum,
            Self::CombMnz(_) => Method::Combmnz,
            Self::Linear(_) => Method::Linear,
            Self::Dbsf(_) => Method::Dbsf,
            Self::Isr => Method::Isr,
            Self::Borda => Method::Borda,
            Self::Condorcet => Method::Condorcet,
        }
    }

    /// The formula with its constants, for people.
    pub fn formula(&self) -> String {
        match self {
            Self::Rrf(rrf) => rrf.formula(),
            Self::Rsf => "mean of min-max scores over all lists".into(),
            Self::CombSum(comb) => format!("sum of weight × {}", comb.normalise.words()),
            Self::CombMnz(comb) => {
                format!("sum of weight × {}, times the lists that hold it", comb.normalise.words())
            }
            Self::Linear(linear) => {
                format!("{} of weight × {}", linear.total.words(), linear.normalise.words())
            }
            Self::Dbsf(dbsf) => format!("{} of weight × (score − (mean − 3 sd)) / 6 sd", dbsf.total.words()),
            Self::Isr => "sum of weight / rank², times the lists that hold it".into(),
            Self::Borda => "sum of weight × (candidates − rank + 1)".into(),
            Self::Condorcet => "candidates beaten by a majority of lists, draws count half".into(),
        }
    }

    /// Fuses the lists. Legs of weight 0 and legs that did not answer take no part.
    ///
    /// # Errors
    /// When a list lacks what the method needs (theoretical bounds), or when there are more candidates than
    /// [`condorcet::MOST_CANDIDATES`] for pairwise comparison.
    pub fn fuse<I: Id>(&self, candidates: &Candidates<I>) -> Result<Fused, Error> {
        self.run(candidates, false)
    }

    /// Fuses the lists and keeps what each of them contributed to each hit.
    ///
    /// # Errors
    /// As [`Self::fuse`].
    pub fn fuse_explained<I: Id>(&self, candidates: &Candidates<I>) -> Result<Fused, Error> {
        self.run(candidates, true)
    }

    fn run<I: Id>(&self, candidates: &Candidates<I>, explain: bool) -> Result<Fused, Error> {
        let field = Field::new(candidates);
        self.check(&field)?;
        let tallied = match self {
            Self::Rsf => rsf::tally(&field, explain),
            Self::Condorcet => condorcet::tally(&field, explain),
            _ => tally::tally(&field, self.combine(&field), explain, |list, terms| {
                self.terms(list, &field, terms)
            }),
        };
        Ok(Fused::ranked(tallied, candidates))
    }

    fn check(&self, field: &Field<'_>) -> Result<(), Error> {
        match self {
            Self::CombSum(Comb { normalise }) | Self::CombMnz(Comb { normalise }) => normalise.check(field),
            Self::Linear(linear) => linear.normalise.check(field),
            Self::Condorcet => condorcet::check(field),
            _ => Ok(()),
        }
    }

    fn combine(&self, field: &Field<'_>) -> Combine {
        match self {
            Self::Rrf(rrf) => rrf.combine(field),
            Self::Linear(linear) => linear.combine(field),
            Self::Dbsf(dbsf) => dbsf.combine(field),
            Self::CombMnz(_) | Self::Isr => Combine::SumTimesLists,
            Self::CombSum(_) | Self::Borda | Self::Rsf | Self::Condorcet => Combine::Sum,
        }
    }

    /// What each place of `list` is worth, and what not being in it is worth.
    fn terms(&self, list: &RankedList, field: &Field<'_>, terms: &mut Vec<Term>) -> Term {
        match self {
            Self::Rrf(rrf) => rrf.terms(list, terms),
            Self::CombSum(comb) | Self::CombMnz(comb) => comb.normalise.terms(list, terms),
            Self::Linear(linear) => linear.terms(list, terms),
            Self::Dbsf(dbsf) => dbsf.normalise().terms(list, terms),
            Self::Isr => isr::terms(list, terms),
            Self::Borda => borda::terms(list, field.candidates(), terms),
            Self::Rsf | Self::Condorcet => Term::NOTHING,
        }
    }

    /// Whether fused scores are in \[0, 1\] whatever the lists hold, so that they can be read as unit relevance.
    pub fn is_unit(&self) -> bool {
        match self {
            Self::Rsf => true,
            Self::Rrf(rrf) => rrf.is_unit(),
            Self::Linear(linear) => linear.is_unit(),
            _ => false,
        }
    }

    /// The most that a leg of this weight can add to any item, where the formula has such a bound.
    ///
    /// For a leg that did not answer this is what its absence can have cost a hit.
    pub fn most(&self, weight: f64, field_weight: f64) -> Option<f64> {
        match self {
            Self::Rrf(rrf) => Some(rrf.most(weight, field_weight)),
            Self::Rsf => Some(weight / field_weight),
            Self::CombSum(comb) => comb.normalise.most().map(|most| most * weight),
            Self::Linear(linear) => linear.most(weight, field_weight),
            Self::CombMnz(_) | Self::Dbsf(_) | Self::Isr | Self::Borda | Self::Condorcet => None,
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::leg::Leg;

    /// The two lists of the published comparison: BM25 and dense.
    pub(crate) fn two_lists() -> Candidates<&'static str> {
        let mut candidates = Candidates::new();
        candidates.scored(Leg::new("bm25"), [("a", 12.5), ("b", 11.0), ("c", 9.2)]).unwrap();
        candidates.scored(Leg::new("dense"), [("b", 0.95), ("c", 0.88), ("d", 0.70)]).unwrap();
        candidates
    }

    pub(crate) fn ranking<'a>(fusion: &Fusion, candidates: &Candidates<&'a str>) -> Vec<(&'a str, f64)> {
        let fused = fusion.fuse(candidates).unwrap();
        fused.hits().iter().map(|hit| (*candidates.id(hit.slot), hit.score)).collect()
    }

    #[track_caller]
    pub(crate) fn assert_ranking(fusion: &Fusion, candidates: &Candidates<&str>, expected: &[(&str, f64)]) {
        let got = ranking(fusion, candidates);
        let same = got.len() == expected.len()
            && got.iter().zip(expected).all(|(a, b)| a.0 == b.0 && (a.1 - b.1).abs() < 1e-6);
        assert!(same, "{}: got {got:?}, expected {expected:?}", fusion.method());
    }

    #[test]
    fn a_leg_of_weight_zero_is_not_run() {
        let mut candidates = two_lists();
        candidates.reweigh(|leg| if leg.name == "dense" { 0.0 } else { 1.0 });
        for method in Method::ALL {
            let fusion = FuseSpec::new(*method).check().unwrap();
            let ids: Vec<_> = ranking(&fusion, &candidates).into_iter().map(|(id, _)| id).collect();
            assert_eq!(ids, ["a", "b", "c"], "{method}");
        }
    }

    #[test]
    fn nothing_in_gives_nothing_out() {
        for method in Method::ALL {
            let fusion = FuseSpec::new(*method).check().unwrap();
            let mut candidates: Candidates<&str> = Candidates::new();
            assert!(fusion.fuse_explained(&candidates).unwrap().hits().is_empty(), "{method}");
            candidates.scored(Leg::new("empty"), []).unwrap();
            assert!(fusion.fuse_explained(&candidates).unwrap().hits().is_empty(), "{method}");
        }
    }
}
