//! What each index takes from the truth.

use std::path::Path;

use mainstem_core::ChunkId;
use rusqlite::Row;

use super::catch_up::{Derived, DerivedWriter, Stumble};
use super::lexical::{Lexical, LexicalChunk, LexicalWriter};
use super::matrix::{Matrix, MatrixWriter};
use super::truth::fingerprint::from_bytes;
use super::truth::row::Whole;
use super::truth::write::News;
use crate::Error;

impl Derived for Lexical {
    const NAME: &'static str = "lexical";
    const ROWS: &'static str = "SELECT chunks.id, source, title, heading, chunks.text
                                FROM chunks JOIN documents ON documents.number = chunks.document";
    const COUNT: &'static str = "SELECT count(*) FROM chunks";
    type Writer = LexicalWriter;

    fn open(dir: &Path) -> Result<Self, Error> {
        Self::open(dir)
    }

    fn applied(&self) -> Result<u64, Error> {
        self.applied()
    }

    fn writer(&self) -> Result<LexicalWriter, Error> {
        self.writer()
    }
}

impl DerivedWriter for LexicalWriter {
    fn put(&mut self, row: &Row<'_>) -> Result<(), Stumble> {
        let name = |column| -> rusqlite::Result<Option<&str>> { Ok(row.get_ref(column)?.as_str_or_null()?) };
        let title = above(name(2)?, name(3)?);
        let text = row.get_ref(4)?.as_str().map_err(rusqlite::Error::from)?;
        let chunk = LexicalChunk { id: chunk_id(row)?, source: row.get(1)?, title: &title, text };
        Ok(self.put(chunk)?)
    }

    fn take(&mut self, news: &News<'_>) -> Result<(), Error> {
        match news {
            News::Went(id) => self.delete(*id),
            News::Came { id, source, document, chunk } => {
                let title = above(document.title.as_deref(), chunk.heading.as_deref());
                self.put(LexicalChunk { id: *id, source: *source, title: &title, text: &chunk.text })?;
            }
        }
        Ok(())
    }

    fn commit(&mut self, sequence: u64) -> Result<(), Stumble> {
        Ok(self.commit(sequence)?)
    }
}

impl Derived for Matrix {
    const NAME: &'static str = "matrix";
    const ROWS: &'static str = "SELECT chunks.id, source, vector
                                FROM chunks JOIN vectors ON vectors.chunk = chunks.id
                                JOIN documents ON documents.number = chunks.document";
    const COUNT: &'static str = "SELECT count(*) FROM vectors";
    type Writer = MatrixWriter;

    fn open(dir: &Path) -> Result<Self, Error> {
        Self::open(dir)
    }

    fn applied(&self) -> Result<u64, Error> {
        // A view looks at the disk; without one, this is what was there when somebody last looked.
        self.view()?;
        Ok(self.applied())
    }

    fn writer(&self) -> Result<MatrixWriter, Error> {
        self.writer()
    }
}

impl DerivedWriter for MatrixWriter {
    fn put(&mut self, row: &Row<'_>) -> Result<(), Stumble> {
        let vector = from_bytes(row.get_ref(2)?.as_blob().map_err(rusqlite::Error::from)?);
        Ok(self.put(chunk_id(row)?, row.get(1)?, &vector)?)
    }

    fn take(&mut self, news: &News<'_>) -> Result<(), Error> {
        match news {
            News::Went(id) => self.delete(*id),
            News::Came { id, source, chunk, .. } => {
                if let Some(vector) = &chunk.vector {
                    self.put(*id, *source, vector)?;
                }
            }
        }
        Ok(())
    }

    fn commit(&mut self, sequence: u64) -> Result<(), Stumble> {
        Ok(self.commit(sequence)?)
    }
}

/// The title and the headings that a chunk stands under.
fn above(title: Option<&str>, heading: Option<&str>) -> String {
    let (title, heading) = (title.unwrap_or_default(), heading.unwrap_or_default());
    let between = if title.is_empty() || heading.is_empty() { "" } else { "\n" };
    [title, between, heading].concat()
}

fn chunk_id(row: &Row<'_>) -> rusqlite::Result<ChunkId> {
    row.get::<_, Whole>(0).map(|whole| ChunkId(whole.0))
}
