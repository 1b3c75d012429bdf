//! What every error of every crate can say: a code, where it happened, and what to do about it.

use std::borrow::Cow;
use std::fmt;

/// Who has to act on an error. It decides the exit code and the HTTP status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The input or the configuration is wrong; the caller can fix it.
    Caller,
    /// A file, a disk or a service is missing or broken; the operator can fix it.
    Environment,
    /// Mainstem broke a promise to itself; a developer has to fix it.
    Mainstem,
}

macro_rules! codes {
    ($($variant:ident = $code:literal, $fault:ident, $http:literal, $doc:literal;)*) => {
        /// Every kind of error that a user can meet, across all crates.
        ///
        /// This is the one table that maps an error to its printed code, its exit code and its HTTP status.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Code { $(#[doc = $doc] $variant,)* }

        impl Code {
            /// All codes, in the order of the table.
            pub const ALL: &'static [Code] = &[$(Code::$variant,)*];

            /// The code as printed, such as `E0101`.
            pub const fn as_str(self) -> &'static str {
                match self { $(Code::$variant => $code,)* }
            }

            /// Who has to act.
            pub const fn fault(self) -> Fault {
                match self { $(Code::$variant => Fault::$fault,)* }
            }

            /// The HTTP status that a server answers with.
            pub const fn http_status(self) -> u16 {
                match self { $(Code::$variant => $http,)* }
            }

            /// One line that says what the code means.
            pub const fn summary(self) -> &'static str {
                match self { $(Code::$variant => $doc,)* }
            }
        }
    };
}

codes! {
    Syntax = "E0101", Caller, 400, "the input is not well-formed";
    Encoding = "E0102", Caller, 400, "the input is not UTF-8";
    TooLarge = "E0103", Caller, 413, "a line or a file is longer than the documented limit";
    Value = "E0201", Caller, 400, "a value is outside its range";
    NonFinite = "E0202", Caller, 400, "a number is NaN or infinite";
    Duplicate = "E0203", Caller, 400, "a name that must be unique occurs twice";
    Unknown = "E0204", Caller, 400, "a name is not known here";
    Conflict = "E0205", Caller, 400, "two settings contradict each other";
    Missing = "E0206", Caller, 400, "something that is needed was not given";
    Usage = "E0207", Caller, 400, "the command line is wrong";
    Model = "E0208", Caller, 409, "vectors of different models cannot be mixed";
    Io = "E0301", Environment, 503, "a file could not be read or written";
    Damaged = "E0302", Environment, 500, "a file of the store is damaged";
    Newer = "E0303", Environment, 500, "the store was written by a newer version";
    Busy = "E0304", Environment, 503, "another process is writing to the store";
    Unavailable = "E0305", Environment, 503, "a model or a service cannot be reached";
    NotFound = "E0401", Caller, 404, "there is nothing at this address, or no document of this name";
    Method = "E0402", Caller, 405, "this address does not take this method";
    Slow = "E0403", Caller, 408, "the request did not arrive in time";
    MediaType = "E0404", Caller, 415, "the body is of a type or an encoding that is not taken here";
    Unidentified = "E0405", Caller, 401, "a key is needed, and none that is valid was given";
    Forbidden = "E0406", Caller, 403, "the key does not allow this";
    Crowded = "E0407", Environment, 503, "the server has as much to do as it takes on, or is stopping";
    TimedOut = "E0408", Environment, 504, "the answer was not ready in time";
    UnderWay = "E0409", Caller, 409, "one of these is under way already, and there is one at a time";
    Internal = "E0901", Mainstem, 500, "a promise inside Mainstem was broken";
}

impl Code {
    /// The process exit code: every error is 2, so that 1 can mean "nothing found".
    pub const fn exit_code(self) -> u8 {
        2
    }
}

/// Where in the user's input an error is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The file as the user named it; `None` for input that has no name.
    pub file: Option<String>,
    /// The line, from 1.
    pub line: Option<u64>,
    /// The column in characters, from 1.
    pub column: Option<u64>,
}

impl Place {
    /// A line of an unnamed input.
    pub fn line(line: u64) -> Self {
        Self { line: Some(line), ..Self::default() }
    }

    /// The same place, in a named file.
    #[must_use]
    pub fn in_file(mut self, file: impl Into<String>) -> Self {
        self.file = Some(file.into());
        self
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.file.as_deref().unwrap_or("input"))?;
        for number in [self.line, self.column].into_iter().flatten() {
            write!(f, ":{number}")?;
        }
        Ok(())
    }
}

/// An error that a user can act on.
///
/// The `Display` text is one sentence in lower case without a final period; literals stand in backticks, and it
/// names both what was expected and what was received.
pub trait Diagnostic: std::error::Error {
    /// The code of this kind of error.
    fn code(&self) -> Code;

    /// Where in the input it is, when that is known.
    fn place(&self) -> Option<&Place>;

    /// What to do about it.
    fn hint(&self) -> Option<Cow<'_, str>>;
}

/// Any error that a user can act on, whatever crate it comes from.
pub type Failure = Box<dyn Diagnostic + Send + Sync>;

/// The known name nearest to `name`, if one is near enough to be a slip of the keyboard.
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    known
        .into_iter()
        .map(|candidate| (strsim::damerau_levenshtein(name, candidate), candidate))
        .filter(|(distance, candidate)| {
            let length = candidate.chars().count();
            *distance < length && *distance * 3 <= length.max(3)
        })
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_unique() {
        let mut seen: Vec<_> = Code::ALL.iter().map(|code| code.as_str()).collect();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), Code::ALL.len());
    }

    #[test]
    fn a_place_prints_like_a_compiler_does() {
        assert_eq!(Place::line(3).in_file("a.run").to_string(), "a.run:3");
        assert_eq!(Place::default().to_string(), "input");
    }

    #[test]
    fn nearest_finds_slips_only() {
        let known = ["rrf", "rsf", "condorcet"];
        assert_eq!(nearest("condorset", known), Some("condorcet"));
        assert_eq!(nearest("rff", known), Some("rrf"));
        assert_eq!(nearest("bayes", known), None);
        assert_eq!(nearest("c", ["a", "b"]), None);
    }
}
