//! Which documents there are, and which chunks are theirs: small enough to be held for a whole store.

use mainstem_core::ChunkId;
use mainstem_core::contract::Filter;
use mainstem_core::link::DocumentName;
use rusqlite::{Connection, params_from_iter};

use super::matching;
use super::read::NumberedSource;
use super::row::Whole;

/// Documents by name, with the numbers of their chunks. Documents without chunks are left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outline {
    documents: Vec<DocumentName>,
    /// Where the chunks of each document begin.
    starts: Vec<u32>,
    /// Document by document, in order.
    chunks: Vec<ChunkId>,
    /// The same by number, each with its document and its place there.
    by_number: Vec<(ChunkId, u32, u32)>,
    restricted: bool,
}

impl Outline {
    /// What passes a filter of these sources, which come by name.
    pub(in super::super) fn read<'a>(
        conn: &Connection,
        sources: impl Iterator<Item = &'a NumberedSource>,
        filter: &Filter,
    ) -> rusqlite::Result<Self> {
        let mut outline = Self::default();
        for source in sources {
            let (conditions, values) = matching::of_source(source.number, filter);
            let sql = format!(
                "SELECT documents.id, chunks.id, place, readers IS NOT NULL FROM documents JOIN chunks ON chunks.document = number
                 WHERE {conditions} ORDER BY documents.id, place"
            );
            let mut statement = conn.prepare_cached(&sql)?;
            let mut rows = statement.query(params_from_iter(values))?;
            let mut id = None;
            while let Some(row) = rows.next()? {
                let document: String = row.get(0)?;
                if id.as_ref() != Some(&document) {
                    outline.begin(&source.name, &document);
                    outline.restricted |= row.get::<_, bool>(3)?;
                    id = Some(document);
                }
                outline.add(ChunkId(row.get::<_, Whole>(1)?.0), row.get(2)?);
            }
        }
        outline.by_number.sort_unstable();
        Ok(outline)
    }

    fn begin(&mut self, source: &str, id: &str) {
        self.documents.push(DocumentName { source: source.to_owned(), id: id.to_owned() });
        self.starts.push(self.chunks.len() as u32);
    }

    fn add(&mut self, chunk: ChunkId, place: u32) {
        self.chunks.push(chunk);
        self.by_number.push((chunk, self.documents.len() as u32 - 1, place));
    }

    /// The documents, by source and id.
    pub fn documents(&self) -> &[DocumentName] {
        &self.documents
    }

    /// Whether not everybody may read all of them.
    pub const fn is_restricted(&self) -> bool {
        self.restricted
    }

    /// The chunks of the document at a place among the documents, in order.
    pub fn chunks(&self, document: u32) -> &[ChunkId] {
        let at = document as usize;
        let bound = |at: usize| self.starts.get(at).map_or(self.chunks.len(), |start| *start as usize);
        &self.chunks[bound(at)..bound(at + 1)]
    }

    /// The place of a chunk's document among the documents, and the chunk's place in it.
    pub fn place(&self, chunk: ChunkId) -> Option<(u32, u32)> {
        let at = self.by_number.binary_search_by_key(&chunk, |(number, ..)| *number).ok()?;
        let (_, document, place) = self.by_number[at];
        Some((document, place))
    }
}
