//! Contracts: what outsiders implement.
//!
//! All of them are synchronous and are called from several threads. Whoever talks to a network inside of them keeps to the deadline
//! of the [`Ctx`]; the engine goes on without a call that comes back late.

use std::sync::Arc;
use std::time::Instant;

use serde::{Deserialize, Serialize};

use crate::diagnostic::Failure;
use crate::document::{ChunkId, Document, StoredChunk};
use crate::time::Moment;

/// What a call may look at apart from its arguments: when to stop, and what time it is.
#[derive(Clone, Debug)]
pub struct Ctx {
    /// When the caller goes on without the answer.
    pub deadline: Option<Instant>,
    /// The clock of the search.
    pub now: Moment,
}

impl Ctx {
    /// A call that may take as long as it needs.
    pub fn unhurried(now: Moment) -> Self {
        Self { deadline: None, now }
    }
}

/// A way to search a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Channel {
    /// By meaning: nearest dense vectors.
    Dense,
    /// By words: BM25.
    Lexical,
}

impl Channel {
    /// The name, as in `wiki/dense`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Dense => "dense",
            Self::Lexical => "lexical",
        }
    }
}

/// Which chunks may be found. Everything that is given must hold.
///
/// `scope` and `reader` say what the caller may see *at all*: nothing in an answer, no score either, may depend on anything outside of them. The
/// rest only says what is wanted: a score is the same whether more or less is asked for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Filter {
    /// The sources that the caller may see at all, those of an API key for example; all when left out. Names of sources that are not there do not
    /// matter.
    pub scope: Option<Vec<String>>,
    /// Only these sources; all when left out.
    pub sources: Option<Vec<String>>,
    /// Only sources of these kinds; all when left out.
    pub kinds: Option<Vec<String>>,
    /// Only documents of this time or later. The time is [`Document::time`]: `created_at`, or else `updated_at`. A document without either does
    /// not pass.
    pub since: Option<Moment>,
    /// Only documents from before this time; which time that is, and that it must be known, as for `since`.
    pub until: Option<Moment>,
    /// Only documents whose metadata have these values, as text.
    pub metadata: Vec<(String, String)>,
    /// Only documents that this caller may read; the others are hidden as those outside of the scope are.
    pub reader: Option<String>,
}

/// One channel's question to a store.
#[derive(Clone, Debug)]
pub struct Retrieval<'a> {
    /// The channel.
    pub channel: Channel,
    /// The words of the query.
    pub text: &'a str,
    /// The vector of the query, for the dense channel.
    pub vector: Option<&'a [f32]>,
    /// Which chunks may be found.
    pub filter: &'a Filter,
    /// How many chunks of each source are wanted.
    pub limit: usize,
}

/// A chunk that was found, with a score that is comparable across the sources of one store.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Found {
    /// The chunk.
    pub chunk: ChunkId,
    /// Its score: larger is better.
    pub score: f64,
}

/// What a channel found in one source, best first.
#[derive(Clone, Debug, PartialEq)]
pub struct FoundIn {
    /// The source.
    pub source: String,
    /// The chunks.
    pub found: Vec<Found>,
}

/// How the scores of a channel are spread over all chunks of a source, for one query.
#[derive(Clone, Debug, PartialEq)]
pub struct Background {
    /// The source.
    pub source: String,
    /// How many chunks have a score: in the dense channel, those with a vector.
    pub count: u64,
    /// The mean of their scores.
    pub mean: f64,
    /// The standard deviation of their scores.
    pub deviation: f64,
}

/// How well a store does something by itself; the engine completes the rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Ability {
    /// It does, to the letter.
    Exact,
    /// It does, but may miss some.
    Inexact,
    /// It does not.
    None,
}

/// What a store can do by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Capabilities {
    /// Search by words.
    pub lexical: Ability,
    /// Search by meaning.
    pub dense: Ability,
    /// Keep to a filter while searching.
    pub filters: Ability,
}

/// A change to a store.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "changes come in batches of puts; a deletion is the rare one")]
pub enum Change {
    /// Puts a document in place of the one of that name, if any.
    Put(Document),
    /// Removes the document of that name, if any.
    Delete {
        /// The source.
        source: String,
        /// The document.
        id: String,
    },
}

/// What changes did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Applied {
    /// Documents that are new.
    pub added: usize,
    /// Documents that replaced others.
    pub changed: usize,
    /// Documents that were there already, to the letter.
    pub unchanged: usize,
    /// Documents that were removed.
    pub removed: usize,
}

/// What a store knows about a source.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SourceStats {
    /// The source.
    pub name: String,
    /// Its kind, such as `slack`.
    pub kind: String,
    /// How many documents it has.
    pub documents: u64,
    /// How many chunks.
    pub chunks: u64,
    /// How many of the chunks have a vector.
    pub vectors: u64,
    /// The time of its newest document: `created_at`, or else `updated_at`.
    pub newest: Option<Moment>,
    /// When it was last written to.
    pub written_at: Option<Moment>,
}

/// Where documents are kept.
pub trait Store: Send + Sync {
    /// What the store can do by itself.
    fn capabilities(&self) -> Capabilities;

    /// Applies changes in order, all or none.
    ///
    /// When it returns, the changes MUST survive the death of the process, and every [`View`] taken afterwards MUST see them. A document
    /// equal to the one that is there MUST count as unchanged and cost no index work.
    ///
    /// # Errors
    /// When the store cannot be written, or a vector is not of the store's model; then nothing has changed.
    fn apply(&self, changes: Vec<Change>) -> Result<Applied, Failure>;

    /// The store as it is now. Later changes MUST NOT show in it, and it MUST NOT hold up writers.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn view(&self) -> Result<Arc<dyn View>, Failure>;
}

/// What the channels of a store say about chunks that they were not asked to find.
///
/// The limit of a retrieval does not count here.
pub trait Scoring: Send + Sync {
    /// The scores of these chunks, in the order asked.
    ///
    /// They MUST be the numbers that [`View::retrieve`] gives: by words to the last bit, by meaning those that it gives after it has scored
    /// its candidates exactly. `None` is a chunk that is gone or has no vector; one without any word of the query scores 0. Of the filter,
    /// only `scope` and `reader` count, as what statistics are taken over.
    ///
    /// # Errors
    /// As for [`View::retrieve`].
    fn score(
        &self,
        retrieval: &Retrieval<'_>,
        chunks: &[ChunkId],
        ctx: &Ctx,
    ) -> Result<Vec<Option<f64>>, Failure>;

    /// How the scores are spread over all chunks of each source that passes the scope, sources and kinds of the filter, by name; of the chunks,
    /// only those that its reader may read count, and the rest of the filter does not. Sources whose chunks have no score in the channel are left out.
    ///
    /// It may be estimated, but MUST be the same for the same query and the same view. It MUST NOT take longer than a search.
    ///
    /// # Errors
    /// As for [`View::retrieve`].
    fn background(&self, retrieval: &Retrieval<'_>, ctx: &Ctx) -> Result<Vec<Background>, Failure>;

    /// The greatest score that any chunk could have for this query: 1 by meaning, that of a chunk made of the query's words alone by words.
    /// Nothing where the channel has no such bound.
    ///
    /// # Errors
    /// As for [`View::retrieve`].
    fn greatest(&self, retrieval: &Retrieval<'_>, ctx: &Ctx) -> Result<Option<f64>, Failure>;

    /// The sources that pass the filter and are copies, or nearly so, of others that pass. Their chunks take no places from others among the
    /// candidates of a search. A store that cannot tell says nothing, and copies crowd out other candidates.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn copies(&self, filter: &Filter, ctx: &Ctx) -> Result<Vec<String>, Failure> {
        let _ = (filter, ctx);
        Ok(Vec::new())
    }
}

/// A store at one moment.
pub trait View: Scoring {
    /// The sources, by name.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn sources(&self) -> Result<Vec<SourceStats>, Failure>;

    /// Searches one channel: for each source that passes the filter and has any hit, its best chunks, best first.
    ///
    /// Scores MUST be comparable across the sources of one answer: one embedding model, one set of word statistics. These MUST be taken over
    /// what the `scope` and the `reader` of the filter let the caller see, and nothing else; the rest of the filter MUST NOT change them.
    ///
    /// # Errors
    /// When the store cannot be read, or the query's vector is not of the store's model.
    fn retrieve(&self, retrieval: &Retrieval<'_>, ctx: &Ctx) -> Result<Vec<FoundIn>, Failure>;

    /// The chunks of these numbers, in the order asked; those that are gone are left out.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn fetch(&self, chunks: &[ChunkId]) -> Result<Vec<StoredChunk>, Failure>;

    /// How many dimensions the vectors have, once that is known.
    fn dim(&self) -> Option<usize> {
        None
    }

    /// Whether a retrieval takes hardly longer than to wake a thread for it, and waits for nobody: then a search asks in its own thread, and
    /// reads there what was found.
    fn is_brief(&self, retrieval: &Retrieval<'_>) -> bool {
        let _ = retrieval;
        false
    }
}

/// What is known about an embedding model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelCard {
    /// Its name, which a store remembers.
    pub name: String,
    /// The length of its vectors.
    pub dim: usize,
    /// How many tokens it reads; the rest of a text is not seen.
    pub max_tokens: usize,
}

/// A text as a model sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct Embedded {
    /// The vector, of unit length.
    pub vector: Vec<f32>,
    /// Whether the text was longer than the model reads.
    pub cut: bool,
}

/// Turns texts into vectors.
pub trait Embedder: Send + Sync {
    /// What is known about the model.
    fn card(&self) -> &ModelCard;

    /// The vectors of these texts, in order. They MUST be of unit length and of the card's dimension.
    ///
    /// # Errors
    /// When the model cannot be reached, or does not answer in time.
    fn embed(&self, texts: &[&str], ctx: &Ctx) -> Result<Vec<Embedded>, Failure>;
}

/// Cuts a text into chunks.
pub trait Chunker: Send + Sync {
    /// The chunks, in order. Spans MUST lie on character boundaries and inside the text; text between them may be left out.
    fn chunk(&self, text: &str) -> Vec<crate::document::Chunk>;
}

/// Reads a query and texts together, and says how well each text answers.
pub trait Reranker: Send + Sync {
    /// Its name, which a status gives.
    fn name(&self) -> &str;

    /// One score for each text, in order: larger is better. Scores that all lie in \[0, 1\] are taken for probabilities.
    ///
    /// There MUST be as many scores as texts, and all MUST be finite; an answer of another kind is dropped as a whole.
    ///
    /// # Errors
    /// When the model cannot be reached, or does not answer in time.
    fn rerank(&self, query: &str, texts: &[&str], ctx: &Ctx) -> Result<Vec<f64>, Failure>;
}
