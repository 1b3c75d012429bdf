//! Documents and chunks: what sources hold.

use std::fmt;
use std::ops::Range;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::time::Moment;

/// A document of a source, cut into chunks.
///
/// It is named by source and id together. What two documents of one name share is nothing: the later replaces the earlier.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Document {
    /// The source, such as `wiki`.
    pub source: String,
    /// Its id within the source.
    pub id: String,
    /// The title.
    pub title: Option<String>,
    /// The whole text.
    pub text: String,
    /// Where a person can see it.
    pub url: Option<String>,
    /// How an answer names it, such as `[wiki: A]`.
    pub label: Option<String>,
    /// When it was written.
    pub created_at: Option<Moment>,
    /// When it was last changed.
    pub updated_at: Option<Moment>,
    /// Who may read it; everyone when left out.
    pub readers: Option<Vec<String>>,
    /// An exact key: documents with equal keys are the same thing.
    pub key: Option<String>,
    /// Anything else that is known about it.
    pub metadata: Map<String, Value>,
    /// Its parts, in order.
    pub chunks: Vec<Chunk>,
}

impl Document {
    /// Its time, as filters and readers see it: when it was written, or else when it was last changed, which is all that is known of a plain
    /// file.
    pub fn time(&self) -> Option<&Moment> {
        self.created_at.as_ref().or(self.updated_at.as_ref())
    }
}

/// A part of a document, which is what is searched.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Chunk {
    /// Its place in the document, from 0.
    pub order: u32,
    /// The bytes of the document's text that it stands for.
    pub span: Range<usize>,
    /// What is searched: the text of the span.
    pub text: String,
    /// The headings it stands under, outermost first, joined by ` › `.
    pub heading: Option<String>,
    /// Its dense vector, of the store's model.
    pub vector: Option<Vec<f32>>,
}

/// The number that a store knows a chunk by. It says nothing outside that store, and is never used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ChunkId(pub u64);

impl fmt::Display for ChunkId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{}", self.0)
    }
}

/// A chunk as a store gives it back, with what its document is called.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredChunk {
    /// The number.
    pub id: ChunkId,
    /// The document without its text and chunks.
    pub document: Document,
    /// The chunk.
    pub chunk: Chunk,
}

impl StoredChunk {
    /// The name of the chunk that means something outside its store: `source/document#order`.
    pub fn name(&self) -> String {
        format!("{}/{}#{}", self.document.source, self.document.id, self.chunk.order)
    }
}
