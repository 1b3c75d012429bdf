//! What an ingest did, kept beside the store as the command line keeps it.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use mainstem::ingest::{Skip, Standing, Summary};
use mainstem::reports::Report;

use super::LineResult;
use super::batch::Target;
use crate::app::App;

/// What a request did so far.
pub(super) struct Account {
    started: Instant,
    summary: Summary,
}

/// The last run of each source that came in several requests, and what it did so far.
#[derive(Debug, Default)]
pub struct Runs(Mutex<HashMap<String, (String, Summary)>>);

impl Account {
    pub(super) fn new() -> Self {
        Self { started: Instant::now(), summary: Summary::default() }
    }

    /// Adds what a batch did: what was written, and what was refused.
    pub(super) fn count(&mut self, written: Summary, results: &[LineResult]) {
        self.summary.add(written);
        for result in results {
            let Some(error) = &result.error else { continue };
            let id = result.id.as_deref().map(|id| format!(", `{id}`")).unwrap_or_default();
            let what = format!("line {}{id}", result.line);
            self.summary.skipped.add(Skip { what, why: error.message.clone(), standing: Standing::Unknown });
        }
    }

    /// Keeps it, together with what earlier requests of the same run did. Where it cannot be kept, the log says so: the documents are stored.
    pub(super) fn keep(mut self, app: &App, target: &Target, done: bool) {
        self.summary.elapsed = self.started.elapsed();
        self.summary.interrupted = !done;
        if self.summary.documents + self.summary.skipped.count == 0 {
            return;
        }
        let summary = match &target.run {
            Some(run) => app.runs.add(&target.source, run, self.summary),
            None => self.summary,
        };
        let report = Report::of_ingest(&target.source, &summary).map_err(|error| error.to_string());
        let kept = report.and_then(|report| report.save(app.store.dir()).map_err(|error| error.to_string()));
        if let Err(error) = kept {
            tracing::warn!(error, "the report of an ingest is not kept");
        }
    }
}

impl Runs {
    /// What a run did in all. Another run of the same source begins anew.
    fn add(&self, source: &str, run: &str, part: Summary) -> Summary {
        let mut runs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let last = runs.entry(source.to_owned()).or_default();
        if last.0 != run {
            *last = (run.to_owned(), Summary::default());
        }
        // The parts of a run come one after another.
        last.1.elapsed += part.elapsed;
        last.1.interrupted = false;
        last.1.add(part);
        last.1.clone()
    }
}
