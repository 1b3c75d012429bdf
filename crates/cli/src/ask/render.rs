//! Answers for people.

use std::fmt::Write as _;
use std::io::{self, Write as _};

use mainstem::ask::{Citations, Context};
use mainstem_core::diagnostic::Place;

use crate::failure::Problem;
use crate::output;

/// An answer on its way to standard output.
pub(super) struct Shown {
    wanted: bool,
    any: bool,
    failed: Option<io::Error>,
}

impl Shown {
    pub(super) fn new(wanted: bool) -> Self {
        Self { wanted, any: false, failed: None }
    }

    /// Shows what came, at once. Says whether anybody reads it.
    pub(super) fn show(&mut self, said: &str) -> bool {
        if !self.wanted {
            return true;
        }
        self.any = true;
        // What a model writes comes from documents in part; no control sequence of theirs reaches a terminal.
        let plain: String =
            said.chars().filter(|char| !char.is_control() || matches!(char, '\n' | '\t')).collect();
        self.write(&plain)
    }

    fn write(&mut self, text: &str) -> bool {
        let mut out = anstream::stdout().lock();
        let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
        self.failed = self.failed.take().or(written.err());
        self.failed.is_none()
    }

    /// Ends the line.
    pub(super) fn end(mut self) -> Result<(), Problem> {
        if self.any && self.failed.is_none() {
            self.write("\n");
        }
        match self.failed {
            // Whoever reads us has seen enough.
            Some(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                Err(Problem::Write { place: Place::default().in_file("standard output"), source: error })
            }
            _ => Ok(()),
        }
    }
}

/// The passages that an answer cites.
pub(super) fn sources(context: &Context, citations: &Citations) -> String {
    let mut out = String::new();
    for passage in context.passages.iter().filter(|passage| citations.cited.contains(&passage.n)) {
        let title = mainstem::ask::quote::title(passage.title.as_deref().unwrap_or(&passage.id));
        let _ = write!(out, "[{}] {}: {title}", passage.n, passage.source);
        if let Some(url) = &passage.url {
            let _ = write!(out, "  {}", mainstem::ask::quote::title(url));
        }
        out.push('\n');
    }
    if out.is_empty() { out } else { format!("\n{out}") }
}

/// What was packed, in one line.
pub(super) fn receipt(context: &Context) {
    let passages = context.passages.len();
    let noun = if passages == 1 { "passage" } else { "passages" };
    output::note(&format!(
        "{passages} {noun}, {} of {} tokens, diversity {:.2}; {} hits left out (`--json` says why)",
        context.tokens,
        context.budget,
        context.diversity,
        context.left_out.len()
    ));
}

/// Flags what an answer cites and nobody gave it.
pub(super) fn unknown(citations: &Citations) {
    if !citations.unknown.is_empty() {
        let numbers: Vec<String> = citations.unknown.iter().map(|number| format!("[{number}]")).collect();
        output::note(&format!(
            "the answer cites {}, which is no passage: do not trust it there",
            numbers.join(", ")
        ));
    }
}
