//! `mainstem demo --write`: the sample files in a folder, and what to do with them.

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

/// Commands that work on the files in a folder.
pub(super) fn commands(folder: &str) -> [String; 4] {
    let file = |name: &str| quoted(&format!("{}/{name}", folder.trim_end_matches(['/', '\\'])));
    [
        format!("mainstem fuse {} --explain", file("search.json")),
        format!("mainstem fuse {} --why-not reviews:403", file("search.json")),
        format!("mainstem fuse {} --compat qdrant", file("search.json")),
        format!("mainstem eval --qrels {} --run {} --per-query", file("qrels.tsv"), file("dense.run")),
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
        let path = folder.join(sample.name);
        if path.symlink_metadata().is_ok() {
            return Err(taken(&path));
        }
    }
    fs::create_dir_all(folder).map_err(|error| refused(folder, error))?;
    for sample in samples::ALL {
        let path = folder.join(sample.name);
        let created = OpenOptions::new().write(true).create_new(true).open(&path);
        let written = created.and_then(|mut file| file.write_all(sample.text.as_bytes()));
        written.map_err(|error| refused(&path, error))?;
    }
    let shown = folder.display().to_string();
    let files = samples::ALL.iter().map(|sample| sample.name).collect();
    Ok(Written { next: commands(&shown), folder: shown, files })
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
