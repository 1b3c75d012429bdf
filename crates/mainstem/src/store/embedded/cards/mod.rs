//! Cards: all that a search reads of a chunk, in one place.
//!
//! The truth keeps a chunk in three tables. A search looks at hundreds of chunks and shows ten, and three tables take it longer than finding
//! them did. So what was written is written once more, each chunk as one card:
//!
//! ```text
//! cards.data     cards, one behind another
//! cards.index    for each chunk, by its number: where its card is, how long, and the checksum of it
//! ```
//!
//! The number of a chunk is never given to another, and so a card never changes. A card that is missing, cut short or not what was written is
//! no error: the truth has it too. Nobody therefore waits for cards to be on disk. Files are read, not mapped: a card is small, and mapped
//! pages around it would fill the memory.

mod form;
#[cfg(test)]
mod tests;
mod writer;

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use mainstem_core::ChunkId;

use super::pool::lock;

pub(super) use form::Card;
pub(super) use writer::CardsWriter;

const DATA: &str = "cards.data";
const INDEX: &str = "cards.index";

/// What the index begins with: a mark, the bytes of all living cards, the last entry of the log.
const HEAD: u64 = 32;
const MARK: [u8; 8] = *b"MSCARDS1";

/// What the index has for a chunk: where, how long, checksum.
const ENTRY: u64 = 16;

/// The cards of a store, for reading.
pub(super) struct Cards {
    dir: PathBuf,
    files: Mutex<Option<Arc<Files>>>,
    /// Whether a card was looked for and not found: the files may have been replaced since.
    missed: AtomicBool,
}

impl Cards {
    pub(super) fn new(dir: &Path) -> Self {
        Self { dir: dir.to_owned(), files: Mutex::default(), missed: AtomicBool::default() }
    }

    /// The files as they are now; nothing where there are none.
    pub(super) fn files(&self) -> Option<Arc<Files>> {
        let mut files = lock(&self.files);
        if files.is_none() || self.missed.swap(false, Ordering::Relaxed) {
            *files = Files::open(&self.dir).ok().map(Arc::new);
        }
        files.clone()
    }

    /// Has the files opened again before they are next used.
    pub(super) fn miss(&self) {
        self.missed.store(true, Ordering::Relaxed);
    }
}

/// Both files, open.
pub(super) struct Files {
    data: File,
    index: File,
    /// How long the cards were when that was last asked.
    len: AtomicU64,
}

impl Files {
    fn new(data: File, index: File) -> Self {
        Self { data, index, len: AtomicU64::default() }
    }

    fn open(dir: &Path) -> io::Result<Self> {
        Ok(Self::new(File::open(dir.join(DATA))?, File::open(dir.join(INDEX))?))
    }

    /// The card of a chunk, read into `room`; nothing when it is not there, or not what was written.
    pub(super) fn card<'r>(&self, id: ChunkId, room: &'r mut Vec<u8>) -> Option<Card<'r>> {
        // A damaged entry may tell of a card of any length.
        let entry = self.entry(id).filter(|entry| self.reach(entry.at.saturating_add(entry.len.into())))?;
        room.resize(entry.len as usize, 0);
        read_at(&self.data, room, entry.at).ok()?;
        (checksum(id, room) == entry.check).then_some(())?;
        Card::read(room)
    }

    /// Whether there is a card, whatever is in it.
    pub(super) fn has(&self, id: ChunkId) -> bool {
        self.entry(id).is_some()
    }

    /// Whether there is a card that is not what was written.
    pub(super) fn is_damaged(&self, id: ChunkId) -> bool {
        self.entry(id).is_some() && self.card(id, &mut Vec::new()).is_none()
    }

    /// Whether the cards go as far as this. They get longer while they are open.
    fn reach(&self, end: u64) -> bool {
        if end <= self.len.load(Ordering::Relaxed) {
            return true;
        }
        let len = self.data.metadata().map_or(0, |data| data.len());
        self.len.store(len, Ordering::Relaxed);
        end <= len
    }

    fn entry(&self, id: ChunkId) -> Option<Entry> {
        let mut bytes = [0; ENTRY as usize];
        read_at(&self.index, &mut bytes, place(id)?).ok()?;
        Some(Entry::read(&bytes)).filter(|entry| entry.len > 0)
    }
}

/// Where a card is.
#[derive(Clone, Copy)]
struct Entry {
    at: u64,
    len: u32,
    check: u32,
}

impl Entry {
    fn read(bytes: &[u8; ENTRY as usize]) -> Self {
        let number = |first: usize| u32::from_le_bytes(std::array::from_fn(|at| bytes[first + at]));
        let at = u64::from(number(4)) << 32 | u64::from(number(0));
        Self { at, len: number(8), check: number(12) }
    }

    fn write(self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(&self.at.to_le_bytes());
        bytes.extend_from_slice(&self.len.to_le_bytes());
        bytes.extend_from_slice(&self.check.to_le_bytes());
    }
}

/// Where the entry of a chunk is in the index.
fn place(id: ChunkId) -> Option<u64> {
    id.0.checked_mul(ENTRY)?.checked_add(HEAD)
}

/// The checksum of a card, which is of this chunk and no other.
fn checksum(id: ChunkId, card: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&id.0.to_le_bytes());
    hasher.update(card);
    hasher.finalize()
}

#[cfg(unix)]
fn read_at(file: &File, bytes: &mut [u8], at: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, at)
}

#[cfg(unix)]
fn write_at(file: &File, bytes: &[u8], at: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, at)
}

#[cfg(windows)]
fn read_at(file: &File, mut bytes: &mut [u8], mut at: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        let read = std::os::windows::fs::FileExt::seek_read(file, bytes, at)?;
        if read == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        bytes = &mut bytes[read..];
        at += read as u64;
    }
    Ok(())
}

#[cfg(windows)]
fn write_at(file: &File, mut bytes: &[u8], mut at: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        let written = std::os::windows::fs::FileExt::seek_write(file, bytes, at)?;
        bytes = &bytes[written..];
        at += written as u64;
    }
    Ok(())
}
