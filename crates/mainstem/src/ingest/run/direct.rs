//! Documents that are in memory already: cut, embedded and written at once.

use mainstem_core::contract::Change;
use mainstem_core::{Document, Failure};

use super::super::chunk;
use super::super::format::Format;
use super::{Ingest, Summary, Vectors, embed, known};

impl Ingest<'_> {
    /// Writes these documents, all or none, and says what that did. The store is asked for nothing but the documents of these ids, so that
    /// several may write to one source at the same time; the last of two documents of one id stays.
    ///
    /// # Errors
    /// When the model cannot be reached, or the store refuses a document or cannot be written; then nothing has changed.
    pub fn write(&self, documents: Vec<(Document, Format)>) -> Result<Summary, Failure> {
        let mut documents: Vec<Document> =
            documents.into_iter().map(|(document, format)| self.cut(document, format)).collect();
        self.announce_brought(&documents)?;
        self.reuse(&mut documents)?;
        let (embedded, cut) = self.embed(&mut documents)?;
        let chunks = documents.iter().map(|document| document.chunks.len()).sum();
        let documents: Vec<Change> = documents.into_iter().map(Change::Put).collect();
        let written = Summary { documents: documents.len(), chunks, embedded, cut, ..Summary::default() };
        Ok(Summary { applied: self.store.apply(documents)?, ..written })
    }

    fn cut(&self, mut document: Document, format: Format) -> Document {
        self.source.clone_into(&mut document.source);
        chunk::cut(&mut document, format, self.size);
        document
    }

    fn announce_brought(&self, documents: &[Document]) -> Result<(), Failure> {
        let mut chunks = documents.iter().flat_map(|document| &document.chunks);
        let brought = chunks.find_map(|chunk| chunk.vector.as_ref());
        match (self.announce, brought) {
            (Some(announce), Some(vector)) => announce(Vectors::Brought(vector.len())),
            _ => Ok(()),
        }
    }

    /// Gives chunks that the model would read as before the vectors that they had.
    fn reuse(&self, documents: &mut [Document]) -> Result<(), Failure> {
        let Some(known) = self.known else { return Ok(()) };
        for document in documents {
            if let Some(before) = known.document(&document.source, &document.id)? {
                known::reuse(document, before);
            }
        }
        Ok(())
    }

    /// Gives chunks that have no vector the model's, and says how many did not have one, and how many of these the model did not read whole.
    fn embed(&self, documents: &mut [Document]) -> Result<(usize, usize), Failure> {
        let Some(embedder) = self.embedder else { return Ok((0, 0)) };
        let mut waiting = embed::waiting(documents);
        if let Some(announce) = self.announce.filter(|_| !waiting.is_empty()) {
            announce(Vectors::Embedded(embedder.card()))?;
        }
        let mut cut = 0;
        for part in waiting.chunks_mut(self.limits.texts.max(1)) {
            cut += embed::embed(embedder, part)?;
        }
        let count = waiting.len();
        embed::put_back(documents, waiting);
        Ok((count, cut))
    }
}
