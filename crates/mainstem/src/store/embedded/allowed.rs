//! The chunks that pass a filter.

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use mainstem_core::ChunkId;

use super::lexical::Readable;
use super::matrix::Sample;

/// How many scores there are, with their mean and their standard deviation.
pub(crate) type Spread = (u64, f64, f64);

/// What a caller may see at all. Everything that scores depend on is counted over it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scope {
    /// The numbers of the sources, in order; all when left out.
    pub(crate) sources: Option<Vec<u32>>,
    /// The chunks; all of the sources when left out.
    pub(crate) readable: Option<Arc<Allowed>>,
}

impl Scope {
    /// Whether a source may be seen.
    pub(crate) fn has(&self, source: u32) -> bool {
        self.sources.as_ref().is_none_or(|sources| sources.binary_search(&source).is_ok())
    }

    /// Whether it is known to be the same as another.
    pub(crate) fn is(&self, other: &Self) -> bool {
        let readable = match (&self.readable, &other.readable) {
            (Some(own), Some(others)) => Arc::ptr_eq(own, others),
            (None, None) => true,
            _ => false,
        };
        readable && self.sources == other.sources
    }
}

/// A set of chunks, in order and as bits.
#[derive(Debug, Default)]
pub(crate) struct Allowed {
    sorted: Vec<ChunkId>,
    bits: Vec<u64>,
    /// Where they are in the segments of the lexical index that were searched first.
    places: OnceLock<(Vec<String>, Places)>,
    /// What the lexical index found out about them, where they are what a reader may read.
    readable: Readable,
    /// The rows of the matrix that stand for them, as of a commit.
    sample: OnceLock<(u64, Arc<Sample>)>,
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
        Self { sorted: chunks, bits, ..Self::default() }
    }

    /// What the lexical index found out about them.
    pub(crate) fn readable(&self) -> &Readable {
        &self.readable
    }

    /// The rows of the matrix that stand for them; made once, as long as the commit is the same.
    pub(crate) fn sample(&self, sequence: u64, make: impl Fn() -> Sample) -> Arc<Sample> {
        let (known, sample) = self.sample.get_or_init(|| (sequence, Arc::new(make())));
        if *known == sequence { Arc::clone(sample) } else { Arc::new(make()) }
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
