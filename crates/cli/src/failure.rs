//! How a command fails: one clear sentence, where, and what to do about it.

use std::borrow::Cow;
use std::fmt;
use std::io;
use std::process::ExitCode;

use anstyle::{AnsiColor, Style};
use mainstem_core::diagnostic::{Code, Diagnostic, Place};
use mainstem_eval::EvalError;

pub(crate) use mainstem_core::Failure;

use crate::output;

/// What to do about a setting that is refused, where the refusal itself says what is expected.
const SEE_HELP: &str = "see `mainstem fuse --help` for what each setting takes";

/// What can go wrong in a command beyond what the libraries say.
#[derive(Debug)]
pub(crate) enum Problem {
    /// The ranking core refused something.
    Core { error: Box<mainstem_core::Error>, place: Option<Place> },
    /// A file of lists or judgements, or a measure, is wrong.
    Eval(EvalError),
    /// An argument is wrong in a way that the parser of the command line cannot see.
    Argument { code: Code, message: String, hint: String },
    /// An input is longer than the limit.
    TooLarge { place: Place, limit: u64 },
    /// An input could not be read.
    Read { place: Place, source: io::Error },
    /// An output could not be written.
    Write { place: Place, source: io::Error },
    /// A result could not be turned into JSON.
    Json(serde_json::Error),
}

impl Problem {
    /// An argument that is wrong.
    pub(crate) fn argument(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Argument { code: Code::Value, message: message.into(), hint: hint.into() }
    }

    /// Arguments that contradict each other.
    pub(crate) fn conflict(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Argument { code: Code::Conflict, message: message.into(), hint: hint.into() }
    }

    /// Standard input can be read once only.
    pub(crate) fn one_standard_input() -> Self {
        Self::conflict(
            "expected at most one input from `-`, received several",
            "name files for all inputs but one",
        )
    }

    /// What the ranking core refused in a file.
    pub(crate) fn in_file(error: mainstem_core::Error, file: &str) -> Self {
        let place = error.place().cloned().unwrap_or_default().in_file(file);
        Self::Core { error: Box::new(error), place: Some(place) }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Core { error, .. } => error.fmt(f),
            Self::Eval(error) => error.fmt(f),
            Self::Argument { message, .. } => f.write_str(message),
            Self::TooLarge { limit, .. } => {
                write!(f, "the input is longer than {} MiB, expected at most that", limit >> 20)
            }
            Self::Read { source, .. } => write!(f, "cannot read the input: {source}"),
            Self::Write { source, .. } => write!(f, "cannot write the output: {source}"),
            Self::Json(error) => write!(f, "cannot write the result as JSON: {error}"),
        }
    }
}

impl std::error::Error for Problem {}

impl Diagnostic for Problem {
    fn code(&self) -> Code {
        match self {
            Self::Core { error, .. } => error.code(),
            Self::Eval(error) => error.code(),
            Self::Argument { code, .. } => *code,
            Self::TooLarge { .. } => Code::TooLarge,
            Self::Read { .. } | Self::Write { .. } => Code::Io,
            Self::Json(_) => Code::Internal,
        }
    }

    fn place(&self) -> Option<&Place> {
        match self {
            Self::Core { error, place } => place.as_ref().or(error.place()),
            Self::Eval(error) => error.place(),
            Self::TooLarge { place, .. } | Self::Read { place, .. } | Self::Write { place, .. } => {
                Some(place)
            }
            Self::Argument { .. } | Self::Json(_) => None,
        }
    }

    fn hint(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::Core { error, .. } => error.hint().or(Some(SEE_HELP.into())),
            Self::Eval(error) => error.hint(),
            Self::Argument { hint, .. } => Some(hint.as_str().into()),
            Self::TooLarge { .. } => Some("split it: one file for each query, or TREC runs for many".into()),
            Self::Read { .. } => Some("check the path and the permissions".into()),
            Self::Write { .. } => Some("check that the folder exists and that there is room".into()),
            Self::Json(_) => None,
        }
    }
}

impl From<mainstem_core::Error> for Problem {
    fn from(error: mainstem_core::Error) -> Self {
        Self::Core { error: Box::new(error), place: None }
    }
}

impl From<EvalError> for Problem {
    fn from(error: EvalError) -> Self {
        Self::Eval(error)
    }
}

impl From<serde_json::Error> for Problem {
    fn from(error: serde_json::Error) -> Self {
        Self::Json(error)
    }
}

impl From<Problem> for Failure {
    fn from(problem: Problem) -> Self {
        Box::new(problem)
    }
}

/// Prints what is wrong with the command line, or the help that was asked for.
pub(crate) fn report_usage(error: &clap::Error) -> ExitCode {
    let helps = error.kind() == clap::error::ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand;
    if helps || !error.use_stderr() {
        let _ = error.print();
        return ExitCode::from(if helps { Code::Usage.exit_code() } else { 0 });
    }
    let text = error.to_string();
    let mut paragraphs = text.split("\n\n").map(|part| part.split_whitespace().collect::<Vec<_>>().join(" "));
    let message = paragraphs.next().unwrap_or_default();
    let message = message.strip_prefix("error: ").unwrap_or(&message).to_owned();
    let tip = paragraphs.find_map(|part| part.strip_prefix("tip: ").map(str::to_owned));
    let hint = tip.unwrap_or_else(|| "`--help` shows what the command takes".to_owned());
    report(&Problem::Argument { code: Code::Usage, message, hint })
}

const ERROR: Style = AnsiColor::Red.on_default().bold();
const HINT: Style = AnsiColor::Cyan.on_default().bold();

/// Prints an error to standard error and gives the exit code.
pub(crate) fn report(failure: &dyn Diagnostic) -> ExitCode {
    let code = failure.code();
    let place = failure.place().map(|place| format!("{place}: ")).unwrap_or_default();
    let message = format!("{place}{failure}");
    anstream::eprintln!("{ERROR}error[{}]{ERROR:#}: {}", code.as_str(), output::plain(&message));
    if let Some(hint) = failure.hint() {
        anstream::eprintln!("{HINT}hint{HINT:#}: {}", output::plain(&hint));
    }
    ExitCode::from(code.exit_code())
}
