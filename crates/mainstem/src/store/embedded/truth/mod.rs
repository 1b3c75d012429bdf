//! The truth: documents, chunks and vectors in one SQLite file.
//!
//! It runs in WAL mode, so that readers see one moment and never wait for the writer, and with `synchronous = FULL`: a commit is on
//! the disk when it returns. With `NORMAL` it would still survive the death of the process, but the last commits could be missing
//! after a loss of power.

pub(super) mod fingerprint;
pub(super) mod links;
pub(super) mod matching;
pub(super) mod outline;
pub(super) mod read;
pub(super) mod row;
pub(super) mod write;

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use mainstem_core::contract::ModelCard;
use mainstem_core::{Code, Place};
use rusqlite::{Connection, ErrorCode, OpenFlags};

use crate::Error;

/// The newest format that this version knows.
const FORMAT: u32 = 3;

/// The first format with links.
const LINKS_FROM: u32 = 2;

/// The first format that knows for whom runs looked.
const READERS_FROM: u32 = 3;

/// What marks a SQLite file as a store: `MSTM`.
const APPLICATION: u32 = 0x4D53_544D;

const SCHEMA: &str = include_str!("schema.sql");

/// What format 2 has beside that of format 1.
const LINKS: &str = include_str!("links.sql");

/// What format 3 has beside that of format 2.
const RUNS: &str = include_str!("runs.sql");

/// The index by time, which stores of any format may lack.
const TIMES: &str = include_str!("times.sql");

/// Vectors of 384 numbers fit five to a page.
const PAGE_BYTES: u32 = 8192;

/// How many kilobytes of pages a connection that reads keeps: filters go over the same ones again and again.
const KEPT_KILOBYTES: i32 = 8192;

const PATIENCE: Duration = Duration::from_secs(10);
const STATEMENTS: usize = 64;

const RESTORE: &str = "restore the folder from a backup, or ingest the sources again into a new store";

/// The file in the folder of a store.
pub(super) fn file(dir: &Path) -> PathBuf {
    dir.join("truth.sqlite")
}

/// Opens the file for writing; an empty one becomes a store.
pub(super) fn open(dir: &Path) -> Result<Connection, Error> {
    let path = file(dir);
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
    let mut conn = connect(&path, flags)?;
    let tables = conn.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get::<_, u32>(0));
    let is_new = tables.map_err(|error| failure(&path, error))? == 0;
    let format = if is_new { 0 } else { recognise(&conn, &path)? };
    prepare(&mut conn, format).map_err(|error| failure(&path, error))?;
    Ok(conn)
}

/// Opens the file for reading.
pub(super) fn open_read_only(dir: &Path) -> Result<Connection, Error> {
    let path = file(dir);
    let conn = connect(&path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    let conn = match recognise(&conn, &path) {
        Err(Error::Io { .. }) if log_bytes(&path) == 0 => open_immutable(&path)?,
        outcome => outcome.map(|_| conn)?,
    };
    conn.pragma_update(None, "cache_size", -KEPT_KILOBYTES).map_err(|error| failure(&path, error))?;
    Ok(conn)
}

/// Opens a file in a folder in which nothing can be written, not even the locks of readers.
fn open_immutable(path: &Path) -> Result<Connection, Error> {
    let escaped = path.display().to_string().replace('%', "%25").replace('?', "%3f").replace('#', "%23");
    let name = PathBuf::from(format!("file:{escaped}?immutable=1"));
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
    let conn = connect(&name, flags)?;
    recognise(&conn, path)?;
    Ok(conn)
}

/// The length of the write-ahead log beside the file.
pub(super) fn log_bytes(path: &Path) -> u64 {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    std::fs::metadata(log).map_or(0, |meta| meta.len())
}

fn connect(path: &Path, flags: OpenFlags) -> Result<Connection, Error> {
    let configure = |conn: Connection| {
        conn.busy_timeout(PATIENCE)?;
        conn.set_prepared_statement_cache_capacity(STATEMENTS);
        Ok(conn)
    };
    Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)
        .and_then(configure)
        .map_err(|error| failure(path, error))
}

/// Sets a connection up for writing, and makes what the file does not have yet: everything where its format is 0.
fn prepare(conn: &mut Connection, format: u32) -> rusqlite::Result<()> {
    conn.pragma_update(None, "page_size", PAGE_BYTES)?;
    conn.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(()))?;
    conn.pragma_update(None, "synchronous", "FULL")?;
    conn.pragma_update(None, "foreign_keys", true)?;
    conn.pragma_update(None, "cache_size", -65_536)?;
    // The writer moves the log into the file itself, when no view of its own stands in the way.
    conn.query_row("PRAGMA wal_autocheckpoint = 0", [], |_| Ok(()))?;
    conn.query_row("PRAGMA journal_size_limit = 67108864", [], |_| Ok(()))?;
    let sql = "SELECT 1 FROM sqlite_schema WHERE type = 'index' AND name = 'documents_by_when'";
    let has_times = conn.prepare(sql)?.exists([])?;
    if format == FORMAT && has_times {
        return Ok(());
    }
    let tx = conn.transaction()?;
    if format == 0 {
        tx.execute_batch(SCHEMA)?;
        tx.pragma_update(None, "application_id", APPLICATION)?;
    }
    if !has_times {
        tx.execute_batch(TIMES)?;
    }
    if format < LINKS_FROM {
        tx.execute_batch(LINKS)?;
    }
    if format < READERS_FROM {
        tx.execute_batch(RUNS)?;
    }
    tx.pragma_update(None, "user_version", FORMAT)?;
    tx.commit()
}

/// The format of a store. What is not a store is refused, and so is one of a newer version.
fn recognise(conn: &Connection, path: &Path) -> Result<u32, Error> {
    let number = |name: &str| conn.pragma_query_value(None, name, |row| row.get::<_, u32>(0));
    let numbers = number("application_id").and_then(|id| Ok((id, number("user_version")?)));
    let (application, format) = numbers.map_err(|error| failure(path, error))?;
    if application != APPLICATION {
        return Err(Error::damaged("the file is not a store of mainstem", path, RESTORE));
    }
    if format > FORMAT {
        return Err(Error::Newer { found: format, known: FORMAT });
    }
    Ok(format)
}

/// What an error of SQLite means.
pub(super) fn failure(path: &Path, error: rusqlite::Error) -> Error {
    let io = |kind| Error::io("cannot use the store", path, io::Error::new(kind, error.to_string()));
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
            Error::damaged(format!("the store is damaged: {error}"), path, RESTORE)
        }
        Some(ErrorCode::DiskFull) => io(io::ErrorKind::StorageFull),
        Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => io(io::ErrorKind::PermissionDenied),
        Some(ErrorCode::CannotOpen | ErrorCode::SystemIoFailure) => io(io::ErrorKind::Other),
        Some(ErrorCode::OutOfMemory) => io(io::ErrorKind::OutOfMemory),
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            Error::Busy { place: Place::default().in_file(path.display().to_string()) }
        }
        Some(ErrorCode::TooBig) => too_big(&error),
        Some(_) => Error::Internal(format!("the store refused a statement: {error}")),
        None => Error::damaged(format!("the store holds what it should not: {error}"), path, RESTORE),
    }
}

fn too_big(error: &rusqlite::Error) -> Error {
    let hint = "cut the document into several".to_owned();
    Error::Input {
        message: format!("a document is too large: {error}"),
        code: Code::TooLarge,
        hint,
        place: None,
    }
}

/// What the truth says about itself.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Meta {
    /// The number of the last entry that the log ever had.
    pub(super) sequence: u64,
    /// Entries up to this one are no longer there.
    pub(super) log_floor: u64,
    /// Which folder holds the lexical index.
    pub(super) lexical: u64,
    /// Which folder holds the matrix.
    pub(super) matrix: u64,
    /// The model of the vectors.
    pub(super) model: Option<ModelCard>,
}

/// Reads [`Meta`].
pub(super) fn meta(conn: &Connection) -> rusqlite::Result<Meta> {
    let sql = "SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'log'), 0),
                      log_floor, lexical, matrix, model_name, model_dim, model_max_tokens FROM meta";
    conn.prepare_cached(sql)?.query_row([], |row| {
        let model = match row.get::<_, Option<String>>(4)? {
            Some(name) => {
                Some(ModelCard { name, dim: whole(row, 5)? as usize, max_tokens: whole(row, 6)? as usize })
            }
            None => None,
        };
        let (sequence, log_floor) = (whole(row, 0)?, whole(row, 1)?);
        Ok(Meta { sequence, log_floor, lexical: whole(row, 2)?, matrix: whole(row, 3)?, model })
    })
}

fn whole(row: &rusqlite::Row<'_>, column: usize) -> rusqlite::Result<u64> {
    row.get::<_, row::Whole>(column).map(|whole| whole.0)
}

/// Moves what waits in the write-ahead log into the file, as far as no reader needs it there.
pub(super) fn checkpoint(conn: &Connection) -> rusqlite::Result<()> {
    conn.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()))
}
