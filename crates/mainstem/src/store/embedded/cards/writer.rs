//! Writing cards. Whatever fails is left out: the truth has it.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use mainstem_core::{Chunk, ChunkId, Document};
use rusqlite::Connection;

use super::super::truth::write::News;
use super::super::truth::{Meta, read};
use super::form::Source;
use super::{Card, DATA, ENTRY, Entry, Files, HEAD, INDEX, MARK, checksum, place, read_at, write_at};

/// The bytes of cards from which they are written.
const FULL: usize = 4 << 20;

/// The bytes of cards of chunks that are gone from which the files are made anew, if they are more than half.
const WASTE: u64 = 16 << 20;

/// What writes cards.
pub(in super::super) struct CardsWriter {
    dir: PathBuf,
    files: Option<Files>,
    /// Where the next card goes.
    end: u64,
    /// The bytes of the cards of all chunks that are there.
    live: u64,
    /// The cards that wait to be written, and whose they are.
    waiting: Vec<u8>,
    entries: Vec<(ChunkId, Entry)>,
    /// Whether all have to be written anew.
    distrusted: bool,
    /// Whether that failed, and is not tried again.
    resting: bool,
}

impl CardsWriter {
    pub(in super::super) fn new(dir: &Path) -> Self {
        Self {
            dir: dir.to_owned(),
            files: None,
            end: 0,
            live: 0,
            waiting: Vec::new(),
            entries: Vec::new(),
            distrusted: false,
            resting: false,
        }
    }

    /// Has all cards made anew when they next follow.
    pub(in super::super) fn distrust(&mut self) {
        self.distrusted = true;
    }

    /// Takes in an entry of the log. Nothing is written yet.
    pub(in super::super) fn take(&mut self, news: &News<'_>) {
        match news {
            News::Came { id, source, document, chunk } => {
                let of = Source { number: *source, embedded: chunk.vector.is_some() };
                self.add(*id, &of, document, chunk);
            }
            News::Went(id) => {
                let len = self.files.as_ref().and_then(|files| files.entry(*id)).map_or(0, |entry| entry.len);
                self.live = self.live.saturating_sub(len.into());
            }
        }
    }

    fn add(&mut self, id: ChunkId, of: &Source, document: &Document, chunk: &Chunk) {
        let first = self.waiting.len();
        if self.files.is_none() || Card::write(of, document, chunk, &mut self.waiting).is_none() {
            return;
        }
        let card = &self.waiting[first..];
        let Ok(len) = u32::try_from(card.len()) else {
            self.waiting.truncate(first);
            return;
        };
        self.entries.push((id, Entry { at: self.end + first as u64, len, check: checksum(id, card) }));
        self.live += u64::from(len);
    }

    /// Forgets what was taken in: the truth has not.
    pub(in super::super) fn forget(&mut self) {
        self.waiting.clear();
        self.entries.clear();
    }

    /// Writes what was taken in, up to this entry of the log.
    pub(in super::super) fn commit(&mut self, sequence: u64) {
        let written = self.write().and_then(|()| self.write_head(sequence));
        self.forget();
        if written.is_err() {
            // The next one to follow looks at what is there.
            self.files = None;
        }
    }

    fn write(&mut self) -> io::Result<()> {
        let Some(files) = &self.files else { return Ok(()) };
        write_at(&files.data, &self.waiting, self.end)?;
        self.end += self.waiting.len() as u64;
        self.waiting.clear();
        // Numbers follow each other as a rule, and are then written at once.
        for run in self.entries.chunk_by(|(a, _), (b, _)| a.0 + 1 == b.0) {
            let mut bytes = Vec::with_capacity(run.len() * ENTRY as usize);
            for (_, entry) in run {
                entry.write(&mut bytes);
            }
            let first = run.first().and_then(|(id, _)| place(*id));
            write_at(&files.index, &bytes, first.ok_or(io::ErrorKind::InvalidInput)?)?;
        }
        self.entries.clear();
        Ok(())
    }

    fn write_head(&self, sequence: u64) -> io::Result<()> {
        let Some(files) = &self.files else { return Ok(()) };
        let mut head = MARK.to_vec();
        for number in [self.live, sequence, 0] {
            head.extend_from_slice(&number.to_le_bytes());
        }
        write_at(&files.index, &head, 0)
    }

    /// Brings the cards up to the truth.
    pub(in super::super) fn follow(&mut self, conn: &Connection, meta: &Meta) {
        if self.files.is_none() && !self.distrusted && !self.resting {
            match self.open() {
                Ok(sequence) if (meta.log_floor..=meta.sequence).contains(&sequence) => {
                    self.catch_up(conn, sequence, meta.sequence);
                }
                Ok(_) | Err(_) => self.distrusted = true,
            }
        }
        if self.distrusted || self.end > 2 * self.live + WASTE {
            self.rebuild(conn, meta.sequence);
        }
    }

    /// Opens the files that are there, and says up to which entry of the log they are.
    fn open(&mut self) -> io::Result<u64> {
        let open = |name| File::options().read(true).write(true).open(self.dir.join(name));
        let (data, index) = (open(DATA)?, open(INDEX)?);
        let mut head = [0; HEAD as usize];
        read_at(&index, &mut head, 0)?;
        let number = |first: usize| u64::from_le_bytes(std::array::from_fn(|at| head[first + at]));
        if head[..8] != MARK {
            return Err(io::ErrorKind::InvalidData.into());
        }
        (self.live, self.end) = (number(8), data.metadata()?.len());
        self.files = Some(Files::new(data, index));
        Ok(number(16))
    }

    /// Writes the cards of what came after an entry of the log.
    fn catch_up(&mut self, conn: &Connection, after: u64, sequence: u64) {
        if after < sequence {
            let added = read::each_chunk(conn, Some(after), |number, embedded, stored| {
                self.add(stored.id, &Source { number, embedded }, &stored.document, &stored.chunk);
            });
            match added {
                Ok(()) => self.commit(sequence),
                Err(_) => self.forget(),
            }
        }
    }

    /// Writes all cards anew, in the place of the old ones.
    pub(in super::super) fn rebuild(&mut self, conn: &Connection, sequence: u64) {
        self.forget();
        (self.files, self.end, self.live) = (None, 0, 0);
        // Nobody reads old cards meanwhile: they may be of another truth.
        self.remove(str::to_owned);
        let built = self.build(conn, sequence);
        if built.is_err() {
            self.files = None;
            self.remove(new);
        }
        (self.distrusted, self.resting) = (false, built.is_err());
    }

    fn build(&mut self, conn: &Connection, sequence: u64) -> Result<(), Box<dyn std::error::Error>> {
        let make = |name| {
            let path = self.dir.join(new(name));
            File::options().read(true).write(true).create(true).truncate(true).open(path)
        };
        self.files = Some(Files::new(make(DATA)?, make(INDEX)?));
        let mut outcome = Ok(());
        read::each_chunk(conn, None, |number, embedded, stored| {
            self.add(stored.id, &Source { number, embedded }, &stored.document, &stored.chunk);
            if self.waiting.len() >= FULL && outcome.is_ok() {
                outcome = self.write();
            }
        })?;
        outcome?;
        self.write()?;
        self.write_head(sequence)?;
        for name in [DATA, INDEX] {
            fs::rename(self.dir.join(new(name)), self.dir.join(name))?;
        }
        Ok(())
    }

    fn remove(&self, named: impl Fn(&str) -> String) {
        for name in [DATA, INDEX] {
            let _ = fs::remove_file(self.dir.join(named(name)));
        }
    }
}

/// What a file is called until it is complete.
fn new(name: &str) -> String {
    format!("{name}.new")
}
