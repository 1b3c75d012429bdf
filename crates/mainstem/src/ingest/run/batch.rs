//! Documents that are written together.

use mainstem_core::Document;

use super::Limits;

/// So many documents that the store has already are passed before a batch is closed, so that progress shows.
const PASSED: usize = 4096;
/// So many calls of a model before a batch is closed.
const CALLS: usize = 4;

/// Documents in hand.
pub(super) struct Batch {
    limits: Limits,
    documents: Vec<Document>,
    bytes: usize,
    passed: usize,
    /// Chunks that a model has to read.
    waiting: usize,
}

impl Batch {
    pub(super) fn new(limits: Limits) -> Self {
        Self { limits, documents: Vec::new(), bytes: 0, passed: 0, waiting: 0 }
    }

    /// Adds a document; its chunks without a vector wait for a model if there is one.
    pub(super) fn push(&mut self, document: Document, embedding: bool) {
        self.bytes += weight(&document);
        if embedding {
            self.waiting += document.chunks.iter().filter(|chunk| chunk.vector.is_none()).count();
        }
        self.documents.push(document);
    }

    /// Counts a document that needs no writing.
    pub(super) fn passed(&mut self) {
        self.passed += 1;
    }

    pub(super) fn is_full(&self) -> bool {
        self.documents.len() >= self.limits.documents
            || self.bytes >= self.limits.bytes
            || self.passed >= PASSED
            || self.waiting >= CALLS * self.limits.texts.max(1)
    }

    /// Empties the batch.
    pub(super) fn take(&mut self) -> Vec<Document> {
        (self.bytes, self.passed, self.waiting) = (0, 0, 0);
        std::mem::take(&mut self.documents)
    }
}

/// About how many bytes a document has in memory: its text, and its chunks once more.
fn weight(document: &Document) -> usize {
    let vectors: usize = document.chunks.iter().filter_map(|chunk| chunk.vector.as_ref()).map(Vec::len).sum();
    let texts: usize = document.chunks.iter().map(|chunk| chunk.text.len()).sum();
    document.text.len() + texts + vectors * size_of::<f32>()
}
