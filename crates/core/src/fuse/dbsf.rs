//! # Distribution-based score fusion
//!
//! ```text
//! value(d, list) = (s − (μ − 3σ)) / 6σ          all scores equal → 0.5
//! score(d)       = Σ w · value
//! ```
//!
//! with the mean μ and the sample standard deviation σ of the list.
//!
//! **Source.** M. Mazzeschi: *Distribution-based score fusion* (2023); Qdrant's `dbsf`. The default here is Qdrant's; Haystack
//! takes the population deviation and the greatest value instead ([`super::compat`]).
//!
//! **When to use it.** Lists with outliers, which under min-max would press all other hits together. Values are not
//! clamped: an outlier beyond three deviations stays one.
//!
//! **When not.** Very short lists (a deviation of three numbers is noise), or when fused scores must be in \[0, 1\].

use super::linear::Total;
use super::normalise::{Deviation, Norm, Normalise};
use super::tally::{Combine, Field};

/// The settings of distribution-based score fusion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dbsf {
    /// Which standard deviation.
    pub deviation: Deviation,
    /// How the values become the score.
    pub total: Total,
    /// What every item gets when all scores of a list are equal.
    pub equal: f64,
}

impl Default for Dbsf {
    fn default() -> Self {
        Self { deviation: Deviation::Sample, total: Total::Sum, equal: 0.5 }
    }
}

impl Dbsf {
    pub(super) fn normalise(&self) -> Normalise {
        Normalise { norm: Norm::ThreeSigma, equal: self.equal, floor: None, deviation: self.deviation }
    }

    pub(super) fn combine(&self, field: &Field<'_>) -> Combine {
        self.total.combine(field)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fuse::Fusion;
    use crate::fuse::tests::{assert_ranking, two_lists};
    use crate::{Candidates, Leg};

    #[test]
    fn qdrant() {
        let expected = [("b", 1.147931), ("c", 0.875903), ("a", 0.661394), ("d", 0.314772)];
        assert_ranking(&Fusion::Dbsf(Dbsf::default()), &two_lists(), &expected);
    }

    #[test]
    fn a_single_hit_is_in_the_middle() {
        let mut candidates = Candidates::new();
        candidates.scored(Leg::new("a"), [("x", 7.0)]).unwrap();
        assert_ranking(&Fusion::Dbsf(Dbsf::default()), &candidates, &[("x", 0.5)]);
    }
}
