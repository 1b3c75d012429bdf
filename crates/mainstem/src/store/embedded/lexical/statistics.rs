//! What the scores of a search are made of besides the words of a chunk: how many chunks there are, how long they are, and how many have a word.
//!
//! Only what the caller may see is counted, so that no score tells about anything else. A copy of a source is not counted either: otherwise
//! every word of the copied source would be less rare with each copy, and the order of all hits would change. Both need counts for each source.
//! A segment counts a term once, when it is first asked for, and remembers it.
//!
//! A source that has nothing to do with a query must not change how its words are weighed. So a word is never more telling than in the source
//! that uses it most ([`super::bm25`]), and chunks are as long on average as in the sources that have the words, each counting by how many
//! of its chunks have them.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use mainstem_core::ChunkId;
use rustc_hash::{FxHashMap, FxHashSet};
use tantivy::schema::IndexRecordOption;
use tantivy::{DocId, DocSet, SegmentReader, TERMINATED, TantivyError, Term};

use super::bm25::{idf, idf_within};
use super::census::{Census, Source};
use super::view::{Columns, LexicalView};
use crate::store::embedded::allowed::{Allowed, Scope};

/// How many terms are remembered, by a segment or for a reader.
const TERMS: usize = 4096;

/// By source: how many chunks have a term.
pub(super) type Counts = Vec<(u32, u64)>;

/// The counts of the last terms. They never change, so that an answer does not depend on the questions before.
#[derive(Debug, Default)]
pub(super) struct Terms(Mutex<FxHashMap<Term, Arc<Counts>>>);

impl Terms {
    fn get(
        &self,
        term: &Term,
        count: impl FnOnce() -> Result<Counts, TantivyError>,
    ) -> Result<Arc<Counts>, TantivyError> {
        let known = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(counts) = known().get(term) {
            return Ok(Arc::clone(counts));
        }
        let counts = Arc::new(count()?);
        let mut known = known();
        if known.len() >= TERMS {
            known.clear();
        }
        known.insert(term.clone(), Arc::clone(&counts));
        Ok(counts)
    }
}

/// The sources of an index, or those parts of them that a reader sees, and which of them are copies.
#[derive(Debug)]
pub(super) struct Known {
    pub(super) census: Census,
    copies: Vec<(u32, u32)>,
}

impl Known {
    pub(super) fn new(census: Census) -> Self {
        Self { copies: census.copies(), census }
    }
}

/// What was found out about the chunks that a reader may read, as long as the segments are the same.
#[derive(Debug, Default)]
pub(crate) struct Readable(OnceLock<(Vec<String>, Arc<Seen>)>);

/// What a reader sees of an index.
#[derive(Debug)]
struct Seen {
    known: Known,
    terms: Terms,
    /// Whether that is everything there is.
    all: bool,
}

/// The statistics of one search.
pub(super) struct Statistics<'a> {
    view: &'a LexicalView,
    seen: Option<(&'a Allowed, Arc<Seen>)>,
    /// The sources that count.
    counted: FxHashSet<u32>,
    /// The sources that may be seen.
    visible: FxHashSet<u32>,
}

impl<'a> Statistics<'a> {
    pub(super) fn new(view: &'a LexicalView, scope: &'a Scope) -> Result<Self, TantivyError> {
        let seen = match &scope.readable {
            Some(allowed) => Some((&**allowed, view.seen(allowed, scope)?)),
            None => None,
        };
        // Where nothing is hidden, the counts of all are known already.
        let seen = seen.filter(|(_, seen)| !seen.all);
        let known = match &seen {
            Some((_, seen)) => &seen.known,
            None => view.known()?,
        };
        let there = known.census.sources.keys().copied();
        let visible: FxHashSet<u32> = there.filter(|source| scope.has(*source)).collect();
        let copies = copies_among(known, |source| visible.contains(&source));
        let counted = visible.difference(&copies).copied().collect();
        Ok(Self { view, seen, counted, visible })
    }

    /// What was counted of the sources.
    pub(super) fn census(&self) -> Result<&Census, TantivyError> {
        match &self.seen {
            Some((_, seen)) => Ok(&seen.known.census),
            None => self.view.known().map(|known| &known.census),
        }
    }

    /// What may be read, where that is not everything.
    pub(super) fn readable(&self) -> Option<&Allowed> {
        self.seen.as_ref().map(|(allowed, _)| *allowed)
    }

    /// How a term is used; nothing when no chunk has it. One that only copies have counts as often as they have it: it can be found, so it must
    /// be worth something.
    pub(super) fn usage(&self, term: &Term) -> Result<Option<Usage>, TantivyError> {
        let mut counts: FxHashMap<u32, u64> = FxHashMap::default();
        let mut add = |more: &Counts| {
            for (source, count) in more.iter().filter(|(source, _)| self.visible.contains(source)) {
                *counts.entry(*source).or_default() += count;
            }
        };
        if let Some((allowed, seen)) = &self.seen {
            add(&*seen.terms.get(term, || self.of_reader(term, allowed))?);
        } else {
            for (segment, columns) in self.view.segments() {
                add(&*of_segment(term, segment, columns)?);
            }
        }
        if counts.iter().any(|(source, count)| *count > 0 && self.counted.contains(source)) {
            counts.retain(|source, _| self.counted.contains(source));
        }
        let sources = &self.census()?.sources;
        let all =
            self.counted.iter().filter_map(|source| sources.get(source)).map(|source| source.chunks).sum();
        let counts = counts.iter().filter_map(|(source, count)| Some((sources.get(source)?, *count)));
        Ok(Usage::new(all, counts.filter(|(_, count)| *count > 0)))
    }

    fn of_reader(&self, term: &Term, allowed: &Allowed) -> Result<Counts, TantivyError> {
        let mut all: FxHashMap<u32, u64> = FxHashMap::default();
        for (segment, columns) in self.view.segments() {
            let may_read = |doc| columns.ids.first(doc).is_some_and(|id| allowed.contains(ChunkId(id)));
            count(term, segment, columns, may_read, &mut all)?;
        }
        Ok(all.into_iter().collect())
    }
}

/// How the sources that count use a term.
#[derive(Clone, Copy, Debug)]
pub(super) struct Usage {
    /// How many chunks have it.
    pub(super) chunks: u64,
    /// How telling it is.
    pub(super) idf: f64,
    /// How many words a chunk has on average in the sources that have it, each source counting by how many of its chunks do.
    pub(super) length: f64,
}

impl Usage {
    /// From how many chunks count, and how many of each source have the term. The order of the sources makes no difference: what is added up
    /// are whole numbers.
    fn new<'a>(all: u64, counts: impl Iterator<Item = (&'a Source, u64)>) -> Option<Self> {
        let (mut chunks, mut within) = (0, f64::INFINITY);
        let (mut twice_words, mut looked_at) = (0_u128, 0_u128);
        for (source, count) in counts {
            chunks += count;
            within = idf_within(source.chunks, count).min(within);
            twice_words += u128::from(count) * u128::from(source.twice_words);
            looked_at += u128::from(count) * u128::from(source.chunks);
        }
        (chunks > 0).then(|| Self {
            chunks,
            idf: idf(all, chunks).min(within),
            length: twice_words as f64 / 2.0 / looked_at as f64,
        })
    }
}

impl LexicalView {
    /// Which of these sources are copies of others of them that were there before, as far as they may be seen.
    pub(super) fn copies(&self, scope: &Scope, sources: &[u32]) -> Result<FxHashSet<u32>, TantivyError> {
        let among = |source: u32| scope.has(source) && sources.contains(&source);
        match &scope.readable {
            Some(allowed) => Ok(copies_among(&self.seen(allowed, scope)?.known, among)),
            None => Ok(copies_among(self.known()?, among)),
        }
    }

    fn seen(&self, allowed: &Allowed, scope: &Scope) -> Result<Arc<Seen>, TantivyError> {
        let names = self.segment_names();
        if let Some((_, seen)) = allowed.readable().0.get().filter(|(known, _)| known == names) {
            return Ok(Arc::clone(seen));
        }
        let censuses =
            self.segments().map(|(segment, columns)| Census::of_segment(segment, columns, Some(allowed)));
        let known = Known::new(Census::of_all(&censuses.collect::<Result<Vec<_>, _>>()?));
        let chunks = |census: &Census| -> u64 {
            let visible = census.sources.iter().filter(|(source, _)| scope.has(**source));
            visible.map(|(_, source)| source.chunks).sum()
        };
        let all = chunks(&known.census) == chunks(&self.known()?.census);
        let seen = Arc::new(Seen { known, terms: Terms::default(), all });
        // Another search may have been first, or have had other segments: then this is for this one alone.
        let _ = allowed.readable().0.set((names.to_vec(), Arc::clone(&seen)));
        Ok(seen)
    }
}

/// Those sources that are a copy of an earlier one among them.
fn copies_among(known: &Known, among: impl Fn(u32) -> bool) -> FxHashSet<u32> {
    let pairs = known.copies.iter().filter(|(later, earlier)| among(*later) && among(*earlier));
    pairs.map(|(later, _)| *later).collect()
}

/// The counts of one segment. Where all its chunks are there and of one source, its dictionary knows.
fn of_segment(term: &Term, segment: &SegmentReader, columns: &Columns) -> Result<Arc<Counts>, TantivyError> {
    if let Some(source) = columns.single_source().filter(|_| !segment.has_deletes()) {
        let chunks = segment.inverted_index(term.field())?.doc_freq(term)?;
        return Ok(Arc::new(vec![(source, u64::from(chunks))]));
    }
    columns.terms.get(term, || {
        let mut counts = FxHashMap::default();
        count(term, segment, columns, |_| true, &mut counts)?;
        Ok(counts.into_iter().collect())
    })
}

/// Counts the chunks of a segment that have a term, are there, and pass.
fn count(
    term: &Term,
    segment: &SegmentReader,
    columns: &Columns,
    passes: impl Fn(DocId) -> bool,
    counts: &mut FxHashMap<u32, u64>,
) -> Result<(), TantivyError> {
    let index = segment.inverted_index(term.field())?;
    let Some(mut postings) = index.read_postings(term, IndexRecordOption::Basic)? else { return Ok(()) };
    let single = columns.single_source();
    // Chunks of a source mostly stand side by side.
    let (mut current, mut run) = (None, 0);
    while postings.doc() != TERMINATED {
        let doc = postings.doc();
        if !segment.is_deleted(doc) && passes(doc) {
            let source = single.or_else(|| columns.sources.first(doc).map(|source| source as u32));
            if source != current {
                flush(counts, current, run);
                (current, run) = (source, 0);
            }
            run += 1;
        }
        postings.advance();
    }
    flush(counts, current, run);
    Ok(())
}

fn flush(counts: &mut FxHashMap<u32, u64>, source: Option<u32>, run: u64) {
    if let Some(source) = source.filter(|_| run > 0) {
        *counts.entry(source).or_default() += run;
    }
}
