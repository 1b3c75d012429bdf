//! # Condorcet
//!
//! ```text
//! d beats e   when the lists that rank d above e weigh more than those that rank e above d
//! score(d)  = number of candidates that d beats + ½ × number it draws with
//! ```
//!
//! A list ranks what it holds above what it does not, and says nothing about two items that it does not hold.
//!
//! **Source.** M.-J.-A.-N. de Condorcet, 1785; as metasearch: M. Montague, J. A. Aslam: *Condorcet fusion for improved
//! retrieval*, CIKM 2002. Majorities can run in a circle, and a sort by majority then depends on the order of its input; this
//! is A. H. Copeland's count of victories (1951), which gives the same order where there is no circle and a definite one where
//! there is.
//!
//! **When to use it.** Many lists of which some may be arbitrarily wrong: margins do not matter, only majorities.
//!
//! **When not.** Two lists: every disagreement is a draw. Very many candidates: the cost is quadratic, so more than
//! [`MOST_CANDIDATES`] are refused.

use std::cmp::Ordering;

use super::tally::{Cells, Combine, Field, Tallied, Tally, Term};
use crate::error::Error;

/// More candidates than this are refused.
pub const MOST_CANDIDATES: usize = 20_000;

pub(super) fn check(field: &Field<'_>) -> Result<(), Error> {
    if field.candidates() <= MOST_CANDIDATES {
        return Ok(());
    }
    let expected =
        format!("at most {MOST_CANDIDATES} (its cost is quadratic; cut the lists or choose `rrf`)");
    Err(Error::range("the number of candidates for `condorcet`", expected, field.candidates()))
}

pub(super) fn tally(field: &Field<'_>, explain: bool) -> Tallied {
    let mut tallies = vec![Tally::EMPTY; field.slots()];
    for (_, list) in field.lists() {
        for (rank, (&slot, &raw)) in (1..).zip(list.slots().iter().zip(list.similarities())) {
            tallies[slot as usize].see(rank, raw);
        }
    }
    let active: Vec<usize> = (0..tallies.len()).filter(|&slot| tallies[slot].lists > 0).collect();
    let ballots = ballots(field);
    let (mut wins, mut draws) = (vec![0_u32; field.slots()], vec![0_u32; field.slots()]);
    for (at, &one) in active.iter().enumerate() {
        for &other in &active[at + 1..] {
            match margin(&ballots, one, other).total_cmp(&0.0) {
                Ordering::Greater => wins[one] += 1,
                Ordering::Less => wins[other] += 1,
                Ordering::Equal => [one, other].into_iter().for_each(|slot| draws[slot] += 1),
            }
        }
    }
    for &slot in &active {
        tallies[slot].score = points(wins[slot], draws[slot]);
    }
    let cells = explain.then(|| {
        let terms: Vec<_> =
            field.lists().iter().map(|(_, list)| (vec![Term::NOTHING; list.len()], Term::NOTHING)).collect();
        Cells::group(field, &tallies, &terms)
    });
    Tallied { tallies, cells, combine: Combine::Pairwise { wins, draws } }
}

/// Each list's weight and the rank it gives every slot; the slots it does not hold come after all others.
fn ballots(field: &Field<'_>) -> Vec<(f64, Vec<u32>)> {
    let ballot = |list: &crate::RankedList| {
        let mut ranks = vec![u32::MAX; field.slots()];
        (0..).zip(list.slots()).for_each(|(rank, &slot)| ranks[slot as usize] = rank);
        (list.leg().weight, ranks)
    };
    field.lists().iter().map(|(_, list)| ballot(list)).collect()
}

/// The weight of the lists that prefer `one`, less that of those that prefer `other`.
fn margin(ballots: &[(f64, Vec<u32>)], one: usize, other: usize) -> f64 {
    let preference = |(weight, ranks): &(f64, Vec<u32>)| match ranks[one].cmp(&ranks[other]) {
        Ordering::Less => *weight,
        Ordering::Equal => 0.0,
        Ordering::Greater => -*weight,
    };
    // Adding 0.0 turns a sum of −0.0 into 0.0, so that `total_cmp` sees a draw.
    ballots.iter().map(preference).sum::<f64>() + 0.0
}

/// The score of an item that wins and draws this often.
pub(crate) fn points(wins: u32, draws: u32) -> f64 {
    f64::from(wins) + f64::from(draws) / 2.0
}

#[cfg(test)]
mod tests {
    use crate::fuse::Fusion;
    use crate::fuse::tests::{assert_ranking, ranking, two_lists};
    use crate::{Candidates, Leg};

    fn votes(ballots: &[&[&'static str]]) -> Candidates<&'static str> {
        let mut candidates = Candidates::new();
        for (index, ballot) in ballots.iter().enumerate() {
            candidates.ranked(Leg::new(index.to_string()), ballot.iter().copied()).unwrap();
        }
        candidates
    }

    #[test]
    fn the_one_that_beats_all_others_wins() {
        let candidates = votes(&[&["a", "b", "c"], &["b", "a", "c"], &["a", "c", "b"]]);
        assert_ranking(&Fusion::Condorcet, &candidates, &[("a", 2.0), ("b", 1.0), ("c", 0.0)]);
    }

    #[test]
    fn a_circle_of_majorities_is_a_draw_broken_by_the_documented_order() {
        let candidates = votes(&[&["a", "b", "c"], &["b", "c", "a"], &["c", "a", "b"]]);
        assert_ranking(&Fusion::Condorcet, &candidates, &[("a", 1.0), ("b", 1.0), ("c", 1.0)]);
    }

    #[test]
    fn two_lists_draw_where_they_disagree() {
        // b beats c and d, and draws with a; a draws with all; c beats d and draws with a.
        let expected = [("b", 2.5), ("a", 1.5), ("c", 1.5), ("d", 0.5)];
        assert_ranking(&Fusion::Condorcet, &two_lists(), &expected);
    }

    #[test]
    fn too_many_candidates_are_refused() {
        let mut candidates = Candidates::new();
        candidates.ranked(Leg::new("long"), 0..=super::MOST_CANDIDATES).unwrap();
        assert!(Fusion::Condorcet.fuse(&candidates).is_err());
        assert_eq!(ranking(&Fusion::Condorcet, &two_lists()).len(), 4);
    }
}
