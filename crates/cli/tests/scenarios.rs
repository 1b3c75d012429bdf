//! The scenarios in `tests/scenarios`: a search, and the account of every score that must come out of it.
//!
//! Each folder holds `search.json`, perhaps `options.txt` with options of the command, and `explain.txt`: standard output, then
//! the notes on standard error. `UPDATE_GOLDENS=1 cargo test -p mainstem-cli --test scenarios` writes `explain.txt` anew, to be
//! reviewed like any other change.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod command;

use std::path::{Path, PathBuf};

use command::{Folder, stderr, stdout};
use mainstem_core::Replay;

fn scenarios() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/scenarios");
    let mut folders: Vec<_> = std::fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path()).collect();
    folders.retain(|folder| folder.is_dir());
    folders.sort();
    assert!(folders.len() >= 10, "{folders:?}");
    folders
}

/// The account of a scenario: what the command prints.
fn account(folder: &Folder, options: &str) -> String {
    let output = folder.run(&format!("fuse search.json --explain {options}"));
    assert_eq!(output.status.code(), Some(0), "{}: {}", folder.0.display(), stderr(&output));
    stdout(&output) + &stderr(&output)
}

#[test]
fn every_scenario_is_accounted_for_as_written() {
    let update = std::env::var_os("UPDATE_GOLDENS").is_some();
    let mut changed = Vec::new();
    for path in scenarios() {
        let folder = Folder(path.clone());
        let options = std::fs::read_to_string(path.join("options.txt")).unwrap_or_default();
        let got = account(&folder, &options);
        let expected = std::fs::read_to_string(path.join("explain.txt")).unwrap_or_default();
        if update {
            folder.file("explain.txt", &got);
        } else if got != expected {
            changed.push(format!("{}\n--- expected\n{expected}\n--- received\n{got}", path.display()));
        }
    }
    let hint = "UPDATE_GOLDENS=1 writes them anew; then review the difference";
    assert!(changed.is_empty(), "{} changed ({hint}):\n{}", changed.len(), changed.join("\n"));
}

#[test]
fn the_ledger_of_every_hit_gives_its_score() {
    for path in scenarios() {
        let folder = Folder(path.clone());
        let options = std::fs::read_to_string(path.join("options.txt")).unwrap_or_default();
        // The record holds what the options changed.
        let record = Folder::new("scenario-record").0.join("record.json");
        folder.stdout(&format!("fuse search.json {options} --record {}", record.display()));
        let answer = Replay::from_json(&std::fs::read(&record).unwrap()).unwrap().run().unwrap();
        assert!(!answer.hits.is_empty());
        for hit in &answer.hits {
            assert_eq!(hit.ledger.replay().to_bits(), hit.score.to_bits(), "{}: {}", path.display(), hit.id);
        }
    }
}

#[test]
fn every_scenario_says_in_two_lines_what_to_look_at() {
    for path in scenarios() {
        let readme = std::fs::read_to_string(path.join("README.md")).unwrap_or_default();
        assert_eq!(readme.lines().count(), 2, "{}", path.display());
    }
}
