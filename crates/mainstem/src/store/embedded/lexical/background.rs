//! How the scores of a query are spread over all chunks of a source.
//!
//! A score is a sum over terms, and so is its mean; its variance is the sum of the variances when the terms occur independently of each
//! other, which is what is assumed. Words that like to stand together make the deviation larger than it is said to be here. Phrases are
//! taken as their words.
//!
//! What is needed of a term is therefore two numbers per source. They are exact for a term that few chunks have; for others they are those
//! of a sample of chunks, spread evenly over the source, so that the time does not grow with the index: with 1,000 of them, the mean is
//! known to 3 % of the deviation. They are kept for the next query with the term.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use rustc_hash::FxHashMap;
use tantivy::fieldnorm::FieldNormReader;
use tantivy::{DocId, SegmentReader, TERMINATED, TantivyError, Term};

use super::compile::{Compiled, Lookup};
use super::cursor::Cursor;
use super::fields::Fields;
use super::view::Columns;

/// A term that so many chunks have, at most, is looked at in all of them.
const RARE: u64 = 2048;
/// How many chunks of a source are looked at, at most.
const MOST: usize = 1000;
/// How many chunks of all sources together, unless that leaves a source fewer than [`LEAST`].
const TOTAL: usize = 4096;
const LEAST: usize = 64;
/// How many terms are kept.
const TERMS: usize = 1024;

/// What was found out about a commit. It never changes, so that an answer does not depend on the questions before.
#[derive(Default)]
pub(super) struct Known {
    sample: OnceLock<Sample>,
    terms: Mutex<FxHashMap<Term, Arc<Moments>>>,
}

/// By source: what a term adds to a chunk on average, as a share of its bound, and the mean of the squares.
type Moments = FxHashMap<u32, (f64, f64)>;

/// The chunks that stand for each source.
struct Sample {
    /// How many there are of a source.
    counts: FxHashMap<u32, usize>,
    /// Of each segment: the chunks in order, with their sources.
    chunks: Vec<Vec<(DocId, u32)>>,
}

/// The segments of a commit.
pub(super) struct Spread<'a> {
    pub(super) segments: &'a [SegmentReader],
    pub(super) columns: &'a [Columns],
    pub(super) known: &'a Known,
}

impl Spread<'_> {
    /// Mean and deviation of the scores in each source, which has so many chunks.
    pub(super) fn of(
        &self,
        query: &Compiled,
        sources: &[(u32, u64)],
    ) -> Result<Vec<(f64, f64)>, TantivyError> {
        let mut spreads = vec![(0.0, 0.0); sources.len()];
        for lookup in &query.lookups {
            let rare = lookup.chunks <= RARE;
            let moments = self.moments(query, lookup, rare)?;
            for ((mean, variance), (source, chunks)) in spreads.iter_mut().zip(sources) {
                let (sum, squares) = moments.get(source).copied().unwrap_or_default();
                let count = if rare { *chunks as f64 } else { self.sample().count(*source) };
                let (first, second) = (sum / count.max(1.0), squares / count.max(1.0));
                *mean += lookup.bound * first;
                *variance += lookup.bound * lookup.bound * (second - first * first).max(0.0);
            }
        }
        Ok(spreads.into_iter().map(|(mean, variance): (f64, f64)| (mean, variance.sqrt())).collect())
    }

    fn moments(&self, query: &Compiled, lookup: &Lookup, rare: bool) -> Result<Arc<Moments>, TantivyError> {
        let terms = || self.known.terms.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(moments) = terms().get(&lookup.term) {
            return Ok(Arc::clone(moments));
        }
        let mut moments = Moments::default();
        for (at, segment) in self.segments.iter().enumerate() {
            let mut walk = Walk {
                cursor: Cursor::open(
                    segment,
                    &Lookup { term: lookup.term.clone(), title: lookup.title.clone(), bound: 1.0, ..*lookup },
                )?,
                lengths: segment.get_fieldnorms_reader(Fields::new().body)?,
                norms: &query.norms,
                moments: &mut moments,
            };
            if rare {
                walk.all(segment, &self.columns[at]);
            } else {
                walk.some(&self.sample().chunks[at]);
            }
        }
        let moments = Arc::new(moments);
        let mut terms = terms();
        if terms.len() >= TERMS {
            terms.clear();
        }
        terms.insert(lookup.term.clone(), Arc::clone(&moments));
        Ok(moments)
    }

    fn sample(&self) -> &Sample {
        self.known.sample.get_or_init(|| Sample::new(self.segments, self.columns))
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
    /// Looks at every chunk that has the term.
    fn all(&mut self, segment: &SegmentReader, columns: &Columns) {
        while self.cursor.doc() != TERMINATED {
            let doc = self.cursor.doc();
            if let Some(source) = columns.sources.first(doc).filter(|_| !segment.is_deleted(doc)) {
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
        let (sum, squares) = self.moments.entry(source).or_default();
        *sum += share;
        *squares += share * share;
    }
}

impl Sample {
    fn new(segments: &[SegmentReader], columns: &[Columns]) -> Self {
        let alive = |at: usize| {
            let (segment, sources) = (&segments[at], &columns[at].sources);
            let docs = (0..segment.max_doc()).filter(|doc| !segment.is_deleted(*doc));
            docs.filter_map(|doc| Some((doc, sources.first(doc)? as u32)))
        };
        let mut totals: FxHashMap<u32, usize> = FxHashMap::default();
        for (_, source) in (0..segments.len()).flat_map(alive) {
            *totals.entry(source).or_default() += 1;
        }
        let most = (TOTAL / totals.len().max(1)).clamp(LEAST, MOST);
        let mut passed: FxHashMap<u32, usize> = FxHashMap::default();
        // Every so-manieth chunk, so that there are `most` of a source at last.
        let mut take = |source: u32| {
            let (total, passed) = (totals[&source], passed.entry(source).or_default());
            *passed += 1;
            total <= most || (*passed - 1) * most % total < most
        };
        let chunks = (0..segments.len()).map(|at| alive(at).filter(|(_, source)| take(*source)).collect());
        let chunks = chunks.collect();
        let counts = totals.iter().map(|(source, total)| (*source, most.min(*total))).collect();
        Self { counts, chunks }
    }

    fn count(&self, source: u32) -> f64 {
        self.counts.get(&source).copied().unwrap_or_default() as f64
    }
}
