//! A store and a model that do as they are told.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::sleep;
use std::time::Duration;

use mainstem::Error;
use mainstem::query::{Engine, Request, Response, Settings};
use mainstem_core::contract::{
    Ability, Applied, Background, Capabilities, Change, Channel, Ctx, Embedded, Embedder, Filter, Found,
    FoundIn, ModelCard, Retrieval, Scoring, SourceStats, Store, View,
};
use mainstem_core::deadline::Deadline;
use mainstem_core::time::Moment;
use mainstem_core::{Chunk, ChunkId, Document, Failure, StoredChunk};

/// What a channel does when it is asked.
#[derive(Clone, Debug)]
pub(crate) enum Act {
    /// Gives these scores, by number of chunk.
    Give(Vec<(u64, f64)>),
    /// The same, but late.
    Late(Duration, Vec<(u64, f64)>),
    Fail,
    Panic,
    /// Answers for a source that was not asked for.
    Foreign(Vec<(u64, f64)>),
}

/// A store whose chunks and answers are written down.
#[derive(Debug)]
pub(crate) struct Fake {
    pub(crate) chunks: Vec<StoredChunk>,
    pub(crate) dense: Act,
    pub(crate) lexical: Act,
    /// Whether it may be asked by a search itself.
    pub(crate) brief: bool,
    /// Whether it cannot score what it did not find.
    pub(crate) unable: bool,
    /// What it does when it is asked for chunks, before it gives them.
    pub(crate) fetching: Option<Act>,
    /// How many times it gives chunks before it does so.
    pub(crate) gives_first: usize,
    pub(crate) fetched: AtomicUsize,
    pub(crate) asked: Mutex<Vec<(Channel, String, Filter)>>,
}

/// A chunk: number, source, document, text.
pub(crate) fn chunk(id: u64, source: &str, document: &str, text: &str) -> StoredChunk {
    let document = Document {
        source: source.into(),
        id: document.into(),
        title: Some(format!("About {document}")),
        label: Some(format!("[{source}: {document}]")),
        ..Document::default()
    };
    StoredChunk { id: ChunkId(id), document, chunk: Chunk { text: text.into(), ..Chunk::default() } }
}

impl Fake {
    /// Two sources, `wiki` (1 to 3) and `chat` (11 to 13), and answers of both channels.
    pub(crate) fn new() -> Self {
        let chunks = vec![
            chunk(1, "wiki", "castling", "castling moves the king and a rook"),
            chunk(2, "wiki", "forks", "a fork attacks two pieces at once"),
            chunk(3, "wiki", "pins", "a pinned piece cannot move"),
            chunk(11, "chat", "monday", "did you see that fork"),
            chunk(12, "chat", "tuesday", "lunch at noon"),
            chunk(13, "chat", "friday", "the rook endgame was lost"),
        ];
        Self {
            chunks,
            dense: Act::Give(vec![(2, 0.9), (11, 0.7), (1, 0.5), (3, 0.3), (12, 0.1)]),
            lexical: Act::Give(vec![(2, 8.0), (13, 6.0), (11, 4.0), (1, 2.0)]),
            brief: false,
            unable: false,
            fetching: None,
            gives_first: 0,
            fetched: AtomicUsize::default(),
            asked: Mutex::default(),
        }
    }

    pub(crate) fn dense(mut self, act: Act) -> Self {
        self.dense = act;
        self
    }

    pub(crate) fn lexical(mut self, act: Act) -> Self {
        self.lexical = act;
        self
    }

    pub(crate) fn fetching(mut self, act: Act) -> Self {
        self.fetching = Some(act);
        self
    }

    /// The scores that are written down for a channel.
    fn scores(&self, channel: Channel) -> &[(u64, f64)] {
        let act = if channel == Channel::Dense { &self.dense } else { &self.lexical };
        match act {
            Act::Give(scores) | Act::Late(_, scores) | Act::Foreign(scores) => scores,
            Act::Fail | Act::Panic => &[],
        }
    }

    fn source_of(&self, id: u64) -> String {
        let chunk = self.chunks.iter().find(|chunk| chunk.id.0 == id);
        chunk.map_or_else(|| "wiki".to_owned(), |chunk| chunk.document.source.clone())
    }

    fn found(&self, scores: &[(u64, f64)], filter: &Filter, limit: usize) -> Vec<FoundIn> {
        let mut all: Vec<FoundIn> = Vec::new();
        for &(id, score) in scores {
            let source = self.source_of(id);
            if filter.sources.as_ref().is_some_and(|wanted| !wanted.contains(&source)) {
                continue;
            }
            let found = Found { chunk: ChunkId(id), score };
            match all.iter_mut().find(|part| part.source == source) {
                Some(part) if part.found.len() >= limit => {}
                Some(part) => part.found.push(found),
                None => all.push(FoundIn { source, found: vec![found] }),
            }
        }
        all
    }
}

/// The kind of a source that is called so.
fn kind(source: &str) -> &str {
    if source == "chat" { "slack" } else { "wiki" }
}

/// What a store says about a source.
pub(crate) fn stats(name: &str, kind: &str, vectors: u64) -> SourceStats {
    SourceStats {
        name: name.into(),
        kind: kind.into(),
        documents: 3,
        chunks: 3,
        vectors,
        ..SourceStats::default()
    }
}

/// Can do everything.
pub(crate) const ABLE: Capabilities =
    Capabilities { lexical: Ability::Exact, dense: Ability::Exact, filters: Ability::Exact };

/// The store as engines see it.
pub(crate) struct Shared(pub(crate) Arc<Fake>);

impl Store for Shared {
    fn capabilities(&self) -> Capabilities {
        ABLE
    }

    fn apply(&self, _: Vec<Change>) -> Result<Applied, Failure> {
        Err(Box::new(Error::Internal("this store is for reading".into())))
    }

    fn view(&self) -> Result<Arc<dyn View>, Failure> {
        Ok(Arc::new(Shared(Arc::clone(&self.0))))
    }
}

impl Scoring for Shared {
    fn score(
        &self,
        retrieval: &Retrieval<'_>,
        chunks: &[ChunkId],
        _: &Ctx,
    ) -> Result<Vec<Option<f64>>, Failure> {
        if self.0.unable {
            return Err(Box::new(Error::Internal("it cannot score".into())));
        }
        let scores = self.0.scores(retrieval.channel);
        let score = |id: &ChunkId| scores.iter().find(|(given, _)| given == &id.0).map(|(_, score)| *score);
        Ok(chunks.iter().map(score).collect())
    }

    fn background(&self, retrieval: &Retrieval<'_>, _: &Ctx) -> Result<Vec<Background>, Failure> {
        let mut sources: Vec<String> =
            self.0.chunks.iter().map(|chunk| chunk.document.source.clone()).collect();
        sources.dedup();
        let passes =
            |source: &String| retrieval.filter.sources.as_ref().is_none_or(|all| all.contains(source));
        let spread = |source| Background { source, count: 3, mean: 0.1, deviation: 0.1 };
        Ok(sources.into_iter().filter(passes).map(spread).collect())
    }

    fn greatest(&self, retrieval: &Retrieval<'_>, _: &Ctx) -> Result<Option<f64>, Failure> {
        Ok(Some(if retrieval.channel == Channel::Dense { 1.0 } else { 10.0 }))
    }
}

impl View for Shared {
    fn sources(&self) -> Result<Vec<SourceStats>, Failure> {
        let mut names: Vec<_> = self.0.chunks.iter().map(|chunk| chunk.document.source.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        Ok(names.into_iter().map(|name| stats(name, kind(name), 3)).collect())
    }

    fn retrieve(&self, retrieval: &Retrieval<'_>, _: &Ctx) -> Result<Vec<FoundIn>, Failure> {
        let asked = (retrieval.channel, retrieval.text.to_owned(), retrieval.filter.clone());
        self.0.asked.lock().unwrap().push(asked);
        let act = if retrieval.channel == Channel::Dense { &self.0.dense } else { &self.0.lexical };
        let give = |scores: &[(u64, f64)]| self.0.found(scores, retrieval.filter, retrieval.limit);
        match act {
            Act::Give(scores) => Ok(give(scores)),
            Act::Late(delay, scores) => {
                sleep(*delay);
                Ok(give(scores))
            }
            Act::Fail => {
                Err(Box::new(Error::Unavailable { what: "the disk is on fire".into(), hint: String::new() }))
            }
            Act::Panic => panic!("a bug in the store"),
            Act::Foreign(scores) => {
                let mut found = give(scores);
                found.push(FoundIn {
                    source: "elsewhere".into(),
                    found: vec![Found { chunk: ChunkId(1), score: 9.0 }],
                });
                Ok(found)
            }
        }
    }

    fn is_brief(&self, _: &Retrieval<'_>) -> bool {
        self.0.brief
    }

    fn fetch(&self, chunks: &[ChunkId]) -> Result<Vec<StoredChunk>, Failure> {
        let well = self.0.fetched.fetch_add(1, Ordering::Relaxed) < self.0.gives_first;
        match self.0.fetching.as_ref().filter(|_| !well) {
            Some(Act::Late(delay, _)) => sleep(*delay),
            Some(Act::Panic) => panic!("a bug in the store"),
            Some(Act::Fail) => {
                return Err(Box::new(Error::Internal("the disk is on fire".into())));
            }
            _ => {}
        }
        let find = |id: &ChunkId| self.0.chunks.iter().find(|chunk| chunk.id == *id).cloned();
        Ok(chunks.iter().filter_map(find).collect())
    }
}

/// A model that counts how often it is asked.
pub(crate) struct Model {
    card: ModelCard,
    pub(crate) asked: AtomicUsize,
    delay: Duration,
}

impl Model {
    pub(crate) fn new(delay: Duration) -> Arc<Self> {
        let card = ModelCard { name: "fake".into(), dim: 2, max_tokens: 8 };
        Arc::new(Self { card, asked: AtomicUsize::new(0), delay })
    }
}

impl Embedder for Model {
    fn card(&self) -> &ModelCard {
        &self.card
    }

    fn embed(&self, texts: &[&str], _: &Ctx) -> Result<Vec<Embedded>, Failure> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        sleep(self.delay);
        Ok(texts.iter().map(|_| Embedded { vector: vec![1.0, 0.0], cut: false }).collect())
    }
}

/// An engine over the store, with a model that answers at once.
pub(crate) fn engine(fake: Fake) -> (Engine, Arc<Fake>) {
    engine_with(fake, Settings::default())
}

/// The same with other settings.
pub(crate) fn engine_with(fake: Fake, settings: Settings) -> (Engine, Arc<Fake>) {
    let fake = Arc::new(fake);
    let engine = Engine::new(Arc::new(Shared(Arc::clone(&fake))), Some(Model::new(Duration::ZERO)), settings);
    (engine, fake)
}

/// A request with a clock and much time, and without recency unless a test wants it.
pub(crate) fn request(query: &str) -> Request {
    Request {
        now: Some(Moment::parse("2026-01-31").unwrap()),
        pipeline: serde_json::json!({"recency": null}),
        deadline: Some(Deadline { soft: Duration::from_secs(10), hard: Duration::from_secs(20) }),
        ..Request::new(query)
    }
}

/// The names of the hits, in order.
pub(crate) fn ids(response: &Response) -> Vec<&str> {
    response.hits.iter().map(|hit| hit.id.as_str()).collect()
}
