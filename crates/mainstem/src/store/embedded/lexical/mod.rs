//! The lexical index: which words are in which chunks.
//!
//! tantivy keeps the postings; how they are scored is ours ([`bm25`]), for three reasons. Every source needs its own best chunks from one pass
//! over the postings, a title has to count within the saturation of BM25 and not beside it, and a score must be the same number however it was
//! come by: by a search that skips most postings, by one that skips none, or by asking for the chunk.
//!
//! The index is derived from the store's truth and can be deleted at any time.

mod background;
mod bm25;
mod census;
mod compile;
mod cursor;
mod directory;
mod failure;
mod fields;
mod sketch;
mod statistics;
mod tops;
mod view;
mod writer;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use tantivy::index::SegmentId;
use tantivy::{Directory, Index, IndexReader, ReloadPolicy};

pub(crate) use statistics::Readable;
pub(crate) use view::LexicalView;
pub(crate) use writer::{LexicalChunk, LexicalWriter};

use crate::Error;
use directory::Folder;
use failure::{Context, damaged, reading};
use fields::Fields;

/// The file that names the segments of the index.
const META: &str = "meta.json";

/// The index of one folder. Clones share it.
#[derive(Clone)]
pub(crate) struct Lexical {
    shared: Arc<Shared>,
}

struct Shared {
    dir: PathBuf,
    index: Index,
    reader: IndexReader,
    newest: Mutex<Option<Newest>>,
}

/// The newest view.
struct Newest {
    /// The bytes of [`META`] that it was made from.
    meta: Vec<u8>,
    view: LexicalView,
    /// The sequence number of its commit, unless the next commit came in between.
    applied: Option<u64>,
}

impl Lexical {
    /// Opens the index of a folder, and creates both if need be.
    ///
    /// # Errors
    /// [`Error::Damaged`] when the folder holds something that is no index of this version: deleting it helps.
    pub(crate) fn open(dir: &Path) -> Result<Self, Error> {
        fs::create_dir_all(dir).map_err(|error| Error::io("creating the index folder", dir, error))?;
        let empty = fs::read_dir(dir).and_then(|mut entries| entries.next().transpose());
        if empty.map_err(|error| Error::io("reading the index folder", dir, error))?.is_none() {
            let directory = Folder::open(dir).context(dir)?;
            Index::builder().schema(Fields::schema()).open_or_create(directory).context(dir)?;
        }
        Self::open_read_only(dir)
    }

    /// Opens the index of a folder that another process may be writing to.
    ///
    /// # Errors
    /// [`Error::Damaged`] as in [`Lexical::open`], and when there is no index.
    pub(crate) fn open_read_only(dir: &Path) -> Result<Self, Error> {
        let mut index = Index::open(Folder::open(dir).context(dir)?).context(dir)?;
        if index.schema() != Fields::schema() {
            return Err(damaged("the lexical index was made by another version", dir));
        }
        index.set_tokenizers(Fields::tokenizers());
        check_lengths(&index, dir)?;
        let builder = index.reader_builder().reload_policy(ReloadPolicy::Manual);
        let reader = reading(dir, || builder.try_into())?;
        let shared = Shared { dir: dir.to_owned(), index, reader, newest: Mutex::default() };
        let lexical = Self { shared: Arc::new(shared) };
        lexical.applied()?;
        Ok(lexical)
    }

    /// The sequence number of the last commit; 0 when there was none.
    ///
    /// # Errors
    /// When the index cannot be read.
    pub(crate) fn applied(&self) -> Result<u64, Error> {
        let dir = &self.shared.dir;
        match self.shared.index.load_metas().context(dir)?.payload {
            None => Ok(0),
            Some(payload) => {
                payload.parse().map_err(|_| damaged("the lexical index has no sequence number", dir))
            }
        }
    }

    /// The one writer of the index.
    ///
    /// # Errors
    /// [`Error::Busy`] when there is another, in this process or elsewhere.
    pub(crate) fn writer(&self) -> Result<LexicalWriter, Error> {
        LexicalWriter::new(&self.shared.index, &self.shared.dir)
    }

    /// The index as of the last commit, by whichever process.
    ///
    /// # Errors
    /// When the index cannot be read.
    pub(crate) fn view(&self) -> Result<LexicalView, Error> {
        self.view_and_applied().map(|(view, _)| view)
    }

    /// The index as of the last commit, and the sequence number of that commit, when it can be said.
    ///
    /// # Errors
    /// When the index cannot be read.
    pub(crate) fn view_and_applied(&self) -> Result<(LexicalView, Option<u64>), Error> {
        let Shared { dir, index, reader, newest } = &*self.shared;
        let mut newest = newest.lock().unwrap_or_else(PoisonError::into_inner);
        let read = || index.directory().atomic_read(Path::new(META)).context(dir);
        let meta = read()?;
        if let Some(known) = newest.as_ref().filter(|known| known.meta == meta) {
            return Ok((known.view.clone(), known.applied));
        }
        reading(dir, || reader.reload())?;
        let view = LexicalView::new(reader.searcher(), dir, newest.as_ref().map(|newest| &newest.view))?;
        let applied = Some(self.applied()?).filter(|_| read().is_ok_and(|now| now == meta));
        *newest = Some(Newest { meta, view: view.clone(), applied });
        Ok((view, applied))
    }
}

/// Refuses files too short to have the footer that tantivy looks for at their end; it would panic on them.
///
/// Only those of the last commit count: others may be under way.
fn check_lengths(index: &Index, dir: &Path) -> Result<(), Error> {
    const FOOTER: u64 = 8;
    let failed = |error| Error::io("reading the index folder", dir, error);
    let segments = index.searchable_segment_ids().context(dir)?;
    let committed: Vec<_> = segments.iter().map(SegmentId::uuid_string).collect();
    for entry in fs::read_dir(dir).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let name = entry.file_name();
        let counts = committed.iter().any(|id| name.to_string_lossy().starts_with(id));
        if counts && entry.metadata().is_ok_and(|metadata| metadata.len() < FOOTER) {
            return Err(damaged("a file of the lexical index was cut off", &entry.path()));
        }
    }
    Ok(())
}

#[cfg(test)]
mod quality;
#[cfg(test)]
mod tests;
