//! Indexes that are not on disk yet.
//!
//! A write is safe once the truth is on disk. Its indexes are written too, but nobody waits for the disk to have them: that took most of the
//! time of a write. When the process dies, the system still has all that was written, and nothing is lost. When the machine does, some of
//! an index may be missing, in any order; then it has to be made anew, and the next writer has to know.
//!
//! So a mark is put on the disk before the first such write. It names the boot of the machine, and is removed when all indexes are on disk:
//! when the store is closed. Who finds a mark of another boot trusts no index. Where a system does not name its boots, every mark counts
//! as one of another.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::catch_up::Derived;
use super::lexical::Lexical;
use super::matrix::Matrix;
use crate::Error;

/// The name of the mark.
const MARK: &str = "unsettled";
/// Where Linux names the boot.
const BOOT: &str = "/proc/sys/kernel/random/boot_id";

/// Whether the indexes are on disk.
pub(super) struct Settling {
    store: PathBuf,
    /// What the mark says; nothing when there is none.
    mark: Option<Vec<u8>>,
}

impl Settling {
    /// What was left by the writer before.
    pub(super) fn open(store: &Path) -> Self {
        Self { store: store.to_owned(), mark: fs::read(store.join(MARK)).ok() }
    }

    /// Whether the machine may have stopped before the indexes were on disk.
    pub(super) fn may_have_lost(&self) -> bool {
        self.mark.as_ref().is_some_and(|mark| boot().as_ref() != Some(mark))
    }

    /// From now on, indexes are written that may not be on disk.
    pub(super) fn begin(&mut self) -> Result<(), Error> {
        let mark = boot().unwrap_or_default();
        if self.mark.as_ref() == Some(&mark) {
            return Ok(());
        }
        let path = self.store.join(MARK);
        let put = || -> io::Result<()> {
            let mut file = File::create(&path)?;
            file.write_all(&mark)?;
            file.sync_all()?;
            sync(&self.store)
        };
        put().map_err(|error| Error::io("cannot write to the store", &path, error))?;
        self.mark = Some(mark);
        Ok(())
    }

    /// Waits until all indexes are on disk. What does not succeed leaves the mark where it is.
    pub(super) fn end(&mut self) {
        if self.mark != Some(boot().unwrap_or_default()) {
            return;
        }
        if sync_indexes(&self.store).is_ok() && fs::remove_file(self.store.join(MARK)).is_ok() {
            self.mark = None;
        }
    }
}

/// What the system calls this boot of the machine, if it does.
fn boot() -> Option<Vec<u8>> {
    fs::read(BOOT).ok().filter(|name| !name.is_empty())
}

fn sync_indexes(store: &Path) -> io::Result<()> {
    for entry in fs::read_dir(store)? {
        let entry = entry?;
        let name = entry.file_name();
        if [Lexical::NAME, Matrix::NAME].iter().any(|index| name.to_string_lossy().starts_with(index)) {
            sync_all(&entry.path())?;
        }
    }
    sync(store)
}

/// Brings a folder and everything in it to disk.
fn sync_all(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            sync_all(&path)?;
        } else {
            sync(&path)?;
        }
    }
    sync(folder)
}

/// Brings a file to disk, or the names in a folder where the system opens folders; those that do not keep names by themselves.
fn sync(path: &Path) -> io::Result<()> {
    match File::open(path) {
        Ok(file) => file.sync_all(),
        Err(_) if path.is_dir() => Ok(()),
        Err(error) => Err(error),
    }
}
