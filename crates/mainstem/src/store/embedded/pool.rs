//! Connections for reading. Each is used by one view at a time.

use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rusqlite::Connection;

use super::truth;
use crate::Error;

/// How many connections wait for the next view.
const IDLE: usize = 8;

/// Takes a lock. What it guards is valid at every moment, even when a thread that held it has died.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Connections that wait for a view.
pub(super) struct Pool {
    dir: PathBuf,
    idle: Mutex<Vec<Connection>>,
}

impl Pool {
    pub(super) fn new(dir: &Path) -> Arc<Self> {
        Arc::new(Self { dir: dir.to_owned(), idle: Mutex::default() })
    }

    /// What an error of SQLite means.
    pub(super) fn failure(&self, error: rusqlite::Error) -> Error {
        truth::failure(&truth::file(&self.dir), error)
    }

    /// A connection that sees the truth as it is now, until it is dropped.
    pub(super) fn now(self: &Arc<Self>) -> Result<Reading, Error> {
        let idle = lock(&self.idle).pop();
        let conn = match idle {
            Some(conn) => conn,
            None => truth::open_read_only(&self.dir)?,
        };
        let reading = Reading { conn: Some(conn), pool: Arc::clone(self) };
        // The moment is fixed by the first statement that reads.
        let begin = reading.prepare_cached("BEGIN").and_then(|mut begin| begin.execute([]));
        let begin = begin.and_then(|_| {
            reading.prepare_cached("SELECT one FROM meta")?.query_row([], |row| row.get::<_, u32>(0))
        });
        begin.map_err(|error| self.failure(error)).map(|_| reading)
    }
}

/// A connection inside a transaction.
pub(super) struct Reading {
    conn: Option<Connection>,
    pool: Arc<Pool>,
}

impl Deref for Reading {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        self.conn.as_ref().expect("the connection leaves on drop only")
    }
}

impl Drop for Reading {
    fn drop(&mut self) {
        let Some(conn) = self.conn.take() else { return };
        let mut idle = lock(&self.pool.idle);
        let ended = conn.prepare_cached("ROLLBACK").and_then(|mut end| end.execute([]));
        if idle.len() < IDLE && ended.is_ok() {
            idle.push(conn);
        }
    }
}
