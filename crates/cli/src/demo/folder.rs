//! `mainstem demo --write`: the sample files in a folder; and commands to go on with.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::Path;

use mainstem_core::diagnostic::Place;
use serde::Serialize;

use super::samples;
use crate::failure::Problem;

/// What was written.
#[derive(Serialize)]
pub(super) struct Written {
    folder: String,
    files: Vec<&'static str>,
    next: [String; 4],
}

impl Written {
    /// For people, or as JSON.
    pub(super) fn text(&self, json: bool) -> Result<String, Problem> {
        if json {
            return Ok(serde_json::to_string_pretty(self)? + "\n");
        }
        let Self { folder, files, next } = self;
        Ok(format!("wrote {} files to `{folder}`; try\n  {}\n", files.len(), next.join("\n  ")))
    }
}

/// Where the demo's commands keep the store, unless told otherwise.
const STORE: &str = "demo-store";
/// Where they put the samples.
const RECIPES: &str = "samples";

/// Commands to go on with after the demo, which work in this order.
pub(super) fn commands(kept: Option<&Path>) -> Vec<String> {
    let store = quoted(&kept.map_or(STORE.to_owned(), |path| path.display().to_string()));
    let mut commands = Vec::new();
    if kept.is_none() {
        commands.push(format!("mainstem demo --keep {store}"));
    }
    commands.extend([
        format!("mainstem --store {store} search \"who is on call from 2 February\" --now 2026-01-31 --explain"),
        format!(
            "mainstem --store {store} ask \"when do we move to the new office\" --now 2026-01-31 --context"
        ),
        format!("mainstem demo --write {RECIPES}"),
        format!(
            "mainstem --store {store} eval sources --queries {RECIPES}/docs-team/queries.jsonl --qrels {RECIPES}/docs-team/qrels.tsv"
        ),
    ]);
    commands
}

/// Commands that work on the files in a folder.
fn after_writing(folder: &str) -> [String; 4] {
    let file = |name: &str| quoted(&format!("{}/{name}", folder.trim_end_matches(['/', '\\'])));
    [
        format!("mainstem ingest {} --source books --kind books", file("chess-tutor/books.jsonl")),
        format!("mainstem ingest {} --source games --kind games", file("chess-tutor/games.jsonl")),
        format!(
            "mainstem search \"example of a knight blocking an isolated pawn\" --config {} --explain",
            file("chess-tutor/mainstem.toml")
        ),
        format!("mainstem fuse {} --explain", file("first-look/search.json")),
    ]
}

/// A path as a shell takes it.
fn quoted(path: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "/\\.-_:~+".contains(c);
    if path.chars().all(plain) { path.to_owned() } else { format!("\"{path}\"") }
}

/// Writes the files. Nothing is overwritten; when one of them exists, none is written.
pub(super) fn write(folder: &Path) -> Result<Written, Problem> {
    for sample in samples::ALL {
        let path = folder.join(sample.path);
        if path.symlink_metadata().is_ok() {
            return Err(taken(&path));
        }
    }
    for sample in samples::ALL {
        let path = folder.join(sample.path);
        let parent = path.parent().unwrap_or(folder);
        fs::create_dir_all(parent).map_err(|error| refused(parent, error))?;
        let created = OpenOptions::new().write(true).create_new(true).open(&path);
        let written = created.and_then(|mut file| file.write_all(sample.text.as_bytes()));
        written.map_err(|error| refused(&path, error))?;
    }
    let shown = folder.display().to_string();
    let files = samples::ALL.iter().map(|sample| sample.path).collect();
    Ok(Written { next: after_writing(&shown), folder: shown, files })
}

fn taken(path: &Path) -> Problem {
    Problem::conflict(
        format!("expected a folder without the sample files, found `{}`", path.display()),
        "name another folder; nothing was written",
    )
}

fn refused(path: &Path, source: io::Error) -> Problem {
    if source.kind() == io::ErrorKind::AlreadyExists {
        return taken(path);
    }
    Problem::Write { place: Place::default().in_file(path.display().to_string()), source }
}
