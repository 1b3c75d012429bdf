//! Whether what a test needs is here, and how it searches.

use std::io::Write as _;
use std::path::PathBuf;

use mainstem::models::cache::{Cache, State};
use mainstem::models::known;
use serde_json::Value;

use crate::command::{Folder, stderr};

/// The folder of the model; `None`, with a word on why, where it has not been pulled.
///
/// # Panics
/// When `MAINSTEM_TESTS_NEED` says that it must be here.
pub(crate) fn model_folder() -> Option<PathBuf> {
    let (cache, known) = (Cache::standard().unwrap(), &known::ALL[0]);
    if cache.state(known) == State::Present {
        return Some(cache.folder(known));
    }
    skip("model", &format!("`{}` has not been pulled into `{}`", known.name, cache.root().display()));
    None
}

/// Says that a test is skipped, and why, past the capture of the test program; fails where the test must run.
pub(crate) fn skip(what: &str, why: &str) {
    let needed = std::env::var("MAINSTEM_TESTS_NEED").unwrap_or_default();
    assert!(!needed.split(',').any(|need| need == what), "{why}");
    let _ = writeln!(std::io::stderr(), "skipped: {why}");
}

/// What a search finds, as JSON. On a busy machine the model may be late, and the answer says so: then it is asked again.
pub(crate) fn search(folder: &Folder, query: &str) -> Value {
    let ask = || {
        let mut command = folder.command("search --json");
        let output = command.arg(query).env("MAINSTEM_MODELS", folder.0.join("models")).output().unwrap();
        assert_ne!(output.status.code(), Some(2), "{query}: {}", stderr(&output));
        serde_json::from_slice::<Value>(&output.stdout).unwrap()
    };
    let whole = |found: &Value| found["status"]["partial"] == false;
    (0..50).map(|_| ask()).find(whole).unwrap_or_else(|| panic!("late fifty times: {:#}", ask()))
}
