//! The outcome of a fusion: hits in their final order.

use super::tally::{Cells, Combine, Tallied, Tally};
use crate::candidates::{Candidates, Id, Slot};

/// What one list gave one item.
#[derive(Clone, Copy, Debug)]
pub struct Cell {
    /// The index of the list.
    pub list: u32,
    /// The item's rank in the list, from 1; 0 when the list does not hold the item.
    pub rank: u32,
    /// The score after normalisation; NaN for methods that look at ranks only.
    pub value: f64,
    /// What the list adds to the score.
    pub amount: f64,
}

impl Cell {
    pub(crate) const EMPTY: Self = Self { list: 0, rank: 0, value: f64::NAN, amount: 0.0 };
}

/// One item of the fused list.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FusedHit {
    /// Which item.
    pub slot: Slot,
    /// Its fused score.
    pub score: f64,
    /// Its best rank in any list, from 1.
    pub best_rank: u32,
    /// Its best raw score in any list (larger is better); −∞ where none gave a score.
    pub best_raw: f64,
    /// How many lists hold it.
    pub lists: u32,
}

/// The fused list: best first, in the total order of the crate.
///
/// Score descending, best rank ascending, best raw score descending, id ascending. No two items compare equal, so the
/// same input gives the same output in every process.
#[derive(Clone, Debug)]
pub struct Fused {
    hits: Vec<FusedHit>,
    cells: Option<Cells>,
    combine: Combine,
}

impl Fused {
    pub(crate) fn ranked<I: Id>(tallied: Tallied, candidates: &Candidates<I>) -> Self {
        let Tallied { tallies, cells, combine } = tallied;
        let slots = slot_bits(tallies.len());
        let mut keys = Vec::with_capacity(tallies.len());
        let held = (0..).zip(&tallies).filter(|(_, tally)| tally.lists > 0);
        keys.extend(held.map(|(slot, tally)| sort_key(slot, tally, slots)));
        keys.sort_unstable();
        break_ties(&mut keys, slots, &tallies, candidates);
        let hits = keys.into_iter().map(|key| hit(slot_of(key, slots), &tallies)).collect();
        Self { hits, cells, combine }
    }

    /// The hits, best first.
    pub fn hits(&self) -> &[FusedHit] {
        &self.hits
    }

    /// How the lists' amounts were combined.
    pub fn combine(&self) -> &Combine {
        &self.combine
    }

    /// What each list gave an item, in list order; empty unless the fusion was
    /// [explained](super::Fusion::fuse_explained).
    pub fn cells(&self, slot: Slot) -> &[Cell] {
        self.cells.as_ref().map_or(&[], |cells| cells.of(slot))
    }
}

fn hit(slot: Slot, tallies: &[Tally]) -> FusedHit {
    let Tally { score, best_raw, best_rank, lists } = tallies[slot as usize];
    FusedHit { slot, score, best_rank, best_raw, lists }
}

/// How many bits the slots take.
fn slot_bits(slots: usize) -> u32 {
    usize::BITS - slots.leading_zeros()
}

/// As much of the score (descending) as there is room for, with the slot in the low bits: an integer sorts several
/// times faster than a comparison of structs. [`break_ties`] puts right what the missing bits leave open.
fn sort_key(slot: Slot, tally: &Tally, slots: u32) -> u64 {
    !ascending_bits(tally.score) >> slots << slots | u64::from(slot)
}

fn slot_of(key: u64, slots: u32) -> Slot {
    (key & ((1 << slots) - 1)) as Slot
}

/// Maps a float to an integer of the same order as `f64::total_cmp`.
fn ascending_bits(score: f64) -> u64 {
    let bits = score.to_bits();
    if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
}

/// Puts runs whose keys cannot tell them apart in the total order.
fn break_ties<I: Id>(keys: &mut [u64], slots: u32, tallies: &[Tally], candidates: &Candidates<I>) {
    let total_order = |a: Slot, b: Slot| {
        let (one, other) = (&tallies[a as usize], &tallies[b as usize]);
        other
            .score
            .total_cmp(&one.score)
            .then(one.best_rank.cmp(&other.best_rank))
            .then(other.best_raw.total_cmp(&one.best_raw))
            .then_with(|| candidates.id(a).cmp(candidates.id(b)))
    };
    for run in keys.chunk_by_mut(|a, b| a >> slots == b >> slots).filter(|run| run.len() > 1) {
        run.sort_unstable_by(|&a, &b| total_order(slot_of(a, slots), slot_of(b, slots)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fuse::{Comb, Fusion, Norm, Normalise};
    use crate::leg::Leg;

    #[test]
    fn the_integer_key_orders_like_total_cmp() {
        let mut scores = [0.0, -0.0, 1.5, -1.5, 1e-300, -1e-300, f64::MAX, f64::MIN, 0.1 + 0.2, 0.3];
        let mut by_bits = scores;
        scores.sort_by(f64::total_cmp);
        by_bits.sort_by_key(|score| ascending_bits(*score));
        assert_eq!(scores.map(f64::to_bits), by_bits.map(f64::to_bits));
    }

    #[test]
    fn scores_that_differ_in_the_last_bit_are_told_apart() {
        let mut candidates = Candidates::new();
        candidates.scored(Leg::new("one"), [("a", 0.3), ("c", 0.1)]).unwrap();
        candidates.scored(Leg::new("two"), [("b", 0.1 + 0.2)]).unwrap();
        let raw = Comb { normalise: Normalise::new(Norm::None) };
        let fused = Fusion::CombSum(raw).fuse(&candidates).unwrap();
        let ids: Vec<_> = fused.hits().iter().map(|hit| *candidates.id(hit.slot)).collect();
        assert_eq!(ids, ["b", "a", "c"]);
    }

    #[test]
    fn ties_fall_to_best_rank_then_raw_score_then_id() {
        let mut candidates = Candidates::new();
        candidates.scored(Leg::new("one"), [("z", 5.0), ("m", 1.0)]).unwrap();
        candidates.scored(Leg::new("two"), [("b", 9.0)]).unwrap();
        candidates.scored(Leg::new("three"), [("a", 5.0)]).unwrap();
        let fused = Fusion::default().fuse(&candidates).unwrap();
        let ids: Vec<_> = fused.hits().iter().map(|hit| *candidates.id(hit.slot)).collect();
        assert_eq!(ids, ["b", "a", "z", "m"]);
    }
}
