//! What a connector gives: documents, and what it left out and why.

use mainstem_core::{Document, Failure};

use super::format::Format;

/// One step of a connector.
#[derive(Clone, Debug, PartialEq)]
pub enum Record {
    /// A document. Its source may be left empty; the run fills it in. A document without chunks is cut as its format says.
    Document {
        /// The document.
        document: Box<Document>,
        /// How to cut it.
        format: Format,
    },
    /// Something that is no document.
    Skip(Skip),
}

/// Something that was left out.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Skip {
    /// What it is: a path, or a file and a line.
    pub what: String,
    /// Why.
    pub why: String,
    /// What is known about the document that it may be.
    #[serde(skip)]
    pub standing: Standing,
}

/// Whether something that was left out may be a document that the store has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It is no document. If the store has one of that name, it is gone from the source.
    Absent,
    /// It is the document of this id, but could not be read this time. What the store has stays.
    Present(String),
    /// It may be any document. Nothing counts as gone from the source.
    Unknown,
}

impl Skip {
    /// Something that is no document.
    pub fn absent(what: impl Into<String>, why: impl Into<String>) -> Self {
        Self { what: what.into(), why: why.into(), standing: Standing::Absent }
    }

    /// A document that could not be read this time.
    pub fn present(id: impl Into<String>, why: impl Into<String>) -> Self {
        let id = id.into();
        Self { what: id.clone(), why: why.into(), standing: Standing::Present(id) }
    }

    /// Something that may be any document.
    pub fn unknown(what: impl Into<String>, why: impl Into<String>) -> Self {
        Self { what: what.into(), why: why.into(), standing: Standing::Unknown }
    }
}

/// What a [`Position`] counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Bytes of the input.
    Bytes,
    /// Files or documents.
    Documents,
}

/// How far a connector is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// How much is done.
    pub done: u64,
    /// How much there is, when that is known.
    pub of: Option<u64>,
    /// What is counted.
    pub unit: Unit,
}

/// Gives the documents of a source, one at a time.
///
/// The id of a document MUST be the same from run to run, and unique within a run. Memory MUST NOT grow with the size of the texts.
/// After an error the connector is not asked again.
pub trait Connector {
    /// The next document or skip; `None` at the end.
    ///
    /// # Errors
    /// When reading cannot go on. What concerns one document alone is a [`Skip`].
    fn next_record(&mut self) -> Result<Option<Record>, Failure>;

    /// How far it is.
    fn position(&self) -> Position;

    /// Whether `updated_at` of the document that was given last is only the time of its file. A copy or a checkout changes that time and nothing
    /// else, so that it makes no difference by itself.
    fn has_time_of_file(&self) -> bool {
        false
    }
}
