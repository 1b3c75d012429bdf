//! Keeping what was measured beside the store, for whoever looks at it later.

use std::path::Path;

use mainstem::ingest::Summary;
use mainstem::reports::Report;
use serde::Serialize;

use crate::output;

/// Keeps a report about the whole store. A store that cannot be written is no reason to fail: the numbers are on the screen.
pub(crate) fn keep(store: &Path, kind: &str, report: &impl Serialize) {
    save(store, Report::new(kind, report));
}

/// Keeps what was read into a source.
pub(crate) fn keep_ingest(store: &Path, source: &str, summary: &Summary) {
    save(store, Report::of_ingest(source, summary));
}

fn save(store: &Path, report: Result<Report, serde_json::Error>) {
    let problem = match report {
        Ok(report) => report.save(store).err().map(|error| error.to_string()),
        Err(error) => Some(error.to_string()),
    };
    if let Some(problem) = problem {
        output::note(&format!("the web page will not show this report: {problem}"));
    }
}
