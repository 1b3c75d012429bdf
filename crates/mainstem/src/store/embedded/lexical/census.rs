//! How many chunks and words each source has, and which sources are copies of others.
//!
//! A source is taken for a copy when at least half of the sketches of both together are in both, each in as many chunks: where sources have few
//! different words, the same sketch stands for many texts, but seldom for as many in two sources. Of large sources, some sketches are compared,
//! drawn by numbers that are the same for both and say nothing about how frequent a sketch is.

use rustc_hash::FxHashMap;
use tantivy::fieldnorm::FieldNormReader;
use tantivy::{SegmentReader, TantivyError};

use super::fields::Fields;
use super::sketch;
use super::view::Columns;
use crate::store::embedded::allowed::Allowed;
use mainstem_core::ChunkId;

/// How many sketches of a source are kept.
const SKETCHES: usize = 512;

/// The sources of a segment, or of several, by number.
#[derive(Debug, Default)]
pub(super) struct Census {
    pub(super) sources: FxHashMap<u32, Source>,
}

/// What was counted of one source.
#[derive(Clone, Debug, Default)]
pub(super) struct Source {
    pub(super) chunks: u64,
    /// Twice the number of their words. Of a long text, the index knows between which lengths its own is; the middle counts.
    pub(super) twice_words: u64,
    /// The sketches that were drawn, in the order of their numbers, each with how many chunks have it, after [`Source::settle`].
    sketches: Vec<(u64, u32)>,
}

impl Source {
    fn add(&mut self, twice_words: u64, sketch: Option<u64>) {
        self.chunks += 1;
        self.twice_words += twice_words;
        let Some(sketch) = sketch.filter(|sketch| *sketch != u64::MAX) else { return };
        self.sketches.push((sketch::mixed(sketch), 1));
        if self.sketches.len() >= 8 * SKETCHES {
            self.settle();
        }
    }

    fn settle(&mut self) {
        self.sketches.sort_unstable();
        self.sketches.dedup_by(|(later, more), (sketch, count)| {
            let same = later == sketch;
            *count += if same { *more } else { 0 };
            same
        });
        self.sketches.truncate(SKETCHES);
    }

    /// Up to which number all sketches are known.
    fn drawn_up_to(&self) -> u64 {
        self.sketches.get(SKETCHES - 1).map_or(u64::MAX, |(sketch, _)| *sketch)
    }

    /// How many sketches there are up to a number.
    fn up_to(&self, number: u64) -> usize {
        self.sketches.partition_point(|(sketch, _)| *sketch <= number)
    }
}

/// Twice the length in the middle of those that the index does not tell apart.
fn twice_length(id: u8) -> u64 {
    let least = FieldNormReader::id_to_fieldnorm(id);
    let next = id.checked_add(1).map_or(least + 1, FieldNormReader::id_to_fieldnorm);
    u64::from(least) + u64::from(next) - 1
}

impl Census {
    /// Counts the chunks of a segment that are there and may be read.
    pub(super) fn of_segment(
        segment: &SegmentReader,
        columns: &Columns,
        readable: Option<&Allowed>,
    ) -> Result<Self, TantivyError> {
        let lengths = segment.get_fieldnorms_reader(Fields::new().body)?;
        let mut sources: FxHashMap<u32, Source> = FxHashMap::default();
        let may_read = |doc| {
            readable.is_none_or(|all| columns.ids.first(doc).is_some_and(|id| all.contains(ChunkId(id))))
        };
        for doc in segment.doc_ids_alive().filter(|doc| may_read(*doc)) {
            let Some(source) = columns.sources.first(doc) else { continue };
            let length = twice_length(lengths.fieldnorm_id(doc));
            sources.entry(source as u32).or_default().add(length, columns.sketches.first(doc));
        }
        sources.values_mut().for_each(Source::settle);
        Ok(Self { sources })
    }

    /// All of these together.
    pub(super) fn of_all<'a>(all: impl IntoIterator<Item = &'a Self>) -> Self {
        let mut sources: FxHashMap<u32, Source> = FxHashMap::default();
        for (number, more) in all.into_iter().flat_map(|census| &census.sources) {
            let source = sources.entry(*number).or_default();
            source.chunks += more.chunks;
            source.twice_words += more.twice_words;
            source.sketches.extend(&more.sketches);
        }
        sources.values_mut().for_each(Source::settle);
        Self { sources }
    }

    /// The pairs of sources that are copies of each other: the later one, and the one that was there before.
    pub(super) fn copies(&self) -> Vec<(u32, u32)> {
        let mut holders: FxHashMap<(u64, u32), Vec<u32>> = FxHashMap::default();
        let mut shared: FxHashMap<(u32, u32), usize> = FxHashMap::default();
        let mut numbers: Vec<u32> = self.sources.keys().copied().collect();
        numbers.sort_unstable();
        for later in numbers {
            for sketch in &self.sources[&later].sketches {
                let earlier = holders.entry(*sketch).or_default();
                for earlier in &*earlier {
                    *shared.entry((later, *earlier)).or_default() += 1;
                }
                earlier.push(later);
            }
        }
        let are_copies = |((later, earlier), shared): &((u32, u32), usize)| {
            let (later, earlier) = (&self.sources[later], &self.sources[earlier]);
            // What both have lies where both are known.
            let known = later.drawn_up_to().min(earlier.drawn_up_to());
            3 * shared >= later.up_to(known) + earlier.up_to(known)
        };
        let mut copies: Vec<_> = shared.into_iter().filter(are_copies).map(|(pair, _)| pair).collect();
        copies.sort_unstable();
        copies
    }
}
