//! How an index follows the truth.
//!
//! Every change of a chunk is an entry of the truth's log. An index remembers up to which entry it has come, in the same commit as the
//! entries themselves, and so it takes in each exactly once, whenever the process died. One that is damaged, too far behind, or ahead
//! of a truth that was restored from a backup is rebuilt: into a new folder, which replaces the old one when it is complete.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use mainstem_core::ChunkId;
use rusqlite::{Connection, Row, Rows};

use super::truth;
use super::truth::row::Whole;
use super::truth::write::News;
use crate::Error;

/// How many entries are read at a time.
const GROUP: u64 = 4096;

/// How many chunks are put between two reports of progress.
const STRIDE: u64 = 1000;

/// An index that can be made anew from the truth.
pub(super) trait Derived: Sized {
    /// The name of its folders, and of its column in the truth.
    const NAME: &'static str;
    /// What it holds: the query for it, up to the condition.
    const ROWS: &'static str;
    /// How many chunks that is.
    const COUNT: &'static str;
    /// What writes to it.
    type Writer: DerivedWriter;

    /// Opens it for writing; an empty folder becomes an empty index.
    fn open(dir: &Path) -> Result<Self, Error>;

    /// The last entry of the log that it has taken in.
    fn applied(&self) -> Result<u64, Error>;

    /// Begins to write. There is one writer at a time.
    fn writer(&self) -> Result<Self::Writer, Error>;
}

/// What writes to an index. Nothing shows before the commit.
pub(super) trait DerivedWriter {
    /// Adds a chunk: a row of [`Derived::ROWS`].
    fn put(&mut self, row: &Row<'_>) -> Result<(), Stumble>;

    /// Takes in one entry of the log as it is written.
    fn take(&mut self, news: &News<'_>) -> Result<(), Error>;

    /// Keeps all of it, together with the number of the last entry.
    fn commit(&mut self, sequence: u64) -> Result<(), Stumble>;
}

/// Which side failed.
#[derive(Debug)]
pub(super) enum Stumble {
    Truth(rusqlite::Error),
    Index(Error),
}

impl From<rusqlite::Error> for Stumble {
    fn from(error: rusqlite::Error) -> Self {
        Self::Truth(error)
    }
}

impl From<Error> for Stumble {
    fn from(error: Error) -> Self {
        Self::Index(error)
    }
}

/// The folder of an index.
pub(super) fn folder<D: Derived>(store: &Path, generation: u64) -> PathBuf {
    store.join(format!("{}-{generation}", D::NAME))
}

/// Which folder is the one in use.
pub(super) fn generation<D: Derived>(conn: &Connection) -> rusqlite::Result<u64> {
    let sql = format!("SELECT {} FROM meta", D::NAME);
    conn.prepare_cached(&sql)?.query_row([], |row| row.get::<_, Whole>(0)).map(|whole| whole.0)
}

/// Removes the folders that a rebuild left behind when it was cut short.
pub(super) fn sweep<D: Derived>(store: &Path, conn: &Connection) -> rusqlite::Result<()> {
    let current = folder::<D>(store, generation::<D>(conn)?);
    let prefix = format!("{}-", D::NAME);
    for entry in std::fs::read_dir(store).into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().starts_with(&prefix) && entry.path() != current {
            // What cannot be removed now is tried again on the next open; it harms nobody meanwhile.
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
    Ok(())
}

/// An index with its writer. Both are opened when they are first needed.
pub(super) struct Follower<D: Derived> {
    store: PathBuf,
    index: Option<Arc<D>>,
    writer: Option<D::Writer>,
    distrusted: bool,
}

impl<D: Derived> Follower<D> {
    pub(super) fn new(store: &Path) -> Self {
        Self { store: store.to_owned(), index: None, writer: None, distrusted: false }
    }

    /// Has the index rebuilt when it is next needed.
    pub(super) fn distrust(&mut self) {
        self.distrusted = true;
    }

    /// Brings the index up to the truth, and gives it.
    pub(super) fn follow(&mut self, conn: &Connection) -> Result<Arc<D>, Error> {
        if self.distrusted {
            return self.rebuild(conn, &mut |_, _| ());
        }
        let outcome = self.attempt(conn).or_else(|_| {
            self.close();
            self.attempt(conn)
        });
        match outcome {
            Err(Stumble::Index(Error::Damaged { .. })) => self.rebuild(conn, &mut |_, _| ()),
            outcome => outcome.map_err(|stumble| self.explain(stumble)),
        }
    }

    /// Builds the index anew beside the one in use, then switches.
    pub(super) fn rebuild(
        &mut self,
        conn: &Connection,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<Arc<D>, Error> {
        self.close();
        let outcome = generation::<D>(conn)
            .map_err(Stumble::from)
            .and_then(|old| self.fill(conn, old + 1, progress).map(|index| (old, index)));
        let (old, index) = outcome.map_err(|stumble| self.explain(stumble))?;
        let _ = std::fs::remove_dir_all(folder::<D>(&self.store, old));
        self.index = Some(Arc::clone(&index));
        self.distrusted = false;
        Ok(index)
    }

    /// Takes the writer out, to be told of a write while it happens; nothing when the index is not exactly at `sequence`, and has to
    /// catch up from the log anyway.
    pub(super) fn listen(&mut self, sequence: u64) -> Option<D::Writer> {
        let index = self.index.as_ref().filter(|_| !self.distrusted)?;
        let level = index.applied().is_ok_and(|applied| applied == sequence);
        // A writer that is dropped forgets what was not committed.
        self.writer.take().or_else(|| index.writer().ok()).filter(|_| level)
    }

    /// Puts a writer back that has heard of every entry between two, and keeps them. What fails now is made up for by following.
    pub(super) fn heard(&mut self, writer: Option<D::Writer>, (before, after): (u64, u64)) {
        let keep = |writer: &mut D::Writer| before == after || writer.commit(after).is_ok();
        self.writer = writer.and_then(|mut writer| keep(&mut writer).then_some(writer));
    }

    /// Whether the index has taken in the whole log.
    pub(super) fn is_level(&mut self, conn: &Connection) -> bool {
        let Ok(meta) = truth::meta(conn) else { return false };
        let opened = self.open(conn).is_ok_and(|opened| opened.is_ok());
        let applied = self.index.as_ref().and_then(|index| index.applied().ok());
        opened && !self.distrusted && applied == Some(meta.sequence)
    }

    /// Whether the index need not be rebuilt.
    pub(super) fn is_trusted(&self) -> bool {
        !self.distrusted
    }

    /// Lets go of the index and its writer.
    pub(super) fn close(&mut self) {
        self.writer = None;
        self.index = None;
    }

    fn explain(&self, stumble: Stumble) -> Error {
        match stumble {
            Stumble::Truth(error) => truth::failure(&truth::file(&self.store), error),
            Stumble::Index(error) => error,
        }
    }

    fn attempt(&mut self, conn: &Connection) -> Result<Arc<D>, Stumble> {
        let meta = truth::meta(conn)?;
        let opened = self.open(conn)?.and_then(|index| Ok((index.applied()?, index)));
        let (applied, index) = match opened {
            Ok((applied, index)) if (meta.log_floor..=meta.sequence).contains(&applied) => (applied, index),
            Ok(_) | Err(_) => return Ok(self.rebuild(conn, &mut |_, _| ())?),
        };
        if applied < meta.sequence {
            let mut writer = match self.writer.take() {
                Some(writer) => writer,
                None => index.writer()?,
            };
            catch_up::<D>(conn, &mut writer, applied)?;
            writer.commit(meta.sequence)?;
            self.writer = Some(writer);
        }
        Ok(index)
    }

    fn open(&mut self, conn: &Connection) -> rusqlite::Result<Result<Arc<D>, Error>> {
        if let Some(index) = &self.index {
            return Ok(Ok(Arc::clone(index)));
        }
        let opened = D::open(&folder::<D>(&self.store, generation::<D>(conn)?)).map(Arc::new);
        self.index = opened.as_ref().ok().cloned();
        Ok(opened)
    }

    /// Fills a new folder and makes it the one in use.
    fn fill(
        &self,
        conn: &Connection,
        generation: u64,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<Arc<D>, Stumble> {
        let dir = folder::<D>(&self.store, generation);
        if dir.exists() {
            std::fs::remove_dir_all(&dir)
                .map_err(|error| Error::io("cannot remove an old index", &dir, error))?;
        }
        let outcome = build::<D>(conn, &dir, progress).and_then(|index| {
            let sql = format!("UPDATE meta SET {} = ?1", D::NAME);
            conn.execute(&sql, [Whole(generation)])?;
            Ok(Arc::new(index))
        });
        if outcome.is_err() {
            let _ = std::fs::remove_dir_all(&dir);
        }
        outcome
    }
}

/// Takes in the entries of the log after one.
fn catch_up<D: Derived>(conn: &Connection, writer: &mut D::Writer, after: u64) -> Result<(), Stumble> {
    let chunk = format!("{} WHERE chunks.id = ?1", D::ROWS);
    let mut chunk = conn.prepare_cached(&chunk)?;
    let mut last = after;
    loop {
        let entries = entries(conn, last)?;
        let Some((sequence, ..)) = entries.last() else { return Ok(()) };
        last = *sequence;
        for (_, id, came) in entries {
            if came {
                put_next::<D>(&mut chunk.query([Whole(id.0)])?, writer)?;
            } else {
                writer.take(&News::Went(id))?;
            }
        }
    }
}

fn entries(conn: &Connection, after: u64) -> rusqlite::Result<Vec<(u64, ChunkId, bool)>> {
    let sql = "SELECT sequence, chunk, came FROM log WHERE sequence > ?1 ORDER BY sequence LIMIT ?2";
    let read = |row: &Row<'_>| {
        Ok((row.get::<_, Whole>(0)?.0, ChunkId(row.get::<_, Whole>(1)?.0), row.get::<_, bool>(2)?))
    };
    conn.prepare_cached(sql)?.query_map([Whole(after), Whole(GROUP)], read)?.collect()
}

/// Puts the next chunk, and says whether there was one.
///
/// A chunk that came and went again, or has nothing that this index holds, is not there.
fn put_next<D: Derived>(rows: &mut Rows<'_>, writer: &mut D::Writer) -> Result<bool, Stumble> {
    match rows.next()? {
        Some(row) => writer.put(row).map(|()| true),
        None => Ok(false),
    }
}

/// A new index of everything there is.
fn build<D: Derived>(
    conn: &Connection,
    dir: &Path,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<D, Stumble> {
    let index = D::open(dir)?;
    let mut writer = index.writer()?;
    let sequence = truth::meta(conn)?.sequence;
    let total = conn.query_row(D::COUNT, [], |row| row.get::<_, Whole>(0))?.0;
    let sql = format!("{} ORDER BY chunks.id", D::ROWS);
    let mut statement = conn.prepare(&sql)?;
    let mut rows = statement.query([])?;
    let mut done = 0;
    progress(done, total);
    while put_next::<D>(&mut rows, &mut writer)? {
        done += 1;
        if done % STRIDE == 0 {
            progress(done, total);
        }
    }
    writer.commit(sequence)?;
    progress(total, total);
    Ok(index)
}
