//! The end of a file that is appended to.

use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::Error;

/// Bytes that are gathered before they are written.
const GATHER: usize = 1 << 20;
/// Files grow in steps of this.
const STEP: u64 = 1 << 16;

/// The end of a file, from the last byte that counts.
#[derive(Debug)]
pub(super) struct Tail {
    path: PathBuf,
    file: File,
    /// Where `gathered` belongs.
    at: u64,
    /// How long the file is. It is made longer than needed, so that a map of it serves later commits as well.
    room: u64,
    gathered: Vec<u8>,
}

impl Tail {
    /// The end of a file of which `at` bytes count; the file is made when it is missing.
    pub(super) fn open(path: &Path, at: u64) -> Result<Self, Error> {
        let open = || -> io::Result<(File, u64)> {
            let file = File::options().create(true).write(true).truncate(false).open(path)?;
            let room = file.metadata()?.len();
            Ok((file, room))
        };
        let (file, room) = open().map_err(|e| Self::failed(path, e))?;
        Ok(Self { path: path.to_owned(), file, at, room, gathered: Vec::new() })
    }

    /// Appends what `fill` adds to the buffer.
    pub(super) fn append<T>(&mut self, fill: impl FnOnce(&mut Vec<u8>) -> T) -> Result<T, Error> {
        if self.gathered.len() >= GATHER {
            self.flush()?;
        }
        Ok(fill(&mut self.gathered))
    }

    /// Writes what was gathered. A failed write may be tried again: it starts at the same place.
    pub(super) fn flush(&mut self) -> Result<(), Error> {
        if self.gathered.is_empty() {
            return Ok(());
        }
        self.write().map_err(|e| Self::failed(&self.path, e))?;
        self.at += self.gathered.len() as u64;
        self.gathered.clear();
        Ok(())
    }

    fn write(&mut self) -> io::Result<()> {
        let end = self.at + self.gathered.len() as u64;
        if end > self.room {
            let room = (end + end / 8).next_multiple_of(STEP);
            self.file.set_len(room)?;
            self.room = room;
        }
        self.file.seek(SeekFrom::Start(self.at))?;
        self.file.write_all(&self.gathered)
    }

    fn failed(path: &Path, source: io::Error) -> Error {
        Error::io("cannot write the vector matrix", path, source)
    }
}
