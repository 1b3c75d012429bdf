//! What the store has already.

use mainstem_core::{Document, Failure};
use rustc_hash::{FxHashMap, FxHashSet};

use super::embed::reading;
use crate::store::embedded::{ContentHash, EmbeddedStore, KnownDocument};

/// A store that can say what it has, so that a run embeds and writes only what is new.
pub trait Known {
    /// The documents of a source, by id.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn documents(&self, source: &str) -> Result<Vec<KnownDocument>, Failure>;

    /// A document with its chunks and vectors.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn document(&self, source: &str, id: &str) -> Result<Option<Document>, Failure>;
}

impl Known for EmbeddedStore {
    fn documents(&self, source: &str) -> Result<Vec<KnownDocument>, Failure> {
        self.documents_of(source).map_err(|error| Box::new(error) as Failure)
    }

    fn document(&self, source: &str, id: &str) -> Result<Option<Document>, Failure> {
        EmbeddedStore::document(self, source, id).map_err(|error| Box::new(error) as Failure)
    }
}

/// What the store had at the start of the run.
pub(super) struct Memory<'a> {
    known: Option<&'a dyn Known>,
    documents: FxHashMap<String, (ContentHash, bool)>,
}

impl<'a> Memory<'a> {
    pub(super) fn load(known: Option<&'a dyn Known>, source: &str) -> Result<Self, Failure> {
        let all = known.map(|known| known.documents(source)).transpose()?.unwrap_or_default();
        let entry = |known: KnownDocument| (known.id, (known.content, known.embedded));
        Ok(Self { known, documents: all.into_iter().map(entry).collect() })
    }

    /// Whether the store has this document as it is. Vectors that it brings are for the store to compare.
    pub(super) fn has(&self, document: &Document, embedding: bool) -> bool {
        let brings = document.chunks.iter().any(|chunk| chunk.vector.is_some());
        let known = self.documents.get(&document.id);
        let enough = |(content, embedded): &(ContentHash, bool)| {
            (*embedded || !embedding) && *content == ContentHash::of(document)
        };
        !brings && known.is_some_and(enough)
    }

    /// Whether the store has this document but for the time of its file, which then stays as it is in the store: when the content changed last.
    pub(super) fn has_but_for_time(&self, document: &Document, embedding: bool) -> Result<bool, Failure> {
        let Some(known) = self.known.filter(|_| self.documents.contains_key(&document.id)) else {
            return Ok(false);
        };
        let Some(before) = known.document(&document.source, &document.id)? else { return Ok(false) };
        Ok(self.has(&Document { updated_at: before.updated_at, ..document.clone() }, embedding))
    }

    /// Gives chunks that the model would read as before the vectors that they had.
    pub(super) fn reuse(&self, documents: &mut [Document]) -> Result<(), Failure> {
        let Some(known) = self.known else { return Ok(()) };
        for document in documents.iter_mut().filter(|document| self.documents.contains_key(&document.id)) {
            if let Some(before) = known.document(&document.source, &document.id)? {
                reuse(document, before);
            }
        }
        Ok(())
    }

    /// The documents that were not seen, by id.
    pub(super) fn without(&self, seen: &FxHashSet<String>) -> Vec<String> {
        let mut gone: Vec<_> = self.documents.keys().filter(|id| !seen.contains(*id)).cloned().collect();
        gone.sort_unstable();
        gone
    }
}

/// Gives chunks that the model would read as before the vectors that they had.
pub(super) fn reuse(document: &mut Document, mut before: Document) {
    let chunks = std::mem::take(&mut before.chunks);
    let vector = |mut chunk: mainstem_core::Chunk| Some((chunk.vector.take()?, chunk));
    let mut vectors: FxHashMap<String, Vec<f32>> = chunks
        .into_iter()
        .filter_map(vector)
        .map(|(vector, chunk)| (reading(&before, &chunk), vector))
        .collect();
    let mut chunks = std::mem::take(&mut document.chunks);
    for chunk in chunks.iter_mut().filter(|chunk| chunk.vector.is_none()) {
        chunk.vector = vectors.remove(&reading(document, chunk));
    }
    document.chunks = chunks;
}
