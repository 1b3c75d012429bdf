//! Searching the index as of one commit.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use mainstem_core::ChunkId;
use mainstem_core::contract::Found;
use tantivy::columnar::Column;
use tantivy::query::Weight;
use tantivy::schema::IndexRecordOption;
use tantivy::{BitSet, DocId, DocSet, Index, Searcher, SegmentReader, TERMINATED, TantivyError, Term};

use super::background::{Known, Spread};
use super::compile::Compiled;
use super::cursor::Cursors;
use super::directory::Folder;
use super::failure::reading;
use super::fields::Fields;
use super::tops::Tops;
use crate::Error;
use crate::store::embedded::allowed::Allowed;

/// When one in so many chunks is allowed, or fewer, they are scored one by one.
const FEW: u64 = 20;

/// The index as of one commit. Clones share it.
#[derive(Clone)]
pub(crate) struct LexicalView {
    searcher: Searcher,
    columns: Arc<[Columns]>,
    /// The names of the segments.
    names: Arc<[String]>,
    known: Arc<Known>,
    dir: PathBuf,
}

/// What a segment knows about its chunks besides their words.
pub(super) struct Columns {
    pub(super) ids: Column<u64>,
    pub(super) sources: Column<u64>,
    /// Whether the ids rise from place to place, once that was asked.
    rising: OnceLock<bool>,
}

impl Columns {
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
    pub(super) fn new(searcher: Searcher, dir: &Path) -> Result<Self, Error> {
        let columns = |segment: &SegmentReader| -> Result<Columns, TantivyError> {
            let fast = segment.fast_fields();
            let (ids, sources) = (fast.u64(Fields::ID)?, fast.u64(Fields::SOURCE)?);
            Ok(Columns { ids, sources, rising: OnceLock::new() })
        };
        let columns = reading(dir, || searcher.segment_readers().iter().map(columns).collect())?;
        let names = searcher.segment_readers().iter().map(|segment| segment.segment_id().uuid_string());
        let names = names.collect();
        Ok(Self { searcher, columns, names, known: Arc::default(), dir: dir.to_owned() })
    }

    /// How many chunks there are.
    pub(crate) fn doc_count(&self) -> u64 {
        self.searcher.num_docs()
    }

    /// The best `limit` chunks of each source that has any of the words, sources in the order asked, chunks best first and of equal ones the
    /// smaller number first. Scores are comparable across sources: the statistics are those of the whole index.
    ///
    /// Words in double quotes must stand together. Deleted chunks are not found, but count in the statistics until their segment is
    /// merged.
    ///
    /// # Errors
    /// When the index cannot be read.
    pub(crate) fn search(
        &self,
        text: &str,
        sources: &[u32],
        allowed: Option<&Allowed>,
        limit: usize,
    ) -> Result<Vec<(u32, Vec<Found>)>, Error> {
        if limit == 0 || sources.is_empty() {
            return Ok(Vec::new());
        }
        reading(&self.dir, || {
            let query = Compiled::new(text, &self.searcher)?;
            let mut tops = Tops::new(sources, limit);
            if let Some(few) = allowed.filter(|few| few.len() as u64 * FEW <= self.doc_count()) {
                self.search_few(&query, few, &mut tops)?;
                return Ok(tops.finish());
            }
            for (segment, columns) in self.searcher.segment_readers().iter().zip(&*self.columns) {
                search_segment(&query, segment, columns, allowed, &mut tops)?;
            }
            Ok(tops.finish())
        })
    }

    /// Scores the allowed chunks one by one, where they are few: the postings of a frequent word are many more.
    fn search_few(&self, query: &Compiled, few: &Allowed, tops: &mut Tops) -> Result<(), TantivyError> {
        let segments = || self.searcher.segment_readers().iter().zip(&*self.columns);
        let places = few.places(&self.names, || {
            segments().map(|(segment, columns)| places(segment, columns, few)).collect()
        });
        for ((segment, columns), docs) in segments().zip(&*places) {
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
    pub(crate) fn scores(&self, text: &str, chunks: &[ChunkId]) -> Result<Vec<Option<f64>>, Error> {
        reading(&self.dir, || {
            let query = Compiled::new(text, &self.searcher)?;
            let mut scores = vec![None; chunks.len()];
            for (segment, columns) in self.searcher.segment_readers().iter().zip(&*self.columns) {
                score_segment(&query, segment, columns, (chunks, &mut scores))?;
            }
            Ok(scores)
        })
    }

    /// The most that any chunk could score.
    ///
    /// # Errors
    /// When the index cannot be read.
    pub(crate) fn greatest(&self, text: &str) -> Result<f64, Error> {
        reading(&self.dir, || {
            let query = Compiled::new(text, &self.searcher)?;
            Ok(query.lookups.iter().map(|lookup| lookup.bound).sum())
        })
    }

    /// Mean and standard deviation of the scores of all chunks of each of these sources, which have so many chunks, in the order given.
    ///
    /// # Errors
    /// When the index cannot be read.
    pub(crate) fn background(&self, text: &str, sources: &[(u32, u64)]) -> Result<Vec<(f64, f64)>, Error> {
        reading(&self.dir, || {
            let query = Compiled::new(text, &self.searcher)?;
            let segments = self.searcher.segment_readers();
            Spread { segments, columns: &self.columns, known: &self.known }.of(&query, sources)
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
    let one = single_source(columns);
    Cursors::open(segment, query)?.each(tops.threshold(), |doc, score| {
        let source = one.or_else(|| columns.sources.first(doc));
        let place =
            source.and_then(|source| tops.place(source as u32)).filter(|place| tops.wants(*place, score));
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

/// The source of all chunks of a segment, if there is only one.
fn single_source(columns: &Columns) -> Option<u64> {
    let (least, most) = (columns.sources.min_value(), columns.sources.max_value());
    (least == most).then_some(least)
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
