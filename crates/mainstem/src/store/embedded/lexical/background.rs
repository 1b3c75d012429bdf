//! How the scores of a query are spread over all chunks of a source.
//!
//! A score is a sum over terms, and so is its mean; its variance is the sum of the variances when the terms occur independently of each
//! other, which is what is assumed. Words that like to stand together make the deviation larger than it is said to be here. Phrases are
//! taken as their words.
//!
//! What is needed of a term is therefore two numbers per source. They are exact for a term that few chunks have; for others they are those
//! of a sample of chunks, spread evenly over the source, so that the time does not grow with the index: with 1,000 of them, the mean is
//! known to 3 % of the deviation. They are kept for the next query with the term. A reader who may not read everything gets exact ones.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use rustc_hash::FxHashMap;
use tantivy::fieldnorm::FieldNormReader;
use tantivy::{DocId, SegmentReader, TERMINATED, TantivyError, Term};

use super::compile::{Compiled, Lookup};
use super::cursor::Cursor;
use super::fields::Fields;
use super::statistics::Statistics;
use super::view::{Columns, LexicalView};
use crate::store::embedded::allowed::Allowed;
use mainstem_core::ChunkId;

/// A term that so many chunks have, at most, is looked at in all of them.
const RARE: u64 = 2048;
/// How many chunks of a source are looked at, at most. It does not depend on what other sources there are.
const MOST: usize = 1000;
/// How many terms are kept.
const TERMS: usize = 1024;

/// What was found out about a commit. It never changes, so that an answer does not depend on the questions before.
#[derive(Default)]
pub(super) struct Known {
    sample: OnceLock<Sample>,
    /// By term and, as bits, the average length that the shares were taken with.
    terms: Mutex<FxHashMap<(Term, u64), Arc<Moments>>>,
}

/// By source: what a term adds to all chunks, as a share of its bound, and the sum of the squares.
#[derive(Default)]
struct Moments {
    /// Whether all chunks were looked at, not a sample.
    whole: bool,
    sums: FxHashMap<u32, (f64, f64)>,
}

/// The chunks that stand for each source.
struct Sample {
    /// How many there are of a source.
    counts: FxHashMap<u32, usize>,
    /// Of each segment: the chunks in order, with their sources.
    chunks: Vec<Vec<(DocId, u32)>>,
}

/// The segments of a commit, and what of them may be seen.
pub(super) struct Spread<'a> {
    pub(super) view: &'a LexicalView,
    pub(super) statistics: &'a Statistics<'a>,
    pub(super) known: &'a Known,
}

impl Spread<'_> {
    /// How many chunks each source has, and mean and deviation of their scores.
    pub(super) fn of(&self, query: &Compiled, sources: &[u32]) -> Result<Vec<(u64, f64, f64)>, TantivyError> {
        let census = self.statistics.census()?;
        let chunks = |source: &u32| census.sources.get(source).map_or(0, |source| source.chunks);
        let mut spreads: Vec<(u64, f64, f64)> =
            sources.iter().map(|source| (chunks(source), 0.0, 0.0)).collect();
        for lookup in &query.lookups {
            let whole = lookup.chunks <= RARE || self.statistics.readable().is_some();
            let moments = self.moments(query, lookup, whole)?;
            for ((chunks, mean, variance), source) in spreads.iter_mut().zip(sources) {
                let (sum, squares) = moments.sums.get(source).copied().unwrap_or_default();
                let count = if whole { *chunks as f64 } else { self.sample().count(*source) };
                let (first, second) = (sum / count.max(1.0), squares / count.max(1.0));
                *mean += lookup.bound * first;
                *variance += lookup.bound * lookup.bound * (second - first * first).max(0.0);
            }
        }
        Ok(spreads.into_iter().map(|(chunks, mean, variance)| (chunks, mean, variance.sqrt())).collect())
    }

    /// The moments of a term. Those of a reader are not kept.
    fn moments(&self, query: &Compiled, lookup: &Lookup, whole: bool) -> Result<Arc<Moments>, TantivyError> {
        if let Some(readable) = self.statistics.readable() {
            return self.counted(query, lookup, whole, Some(readable)).map(Arc::new);
        }
        let key = (lookup.term.clone(), query.average.to_bits());
        let terms = || self.known.terms.lock().unwrap_or_else(PoisonError::into_inner);
        // Whether a term is rare depends on what may be seen.
        if let Some(moments) = terms().get(&key).filter(|moments| moments.whole == whole) {
            return Ok(Arc::clone(moments));
        }
        let moments = Arc::new(self.counted(query, lookup, whole, None)?);
        let mut terms = terms();
        if terms.len() >= TERMS {
            terms.clear();
        }
        terms.insert(key, Arc::clone(&moments));
        Ok(moments)
    }

    fn counted(
        &self,
        query: &Compiled,
        lookup: &Lookup,
        whole: bool,
        readable: Option<&Allowed>,
    ) -> Result<Moments, TantivyError> {
        let mut moments = Moments { whole, ..Moments::default() };
        for (at, (segment, columns)) in self.view.segments().enumerate() {
            let mut walk = Walk {
                cursor: Cursor::open(
                    segment,
                    &Lookup { term: lookup.term.clone(), title: lookup.title.clone(), bound: 1.0, ..*lookup },
                )?,
                lengths: segment.get_fieldnorms_reader(Fields::new().body)?,
                norms: &query.norms,
                moments: &mut moments,
            };
            if whole {
                walk.all(segment, columns, readable);
            } else {
                walk.some(&self.sample().chunks[at]);
            }
        }
        Ok(moments)
    }

    fn sample(&self) -> &Sample {
        self.known.sample.get_or_init(|| Sample::new(self.view))
    }
}

/// One term in one segment, and what is added up.
struct Walk<'a> {
    cursor: Cursor,
    lengths: FieldNormReader,
    norms: &'a [f64; 256],
    moments: &'a mut Moments,
}

impl Walk<'_> {
    /// Looks at every chunk that has the term and may be read.
    fn all(&mut self, segment: &SegmentReader, columns: &Columns, readable: Option<&Allowed>) {
        let may_read = |doc| {
            readable.is_none_or(|all| columns.ids.first(doc).is_some_and(|id| all.contains(ChunkId(id))))
        };
        while self.cursor.doc() != TERMINATED {
            let doc = self.cursor.doc();
            let counts = !segment.is_deleted(doc) && may_read(doc);
            if let Some(source) = columns.sources.first(doc).filter(|_| counts) {
                self.add(doc, source as u32);
            }
            self.cursor.advance();
        }
    }

    /// Looks at these chunks only.
    fn some(&mut self, chunks: &[(DocId, u32)]) {
        for (doc, source) in chunks {
            if self.cursor.reaches(*doc) {
                self.add(*doc, *source);
            }
        }
    }

    fn add(&mut self, doc: DocId, source: u32) {
        let share = self.cursor.score(self.norms[usize::from(self.lengths.fieldnorm_id(doc))]);
        let (sum, squares) = self.moments.sums.entry(source).or_default();
        *sum += share;
        *squares += share * share;
    }
}

impl Sample {
    fn new(view: &LexicalView) -> Self {
        let alive = |(segment, columns): (&SegmentReader, &Columns)| -> Vec<(DocId, u32)> {
            let docs = segment.doc_ids_alive();
            docs.filter_map(|doc| Some((doc, columns.sources.first(doc)? as u32))).collect()
        };
        let chunks: Vec<Vec<(DocId, u32)>> = view.segments().map(alive).collect();
        let mut totals: FxHashMap<u32, usize> = FxHashMap::default();
        for (_, source) in chunks.iter().flatten() {
            *totals.entry(*source).or_default() += 1;
        }
        let mut passed: FxHashMap<u32, usize> = FxHashMap::default();
        // Every so-manieth chunk, so that there are `MOST` of a source at last.
        let mut take = |source: u32| {
            let (total, passed) = (totals[&source], passed.entry(source).or_default());
            *passed += 1;
            total <= MOST || (*passed - 1) * MOST % total < MOST
        };
        let taken = |mut chunks: Vec<(DocId, u32)>| {
            chunks.retain(|(_, source)| take(*source));
            chunks
        };
        let chunks = chunks.into_iter().map(taken).collect();
        let counts = totals.iter().map(|(source, total)| (*source, MOST.min(*total))).collect();
        Self { counts, chunks }
    }

    fn count(&self, source: u32) -> f64 {
        self.counts.get(&source).copied().unwrap_or_default() as f64
    }
}
