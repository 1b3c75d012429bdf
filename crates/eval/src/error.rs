//! What can be wrong with an evaluation.

use std::borrow::Cow;
use std::io;

use mainstem_core::diagnostic::{Code, Diagnostic, Place};

/// An error of this crate. All but [`EvalError::Io`] are the caller's to fix.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EvalError {
    /// A line does not have the form of its format.
    #[error("expected {expected}, received {received}")]
    Syntax {
        /// Where it is.
        place: Place,
        /// What the format asks for.
        expected: &'static str,
        /// What stands there.
        received: String,
        /// What to do about it.
        hint: &'static str,
    },
    /// A line is not UTF-8.
    #[error("expected UTF-8 text, received a line with invalid bytes at byte {at}")]
    Encoding {
        /// Where it is.
        place: Place,
        /// The first invalid byte of the line, from 1.
        at: usize,
    },
    /// A line is longer than the reader accepts.
    #[error("expected a line of at most {limit} bytes, received a longer one")]
    TooLarge {
        /// Where it is.
        place: Place,
        /// The longest line that is accepted.
        limit: usize,
    },
    /// A score is NaN or infinite.
    #[error("expected a finite score, received `{received}` for document `{doc}`")]
    NonFinite {
        /// Where it is.
        place: Place,
        /// The document with that score.
        doc: String,
        /// The score as written.
        received: String,
    },
    /// A document occurs twice for one query.
    #[error("expected each document once per query, received `{doc}` again for query `{query}`")]
    Duplicate {
        /// Where the second one is.
        place: Place,
        /// The query.
        query: String,
        /// The document.
        doc: String,
    },
    /// A measure has no such name.
    #[error("unknown measure `{name}`, expected one of {known}")]
    UnknownMeasure {
        /// The name as typed.
        name: String,
        /// The names that exist, as prose.
        known: String,
        /// What was probably meant.
        nearest: Option<String>,
    },
    /// A measure's name is known but its parameters are not valid.
    #[error("expected {expected}, received `{name}`")]
    MeasureValue {
        /// The name as typed.
        name: String,
        /// What the parameter must be.
        expected: &'static str,
        /// What to type instead.
        hint: String,
    },
    /// There are no judgements at all.
    #[error("expected at least one judgement, received an empty file")]
    NoJudgements {
        /// The file.
        place: Place,
    },
    /// A file could not be read.
    #[error("cannot read the file: {source}")]
    Io {
        /// Where reading stopped.
        place: Place,
        /// What the operating system said.
        source: io::Error,
    },
}

impl Diagnostic for EvalError {
    fn code(&self) -> Code {
        match self {
            Self::Syntax { .. } => Code::Syntax,
            Self::Encoding { .. } => Code::Encoding,
            Self::TooLarge { .. } => Code::TooLarge,
            Self::NonFinite { .. } => Code::NonFinite,
            Self::Duplicate { .. } => Code::Duplicate,
            Self::UnknownMeasure { .. } => Code::Unknown,
            Self::MeasureValue { .. } => Code::Value,
            Self::NoJudgements { .. } => Code::Missing,
            Self::Io { .. } => Code::Io,
        }
    }

    fn place(&self) -> Option<&Place> {
        match self {
            Self::Syntax { place, .. }
            | Self::Encoding { place, .. }
            | Self::TooLarge { place, .. }
            | Self::NonFinite { place, .. }
            | Self::Duplicate { place, .. }
            | Self::NoJudgements { place }
            | Self::Io { place, .. } => Some(place),
            Self::UnknownMeasure { .. } | Self::MeasureValue { .. } => None,
        }
    }

    fn hint(&self) -> Option<Cow<'_, str>> {
        Some(match self {
            Self::Syntax { hint, .. } => Cow::Borrowed(*hint),
            Self::Encoding { .. } => "save the file as UTF-8".into(),
            Self::TooLarge { .. } => "check that the file is text with line breaks, not a binary or compressed file".into(),
            Self::NonFinite { .. } => "write a number, or leave the document out of the run".into(),
            Self::Duplicate { .. } => "keep one line per query and document".into(),
            Self::UnknownMeasure { nearest, .. } => format!("did you mean `{}`?", nearest.as_deref()?).into(),
            Self::MeasureValue { hint, .. } => hint.as_str().into(),
            Self::NoJudgements { .. } => {
                "give a qrels file with lines such as `1 0 doc7 1`; without judgements nothing can be measured".into()
            }
            Self::Io { .. } => "check the path, and that you may read it".into(),
        })
    }
}
