//! Writing: append, bury, commit.

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use mainstem_core::ChunkId;
use mainstem_core::diagnostic::Place;
use rustc_hash::{FxHashMap, FxHashSet};

use super::columns::{Columns, folder};
use super::commit::{self, Commit};
use super::snapshot::Snapshot;
use super::view::check_dim;
use super::{Tuning, code};
use crate::Error;

/// The right to write to the matrix, until it is dropped. What was not committed by then is forgotten.
#[derive(Debug)]
pub(crate) struct MatrixWriter {
    pub(super) dir: PathBuf,
    pub(super) tuning: Tuning,
    /// The last commit.
    pub(super) base: Arc<Snapshot>,
    /// The files; `None` before the first vector.
    pub(super) columns: Option<Columns>,
    /// What is written since the last commit.
    pub(super) pending: Pending,
    /// Whether a write failed, so that the files may not agree with each other.
    failed: bool,
    /// Held, not read: the lock ends with it.
    _lock: File,
}

/// Changes since the last commit.
#[derive(Debug, Default)]
pub(super) struct Pending {
    /// The rows of new chunks.
    rows: FxHashMap<u64, u32>,
    /// How many rows were appended.
    appended: u32,
    /// Rows that died, old and new ones.
    pub(super) dead: FxHashSet<u32>,
    /// The id of the last row that was appended.
    last: Option<u64>,
    /// Whether an id is not above the one before, so that the rows have to be put in order.
    pub(super) disordered: bool,
}

impl MatrixWriter {
    pub(super) fn open(dir: &Path, tuning: Tuning) -> Result<Self, Error> {
        let lock = lock(dir)?;
        let base = Snapshot::latest(dir, None)?;
        let (dir, pending) = (dir.to_owned(), Pending::default());
        let mut writer = Self { dir, tuning, base, columns: None, pending, failed: false, _lock: lock };
        if writer.base.is_newest() {
            writer.remove_others();
        } else {
            // A commit was lost. Views may still use its rows, so nothing is appended where they are.
            writer.commit(writer.applied())?;
        }
        Ok(writer)
    }

    /// The sequence number of the last commit; 0 when there is none.
    pub(crate) fn applied(&self) -> u64 {
        self.base.commit().sequence
    }

    /// Puts the vector of a chunk, in place of the one it has, if any. It is brought to unit length.
    ///
    /// Ids are expected to rise from put to put. They need not, but then the commit writes the whole matrix anew.
    ///
    /// # Errors
    /// [`Error::Input`] when the vector is not as long as the others or not of finite numbers; then nothing has changed. After
    /// [`Error::Io`] the writer has to be dropped.
    pub(crate) fn put(&mut self, id: ChunkId, source: u32, vector: &[f32]) -> Result<(), Error> {
        let vector = self.checked(vector)?;
        let row = self.next_row()?;
        let last = self.last_id();
        self.start_write()?;
        self.columns(vector.len())?.push(id.0, source, &vector)?;
        self.failed = false;
        self.delete(id);
        self.pending.disordered |= last.is_some_and(|last| last >= id.0);
        self.pending.last = Some(id.0);
        self.pending.appended += 1;
        self.pending.rows.insert(id.0, row);
        Ok(())
    }

    /// Removes the vector of a chunk, if it has one.
    pub(crate) fn delete(&mut self, id: ChunkId) {
        let row = self.pending.rows.remove(&id.0).or_else(|| self.base.find(id.0));
        self.pending.dead.extend(row);
    }

    /// Keeps everything since the last commit, and shows it to later views. `sequence` is given back by
    /// [`applied`](super::Matrix::applied).
    ///
    /// # Errors
    /// When the files cannot be written; then the last commit still stands, and the writer has to be dropped.
    pub(crate) fn commit(&mut self, sequence: u64) -> Result<(), Error> {
        self.start_write()?;
        let counter = self.base.counter() + 1;
        let next = Commit { counter, sequence, ..self.written()? };
        commit::write(&self.dir, &next)?;
        let before = (self.base.commit().generation == next.generation).then(|| Arc::clone(&self.base));
        self.base = Arc::new(Snapshot::open(&self.dir, next, before.as_deref())?);
        self.pending = Pending::default();
        self.remove_others();
        self.failed = false;
        Ok(())
    }

    /// Refuses to write after a failed write; until this one is over, it counts as failed.
    fn start_write(&mut self) -> Result<(), Error> {
        if std::mem::replace(&mut self.failed, true) {
            return Err(Error::Internal("the vector matrix was written to after a write failed".into()));
        }
        Ok(())
    }

    /// Writes everything to the files, and returns what the commit will count.
    fn written(&mut self) -> Result<Commit, Error> {
        if self.must_rewrite() {
            return self.rewrite();
        }
        if self.wants_signs(self.rows() as usize) {
            self.add_signs()?;
        }
        let dead: Vec<u32> = self.buried();
        if !dead.is_empty() {
            let columns = self.columns(self.base.dim())?;
            dead.iter().try_for_each(|row| columns.bury(*row))?;
        }
        if let Some(columns) = &mut self.columns {
            columns.flush()?;
        }
        Ok(self.count())
    }

    /// What the files hold: the last commit and everything since.
    pub(super) fn count(&self) -> Commit {
        let mut commit = *self.base.commit();
        commit.rows = self.rows();
        commit.dead += self.pending.dead.len() as u32;
        if let Some(columns) = &self.columns {
            commit.generation = columns.generation;
            commit.dim = columns.dim as u32;
            commit.signs = columns.has_signs();
        }
        commit
    }

    /// The rows that died, in order.
    fn buried(&self) -> Vec<u32> {
        let mut dead: Vec<u32> = self.pending.dead.iter().copied().collect();
        dead.sort_unstable();
        dead
    }

    /// Too many dead rows, rows out of order, or a commit that was lost.
    fn must_rewrite(&self) -> bool {
        let Commit { dead, rows, generation, .. } = self.count();
        let (dead, rows) = (dead as usize, rows as usize);
        let many_dead = dead >= self.tuning.rewrite_from && dead * 10 > rows * 3;
        generation != 0 && (many_dead || self.pending.disordered || !self.base.is_newest())
    }

    /// Whether a matrix of so many rows should have signs, and has none.
    pub(super) fn wants_signs(&self, rows: usize) -> bool {
        let commit = self.count();
        rows >= self.tuning.signs_from && commit.dim as usize >= self.tuning.signs_dim && !commit.signs
    }

    /// How many rows there are with the new ones, dead ones included.
    pub(super) fn rows(&self) -> u32 {
        self.base.commit().rows + self.pending.appended
    }

    fn next_row(&self) -> Result<u32, Error> {
        let row = self.rows();
        let full = || {
            Error::input(format!("expected at most {row} vectors, received one more"), "use a second store")
        };
        row.checked_add(1).map(|_| row).ok_or_else(full)
    }

    fn last_id(&self) -> Option<u64> {
        let last = || self.base.commit().rows.checked_sub(1).map(|row| self.base.id(row));
        self.pending.last.or_else(last)
    }

    fn checked(&self, vector: &[f32]) -> Result<Vec<f32>, Error> {
        match self.columns.as_ref().map_or(self.base.dim(), |columns| columns.dim) {
            0 if vector.is_empty() => {
                return Err(Error::input(
                    "expected a vector, received one without dimensions",
                    "check the model",
                ));
            }
            0 => {}
            dim => check_dim(dim, vector.len())?,
        }
        code::unit(vector)
    }

    /// The files to append to: those of the last commit, or new ones before the first vector.
    pub(super) fn columns(&mut self, dim: usize) -> Result<&mut Columns, Error> {
        if self.columns.is_none() {
            let commit = self.base.commit();
            self.columns = Some(match commit.generation {
                0 => Columns::create(&self.dir, dim)?,
                _ => Columns::open(&self.dir, commit, self.base.centre().as_deref())?,
            });
        }
        self.columns.as_mut().ok_or_else(|| Error::Internal("the vector matrix has no files".into()))
    }

    /// Removes the generations that no longer count. One that cannot be removed is tried again by the next writer.
    fn remove_others(&self) {
        let current = folder(&self.dir, self.base.commit().generation);
        for entry in fs::read_dir(&self.dir).into_iter().flatten().flatten() {
            let is_generation = entry.file_name().to_str().is_some_and(|name| name.starts_with('g'));
            if is_generation && entry.path() != current {
                drop(fs::remove_dir_all(entry.path()));
            }
        }
    }
}

/// The lock of the one writer; the system lets go of it when the process dies.
fn lock(dir: &Path) -> Result<File, Error> {
    let path = dir.join("lock");
    let failed = |e| Error::io("cannot lock the vector matrix", &path, e);
    let file = File::options().create(true).write(true).truncate(false).open(&path).map_err(failed)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => {
            Err(Error::Busy { place: Place::default().in_file(dir.display().to_string()) })
        }
        Err(TryLockError::Error(e)) => Err(failed(e)),
    }
}
