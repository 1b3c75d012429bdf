//! # Borda count
//!
//! ```text
//! points(d, list) = c − rank(d) + 1                     c candidates in all
//!                 = (c − n + 1) / 2                     for each of the c − n that the list of n does not hold
//! score(d)        = Σ w · points
//! ```
//!
//! Items that a list does not hold share the points it has left.
//!
//! **Source.** J.-C. de Borda, 1770; as metasearch: J. A. Aslam, M. Montague: *Models for metasearch*, SIGIR 2001.
//!
//! **When to use it.** The lists are votes over (nearly) the same candidates: several rerankers, several judges.
//!
//! **When not.** Short lists over a large collection: the shared points of the absent outweigh real differences, and a
//! long list speaks louder than a short one.

use super::tally::Term;
use crate::candidates::RankedList;

pub(super) fn terms(list: &RankedList, candidates: usize, terms: &mut Vec<Term>) -> Term {
    let weight = list.leg().weight;
    terms.extend((0..list.len()).map(|rank0| Term::of_rank(weight * (candidates - rank0) as f64)));
    match candidates - list.len() {
        0 => Term::NOTHING,
        absent => Term::of_rank(weight * (absent + 1) as f64 / 2.0),
    }
}

#[cfg(test)]
mod tests {
    use crate::fuse::Fusion;
    use crate::fuse::tests::{assert_ranking, two_lists};

    #[test]
    fn absent_items_share_what_is_left() {
        // Checked against ranx: bordafuse.
        let expected = [("b", 7.0), ("a", 5.0), ("c", 5.0), ("d", 3.0)];
        assert_ranking(&Fusion::Borda, &two_lists(), &expected);
    }
}
