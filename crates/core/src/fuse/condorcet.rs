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

use super::tally::{Cells, Combine, Field, Tallied, Tally, Term};
use crate::candidates::{RankedList, Slot};
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
    let active: Vec<Slot> =
        (0..).zip(&tallies).filter(|(_, tally)| tally.lists > 0).map(|(slot, _)| slot).collect();
    let (mut wins, mut draws) = (vec![0; field.slots()], vec![0; field.slots()]);
    for (&slot, Outcome { won, drawn }) in active.iter().zip(outcomes(&ballots(field, &active), active.len()))
    {
        let slot = slot as usize;
        (wins[slot], draws[slot]) = (won, drawn);
        tallies[slot].score = points(won, drawn);
    }
    let cells = explain.then(|| {
        let terms: Vec<_> =
            field.lists().iter().map(|(_, list)| (vec![Term::NOTHING; list.len()], Term::NOTHING)).collect();
        Cells::group(field, &tallies, &terms)
    });
    Tallied { tallies, cells, combine: Combine::Pairwise { wins, draws } }
}

/// A list's weight and the ranks it gives the candidates; those that it does not hold come after all others.
struct Ballot {
    weight: f64,
    ranks: Vec<i32>,
}

fn ballots(field: &Field<'_>, active: &[Slot]) -> Vec<Ballot> {
    let ballot = |list: &RankedList| {
        let mut ranks = vec![i32::MAX; field.slots()];
        (0..).zip(list.slots()).for_each(|(rank, &slot)| ranks[slot as usize] = rank);
        Ballot { weight: list.leg().weight, ranks: active.iter().map(|&slot| ranks[slot as usize]).collect() }
    };
    field.lists().iter().map(|(_, list)| ballot(list)).collect()
}

/// How much of the total weight a margin can be by rounding alone.
const ROUNDING: f64 = 1e-12;

/// How often a candidate beats another, and how often it draws.
#[derive(Clone, Copy, Default)]
struct Outcome {
    won: u32,
    drawn: u32,
}

/// Compares every candidate with all behind it at once, list by list: loops without branches, which the compiler turns
/// into vector instructions.
fn outcomes(ballots: &[Ballot], candidates: usize) -> Vec<Outcome> {
    let mut outcomes = vec![Outcome::default(); candidates];
    let mut margins = vec![0.0; candidates];
    let rounding = ROUNDING * ballots.iter().map(|ballot| ballot.weight).sum::<f64>();
    for one in 0..candidates {
        let margins = &mut margins[one + 1..];
        margins.fill(0.0);
        for ballot in ballots {
            add_preferences(ballot.weight, ballot.ranks[one], &ballot.ranks[one + 1..], margins);
        }
        let (before, behind) = outcomes.split_at_mut(one + 1);
        count(margins, rounding, &mut before[one], behind);
    }
    outcomes
}

/// Adds a list's weight to the margin over each other candidate that it ranks behind `rank`, and takes it off where it
/// ranks the other before.
fn add_preferences(weight: f64, rank: i32, others: &[i32], margins: &mut [f64]) {
    for (margin, &other) in margins.iter_mut().zip(others) {
        *margin += weight * f64::from(i32::from(other > rank) - i32::from(other < rank));
    }
}

/// A margin within `rounding` is a draw: three lists of weight 0.1 against three others must not win by a rounding error.
fn count(margins: &[f64], rounding: f64, one: &mut Outcome, others: &mut [Outcome]) {
    for (&margin, other) in margins.iter().zip(others) {
        let (won, lost) = (margin > rounding, margin < -rounding);
        one.won += u32::from(won);
        other.won += u32::from(lost);
        one.drawn += u32::from(!won && !lost);
        other.drawn += u32::from(!won && !lost);
    }
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
    fn equal_weights_draw_whatever_the_rounding() {
        let mut candidates = Candidates::new();
        for (index, order) in
            [["a", "b"], ["a", "b"], ["a", "b"], ["b", "a"], ["b", "a"], ["b", "a"]].iter().enumerate()
        {
            candidates.ranked(Leg::new(index.to_string()).weight(0.1).unwrap(), *order).unwrap();
        }
        assert_ranking(&Fusion::Condorcet, &candidates, &[("a", 0.5), ("b", 0.5)]);
    }

    #[test]
    fn too_many_candidates_are_refused() {
        let mut candidates = Candidates::new();
        candidates.ranked(Leg::new("long"), 0..=super::MOST_CANDIDATES).unwrap();
        assert!(Fusion::Condorcet.fuse(&candidates).is_err());
        assert_eq!(ranking(&Fusion::Condorcet, &two_lists()).len(), 4);
    }
}
