//! The best chunks of each source.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use mainstem_core::ChunkId;
use mainstem_core::contract::Found;
use rustc_hash::FxHashMap;

/// A chunk that is better the greater it is: by score, then by smaller number.
#[derive(Clone, Copy, Debug)]
struct Ranked {
    score: f64,
    chunk: ChunkId,
}

impl Ord for Ranked {
    fn cmp(&self, other: &Self) -> Ordering {
        self.score.total_cmp(&other.score).then_with(|| other.chunk.cmp(&self.chunk))
    }
}

impl PartialOrd for Ranked {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Ranked {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Ranked {}

/// The best chunks of one source so far, worst on top.
struct Top {
    source: u32,
    heap: BinaryHeap<Reverse<Ranked>>,
    /// A chunk with a smaller score is not wanted.
    threshold: f64,
}

/// The best chunks of each of some sources so far.
pub(super) struct Tops {
    limit: usize,
    each: Vec<Top>,
    places: FxHashMap<u32, usize>,
    /// What every source asks for at least.
    threshold: f64,
}

impl Tops {
    pub(super) fn new(sources: &[u32], limit: usize) -> Self {
        let mut places = FxHashMap::default();
        let mut each = Vec::with_capacity(sources.len());
        for &source in sources {
            places.entry(source).or_insert_with(|| {
                each.push(Top { source, heap: BinaryHeap::new(), threshold: 0.0 });
                each.len() - 1
            });
        }
        Self { limit, each, places, threshold: 0.0 }
    }

    /// Where a source is kept, if it is one of those asked for.
    pub(super) fn place(&self, source: u32) -> Option<usize> {
        self.places.get(&source).copied()
    }

    /// The score below which no source wants a chunk.
    pub(super) fn threshold(&self) -> f64 {
        self.threshold
    }

    /// Whether the source at `place` may want a chunk of this score.
    pub(super) fn wants(&self, place: usize, score: f64) -> bool {
        score >= self.each[place].threshold
    }

    /// Offers a chunk to the source at `place`.
    pub(super) fn push(&mut self, place: usize, chunk: ChunkId, score: f64) {
        let top = &mut self.each[place];
        top.heap.push(Reverse(Ranked { score, chunk }));
        if top.heap.len() > self.limit {
            top.heap.pop();
        }
        if top.heap.len() < self.limit {
            return;
        }
        let worst = top.heap.peek().map_or(f64::INFINITY, |Reverse(worst)| worst.score);
        let was = std::mem::replace(&mut top.threshold, worst);
        if was <= self.threshold {
            self.threshold = self.each.iter().map(|top| top.threshold).fold(f64::INFINITY, f64::min);
        }
    }

    /// What was found, best first; sources in the order asked, without those that have nothing.
    pub(super) fn finish(self) -> Vec<(u32, Vec<Found>)> {
        let found = |Reverse(Ranked { score, chunk })| Found { chunk, score };
        let sorted = |heap: BinaryHeap<_>| heap.into_sorted_vec().into_iter().map(found).collect::<Vec<_>>();
        let each = self.each.into_iter().map(|top| (top.source, sorted(top.heap)));
        each.filter(|(_, found)| !found.is_empty()).collect()
    }
}
