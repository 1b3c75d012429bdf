//! Links: which documents belong together, and which run said so.
//!
//! A run looks at documents and says which pairs of them belong together. What it says is kept under its name, and a pair is linked as long
//! as one run says so that was not undone. So undoing a run takes back what it said and nothing else, whatever other runs said about the
//! same pairs, before it or after.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::contract::Filter;
use crate::diagnostic::Failure;
use crate::time::Moment;

/// What a document is called outside its store.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DocumentName {
    /// The source.
    pub source: String,
    /// The id within the source.
    pub id: String,
}

impl fmt::Display for DocumentName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.source, self.id)
    }
}

/// A way to find documents that may belong to a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Way {
    /// Chunks whose vectors are near.
    Dense,
    /// Chunks with the same telling words.
    Lexical,
    /// Chunks with the words of the title.
    Title,
}

/// What a score of a link says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Judge {
    /// How well each token of the one has a token of the other that means the same, the mean of both directions.
    MaxSim,
    /// The cosine of the two chunks that are alike most.
    Cosine,
    /// How many of the telling words of the one the other has, by their weight, the mean of both directions.
    Words,
}

/// Two documents that belong together, as one run says. Links have no direction: `a` is the one that comes first by source and id.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Edge {
    /// The one.
    pub a: DocumentName,
    /// The other.
    pub b: DocumentName,
    /// How sure the run is, from 0 to 1.
    pub score: f64,
    /// Why.
    pub evidence: Evidence,
}

/// Why two documents are linked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    /// What the score of the link says.
    pub judge: Judge,
    /// The chunk of `a` that is most like one of `b`, by its place in the document.
    pub a_chunk: u32,
    /// The chunk of `b` that is most like it.
    pub b_chunk: u32,
    /// The score of the fused ways, by which the pair came before the judge.
    pub fused: f64,
    /// What found it.
    pub found: Vec<FoundBy>,
}

/// One way that found a link from one of its ends.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FoundBy {
    /// The way.
    pub way: Way,
    /// Whether `b` was found for `a`, and not `a` for `b`.
    pub from_a: bool,
    /// The place in the list of documents, from 1.
    pub rank: usize,
    /// The score in that list.
    pub score: f64,
}

/// How a run looks for links.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LinkSettings {
    /// Only documents of these sources; all when left out.
    pub sources: Option<Vec<String>>,
    /// The ways.
    pub ways: Vec<Way>,
    /// How many documents come before the judge for each document.
    pub candidates: usize,
    /// How many links a document makes at most. It may get more from others.
    pub per_document: usize,
    /// The least score of a link.
    pub least: f64,
    /// Whether documents of the same source may be linked.
    pub within: bool,
}

impl Default for LinkSettings {
    fn default() -> Self {
        let ways = vec![Way::Dense, Way::Lexical, Way::Title];
        Self { sources: None, ways, candidates: 20, per_document: 5, least: 0.6, within: true }
    }
}

/// A run, as it is remembered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LinkRun {
    /// Its name, which no other run has or had.
    pub id: String,
    /// When it looked.
    pub made_at: Moment,
    /// How it looked.
    pub settings: LinkSettings,
    /// The model whose vectors it looked at.
    pub model: Option<String>,
    /// The sources that it looked at, by name.
    pub sources: Vec<String>,
    /// How many documents it looked at.
    pub documents: u64,
    /// How many links it found.
    pub edges: u64,
    /// When it was undone.
    pub undone_at: Option<Moment>,
}

/// What a run changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recorded {
    /// Pairs that were not linked before.
    pub added: u64,
    /// Pairs that another run had linked, with the same score.
    pub kept: u64,
    /// Pairs that another run had linked, with another score.
    pub changed: u64,
    /// Pairs of these sources that other runs had linked, and this one does not. They stay until those are undone.
    pub missed: u64,
}

/// What undoing a run changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Undone {
    /// Pairs that are no longer linked.
    pub removed: u64,
    /// Pairs that are still linked, because another run says so.
    pub kept: u64,
}

/// A link as it stands: what the newest run that was not undone says about a pair.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Link {
    /// The pair.
    #[serde(flatten)]
    pub edge: Edge,
    /// The run.
    pub run: String,
    /// When it looked.
    pub made_at: Moment,
    /// Whether one of the two was written anew since.
    pub stale: bool,
}

/// Which links are wanted. Everything that is given must hold.
#[derive(Clone, Debug)]
pub struct LinkQuery<'a> {
    /// Only links of this document.
    pub document: Option<&'a DocumentName>,
    /// Only what this run said, whatever others said later.
    pub run: Option<&'a str>,
    /// Both ends must pass the `scope`, the `sources` and the `reader`.
    pub filter: &'a Filter,
    /// How many.
    pub limit: usize,
}

/// Where links are kept.
pub trait EdgeStore: Send + Sync {
    /// Keeps what a run says, all or nothing; what it replaces or repeats stays under the other runs' names.
    ///
    /// When it returns, it MUST survive the death of the process. Edges with an end that is not in the store (any more) MUST be left out,
    /// and so MUST those that link a document to itself.
    ///
    /// # Errors
    /// When the store cannot be written, or has had a run of that name.
    fn record(&self, run: &LinkRun, edges: &[Edge]) -> Result<Recorded, Failure>;

    /// All runs, newest first, those that were undone included.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn runs(&self) -> Result<Vec<LinkRun>, Failure>;

    /// Links, best first, each pair once. The links of a document MUST be gone when it is.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn links(&self, query: &LinkQuery<'_>) -> Result<Vec<Link>, Failure>;

    /// Takes back what a run said. Nothing when there is no such run, or it was undone before.
    ///
    /// # Errors
    /// When the store cannot be written.
    fn undo(&self, run: &str, now: &Moment) -> Result<Option<Undone>, Failure>;
}
