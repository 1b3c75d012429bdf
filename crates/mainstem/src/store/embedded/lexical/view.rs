//! Searching the index as of one commit.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};

use mainstem_core::ChunkId;
use mainstem_core::contract::Found;
use tantivy::columnar::Column;
use tantivy::query::Weight;
use tantivy::schema::IndexRecordOption;
use tantivy::{BitSet, DocId, DocSet, Index, Searcher, SegmentReader, TERMINATED, TantivyError, Term};

use super::background::{self, Spread};
use super::census::Census;
use super::compile::Compiled;
use super::cursor::Cursors;
use super::directory::Folder;
use super::failure::reading;
use super::fields::Fields;
use super::statistics::{Known, Statistics, Terms};
use super::tops::Tops;
use crate::Error;
use crate::store::embedded::allowed::{self, Allowed, Scope};
use crate::store::embedded::pool::lock;

/// When one in so many chunks is allowed, or fewer, they are scored one by one.
const FEW: u64 = 20;

/// The index as of one commit. Clones share it.
#[derive(Clone)]
pub(crate) struct LexicalView {
    searcher: Searcher,
    columns: Arc<[Arc<Columns>]>,
    /// The names of the segments, each with how much of it is deleted.
    names: Arc<[String]>,
    /// What was found out about the sources.
    known: Arc<OnceLock<Known>>,
    spreads: Arc<background::Known>,
    /// The queries that were last compiled: a search asks for the same one several times.
    recent: Arc<Mutex<VecDeque<Recent>>>,
    dir: PathBuf,
}

/// How many compiled queries are kept.
const RECENT: usize = 4;

/// A query that was compiled, and for whom.
struct Recent {
    text: String,
    scope: Scope,
    compiled: Arc<Compiled>,
}

/// What a segment knows about its chunks besides their words.
pub(super) struct Columns {
    pub(super) ids: Column<u64>,
    pub(super) sources: Column<u64>,
    /// Whether the ids rise from place to place, once that was asked.
    rising: OnceLock<bool>,
    /// What tells copies of chunks.
    pub(super) sketches: Column<u64>,
    /// What was counted, once that was asked.
    census: OnceLock<Census>,
    pub(super) terms: Terms,
}

impl Columns {
    fn open(segment: &SegmentReader) -> Result<Self, TantivyError> {
        let fast = segment.fast_fields();
        Ok(Self {
            ids: fast.u64(Fields::ID)?,
            sources: fast.u64(Fields::SOURCE)?,
            rising: OnceLock::new(),
            sketches: fast.u64(Fields::SKETCH)?,
            census: OnceLock::new(),
            terms: Terms::default(),
        })
    }

    /// What a segment holds of each source.
    fn census(&self, segment: &SegmentReader) -> Result<&Census, TantivyError> {
        if let Some(census) = self.census.get() {
            return Ok(census);
        }
        let census = Census::of_segment(segment, self, None)?;
        Ok(self.census.get_or_init(|| census))
    }

    /// The source of all chunks of the segment, if there is only one.
    pub(super) fn single_source(&self) -> Option<u32> {
        let (least, most) = (self.sources.min_value(), self.sources.max_value());
        (least == most).then_some(least as u32)
    }

    /// Whether the ids rise from place to place, as they do unless segments were merged out of order: then a chunk is found by halving.
    fn is_rising(&self, segment: &SegmentReader) -> bool {
        *self.rising.get_or_init(|| (0..segment.max_doc()).is_sorted_by(|a, b| self.id(*a) < self.id(*b)))
    }

    fn id(&self, doc: DocId) -> Option<u64> {
        self.ids.first(doc)
    }

    /// The first place from `from` on whose id is not below that of a chunk, where ids rise.
    fn seek(&self, from: DocId, past: DocId, chunk: ChunkId) -> DocId {
        let mut step = 1;
        while from + step < past && self.id(from + step) < Some(chunk.0) {
            step = (step * 2).min(past - from);
        }
        let (mut low, mut high) = (from, past.min(from + step));
        while low < high {
            let middle = low.midpoint(high);
            if self.id(middle) < Some(chunk.0) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }
}

impl LexicalView {
    /// The index as a searcher sees it. What is known of segments that were there before is kept.
    pub(super) fn new(searcher: Searcher, dir: &Path, before: Option<&Self>) -> Result<Self, Error> {
        let name = |segment: &SegmentReader| {
            format!("{}-{}", segment.segment_id().uuid_string(), segment.num_deleted_docs())
        };
        let names: Arc<[String]> = searcher.segment_readers().iter().map(name).collect();
        let known = |name: &String| {
            let before = before?;
            let at = before.names.iter().position(|known| known == name)?;
            Some(Arc::clone(&before.columns[at]))
        };
        let columns = |(segment, name): (&SegmentReader, &String)| match known(name) {
            Some(columns) => Ok(columns),
            None => Columns::open(segment).map(Arc::new),
        };
        let segments = || searcher.segment_readers().iter().zip(&*names);
        let columns = reading(dir, || segments().map(columns).collect())?;
        let (known, spreads, recent) = (Arc::default(), Arc::default(), Arc::default());
        Ok(Self { searcher, columns, names, known, spreads, recent, dir: dir.to_owned() })
    }

    /// The segments, with what they know about their chunks.
    pub(super) fn segments(&self) -> impl Iterator<Item = (&SegmentReader, &Columns)> {
        self.searcher.segment_readers().iter().zip(self.columns.iter().map(|columns| &**columns))
    }

    /// The names of the segments, each with how much of it is deleted.
    pub(super) fn segment_names(&self) -> &[String] {
        &self.names
    }

    /// What is known about the sources.
    pub(super) fn known(&self) -> Result<&Known, TantivyError> {
        if let Some(known) = self.known.get() {
            return Ok(known);
        }
        let censuses = self.segments().map(|(segment, columns)| columns.census(segment));
        let known = Known::new(Census::of_all(censuses.collect::<Result<Vec<_>, _>>()?));
        Ok(self.known.get_or_init(|| known))
    }

    /// Whether it was searched before.
    pub(crate) fn is_known(&self) -> bool {
        self.known.get().is_some()
    }

    fn compiled(&self, text: &str, scope: &Scope) -> Result<Arc<Compiled>, TantivyError> {
        let known = |recent: &&Recent| recent.text == text && recent.scope.is(scope);
        if let Some(recent) = lock(&self.recent).iter().find(known) {
            return Ok(Arc::clone(&recent.compiled));
        }
        let compiled = Arc::new(Compiled::new(text, &Statistics::new(self, scope)?, &self.searcher)?);
        let mut recent = lock(&self.recent);
        recent.truncate(RECENT - 1);
        recent.push_front(Recent {
            text: text.to_owned(),
            scope: scope.clone(),
            compiled: Arc::clone(&compiled),
        });
        Ok(compiled)
    }

    /// How many chunks there are.
    pub(crate) fn doc_count(&self) -> u64 {
        self.searcher.num_docs()
    }

    /// The best `limit` chunks of each source that has any of the words, sources in the order asked, chunks best first and of equal ones the
    /// smaller number first. Scores are comparable across sources: the statistics are those of all that may be seen.
    ///
    /// Words in double quotes must stand together. Deleted chunks are not found, and do not count.
    ///
    /// # Errors
    /// When the index cannot be read.
    pub(crate) fn search(
        &self,
        (text, scope): (&str, &Scope),
        sources: &[u32],
        allowed: Option<&Allowed>,
        limit: usize,
    ) -> Result<Vec<(u32, Vec<Found>)>, Error> {
        if limit == 0 || sources.is_empty() {
            return Ok(Vec::new());
        }
        reading(&self.dir, || {
            let query = self.compiled(text, scope)?;
            let mut tops = Tops::new(sources, limit);
            if let Some(few) = allowed.filter(|few| few.len() as u64 * FEW <= self.doc_count()) {
                self.search_few(&query, few, &mut tops)?;
                return Ok(tops.finish());
            }
            for (segment, columns) in self.segments() {
                search_segment(&query, segment, columns, allowed, &mut tops)?;
            }
            Ok(tops.finish())
        })
    }

    /// Scores the allowed chunks one by one, where they are few: the postings of a frequent word are many more.
    fn search_few(&self, query: &Compiled, few: &Allowed, tops: &mut Tops) -> Result<(), TantivyError> {
        let places = few.places(&self.names, || {
            self.segments().map(|(segment, columns)| places(segment, columns, few)).collect()
        });
        for ((segment, columns), docs) in self.segments().zip(&*places) {
            let matching = query.required.as_deref().map(|weight| matching(weight, segment)).transpose()?;
            let mut cursors = Cursors::open(segment, query)?;
            for doc in docs.iter().filter(|doc| matching.as_ref().is_none_or(|docs| docs.contains(**doc))) {
                let score = cursors.score(*doc);
                let source = columns.sources.first(*doc).and_then(|source| tops.place(source as u32));
                if let Some((place, chunk)) = source.zip(columns.ids.first(*doc)).filter(|_| score > 0.0) {
                    tops.push(place, ChunkId(chunk), score);
                }
            }
        }
        Ok(())
    }

    /// The scores that [`LexicalView::search`] gives to these chunks, in their order: 0 for one that it would not find, nothing for one that is
    /// not there.
    ///
    /// # Errors
    /// When the index cannot be read.
    pub(crate) fn scores(
        &self,
        (text, scope): (&str, &Scope),
        chunks: &[ChunkId],
    ) -> Result<Vec<Option<f64>>, Error> {
        reading(&self.dir, || {
            let query = self.compiled(text, scope)?;
            let mut scores = vec![None; chunks.len()];
            for (segment, columns) in self.segments() {
                score_segment(&query, segment, columns, (chunks, &mut scores))?;
            }
            Ok(scores)
        })
    }

    /// The most that any chunk could score.
    ///
    /// # Errors
    /// When the index cannot be read.
    pub(crate) fn greatest(&self, text: &str, scope: &Scope) -> Result<f64, Error> {
        reading(&self.dir, || {
            let query = self.compiled(text, scope)?;
            Ok(query.lookups.iter().map(|lookup| lookup.bound).sum())
        })
    }

    /// How many chunks of each of these sources may be read, and the mean and the standard deviation of their scores, in the order given.
    ///
    /// # Errors
    /// When the index cannot be read.
    pub(crate) fn background(
        &self,
        (text, scope): (&str, &Scope),
        sources: &[u32],
    ) -> Result<Vec<allowed::Spread>, Error> {
        reading(&self.dir, || {
            let statistics = Statistics::new(self, scope)?;
            let query = Compiled::new(text, &statistics, &self.searcher)?;
            Spread { view: self, statistics: &statistics, known: &self.spreads }.of(&query, sources)
        })
    }

    /// Which of these sources are copies of others of them that were there before, in the order given.
    ///
    /// # Errors
    /// When the index cannot be read.
    pub(crate) fn copies_among(&self, scope: &Scope, sources: &[u32]) -> Result<Vec<u32>, Error> {
        reading(&self.dir, || {
            let copies = self.copies(scope, sources)?;
            Ok(sources.iter().copied().filter(|source| copies.contains(source)).collect())
        })
    }

    /// The files of the last commit whose bytes are not those that were written, by name.
    ///
    /// # Errors
    /// When the index cannot be read.
    pub(crate) fn damaged_files(&self) -> Result<Vec<PathBuf>, Error> {
        reading(&self.dir, || {
            // Opened anew: an index knows only of the files that were there when it was opened.
            let mut files: Vec<_> =
                Index::open(Folder::open(&self.dir)?)?.validate_checksum()?.into_iter().collect();
            files.sort_unstable();
            Ok(files)
        })
    }
}

/// The allowed chunks of a segment that were not deleted, in order.
fn places(segment: &SegmentReader, columns: &Columns, allowed: &Allowed) -> Vec<DocId> {
    let alive = |doc: &DocId| !segment.is_deleted(*doc);
    if !columns.is_rising(segment) {
        let passes = |doc: &DocId| columns.id(*doc).is_some_and(|id| allowed.contains(ChunkId(id)));
        return (0..segment.max_doc()).filter(alive).filter(passes).collect();
    }
    let mut at = 0;
    let mut found = Vec::new();
    for chunk in allowed.chunks() {
        at = columns.seek(at, segment.max_doc(), *chunk);
        if at == segment.max_doc() {
            break;
        }
        found.extend((columns.id(at) == Some(chunk.0)).then_some(at));
    }
    found.into_iter().filter(alive).collect()
}

fn search_segment(
    query: &Compiled,
    segment: &SegmentReader,
    columns: &Columns,
    allowed: Option<&Allowed>,
    tops: &mut Tops,
) -> Result<(), TantivyError> {
    let matching = query.required.as_deref().map(|weight| matching(weight, segment)).transpose()?;
    let one = columns.single_source();
    Cursors::open(segment, query)?.each(tops.threshold(), |doc, score| {
        let source = one.or_else(|| columns.sources.first(doc).map(|source| source as u32));
        let place = source.and_then(|source| tops.place(source)).filter(|place| tops.wants(*place, score));
        let passes =
            |doc| !segment.is_deleted(doc) && matching.as_ref().is_none_or(|matching| matching.contains(doc));
        if let Some((place, chunk)) = place.filter(|_| passes(doc)).zip(columns.ids.first(doc).map(ChunkId))
            && allowed.is_none_or(|allowed| allowed.contains(chunk))
        {
            tops.push(place, chunk, score);
        }
        tops.threshold()
    });
    Ok(())
}

fn score_segment(
    query: &Compiled,
    segment: &SegmentReader,
    columns: &Columns,
    (chunks, scores): (&[ChunkId], &mut [Option<f64>]),
) -> Result<(), TantivyError> {
    let here = columns.ids.min_value()..=columns.ids.max_value();
    let mut chunks: Vec<_> = chunks.iter().copied().zip(0_usize..).collect();
    chunks.retain(|(chunk, _)| here.contains(&chunk.0));
    chunks.sort_unstable();
    let mut docs = Vec::with_capacity(chunks.len());
    let mut from = 0;
    for (chunk, place) in chunks {
        let found = if columns.is_rising(segment) {
            from = columns.seek(from, segment.max_doc(), chunk);
            let there = from < segment.max_doc() && columns.id(from) == Some(chunk.0);
            Some(from).filter(|doc| there && !segment.is_deleted(*doc))
        } else {
            find(segment, chunk)?
        };
        docs.extend(found.map(|doc| (doc, place)));
    }
    if docs.is_empty() {
        return Ok(());
    }
    docs.sort_unstable();
    let matching = query.required.as_deref().map(|weight| matching(weight, segment)).transpose()?;
    let mut cursors = Cursors::open(segment, query)?;
    for (doc, place) in docs {
        let matches = matching.as_ref().is_none_or(|matching| matching.contains(doc));
        scores[place] = Some(if matches { cursors.score(doc) } else { 0.0 });
    }
    Ok(())
}

/// Where a segment keeps a chunk, unless it was deleted.
fn find(segment: &SegmentReader, chunk: ChunkId) -> Result<Option<DocId>, TantivyError> {
    let field = Fields::new().id;
    let term = Term::from_field_u64(field, chunk.0);
    let Some(mut postings) = segment.inverted_index(field)?.read_postings(&term, IndexRecordOption::Basic)?
    else {
        return Ok(None);
    };
    while postings.doc() != TERMINATED {
        if !segment.is_deleted(postings.doc()) {
            return Ok(Some(postings.doc()));
        }
        postings.advance();
    }
    Ok(None)
}

/// The chunks of a segment that match, deleted ones too.
fn matching(weight: &dyn Weight, segment: &SegmentReader) -> Result<BitSet, TantivyError> {
    let mut docs = BitSet::with_max_value(segment.max_doc());
    weight.for_each_no_score(segment, &mut |found| {
        for doc in found {
            docs.insert(*doc);
        }
    })?;
    Ok(docs)
}
