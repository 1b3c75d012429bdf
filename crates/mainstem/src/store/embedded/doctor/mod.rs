//! The doctor: looks at everything, and changes nothing.

mod indexes;
mod records;

use std::fmt::Display;
use std::sync::Arc;

use mainstem_core::Diagnostic;
use rusqlite::Connection;

use super::pool::Pool;
use super::snapshot::Snapshot;
use crate::Error;

const REINDEX: &str = "build the indexes anew with `mainstem reindex`";

/// Something that is not as it should be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What is wrong, in one sentence.
    pub what: String,
    /// What to do about it.
    pub fix: String,
}

/// What the doctor saw.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// How many documents were looked at.
    pub documents: u64,
    /// How many chunks.
    pub chunks: u64,
    /// How many vectors.
    pub vectors: u64,
    /// What is wrong; nothing, as a rule.
    pub findings: Vec<Finding>,
    /// What is worth knowing and no damage, such as an index that has yet to catch up.
    pub notes: Vec<String>,
}

impl Report {
    /// Whether everything is as it should be.
    pub fn is_healthy(&self) -> bool {
        self.findings.is_empty()
    }

    fn find(&mut self, what: impl Into<String>, fix: impl Into<String>) {
        self.findings.push(Finding { what: what.into(), fix: fix.into() });
    }

    fn find_error(&mut self, error: &Error) {
        let place = error.place().map_or_else(String::new, |place| format!("{place}: "));
        self.find(format!("{place}{error}"), error.hint().unwrap_or_default());
    }

    /// Adds what was found, or why nothing could be.
    fn look(&mut self, outcome: Result<Vec<Finding>, Error>) {
        match outcome {
            Ok(findings) => self.findings.extend(findings),
            Err(error) => self.find_error(&error),
        }
    }
}

/// Looks at one side of the truth, counts what it sees, and says what is wrong.
type Check = fn(&Connection, &mut Report) -> rusqlite::Result<Vec<Finding>>;

/// Looks at the truth, and at the indexes as far as they can be read.
pub(super) fn examine(pool: &Arc<Pool>, snapshot: Result<Arc<Snapshot>, Error>) -> Report {
    let mut report = Report::default();
    let reading = match pool.now() {
        Ok(reading) => reading,
        Err(error) => {
            report.find_error(&error);
            return report;
        }
    };
    let checks: [Check; 5] =
        [records::file, records::references, records::links, records::documents, records::counts];
    for check in checks {
        let outcome = check(&reading, &mut report).map_err(|error| pool.failure(error));
        report.look(outcome);
    }
    drop(reading);
    match snapshot {
        Ok(snapshot) => {
            let outcome = indexes::examine(&snapshot, &mut report.notes);
            report.look(outcome);
        }
        Err(error) => report.find_error(&error),
    }
    report
}

/// Things of one kind that are wrong: how many, and which was the first.
struct Tally {
    count: u64,
    first: String,
}

impl Tally {
    const fn new() -> Self {
        Self { count: 0, first: String::new() }
    }

    fn add(&mut self, name: impl Display) {
        if self.count == 0 {
            self.first = name.to_string();
        }
        self.count += 1;
    }

    /// How many there are, and the first of them; nothing when there are none.
    fn finding(&self, (one, many): (&str, &str), what: &str, fix: &str) -> Option<Finding> {
        let things = if self.count == 1 { one } else { many };
        let what = format!("{} {things} {what}, first of all `{}`", self.count, self.first);
        (self.count > 0).then(|| Finding { what, fix: fix.to_owned() })
    }
}
