//! Changing the index.

use std::path::{Path, PathBuf};

use mainstem_core::ChunkId;
use tantivy::indexer::{LogMergePolicy, MergePolicy, NoMergePolicy};
use tantivy::{Index, IndexWriter, TantivyDocument, Term};

use super::failure::Context;
use super::fields::Fields;
use super::sketch;
use crate::Error;

/// How much memory words may take before they are written to a segment, in bytes.
const HEAP: usize = 64 << 20;
/// A segment with a larger share of deleted chunks is written anew: they still count in the statistics.
const MOST_DELETED: f32 = 0.2;

/// A chunk as the index sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LexicalChunk<'a> {
    /// Its number.
    pub(crate) id: ChunkId,
    /// The number of its source.
    pub(crate) source: u32,
    /// The title of its document, with the headings it stands under; may be empty.
    pub(crate) title: &'a str,
    /// Its text.
    pub(crate) text: &'a str,
}

/// The one that changes the index. Nothing shows before [`LexicalWriter::commit`].
pub(crate) struct LexicalWriter {
    writer: IndexWriter,
    fields: Fields,
    dir: PathBuf,
}

impl LexicalWriter {
    pub(super) fn new(index: &Index, dir: &Path) -> Result<Self, Error> {
        // One thread, and merging by hand: what is in which segment depends on the changes alone, not on timing.
        let writer: IndexWriter = index.writer_with_num_threads(1, HEAP).context(dir)?;
        writer.set_merge_policy(Box::new(NoMergePolicy));
        Ok(Self { writer, fields: Fields::new(), dir: dir.to_owned() })
    }

    /// Puts a chunk in place of the one of that number, if any.
    ///
    /// # Errors
    /// When the index cannot be written.
    pub(crate) fn put(&mut self, chunk: LexicalChunk<'_>) -> Result<(), Error> {
        self.delete(chunk.id);
        let fields = self.fields;
        let mut document = TantivyDocument::new();
        document.add_u64(fields.id, chunk.id.0);
        document.add_u64(fields.source, u64::from(chunk.source));
        document.add_u64(fields.sketch, sketch::of([chunk.title, chunk.text]));
        document.add_text(fields.title, chunk.title);
        for text in [chunk.title, chunk.text] {
            document.add_text(fields.body, text);
            document.add_text(fields.characters, text);
        }
        self.writer.add_document(document).context(&self.dir)?;
        Ok(())
    }

    /// Removes a chunk, if it is there.
    pub(crate) fn delete(&mut self, chunk: ChunkId) {
        self.writer.delete_term(Term::from_field_u64(self.fields.id, chunk.0));
    }

    /// Makes the changes so far durable and visible, and remembers their sequence number.
    ///
    /// # Errors
    /// When the index cannot be written.
    pub(crate) fn commit(&mut self, sequence: u64) -> Result<(), Error> {
        let mut commit = self.writer.prepare_commit().context(&self.dir)?;
        commit.set_payload(&sequence.to_string());
        commit.commit().context(&self.dir)?;
        self.merge()
    }

    /// Merges segments until there are few.
    fn merge(&mut self) -> Result<(), Error> {
        let mut policy = LogMergePolicy::default();
        policy.set_del_docs_ratio_before_merge(MOST_DELETED);
        loop {
            let segments = self.writer.index().searchable_segment_metas().context(&self.dir)?;
            let candidates = policy.compute_merge_candidates(&segments);
            if candidates.is_empty() {
                return Ok(());
            }
            for candidate in candidates {
                self.writer.merge(&candidate.0).wait().context(&self.dir)?;
            }
        }
    }
}
