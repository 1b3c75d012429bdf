//! The vector matrix: every vector of the store, quantised, in files that are read as memory.
//!
//! It is derived: SQLite holds the truth, and the [sequence number](Matrix::applied) of the last commit says from where to replay.
//!
//! # Files
//!
//! ```text
//! lock            held by the one writer
//! commit          two commit records, written in turn (see `commit`)
//! g<generation>/  rows     16 bytes a row: chunk id, source, scale of the codes
//!                 codes    int8, dim bytes a row: the scan
//!                 exact    f16, 2·dim bytes a row: the final scores
//!                 dead     4 bytes a tombstone: the row
//!                 signs    one bit per dimension: the first scan of a large matrix
//!                 factors  8 bytes a row: source and weight of the signs
//!                 centre   what the signs are relative to
//! ```
//!
//! Rows are in ascending order of their ids. Files only grow, and what a commit counts never changes again, so a view needs no lock: it is
//! a commit record and some maps. What lies behind the counted bytes is a torn append or one under way, and the next append overwrites it.
//! A rewrite (too many dead rows, ids out of order, a lost commit) makes a new generation, and its commit record is the switch.
//!
//! # Search
//!
//! One pass over the codes keeps a shortlist per source, and the shortlist is scored again with `exact`. A large matrix is first passed
//! by its signs, which are an eighth of the codes. Answers are the same for any number of threads.

mod best;
mod code;
mod columns;
mod commit;
mod rewrite;
mod sample;
mod scan;
mod slots;
mod snapshot;
mod tail;
#[cfg(test)]
mod tests;
mod view;
mod writer;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::allowed::Allowed;
use crate::Error;
use snapshot::Snapshot;

pub(crate) use code::Widener;
pub(crate) use sample::Sample;
pub(crate) use view::MatrixView;
pub(crate) use writer::MatrixWriter;

const REBUILD: &str = "it is derived from the store's database and can be rebuilt from it";

/// The vector matrix in a folder.
#[derive(Debug)]
pub(crate) struct Matrix {
    dir: PathBuf,
    tuning: Tuning,
    /// The last commit that was seen: what its maps have paged in, later views need not.
    seen: Mutex<Arc<Snapshot>>,
}

/// When the matrix does what.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tuning {
    /// Rows from which the signs are scanned first (100,000 × 384, one core: 1.0 ms, by codes 1.5 ms; a million: 6 ms and 15 ms). They may
    /// miss a row, so they wait until the codes no longer fit beside everything else in the cache of a processor: a scan by codes then also
    /// slows down what comes after it.
    pub(crate) signs_from: usize,
    /// Dimensions from which the signs say enough: with fewer, too many rows share a code.
    pub(crate) signs_dim: usize,
    /// Dead rows from which a rewrite is worth it, if they are also more than 30 % of all.
    pub(crate) rewrite_from: usize,
    /// Rows of a search that are worth a thread.
    pub(crate) rows_per_thread: usize,
}

impl Default for Tuning {
    fn default() -> Self {
        Self { signs_from: 50_000, signs_dim: 128, rewrite_from: 256, rows_per_thread: 20_000 }
    }
}

impl Matrix {
    /// Opens the matrix in a folder, which is made when it is missing.
    ///
    /// # Errors
    /// [`Error::Damaged`] when no commit can be read: the folder is then of no use, and the matrix has to be rebuilt.
    pub(crate) fn open(dir: &Path) -> Result<Self, Error> {
        Self::tuned(dir, Tuning::default())
    }

    /// [`Matrix::open`] with other numbers, for tests and measurements.
    pub(crate) fn tuned(dir: &Path, tuning: Tuning) -> Result<Self, Error> {
        fs::create_dir_all(dir)
            .map_err(|e| Error::io("cannot create the folder of the vector matrix", dir, e))?;
        let seen = Mutex::new(Snapshot::latest(dir, None)?);
        Ok(Self { dir: dir.to_owned(), tuning, seen })
    }

    /// The sequence number of the last commit, whoever made it; 0 when there is none. If it cannot be read, that of the last one seen.
    pub(crate) fn applied(&self) -> u64 {
        self.view().map_or_else(|_| self.seen().commit().sequence, |view| view.applied())
    }

    /// The right to write, which one process has at a time.
    ///
    /// # Errors
    /// [`Error::Busy`] when it is taken.
    pub(crate) fn writer(&self) -> Result<MatrixWriter, Error> {
        MatrixWriter::open(&self.dir, self.tuning)
    }

    /// The matrix as of the last commit, whoever made it. Later commits do not show in it.
    ///
    /// # Errors
    /// When the files cannot be read.
    pub(crate) fn view(&self) -> Result<MatrixView, Error> {
        let before = self.seen();
        let latest = Snapshot::latest(&self.dir, Some(&before))?;
        *self.seen.lock().unwrap_or_else(PoisonError::into_inner) = Arc::clone(&latest);
        Ok(MatrixView::new(latest, self.tuning))
    }

    fn seen(&self) -> Arc<Snapshot> {
        Arc::clone(&self.seen.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
