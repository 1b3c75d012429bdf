//! # Inverse square ranks
//!
//! ```text
//! score(d) = Σ w / rank(d)²  ×  number of lists that hold d
//! ```
//!
//! **Source.** A. Mourão, F. Martins, J. Magalhães: *Multimodal medical information retrieval with unsupervised rank fusion*,
//! Computerized Medical Imaging and Graphics 2015.
//!
//! **When to use it.** Only the first places of each list are to be trusted, and agreement matters: the second rank is worth
//! a quarter of the first, the tenth a hundredth.
//!
//! **When not.** Recall matters, or lists are noisy at the top: one lucky first place outweighs four second ones.

use super::tally::Term;
use crate::candidates::RankedList;

pub(super) fn terms(list: &RankedList, terms: &mut Vec<Term>) -> Term {
    let weight = list.leg().weight;
    terms.extend((1..=list.len()).map(|rank| Term::of_rank(weight / (rank * rank) as f64)));
    Term::NOTHING
}

#[cfg(test)]
mod tests {
    use crate::fuse::Fusion;
    use crate::fuse::tests::{assert_ranking, two_lists};

    #[test]
    fn agreement_at_the_top_wins() {
        // Checked against ranx: isr.
        let expected = [("b", 2.5), ("a", 1.0), ("c", 0.722222), ("d", 0.111111)];
        assert_ranking(&Fusion::Isr, &two_lists(), &expected);
    }
}
