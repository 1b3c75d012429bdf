//! What can go wrong in the library, by whose fault it is.

use std::borrow::Cow;
use std::io;
use std::path::Path;

use mainstem_core::diagnostic::{Code, Diagnostic, Failure, Place};

/// An error of the library.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The caller gave something that cannot be used.
    #[error("{message}")]
    Input {
        /// What is wrong: expected and received.
        message: String,
        /// The kind of error.
        code: Code,
        /// What to do about it.
        hint: String,
        /// Where it is.
        place: Option<Place>,
    },
    /// Vectors of two models would be mixed.
    #[error("the store holds vectors of `{stored}`, expected the same model, received `{received}`")]
    Model {
        /// The model of the store.
        stored: String,
        /// The model that was given.
        received: String,
    },
    /// A file or folder cannot be read or written.
    #[error("{what}: {source}")]
    Io {
        /// What was being done.
        what: String,
        /// Which file or folder.
        place: Place,
        /// What the system said.
        source: io::Error,
    },
    /// A file of the store is not what it should be.
    #[error("{what}")]
    Damaged {
        /// What is wrong with it.
        what: String,
        /// Which file or folder.
        place: Place,
        /// What to do about it.
        hint: String,
    },
    /// The store was written by a newer version.
    #[error("the store has format {found}, expected at most {known}")]
    Newer {
        /// The format of the store.
        found: u32,
        /// The newest format that this version knows.
        known: u32,
    },
    /// Another process is writing.
    #[error("another process is writing to the store")]
    Busy {
        /// The store.
        place: Place,
    },
    /// A model or a service cannot be reached.
    #[error("{what}")]
    Unavailable {
        /// What cannot be reached, and why.
        what: String,
        /// What to do about it.
        hint: String,
    },
    /// A promise inside the library was broken.
    #[error("{0}")]
    Internal(String),
}

impl Error {
    /// A file or folder that cannot be read or written.
    pub fn io(what: impl Into<String>, path: &Path, source: io::Error) -> Self {
        Self::Io { what: what.into(), place: Place::default().in_file(path.display().to_string()), source }
    }

    /// A file of the store that is not what it should be.
    pub fn damaged(what: impl Into<String>, path: &Path, hint: impl Into<String>) -> Self {
        let place = Place::default().in_file(path.display().to_string());
        Self::Damaged { what: what.into(), place, hint: hint.into() }
    }

    /// Something that cannot be used.
    pub fn input(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Input { message: message.into(), code: Code::Value, hint: hint.into(), place: None }
    }
}

impl Diagnostic for Error {
    fn code(&self) -> Code {
        match self {
            Self::Input { code, .. } => *code,
            Self::Model { .. } => Code::Model,
            Self::Io { .. } => Code::Io,
            Self::Damaged { .. } => Code::Damaged,
            Self::Newer { .. } => Code::Newer,
            Self::Busy { .. } => Code::Busy,
            Self::Unavailable { .. } => Code::Unavailable,
            Self::Internal(_) => Code::Internal,
        }
    }

    fn place(&self) -> Option<&Place> {
        match self {
            Self::Input { place, .. } => place.as_ref(),
            Self::Io { place, .. } | Self::Damaged { place, .. } | Self::Busy { place } => Some(place),
            _ => None,
        }
    }

    fn hint(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::Input { hint, .. } | Self::Damaged { hint, .. } | Self::Unavailable { hint, .. } => {
                Some(hint.into())
            }
            Self::Model { .. } => Some("use the store's model, or ingest into a new store".into()),
            Self::Io { .. } => Some("check the path, the permissions and the free space".into()),
            Self::Newer { .. } => Some("update mainstem, or use another store".into()),
            Self::Busy { .. } => Some("wait for it to finish; reading works meanwhile".into()),
            Self::Internal(_) => Some("this is a bug; please report what you did".into()),
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Box::new(error)
    }
}
