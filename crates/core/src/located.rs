//! Keeps code, hint and line of an error together while it passes through a deserialiser.
//!
//! Settings are checked while they are read, so that the deserialiser knows the line; it can only carry text, hence the
//! separator.

use serde::de;
use serde_json::error::Category;

use crate::diagnostic::{Code, Diagnostic, Place};
use crate::error::Error;

const SEPARATOR: char = '\u{1f}';

/// Turns a refused setting into a deserialiser's error.
pub(crate) fn refuse<E: de::Error>(error: Error) -> E {
    let hint = error.hint().unwrap_or_default();
    E::custom(format!("{error}{SEPARATOR}{}{SEPARATOR}{hint}{SEPARATOR}", error.code().as_str()))
}

/// What a deserialiser said, taken apart again.
struct Said {
    /// The sentence.
    message: String,
    /// The code, if one of our own checks spoke.
    code: Option<Code>,
    /// The hint, if one of our own checks gave one.
    hint: Option<String>,
}

impl Said {
    fn new(text: &str) -> Self {
        let mut parts = text.split(SEPARATOR);
        let message = parts.next().unwrap_or_default().to_owned();
        let code =
            parts.next().and_then(|code| Code::ALL.iter().find(|known| known.as_str() == code).copied());
        let hint = parts.next().filter(|hint| !hint.is_empty()).map(str::to_owned);
        Self { message, code, hint }
    }
}

/// An error of the JSON reader as one of ours.
pub(crate) fn json(error: &serde_json::Error) -> Error {
    let text = error.to_string();
    let suffix = format!(" at line {} column {}", error.line(), error.column());
    let place = Place { line: Some(error.line() as u64), column: Some(error.column() as u64), file: None };
    let mut parsed = parse(text.strip_suffix(&suffix).unwrap_or(&text), place);
    if let Error::Parse { hint: hint @ None, .. } = &mut parsed {
        *hint = match error.classify() {
            Category::Eof => Some("the text ends too early: was the file cut off?".to_owned()),
            Category::Syntax => {
                Some("this must be JSON: quoted keys, no trailing commas, no NaN or Infinity".to_owned())
            }
            Category::Data | Category::Io => None,
        };
    }
    parsed
}

/// What readers call types, and what people do.
const PLAIN: [(&str, &str); 5] = [
    ("expected f64", "expected a number"),
    ("expected f32", "expected a number"),
    ("expected usize", "expected a whole number"),
    ("expected u32", "expected a whole number"),
    ("expected i64", "expected a whole number"),
];

/// What a reader said, with code and hint if one of our own checks spoke.
pub(crate) fn parse(text: &str, place: Place) -> Error {
    let mut said = Said::new(text);
    for (rust, plain) in PLAIN {
        said.message = said.message.replace(rust, plain);
    }
    let hint = said.hint.or_else(|| near_miss(&said.message));
    Error::Parse { message: said.message, code: said.code.unwrap_or(Code::Syntax), hint, place }
}

/// The reader lists what it knows: "unknown field `x`, expected one of `a`, `b`".
fn near_miss(message: &str) -> Option<String> {
    let mut quoted = message.split('`').skip(1).step_by(2);
    let name = quoted.next().filter(|_| message.starts_with("unknown "))?;
    let near = crate::diagnostic::nearest(name, quoted)?;
    Some(format!("did you mean `{near}`?"))
}
