//! # CombSUM and CombMNZ
//!
//! ```text
//! CombSUM(d) = Σ w · value(d)
//! CombMNZ(d) = Σ w · value(d)  ×  number of lists that hold d
//! ```
//!
//! **Source.** E. A. Fox, J. A. Shaw: *Combination of multiple searches*, TREC-2, 1993. The choice of normalisation
//! matters more than that of the method: J. H. Lee, SIGIR 1997.
//!
//! **When to use it.** CombMNZ rewards agreement, which pays when several similar engines search one collection. CombSUM is
//! the plain sum, and with min-max it orders like [`super::rsf`].
//!
//! **When not.** CombMNZ with legs that find different things by design (words and meaning): what only the better leg can
//! find is halved. Across sources, which never agree since their documents differ.

use super::normalise::Normalise;

/// The settings of CombSUM and CombMNZ.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Comb {
    /// How scores are normalised before they are added.
    pub normalise: Normalise,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fuse::Fusion;
    use crate::fuse::normalise::Norm;
    use crate::fuse::tests::{assert_ranking, two_lists};

    #[test]
    fn combsum_adds() {
        // Checked against ranx: comb_sum after min-max.
        let expected = [("b", 1.545454), ("a", 1.0), ("c", 0.72), ("d", 0.0)];
        assert_ranking(&Fusion::CombSum(Comb::default()), &two_lists(), &expected);
    }

    #[test]
    fn combmnz_counts_the_lists() {
        // Checked against ranx: comb_mnz after min-max.
        let expected = [("b", 3.090909), ("c", 1.44), ("a", 1.0), ("d", 0.0)];
        assert_ranking(&Fusion::CombMnz(Comb::default()), &two_lists(), &expected);
    }

    #[test]
    fn raw_scores_can_be_added() {
        let raw = Comb { normalise: Normalise::new(Norm::None) };
        let expected = [("a", 12.5), ("b", 11.95), ("c", 10.08), ("d", 0.70)];
        assert_ranking(&Fusion::CombSum(raw), &two_lists(), &expected);
    }
}
