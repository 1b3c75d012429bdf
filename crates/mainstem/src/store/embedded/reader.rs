//! Reading beside a process that writes.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use super::catch_up::folder;
use super::lexical::Lexical;
use super::matrix::Matrix;
use super::pool::Pool;
use super::snapshot::{Indexes, Shared, Snapshot};
use super::truth;
use crate::Error;

/// How often indexes are opened again when they were replaced meanwhile.
const ATTEMPTS: u32 = 10;

/// How long to wait before the second attempt; before each later one that much longer.
const PAUSE: Duration = Duration::from_millis(10);

/// Opens the indexes that are in use.
pub(super) fn open(dir: &Path, pool: &Arc<Pool>) -> Result<Indexes, Error> {
    let mut outcome = attempt(dir, pool);
    for attempts in 1..ATTEMPTS {
        if outcome.is_ok() {
            break;
        }
        // A commit of the writer may be under way, and its files half written.
        std::thread::sleep(PAUSE * attempts);
        outcome = attempt(dir, pool);
    }
    outcome
}

fn attempt(dir: &Path, pool: &Arc<Pool>) -> Result<Indexes, Error> {
    let meta = truth::meta(&*pool.now()?).map_err(|error| pool.failure(error))?;
    let words = folder::<Lexical>(dir, meta.lexical);
    let vectors = folder::<Matrix>(dir, meta.matrix);
    if let Some(missing) = [&words, &vectors].into_iter().find(|folder| !folder.exists()) {
        let hint = "make it anew with `mainstem reindex`";
        return Err(Error::damaged("an index is missing", missing, hint));
    }
    let (lexical, matrix) = (Arc::new(Lexical::open_read_only(&words)?), Arc::new(Matrix::open(&vectors)?));
    Ok(Indexes { lexical, matrix, generations: (meta.lexical, meta.matrix), level_at: None })
}

/// The store as it is now, and the indexes that are in use now.
pub(super) fn snapshot(
    dir: &Path,
    indexes: &Indexes,
    shared: &Arc<Shared>,
) -> Result<(Indexes, Snapshot), Error> {
    let mut indexes = indexes.clone();
    let mut outcome = Snapshot::now(&indexes, shared);
    for _ in 1..ATTEMPTS {
        match outcome {
            Ok(snapshot) if snapshot.generations() == indexes.generations => return Ok((indexes, snapshot)),
            Ok(_) | Err(_) => {
                indexes = open(dir, &shared.pool)?;
                outcome = Snapshot::now(&indexes, shared);
            }
        }
    }
    outcome.map(|snapshot| (indexes, snapshot))
}
