//! The store at one moment: a view.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use mainstem_core::contract::{
    Background, Channel, Ctx, Filter, Found, FoundIn, Retrieval, Scoring, SourceStats, View,
};
use mainstem_core::{Chunk, ChunkId, Code, Document, Failure, StoredChunk};
use rusqlite::Row;
use rustc_hash::FxHashMap;

use super::allowed::{Allowed, Scope, Spread};
use super::cards::{Cards, Files};
use super::catch_up::{Derived, Stumble};
use super::check;
use super::lexical::{Lexical, LexicalView};
use super::matrix::{Matrix, MatrixView, Widener};
use super::pool::{Pool, Reading, lock};
use super::remembered::Remembered;
use super::truth::outline::Outline;
use super::truth::read::NumberedSource;
use super::truth::{self, Meta, matching, read};
use crate::Error;

/// The indexes that are in use.
#[derive(Clone)]
pub(super) struct Indexes {
    pub(super) lexical: Arc<Lexical>,
    pub(super) matrix: Arc<Matrix>,
    /// Which folders they are in.
    pub(super) generations: (u64, u64),
    /// The entry of the log up to which the writer has brought them; it alone knows.
    pub(super) level_at: Option<u64>,
}

impl Indexes {
    /// The words as they are now, and up to which entry of the log they are, when that can be said.
    fn words(&self) -> Result<(LexicalView, Option<u64>), Error> {
        if self.level_at.is_some() {
            return Ok((self.lexical.view()?, self.level_at));
        }
        self.lexical.view_and_applied()
    }
}

/// What all views of a store share.
pub(super) struct Shared {
    pub(super) pool: Arc<Pool>,
    pub(super) cards: Cards,
    pub(super) remembered: Remembered,
    pub(super) suspects: Suspects,
}

/// Indexes that turned out to be damaged while they were searched.
#[derive(Default)]
pub(super) struct Suspects {
    words: AtomicBool,
    vectors: AtomicBool,
}

impl Suspects {
    fn accuse(&self, channel: Channel) {
        let suspect = match channel {
            Channel::Lexical => &self.words,
            Channel::Dense => &self.vectors,
        };
        suspect.store(true, Ordering::Release);
    }

    /// Remembers when an index turned out to be damaged.
    fn watch<T>(&self, channel: Channel, outcome: Result<T, Error>) -> Result<T, Error> {
        if matches!(outcome, Err(Error::Damaged { .. })) {
            self.accuse(channel);
        }
        outcome
    }

    /// Whether the words are suspect, and whether the vectors are; from then on they no longer are.
    pub(super) fn take(&self) -> (bool, bool) {
        (self.words.swap(false, Ordering::AcqRel), self.vectors.swap(false, Ordering::AcqRel))
    }

    /// Whether anything is suspect.
    pub(super) fn any(&self) -> bool {
        self.words.load(Ordering::Acquire) || self.vectors.load(Ordering::Acquire)
    }
}

/// The store at one moment.
pub(super) struct Snapshot {
    reading: Mutex<Reading>,
    lexical: LexicalView,
    matrix: MatrixView,
    meta: Meta,
    sources: Vec<NumberedSource>,
    /// Whether both indexes are exactly at this moment, so that what they find is there.
    level: bool,
    shared: Arc<Shared>,
}

/// How many chunks are looked at in about a millisecond.
const BRIEF: u64 = 200_000;

type ByNumber = Vec<(u32, Vec<Found>)>;

/// What chunks are read into, one after another.
#[derive(Default)]
struct Room {
    card: Vec<u8>,
    vector: Widener,
}

impl Snapshot {
    /// The store as it is now.
    ///
    /// The indexes are looked at before the truth, and so they are never ahead of it. An index that is behind, in a process that reads
    /// while another writes, still holds chunks that are gone: those are dropped from what it finds.
    pub(super) fn now(indexes: &Indexes, shared: &Arc<Shared>) -> Result<Self, Error> {
        let (lexical, words_at) = shared.suspects.watch(Channel::Lexical, indexes.words())?;
        let matrix = shared.suspects.watch(Channel::Dense, indexes.matrix.view())?;
        let reading = shared.pool.now()?;
        let known = truth::meta(&reading).and_then(|meta| Ok((meta, read::numbered_sources(&reading)?)));
        let (meta, sources) = known.map_err(|error| shared.pool.failure(error))?;
        let level = words_at == Some(meta.sequence) && matrix.applied() == meta.sequence;
        let (reading, shared) = (Mutex::new(reading), Arc::clone(shared));
        Ok(Self { reading, lexical, matrix, meta, sources, level, shared })
    }

    /// Which folders the indexes are in, as of this moment.
    pub(super) fn generations(&self) -> (u64, u64) {
        (self.meta.lexical, self.meta.matrix)
    }

    /// Whether both indexes are exactly at this moment.
    pub(super) fn is_level(&self) -> bool {
        self.level
    }

    /// The words.
    pub(super) fn lexical(&self) -> &LexicalView {
        &self.lexical
    }

    /// The vectors.
    pub(super) fn matrix(&self) -> &MatrixView {
        &self.matrix
    }

    /// The cards as they are on disk, even if they were replaced since they were last read.
    pub(super) fn cards(&self) -> Option<Arc<Files>> {
        self.shared.cards.miss();
        self.shared.cards.files()
    }

    /// Goes through everything in the truth that an index should hold.
    pub(super) fn each<D: Derived>(
        &self,
        mut look: impl FnMut(&Row<'_>) -> Result<(), Stumble>,
    ) -> Result<(), Error> {
        let reading = lock(&self.reading);
        let mut go = || -> Result<(), Stumble> {
            let mut statement = reading.prepare(D::ROWS)?;
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                look(row)?;
            }
            Ok(())
        };
        go().map_err(|stumble| match stumble {
            Stumble::Truth(error) => self.shared.pool.failure(error),
            Stumble::Index(error) => error,
        })
    }

    fn read<T>(&self, ask: impl FnOnce(&Reading) -> rusqlite::Result<T>) -> Result<T, Error> {
        ask(&lock(&self.reading)).map_err(|error| self.shared.pool.failure(error))
    }

    /// The documents and chunks that pass a filter.
    pub(super) fn outline(&self, filter: &Filter) -> Result<Outline, Error> {
        let passing = self.sources.iter().filter(|source| matching::passes(source, filter));
        self.read(|reading| Outline::read(reading, passing, filter))
    }

    fn search(&self, retrieval: &Retrieval<'_>) -> Result<Vec<FoundIn>, Error> {
        let vector = self.check(retrieval)?;
        let passing = self.sources.iter().filter(|source| matching::passes(source, retrieval.filter));
        let sources: Vec<_> = passing.map(|source| source.number).collect();
        if sources.is_empty() || retrieval.limit == 0 {
            return Ok(Vec::new());
        }
        let allowed = self.allowed(&sources, retrieval.filter)?;
        if allowed.as_ref().is_some_and(|allowed| allowed.len() == 0) {
            return Ok(Vec::new());
        }
        let found = match (retrieval.channel, vector) {
            (Channel::Lexical, _) => {
                let scope = self.scope(retrieval.filter)?;
                self.lexical.search(
                    (retrieval.text, &scope),
                    &sources,
                    allowed.as_deref(),
                    retrieval.limit,
                )?
            }
            (Channel::Dense, Some(vector)) => {
                self.matrix.search(vector, &sources, allowed.as_ref(), retrieval.limit)?
            }
            (Channel::Dense, None) => Vec::new(),
        };
        Ok(self.name(self.drop_gone(found)?))
    }

    /// The scores of chunks, without those that an index which is behind still has.
    fn scores(&self, retrieval: &Retrieval<'_>, chunks: &[ChunkId]) -> Result<Vec<Option<f64>>, Error> {
        let vector = self.check(retrieval)?;
        let mut scores = match (retrieval.channel, vector) {
            (Channel::Lexical, _) => {
                let scope = self.scope(retrieval.filter)?;
                self.lexical.scores((retrieval.text, &scope), chunks)?
            }
            (Channel::Dense, Some(vector)) => self.matrix.scores(vector, chunks)?,
            (Channel::Dense, None) => vec![None; chunks.len()],
        };
        if !self.level {
            self.read(|reading| {
                for (score, chunk) in scores.iter_mut().zip(chunks) {
                    if score.is_some() && !read::has_chunk(reading, *chunk)? {
                        *score = None;
                    }
                }
                Ok(())
            })?;
        }
        Ok(scores)
    }

    /// How scores are spread over sources.
    fn spread(&self, retrieval: &Retrieval<'_>) -> Result<Vec<Background>, Error> {
        let vector = self.check(retrieval)?;
        let passing = self.sources.iter().filter(|source| matching::passes(source, retrieval.filter));
        let sources: Vec<_> = passing.clone().map(|source| source.number).collect();
        let scope = self.scope(retrieval.filter)?;
        let spreads: Vec<Option<Spread>> = match (retrieval.channel, vector) {
            (Channel::Lexical, _) => {
                let spreads = self.lexical.background((retrieval.text, &scope), &sources)?;
                spreads.into_iter().map(Some).collect()
            }
            (Channel::Dense, Some(vector)) => self.matrix.background((vector, &scope), &sources)?,
            (Channel::Dense, None) => return Ok(Vec::new()),
        };
        let named = passing.zip(spreads).filter_map(|(source, spread)| {
            let (count, mean, deviation) = spread?;
            (count > 0).then(|| Background { source: source.name.clone(), count, mean, deviation })
        });
        Ok(named.collect())
    }

    /// What the caller may see at all, whatever is searched of it.
    fn scope(&self, filter: &Filter) -> Result<Scope, Error> {
        if filter.scope.is_none() && filter.reader.is_none() {
            return Ok(Scope::default());
        }
        let seen = Filter { scope: filter.scope.clone(), reader: filter.reader.clone(), ..Filter::default() };
        let sources = self.sources.iter().filter(|source| matching::passes(source, &seen));
        let mut sources: Vec<_> = sources.map(|source| source.number).collect();
        let readable = self.allowed(&sources, &seen)?;
        sources.sort_unstable();
        Ok(Scope { sources: Some(sources), readable })
    }

    /// The sources that pass and are copies of others that pass.
    fn copies_of_others(&self, filter: &Filter) -> Result<Vec<String>, Error> {
        let passing = self.sources.iter().filter(|source| matching::passes(source, filter));
        let sources: Vec<_> = passing.clone().map(|source| source.number).collect();
        let copies = self.lexical.copies_among(&self.scope(filter)?, &sources)?;
        let copies = passing.filter(|source| copies.contains(&source.number));
        Ok(copies.map(|source| source.name.clone()).collect())
    }

    fn watch<T>(&self, channel: Channel, outcome: Result<T, Error>) -> Result<T, Failure> {
        self.shared.suspects.watch(channel, outcome).map_err(boxed)
    }

    /// The vector to search by; nothing when nothing in the store has one.
    fn check<'a>(&self, retrieval: &Retrieval<'a>) -> Result<Option<&'a [f32]>, Error> {
        let (Channel::Dense, Some(model)) = (retrieval.channel, &self.meta.model) else { return Ok(None) };
        let vector = retrieval.vector.ok_or_else(|| {
            let message = "a search by meaning needs the vector of the query".to_owned();
            check::refusal(message, Code::Missing, "embed the query with the model of the store")
        })?;
        check::vector(vector, model, || "the query".to_owned()).map(|()| Some(vector))
    }

    fn allowed(&self, sources: &[u32], filter: &Filter) -> Result<Option<Arc<Allowed>>, Error> {
        if !matching::needs_chunks(filter) {
            return Ok(None);
        }
        let look_up = || {
            // Without metadata, the sources are what documents are looked up by.
            let all = sources.len() == self.sources.len() && !filter.metadata.is_empty();
            let asked = (!all).then_some(sources);
            let chunks = self.read(|reading| matching::chunks(reading, asked, filter))?;
            Ok(Allowed::new(chunks))
        };
        let filter = of_chunks(filter);
        self.shared.remembered.get((self.meta.sequence, sources, &filter), look_up).map(Some)
    }

    /// Whether it is known which chunks pass a filter.
    fn is_looked_up(&self, filter: &Filter) -> bool {
        let passing = self.sources.iter().filter(|source| matching::passes(source, filter));
        let sources: Vec<_> = passing.map(|source| source.number).collect();
        let known = || self.shared.remembered.has((self.meta.sequence, &sources, &of_chunks(filter)));
        !matching::needs_chunks(filter) || (filter.reader.is_none() && known())
    }

    fn drop_gone(&self, mut found: ByNumber) -> Result<ByNumber, Error> {
        if self.level {
            return Ok(found);
        }
        self.read(|reading| {
            for (_, found) in &mut found {
                let mut there = Vec::with_capacity(found.len());
                for one in found.drain(..) {
                    if read::has_chunk(reading, one.chunk)? {
                        there.push(one);
                    }
                }
                *found = there;
            }
            Ok(found)
        })
    }

    /// The chunks of these numbers, in the order asked; those that are gone are left out.
    fn chunks(&self, ids: &[ChunkId]) -> Result<Vec<StoredChunk>, Error> {
        let mut room = Room::default();
        // Whether a chunk is still there, an index can say that is exactly at this moment.
        let files = self.shared.cards.files().filter(|_| self.level);
        let on_card = |id: &ChunkId| self.on_card(*id, files.as_deref()?, &mut room);
        let mut found: Vec<_> = ids.iter().map(on_card).collect();
        self.drop_bare_gone(&mut found)?;
        let missing = ids.iter().zip(&found).filter(|(_, found)| found.is_none());
        let missing: Vec<_> = missing.map(|(id, _)| *id).collect();
        if missing.is_empty() {
            return Ok(found.into_iter().flatten().collect());
        }
        let read = self.read(|reading| read::chunks(reading, &missing))?;
        if files.is_some() && !read.is_empty() {
            self.shared.cards.miss();
        }
        let mut read: FxHashMap<_, _> = read.into_iter().map(|stored| (stored.id, stored)).collect();
        for (id, place) in ids.iter().zip(&mut found) {
            *place = place.take().or_else(|| read.remove(id));
        }
        Ok(found.into_iter().flatten().collect())
    }

    /// Drops chunks without a vector that are gone: the matrix cannot tell.
    fn drop_bare_gone(&self, found: &mut [Option<StoredChunk>]) -> Result<(), Error> {
        let is_bare = |stored: &StoredChunk| stored.chunk.vector.is_none();
        if !found.iter().flatten().any(is_bare) {
            return Ok(());
        }
        self.read(|reading| {
            for place in found {
                if let Some(stored) = place.as_ref().filter(|stored| is_bare(stored))
                    && !read::has_chunk(reading, stored.id)?
                {
                    *place = None;
                }
            }
            Ok(())
        })
    }

    /// A chunk from its card and its row of the matrix; nothing where it has to be read from the truth.
    fn on_card(&self, id: ChunkId, files: &Files, room: &mut Room) -> Option<StoredChunk> {
        let card = files.card(id, &mut room.card)?;
        let vector = if card.embedded { Some(self.matrix.vector(id, &mut room.vector)?) } else { None };
        let source = self.sources.iter().find(|source| source.number == card.source)?.name.clone();
        let (document, chunk) = card.open()?;
        Some(StoredChunk { id, document: Document { source, ..document }, chunk: Chunk { vector, ..chunk } })
    }

    /// With names in place of numbers, by name.
    fn name(&self, found: ByNumber) -> Vec<FoundIn> {
        let mut lists: FxHashMap<_, _> = found.into_iter().collect();
        let named = self.sources.iter().filter_map(|source| {
            let found = lists.remove(&source.number).filter(|found| !found.is_empty())?;
            Some(FoundIn { source: source.name.clone(), found })
        });
        named.collect()
    }
}

/// What a filter says about chunks, apart from their sources.
fn of_chunks(filter: &Filter) -> Filter {
    Filter { scope: None, sources: None, kinds: None, ..filter.clone() }
}

fn boxed(error: Error) -> Failure {
    Box::new(error)
}

impl Scoring for Snapshot {
    fn score(
        &self,
        retrieval: &Retrieval<'_>,
        chunks: &[ChunkId],
        _: &Ctx,
    ) -> Result<Vec<Option<f64>>, Failure> {
        self.watch(retrieval.channel, self.scores(retrieval, chunks))
    }

    fn background(&self, retrieval: &Retrieval<'_>, _: &Ctx) -> Result<Vec<Background>, Failure> {
        self.watch(retrieval.channel, self.spread(retrieval))
    }

    fn greatest(&self, retrieval: &Retrieval<'_>, _: &Ctx) -> Result<Option<f64>, Failure> {
        match retrieval.channel {
            Channel::Lexical => {
                let greatest = self.scope(retrieval.filter);
                let greatest = greatest.and_then(|scope| self.lexical.greatest(retrieval.text, &scope));
                self.watch(Channel::Lexical, greatest.map(Some))
            }
            Channel::Dense => Ok(Some(1.0)),
        }
    }

    fn copies(&self, filter: &Filter, _: &Ctx) -> Result<Vec<String>, Failure> {
        self.watch(Channel::Lexical, self.copies_of_others(filter))
    }
}

impl View for Snapshot {
    fn sources(&self) -> Result<Vec<SourceStats>, Failure> {
        self.read(|reading| read::sources(reading)).map_err(boxed)
    }

    fn retrieve(&self, retrieval: &Retrieval<'_>, _: &Ctx) -> Result<Vec<FoundIn>, Failure> {
        self.watch(retrieval.channel, self.search(retrieval))
    }

    fn fetch(&self, chunks: &[ChunkId]) -> Result<Vec<StoredChunk>, Failure> {
        self.chunks(chunks).map_err(boxed)
    }

    fn dim(&self) -> Option<usize> {
        self.meta.model.as_ref().map(|model| model.dim)
    }

    fn is_brief(&self, retrieval: &Retrieval<'_>) -> bool {
        // What was never looked at may have to come from the disk.
        let (chunks, known) = match retrieval.channel {
            Channel::Dense => (self.matrix.len() as u64, self.matrix.is_known()),
            Channel::Lexical => (self.lexical.doc_count(), self.lexical.is_known()),
        };
        chunks <= BRIEF && known && self.level && self.is_looked_up(retrieval.filter)
    }
}
