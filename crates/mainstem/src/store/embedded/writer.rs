//! The one writer of a store.

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::thread;

use mainstem_core::Place;
use mainstem_core::contract::{Applied, Change, ModelCard};
use mainstem_core::time::Moment;
use rusqlite::{Connection, Transaction};

use super::cards::CardsWriter;
use super::catch_up::{DerivedWriter, Follower, sweep};
use super::lexical::{Lexical, LexicalWriter};
use super::matrix::{Matrix, MatrixWriter};
use super::settling::Settling;
use super::snapshot::Indexes;
use super::truth::row::Whole;
use super::truth::write::{self, News};
use super::truth::{self, Meta};
use crate::Error;

/// The length of the write-ahead log from which it is moved into the file.
const LOG_BYTES: u64 = 32 << 20;

/// The right to write, and what is needed for it.
pub(super) struct Writer {
    dir: PathBuf,
    conn: Connection,
    lexical: Follower<Lexical>,
    matrix: Follower<Matrix>,
    cards: CardsWriter,
    settling: Settling,
    /// Up to here every index has taken in the log.
    settled: u64,
    /// Last, so that the right ends when all else is closed.
    _lock: File,
}

impl Writer {
    /// Takes the right to write and opens the truth.
    pub(super) fn open(dir: &Path) -> Result<Self, Error> {
        let lock = take_lock(dir)?;
        let conn = truth::open(dir)?;
        let (lexical, matrix, settling) = (Follower::new(dir), Follower::new(dir), Settling::open(dir));
        let cards = CardsWriter::new(dir);
        let dir = dir.to_owned();
        let mut writer = Self { dir, conn, lexical, matrix, cards, settling, settled: 0, _lock: lock };
        if writer.settling.may_have_lost() {
            writer.distrust((true, true));
            writer.cards.distrust();
        }
        let dir = &writer.dir;
        let swept = sweep::<Lexical>(dir, &writer.conn).and_then(|()| sweep::<Matrix>(dir, &writer.conn));
        writer.explain(swept).map(|()| writer)
    }

    fn explain<T>(&self, outcome: rusqlite::Result<T>) -> Result<T, Error> {
        outcome.map_err(|error| truth::failure(&truth::file(&self.dir), error))
    }

    /// What the truth says about itself.
    pub(super) fn meta(&self) -> Result<Meta, Error> {
        self.explain(truth::meta(&self.conn))
    }

    /// Writes changes into the truth, all or none.
    ///
    /// The indexes take them in meanwhile. What one could not take in, it catches up with when it next follows.
    pub(super) fn write(&mut self, changes: &[Change]) -> Result<Applied, Error> {
        self.settling.begin()?;
        let before = self.meta()?.sequence;
        let (mut words, mut vectors) = (Ear(self.lexical.listen(before)), Ear(self.matrix.listen(before)));
        let mut hear = Hearing { words: &mut words, vectors: &mut vectors, cards: &mut self.cards };
        let recorded = record(&mut self.conn, (changes, self.settled), &mut hear);
        if recorded.is_err() {
            self.cards.forget();
        }
        // When nothing was recorded, the writers are dropped, and forget what they heard.
        let applied = self.explain(recorded)?;
        let after = self.meta()?.sequence;
        let (lexical, matrix) = (&mut self.lexical, &mut self.matrix);
        thread::scope(|scope| {
            scope.spawn(|| matrix.heard(vectors.0, (before, after)));
            lexical.heard(words.0, (before, after));
        });
        // Last of all: on a full disk they are what can be done without.
        self.cards.commit(after);
        Ok(applied)
    }

    /// Names a source and its kind.
    pub(super) fn set_source(&mut self, name: &str, kind: &str) -> Result<(), Error> {
        self.transact(|tx| write::set_source(tx, name, kind).map(|_| ()))
    }

    /// Says where a source was filled from.
    pub(super) fn set_origins(&mut self, source: &str, origins: &[String]) -> Result<(), Error> {
        self.transact(|tx| write::set_origins(tx, source, origins))
    }

    /// Forgets a source that holds nothing.
    pub(super) fn forget_source(&mut self, name: &str) -> Result<(), Error> {
        self.transact(|tx| write::forget_source(tx, name))
    }

    /// Remembers the model, unless vectors of another one are there.
    pub(super) fn set_model(&mut self, card: &ModelCard) -> Result<(), Error> {
        let sql = "SELECT count(*) FROM (SELECT 1 FROM vectors LIMIT 1)";
        let vectors: u32 = self.explain(self.conn.query_row(sql, [], |row| row.get(0)))?;
        let known = self.meta()?.model;
        let other = known.filter(|known| (&known.name, known.dim) != (&card.name, card.dim));
        if let Some(known) = &other
            && vectors > 0
        {
            let text = |card: &ModelCard| format!("{} ({} numbers)", card.name, card.dim);
            return Err(Error::Model { stored: text(known), received: text(card) });
        }
        self.transact(|tx| write::set_model(tx, card))?;
        if other.is_some() {
            self.settling.begin()?;
            // What is left of the old model's matrix expects vectors of the old length.
            self.matrix.rebuild(&self.conn, &mut |_, _| ())?;
        }
        Ok(())
    }

    /// Runs statements of which all count or none.
    pub(super) fn transact<T>(
        &mut self,
        run: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, Error> {
        let outcome = self.conn.transaction().and_then(|tx| {
            let value = run(&tx)?;
            tx.commit()?;
            Ok(value)
        });
        self.explain(outcome)
    }

    /// Brings both indexes up to the truth.
    pub(super) fn follow(&mut self) -> Result<Indexes, Error> {
        if !(self.lexical.is_level(&self.conn) && self.matrix.is_level(&self.conn)) {
            self.settling.begin()?;
        }
        let lexical = self.lexical.follow(&self.conn)?;
        let matrix = self.matrix.follow(&self.conn)?;
        let meta = self.meta()?;
        self.cards.follow(&self.conn, &meta);
        self.settled = meta.sequence;
        let generations = (meta.lexical, meta.matrix);
        Ok(Indexes { lexical, matrix, generations, level_at: Some(meta.sequence) })
    }

    /// Builds both indexes anew; the ones in use stay until theirs is complete.
    pub(super) fn reindex(&mut self, progress: &mut dyn FnMut(u64, u64)) -> Result<Indexes, Error> {
        self.settling.begin()?;
        let count = |sql: &str| self.conn.query_row(sql, [], |row| row.get::<_, Whole>(0));
        let counts = count("SELECT count(*) FROM chunks").and_then(|chunks| {
            let vectors = count("SELECT count(*) FROM vectors")?;
            Ok((chunks.0, vectors.0))
        });
        let (chunks, vectors) = self.explain(counts)?;
        let total = chunks + vectors;
        self.lexical.rebuild(&self.conn, &mut |done, _| progress(done, total))?;
        self.matrix.rebuild(&self.conn, &mut |done, _| progress(chunks + done, total))?;
        self.cards.distrust();
        self.follow()
    }

    /// Has indexes rebuilt when they next follow: that of the words, that of the vectors.
    pub(super) fn distrust(&mut self, (words, vectors): (bool, bool)) {
        if words {
            self.lexical.distrust();
        }
        if vectors {
            self.matrix.distrust();
        }
    }

    /// Moves the write-ahead log into the file when it has grown. What does not succeed now does so after a later write.
    pub(super) fn checkpoint(&self) {
        if truth::log_bytes(&truth::file(&self.dir)) > LOG_BYTES {
            let _ = truth::checkpoint(&self.conn);
        }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.lexical.close();
        self.matrix.close();
        if self.lexical.is_trusted() && self.matrix.is_trusted() {
            self.settling.end();
        }
    }
}

/// A writer of an index that is told of a write while it happens, until it fails.
struct Ear<W>(Option<W>);

impl<W: DerivedWriter> Ear<W> {
    fn hear(&mut self, news: &News<'_>) {
        if self.0.as_mut().is_some_and(|writer| writer.take(news).is_err()) {
            self.0 = None;
        }
    }
}

/// Who is told of a write.
struct Hearing<'h> {
    words: &'h mut Ear<LexicalWriter>,
    vectors: &'h mut Ear<MatrixWriter>,
    cards: &'h mut CardsWriter,
}

/// Writes changes into the truth, and forgets the log up to an entry that every index has.
///
/// Words are cut by a thread of their index meanwhile. Vectors are quantised and cards written while the truth goes to disk.
fn record(
    conn: &mut Connection,
    (changes, settled): (&[Change], u64),
    hear: &mut Hearing<'_>,
) -> rusqlite::Result<Applied> {
    let tx = conn.transaction()?;
    write::forget_log(&tx, settled)?;
    let mut news = Vec::new();
    let applied = write::apply(&tx, changes, &Moment::now(), &mut |one| {
        hear.words.hear(&one);
        news.push(one);
    })?;
    thread::scope(|scope| {
        scope.spawn(|| {
            for one in &news {
                hear.vectors.hear(one);
                hear.cards.take(one);
            }
        });
        tx.commit()
    })?;
    Ok(applied)
}

fn take_lock(dir: &Path) -> Result<File, Error> {
    let path = dir.join("lock");
    let file = File::options().create(true).truncate(false).write(true).open(&path);
    let file = file.map_err(|error| Error::io("cannot open the store for writing", &path, error))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => {
            Err(Error::Busy { place: Place::default().in_file(dir.display().to_string()) })
        }
        Err(TryLockError::Error(error)) => Err(Error::io("cannot lock the store", &path, error)),
    }
}

/// Whether a process has the right to write, as far as can be seen.
pub(super) fn is_locked(dir: &Path) -> bool {
    let held = |lock: File| matches!(lock.try_lock_shared(), Err(TryLockError::WouldBlock));
    File::open(dir.join("lock")).is_ok_and(held)
}

#[cfg(test)]
mod tests {
    use super::*;
    use mainstem_core::{Code, Diagnostic, Document};

    fn texts(count: usize) -> Vec<Change> {
        let document = |n| Document {
            source: "s".into(),
            id: format!("{n}"),
            text: "x".repeat(10_000),
            ..Document::default()
        };
        (0..count).map(|n| Change::Put(document(n))).collect()
    }

    #[test]
    fn a_full_disk_loses_nothing() {
        let dir = std::env::temp_dir().join(format!("mainstem-full-{}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        let mut writer = Writer::open(&dir).unwrap();
        writer.write(&texts(5)).unwrap();
        let limit = |writer: &Writer, pages: u32| {
            writer.conn.query_row(&format!("PRAGMA max_page_count = {pages}"), [], |_| Ok(())).unwrap();
        };
        limit(&writer, 60);
        let error = writer.write(&texts(200)).expect_err("no space");
        assert_eq!(error.code(), Code::Io);
        let count = |writer: &Writer| -> u32 {
            writer.conn.query_row("SELECT count(*) FROM documents", [], |row| row.get(0)).unwrap()
        };
        assert_eq!(count(&writer), 5);
        limit(&writer, 100_000);
        assert_eq!(writer.write(&texts(200)).unwrap().added, 195);
        assert_eq!(count(&writer), 200);
        drop(writer);
        std::fs::remove_dir_all(&dir).unwrap();
    }
}
