//! What was last measured on a store, and what was last read into it: one small file for each, in the store's folder `reports`.
//!
//! A report is for people who look at the store later. Nothing depends on it: it may be deleted at any time, and a store that cannot be
//! written keeps none.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use mainstem_core::time::Moment;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Error;
use crate::ingest::Summary;

/// The folder of the reports within that of the store.
const FOLDER: &str = "reports";

/// A report as it is kept.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// What it is of: `eval`, `sources`, `tune`, `ingest`, `examples`.
    pub kind: String,
    /// The source that it is about, where it is about one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// When it was made.
    pub at: Moment,
    /// What the command gives as JSON.
    pub report: Value,
}

/// What became of the documents of a source, as `mainstem ingest --json` prints it.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Ingested<'a> {
    /// The source.
    pub source: &'a str,
    /// What was done.
    #[serde(flatten)]
    pub summary: &'a Summary,
}

impl Report {
    /// A report that was made just now.
    ///
    /// # Errors
    /// When it cannot be written as JSON.
    pub fn new(kind: &str, report: &impl Serialize) -> Result<Self, serde_json::Error> {
        let report = serde_json::to_value(report)?;
        Ok(Self { kind: kind.to_owned(), source: None, at: Moment::now(), report })
    }

    /// What was just read into a source.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn of_ingest(source: &str, summary: &Summary) -> Result<Self, serde_json::Error> {
        Ok(Self::new("ingest", &Ingested { source, summary })?.of_source(source))
    }

    /// The same about one source.
    #[must_use]
    pub fn of_source(self, source: &str) -> Self {
        Self { source: Some(source.to_owned()), ..self }
    }

    /// Keeps it in a store's folder, in place of the last one of its kind and source.
    ///
    /// # Errors
    /// When the folder cannot be written.
    pub fn save(&self, store: &Path) -> Result<(), Error> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let folder = store.join(FOLDER);
        let failed =
            |source: io::Error| Error::io("cannot keep the report", &folder.join(self.file_name()), source);
        let text = serde_json::to_vec(self).map_err(|error| failed(error.into()))?;
        fs::create_dir_all(&folder).map_err(failed)?;
        // Whoever reads at this moment sees the last report or this one, never half of it; of two that are kept at once, one whole one stays.
        let (process, count) = (std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let draft = folder.join(format!(".{}.{process}.{count}", self.file_name()));
        fs::write(&draft, text)
            .and_then(|()| fs::rename(&draft, folder.join(self.file_name())))
            .map_err(failed)
    }

    /// Sources may have any name, files may not.
    fn file_name(&self) -> String {
        let Some(source) = &self.source else { return format!("{}.json", self.kind) };
        let safe = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
        let encoded: String = source
            .bytes()
            .map(|byte| if safe(byte) { char::from(byte).to_string() } else { format!("%{byte:02x}") })
            .collect();
        format!("{}-{encoded}.json", self.kind)
    }
}

/// All reports of a store, by name. One that cannot be read is left out: the next one takes its place.
///
/// # Errors
/// When the folder cannot be read.
pub fn all(store: &Path) -> Result<Vec<Report>, Error> {
    let folder = store.join(FOLDER);
    let entries = match fs::read_dir(&folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(Error::io("cannot read the reports", &folder, error)),
    };
    let is_report = |path: &PathBuf| {
        let hidden = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
        !hidden && path.extension().is_some_and(|ending| ending == "json")
    };
    let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).filter(is_report).collect();
    paths.sort();
    let read = |path: PathBuf| serde_json::from_slice(&fs::read(path).ok()?).ok();
    Ok(paths.into_iter().filter_map(read).collect())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_last_report_of_a_kind_stays() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(all(folder.path()).unwrap(), []);
        Report::new("eval", &json!({"measures": {"MRR": 0.5}})).unwrap().save(folder.path()).unwrap();
        let last = Report::new("eval", &json!({"measures": {"MRR": 0.7}})).unwrap();
        last.save(folder.path()).unwrap();
        let read = Report::new("ingest", &json!({"skipped": 1})).unwrap().of_source("../a b");
        read.save(folder.path()).unwrap();
        fs::write(folder.path().join("reports/torn.json"), "{").unwrap();
        assert_eq!(all(folder.path()).unwrap(), [last, read]);
        assert!(folder.path().join("reports/ingest-%2e%2e%2fa%20b.json").exists());
    }
}
