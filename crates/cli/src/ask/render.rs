//! Answers for people.

use std::fmt::Write as _;
use std::io::{self, Write as _};

use mainstem::ask::quote::title;
use mainstem::query::Request;
use mainstem_core::diagnostic::Place;
use mainstem_core::status::Status;

use crate::failure::Problem;
use crate::output;
use crate::search::render as search;

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
        self.write(&output::plain(said))
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

/// What a context says about itself, whoever has packed it.
pub(super) struct Packed {
    passages: Vec<Passage>,
    left_out: usize,
    tokens: usize,
    budget: usize,
    diversity: f64,
    text: String,
}

/// A passage as it is named below an answer.
struct Passage {
    n: usize,
    source: String,
    title: String,
    url: Option<String>,
}

impl Packed {
    /// Whether the search has found nothing: every hit is a passage or left out.
    pub(super) fn is_empty(&self) -> bool {
        self.passages.is_empty() && self.left_out == 0
    }
}

/// The two kinds of context have the same fields.
macro_rules! packed_from {
    ($context:ty) => {
        impl From<&$context> for Packed {
            fn from(context: &$context) -> Self {
                let passages = context.passages.iter().map(|passage| Passage {
                    n: passage.n,
                    source: title(&passage.source),
                    title: title(passage.title.as_deref().unwrap_or(&passage.id)),
                    url: passage.url.as_deref().map(title),
                });
                Self {
                    passages: passages.collect(),
                    left_out: context.left_out.len(),
                    tokens: context.tokens,
                    budget: context.budget,
                    diversity: context.diversity,
                    text: context.text.clone(),
                }
            }
        }
    };
}

packed_from!(mainstem::ask::Context);
packed_from!(mainstem_client::ask::Context);

/// What follows an answer: the passages that it cites, what was packed, and numbers that nobody gave it.
pub(super) fn answered(packed: &Packed, cited: &[usize], unknown: &[usize]) -> Result<(), Problem> {
    let mut out = String::new();
    for passage in packed.passages.iter().filter(|passage| cited.contains(&passage.n)) {
        let (source, title) = (output::line(&passage.source), output::line(&passage.title));
        let _ = write!(out, "[{}] {source}: {title}", passage.n);
        if let Some(url) = &passage.url {
            let _ = write!(out, "  {}", output::line(url));
        }
        out.push('\n');
    }
    if !out.is_empty() {
        output::write(None, &format!("\n{out}"))?;
    }
    receipt(packed);
    if !unknown.is_empty() {
        let numbers: Vec<String> = unknown.iter().map(|number| format!("[{number}]")).collect();
        let which = if unknown.len() == 1 { "which is no passage" } else { "which are no passages" };
        output::note(&format!("the answer cites {}, {which}: do not trust it there", numbers.join(", ")));
    }
    Ok(())
}

/// Without an answer: the prompt, ready to paste, or the context alone.
pub(super) fn unanswered(packed: &Packed, prompt: Option<&str>) -> Result<(), Problem> {
    receipt(packed);
    match prompt {
        Some(prompt) => {
            output::note("no model is configured in `[ask]`: this is the prompt, ready to paste");
            output::write(None, &output::plain(prompt))
        }
        None => output::write(None, &format!("{}\n", output::plain(&packed.text))),
    }
}

/// Says that nothing was found, and what to try next.
pub(super) fn nothing(request: &Request, status: &Status) {
    search::gaps(status);
    anstream::eprintln!("{}", output::plain(&search::nothing(request, status, 0)));
}

/// What was packed, in one line.
fn receipt(packed: &Packed) {
    let counted = |count: usize, noun: &str| format!("{count} {noun}{}", if count == 1 { "" } else { "s" });
    let left = match packed.left_out {
        0 => "no hit left out".to_owned(),
        count => format!("{} left out (`--json` says why)", counted(count, "hit")),
    };
    output::note(&format!(
        "{}, {} of {} tokens, diversity {:.2}; {left}",
        counted(packed.passages.len(), "passage"),
        packed.tokens,
        packed.budget,
        packed.diversity,
    ));
}
