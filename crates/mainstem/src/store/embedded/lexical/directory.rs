//! Files of the index, as tantivy's own folders keep them, but without waiting for the disk.
//!
//! A commit of tantivy waits for a dozen files, one after the other. The index is derived, and whoever writes the truth knows whether the
//! machine stopped before the system had it all on disk.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tantivy::Directory;
use tantivy::directory::error::{DeleteError, LockError, OpenDirectoryError, OpenReadError, OpenWriteError};
use tantivy::directory::{
    AntiCallToken, DirectoryLock, FileHandle, Lock, META_LOCK, MmapDirectory, TerminatingWrite,
    WatchCallback, WatchHandle, WritePtr,
};

/// A folder.
#[derive(Clone, Debug)]
pub(super) struct Folder {
    mapped: MmapDirectory,
    path: PathBuf,
}

impl Folder {
    pub(super) fn open(path: &Path) -> Result<Self, OpenDirectoryError> {
        Ok(Self { mapped: MmapDirectory::open(path)?, path: path.to_owned() })
    }
}

impl Directory for Folder {
    fn get_file_handle(&self, path: &Path) -> Result<Arc<dyn FileHandle>, OpenReadError> {
        self.mapped.get_file_handle(path)
    }

    fn delete(&self, path: &Path) -> Result<(), DeleteError> {
        self.mapped.delete(path)
    }

    fn exists(&self, path: &Path) -> Result<bool, OpenReadError> {
        self.mapped.exists(path)
    }

    fn open_write(&self, path: &Path) -> Result<WritePtr, OpenWriteError> {
        let failed = |error: io::Error| match error.kind() {
            io::ErrorKind::AlreadyExists => OpenWriteError::FileAlreadyExists(path.to_owned()),
            _ => OpenWriteError::wrap_io_error(error, path.to_owned()),
        };
        let file = File::options().write(true).create_new(true).open(self.path.join(path)).map_err(failed)?;
        Ok(BufWriter::new(Box::new(Unhurried(file))))
    }

    fn atomic_read(&self, path: &Path) -> Result<Vec<u8>, OpenReadError> {
        self.mapped.atomic_read(path)
    }

    fn atomic_write(&self, path: &Path, data: &[u8]) -> io::Result<()> {
        let place = self.path.join(path);
        let mut beside = place.clone().into_os_string();
        beside.push(".next");
        fs::write(&beside, data)?;
        fs::rename(beside, place)
    }

    fn sync_directory(&self) -> io::Result<()> {
        Ok(())
    }

    fn acquire_lock(&self, lock: &Lock) -> Result<DirectoryLock, LockError> {
        match self.mapped.acquire_lock(lock) {
            // Where nobody may write, nobody removes the files that this lock of readers is about.
            Err(LockError::IoError(error)) if *lock.filepath == *META_LOCK.filepath && refuses(&error) => {
                Ok(DirectoryLock::from(Box::new(Unlocked)))
            }
            outcome => outcome,
        }
    }

    fn watch(&self, callback: WatchCallback) -> tantivy::Result<WatchHandle> {
        self.mapped.watch(callback)
    }
}

fn refuses(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem)
}

/// A lock that nobody needs.
struct Unlocked;

impl Drop for Unlocked {
    fn drop(&mut self) {}
}

/// A file that is complete when all was written.
struct Unhurried(File);

impl Write for Unhurried {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl TerminatingWrite for Unhurried {
    fn terminate_ref(&mut self, _: AntiCallToken) -> io::Result<()> {
        self.0.flush()
    }
}
