//! Ranked lists over slots.

use rustc_hash::{FxHashMap, FxHashSet};

use super::Slot;
use crate::leg::{Direction, Leg};

/// One leg's answer: best first, each item once, all scores finite.
#[derive(Clone, Debug, PartialEq)]
pub struct RankedList {
    pub(super) leg: Leg,
    pub(super) slots: Vec<Slot>,
    /// Similarities in list order; NaN stands for "no score".
    pub(super) scores: Vec<f64>,
    /// Similarities of items that the leg did not list but was asked about.
    completed: Vec<(Slot, f64)>,
    repeated: usize,
    pub(super) dropped: usize,
}

impl RankedList {
    pub(super) fn with_room(leg: Leg, items: usize) -> Self {
        let (slots, scores) = (Vec::with_capacity(items), Vec::with_capacity(items));
        Self { leg, slots, scores, completed: Vec::new(), repeated: 0, dropped: 0 }
    }

    /// What is known about the leg.
    pub fn leg(&self) -> &Leg {
        &self.leg
    }

    /// The items, best first.
    pub fn slots(&self) -> &[Slot] {
        &self.slots
    }

    /// How many items the list holds.
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// Whether the leg returned nothing.
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// The score at a place (from 0) as the leg gave it, if it gave one.
    pub fn score(&self, place: usize) -> Option<f64> {
        let similarity = self.scores[place];
        (!similarity.is_nan()).then_some(match self.leg.direction {
            Direction::Similarity => similarity,
            Direction::Distance => -similarity,
        })
    }

    /// The score at a place with "larger is better" for every leg; NaN where there is none.
    pub(crate) fn similarities(&self) -> &[f64] {
        &self.scores
    }

    /// The scores, as the leg gave them, of items that it did not list but was asked about.
    pub fn completed(&self) -> impl Iterator<Item = (Slot, f64)> {
        let direction = self.leg.direction;
        self.completed.iter().map(move |&(slot, similarity)| match direction {
            Direction::Similarity => (slot, similarity),
            Direction::Distance => (slot, -similarity),
        })
    }

    /// The completed scores with "larger is better" for every leg.
    pub(crate) fn completed_similarities(&self) -> &[(Slot, f64)] {
        &self.completed
    }

    /// Sets the similarities of items that the list does not hold; those that it holds are passed over.
    pub(crate) fn complete(&mut self, similarities: impl IntoIterator<Item = (Slot, f64)>) {
        let mut seen: FxHashSet<Slot> = self.slots.iter().copied().collect();
        self.completed = similarities.into_iter().filter(|(slot, _)| seen.insert(*slot)).collect();
    }

    /// How many repeated ids were passed over.
    pub fn repeated(&self) -> usize {
        self.repeated
    }

    /// Remembers what was passed over when the list was first read.
    pub(crate) fn passed_over(&mut self, repeated: usize, dropped: usize) {
        self.repeated += repeated;
        self.dropped += dropped;
    }

    /// How many items were dropped because their score was NaN or infinite.
    pub fn dropped(&self) -> usize {
        self.dropped
    }

    /// Sorts the scored items by score among the places that scored items hold.
    pub(super) fn sort(&mut self) {
        if self.scores.is_sorted_by(|a, b| a >= b) {
            return;
        }
        self.keep_best_copies();
        let places: Vec<usize> = (0..self.len()).filter(|&place| !self.scores[place].is_nan()).collect();
        let mut scored: Vec<_> =
            places.iter().map(|&place| (self.slots[place], self.scores[place])).collect();
        scored.sort_by(|a, b| b.1.total_cmp(&a.1));
        for (place, (slot, score)) in places.into_iter().zip(scored) {
            (self.slots[place], self.scores[place]) = (slot, score);
        }
    }

    /// Keeps the best copy of every item, the earliest of equals, so that copies do not push items without a score about.
    fn keep_best_copies(&mut self) {
        let mut best: FxHashMap<Slot, usize> = FxHashMap::default();
        for place in 0..self.len() {
            let at = best.entry(self.slots[place]).or_insert(place);
            if self.scores[place] > self.scores[*at]
                || (self.scores[*at].is_nan() && !self.scores[place].is_nan())
            {
                *at = place;
            }
        }
        let mut kept = 0;
        for place in 0..self.len() {
            if best[&self.slots[place]] != place {
                continue;
            }
            (self.slots[kept], self.scores[kept]) = (self.slots[place], self.scores[place]);
            kept += 1;
        }
        self.truncate(kept);
    }

    fn truncate(&mut self, kept: usize) {
        self.repeated += self.len() - kept;
        self.slots.truncate(kept);
        self.scores.truncate(kept);
    }

    /// Keeps the first place of every item; `slots` is more than any slot here.
    pub(super) fn drop_repeated(&mut self, slots: usize) {
        let mut seen = vec![false; slots];
        let mut kept = 0;
        for place in 0..self.len() {
            let slot = self.slots[place];
            if !std::mem::replace(&mut seen[slot as usize], true) {
                (self.slots[kept], self.scores[kept]) = (slot, self.scores[place]);
                kept += 1;
            }
        }
        self.truncate(kept);
    }

    /// The same list over other slots. A slot that comes twice keeps its first place.
    pub(crate) fn relabel(&self, slot_of: impl Fn(Slot) -> Slot) -> Self {
        let mut seen = FxHashSet::default();
        let mut list = Self { slots: Vec::new(), scores: Vec::new(), ..self.clone() };
        for (&slot, &score) in self.slots.iter().zip(&self.scores) {
            let slot = slot_of(slot);
            if seen.insert(slot) {
                list.slots.push(slot);
                list.scores.push(score);
            }
        }
        list.complete(self.completed.iter().map(|&(slot, score)| (slot_of(slot), score)));
        list
    }

    /// A leg with these items, which must be sorted, unique and finite already.
    pub(crate) fn of(leg: Leg, items: impl IntoIterator<Item = (Slot, f64)>) -> Self {
        let (slots, scores) = items.into_iter().unzip();
        Self { leg, slots, scores, completed: Vec::new(), repeated: 0, dropped: 0 }
    }

    /// The same leg with other items, which must be sorted, unique and finite already.
    pub(crate) fn with_items(&self, items: impl IntoIterator<Item = (Slot, f64)>) -> Self {
        let (slots, scores) = items.into_iter().unzip();
        Self { slots, scores, completed: Vec::new(), ..self.clone() }
    }
}
