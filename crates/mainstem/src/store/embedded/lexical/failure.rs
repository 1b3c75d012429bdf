//! What tantivy's errors mean here.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;

use mainstem_core::diagnostic::Place;
use tantivy::TantivyError;
use tantivy::directory::error::{LockError, OpenDirectoryError, OpenReadError, OpenWriteError};

use crate::Error;

/// Says where an error happened, and whose fault it is.
pub(super) trait Context<T> {
    /// The same result, with an error of ours.
    fn context(self, dir: &Path) -> Result<T, Error>;
}

impl<T, E: Into<TantivyError>> Context<T> for Result<T, E> {
    fn context(self, dir: &Path) -> Result<T, Error> {
        self.map_err(|error| explain(error.into(), dir))
    }
}

/// Reads the index. Where its bytes are not what was written, tantivy may run past the end of something and panic.
pub(super) fn reading<T>(dir: &Path, read: impl FnOnce() -> Result<T, TantivyError>) -> Result<T, Error> {
    // What a panic leaves behind is dropped with it: searches share nothing that they change by halves.
    match catch_unwind(AssertUnwindSafe(read)) {
        Ok(outcome) => outcome.context(dir),
        Err(_) => Err(damaged("the lexical index cannot be read: its files are not what was written", dir)),
    }
}

/// An index that has to be made anew.
pub(super) fn damaged(what: impl Into<String>, path: &Path) -> Error {
    Error::damaged(what, path, "it is derived from the store and can be made anew: run `mainstem reindex`")
}

fn explain(error: TantivyError, dir: &Path) -> Error {
    match error {
        TantivyError::LockFailure(LockError::LockBusy, _) => {
            Error::Busy { place: Place::default().in_file(dir.display().to_string()) }
        }
        TantivyError::IoError(error) | TantivyError::LockFailure(LockError::IoError(error), _) => {
            system(&error, dir)
        }
        TantivyError::OpenReadError(OpenReadError::IoError { io_error, filepath })
        | TantivyError::OpenWriteError(OpenWriteError::IoError { io_error, filepath }) => {
            system(&io_error, &dir.join(filepath))
        }
        TantivyError::OpenDirectoryError(OpenDirectoryError::IoError { io_error, .. }) => {
            system(&io_error, dir)
        }
        // A thread that writes ends when the system refuses, and does not say more.
        TantivyError::ErrorInThread(message) => {
            Error::io("writing the lexical index", dir, io::Error::other(message))
        }
        TantivyError::InvalidArgument(message) => {
            Error::Internal(format!("the lexical index refused a call: {message}"))
        }
        other => damaged(format!("the lexical index cannot be read: {other}"), dir),
    }
}

/// A system that refuses is not a damaged file; a file that ends too early or says nonsense is.
fn system(error: &Arc<io::Error>, path: &Path) -> Error {
    match error.kind() {
        io::ErrorKind::UnexpectedEof
        | io::ErrorKind::InvalidData
        | io::ErrorKind::InvalidInput
        | io::ErrorKind::NotFound => damaged(format!("the lexical index cannot be read: {error}"), path),
        kind => {
            let copy = error
                .raw_os_error()
                .map_or_else(|| io::Error::new(kind, error.to_string()), io::Error::from_raw_os_error);
            Error::io("reading or writing the lexical index", path, copy)
        }
    }
}
