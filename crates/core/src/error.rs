//! What can go wrong in the algebra, always through the caller's input.

use std::borrow::Cow;

use crate::diagnostic::{Code, Diagnostic, Place, nearest};
use crate::located;

/// An input or a setting that the algebra refuses.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A score is NaN, infinite or absurdly large.
    #[error("item `{id}` of list `{list}` has score {score}, expected a finite number from -1e100 to 1e100")]
    NonFinite {
        /// The list.
        list: String,
        /// The item.
        id: String,
        /// The score as received.
        score: f64,
    },
    /// A setting is outside its range.
    #[error("{setting} is {received}, expected {expected}")]
    Range {
        /// The setting, with its place in the configuration.
        setting: String,
        /// What is allowed.
        expected: String,
        /// What was given.
        received: String,
    },
    /// A name occurs twice.
    #[error("two {what}s are called `{name}`, expected unique names")]
    Duplicate {
        /// What kind of thing has the name.
        what: &'static str,
        /// The name.
        name: String,
    },
    /// A name is not among the known ones.
    #[error("unknown {what} `{name}`, expected one of {}", backticked(known))]
    Unknown {
        /// What kind of thing was named.
        what: &'static str,
        /// The name.
        name: String,
        /// What there is.
        known: Vec<String>,
    },
    /// An option has no meaning for the chosen method.
    #[error("`{option}` has no meaning for method `{method}`")]
    Inapplicable {
        /// The option.
        option: &'static str,
        /// The method.
        method: &'static str,
    },
    /// Something that a method needs is not there.
    #[error("{what} is missing: {why}")]
    Missing {
        /// What is missing.
        what: String,
        /// Who needs it.
        why: String,
        /// How to give it.
        hint: String,
    },
    /// The text could not be parsed.
    #[error("{message}")]
    Parse {
        /// What is wrong with it.
        message: String,
        /// The kind of error.
        code: Code,
        /// What to do about it.
        hint: Option<String>,
        /// Where it is wrong.
        place: Place,
    },
}

fn backticked(names: &[String]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

impl Error {
    /// A value outside its range.
    pub fn range(setting: impl Into<String>, expected: impl Into<String>, received: impl ToString) -> Self {
        Self::Range { setting: setting.into(), expected: expected.into(), received: received.to_string() }
    }

    /// A name that is not among `known`.
    pub fn unknown<'a>(
        what: &'static str,
        name: impl Into<String>,
        known: impl IntoIterator<Item = &'a str>,
    ) -> Self {
        Self::Unknown { what, name: name.into(), known: known.into_iter().map(str::to_owned).collect() }
    }
}

/// What a deserialiser said about a configuration, as an error with code and hint.
pub fn from_deserialiser(message: &str, line: Option<u64>) -> Error {
    located::parse(message, Place { line, ..Place::default() })
}

impl Diagnostic for Error {
    fn code(&self) -> Code {
        match self {
            Self::NonFinite { .. } => Code::NonFinite,
            Self::Range { .. } => Code::Value,
            Self::Duplicate { .. } => Code::Duplicate,
            Self::Unknown { .. } => Code::Unknown,
            Self::Inapplicable { .. } => Code::Conflict,
            Self::Missing { .. } => Code::Missing,
            Self::Parse { code, .. } => *code,
        }
    }

    fn place(&self) -> Option<&Place> {
        match self {
            Self::Parse { place, .. } => Some(place),
            _ => None,
        }
    }

    fn hint(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::NonFinite { .. } => {
                Some("drop the item, or leave its score out to rank it by place".into())
            }
            Self::Range { .. } => None,
            Self::Duplicate { what, .. } => Some(format!("give every {what} its own name").into()),
            Self::Unknown { name, known, .. } => {
                let near = nearest(name, known.iter().map(String::as_str))?;
                Some(format!("did you mean `{near}`?").into())
            }
            Self::Inapplicable { option, .. } => Some(format!("leave `{option}` out").into()),
            Self::Missing { hint, .. } => Some(hint.as_str().into()),
            Self::Parse { hint, .. } => hint.as_deref().map(Cow::Borrowed),
        }
    }
}
