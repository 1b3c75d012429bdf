//! The chunks that pass a filter.

use std::borrow::Cow;
use std::sync::OnceLock;

use mainstem_core::ChunkId;

/// A set of chunks, in order and as bits.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Allowed {
    sorted: Vec<ChunkId>,
    bits: Vec<u64>,
    /// Where they are in the segments of the lexical index that were searched first.
    places: OnceLock<(Vec<String>, Places)>,
}

/// By segment: the places of chunks, in order.
pub(crate) type Places = Vec<Vec<u32>>;

impl Allowed {
    /// The set of these chunks.
    pub(crate) fn new(mut chunks: Vec<ChunkId>) -> Self {
        chunks.sort_unstable();
        chunks.dedup();
        let words = chunks.last().map_or(0, |last| last.0 as usize / 64 + 1);
        let mut bits = vec![0; words];
        for chunk in &chunks {
            bits[chunk.0 as usize / 64] |= 1 << (chunk.0 % 64);
        }
        Self { sorted: chunks, bits, places: OnceLock::new() }
    }

    /// The chunks, in order.
    pub(crate) fn chunks(&self) -> &[ChunkId] {
        &self.sorted
    }

    /// Where the chunks are in these segments; looked for once, as long as the segments are the same.
    pub(crate) fn places(&self, segments: &[String], find: impl Fn() -> Places) -> Cow<'_, Places> {
        let (known, places) = self.places.get_or_init(|| (segments.to_vec(), find()));
        if known == segments { Cow::Borrowed(places) } else { Cow::Owned(find()) }
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.sorted.len()
    }

    /// The memory that they take: their numbers, their bits and their places.
    pub(crate) fn bytes(&self) -> usize {
        size_of::<ChunkId>() * self.sorted.len() + 8 * self.bits.len() + size_of::<u32>() * self.sorted.len()
    }

    /// Whether a chunk is among them.
    pub(crate) fn contains(&self, chunk: ChunkId) -> bool {
        self.bits.get(chunk.0 as usize / 64).is_some_and(|word| word >> (chunk.0 % 64) & 1 == 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holds_what_it_was_given() {
        let allowed = Allowed::new([130, 3, 3, 64].map(ChunkId).to_vec());
        assert_eq!(allowed.chunks(), [3, 64, 130].map(ChunkId));
        assert_eq!((0..200).filter(|id| allowed.contains(ChunkId(*id))).count(), allowed.len());
    }
}
