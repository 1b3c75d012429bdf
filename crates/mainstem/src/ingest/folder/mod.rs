//! Folders and files of Markdown, text, HTML and source code.

mod file;
mod front_matter;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use ignore::{DirEntry, WalkBuilder};
use mainstem_core::Failure;

use super::connector::{Connector, Position, Record, Skip, Unit};
use crate::Error;

/// How a folder is read.
#[derive(Clone, Debug)]
pub struct FolderOptions {
    /// Files of more bytes are skipped: 16 MiB.
    pub max_bytes: u64,
    /// Whether links are followed. Loops are noticed.
    pub follow_links: bool,
    /// Folders that are left out silently, such as the one of the store.
    pub except: Vec<PathBuf>,
}

impl Default for FolderOptions {
    fn default() -> Self {
        Self { max_bytes: 16 << 20, follow_links: false, except: Vec::new() }
    }
}

/// The files of a folder, by name.
///
/// The id of a document is its path from the root, with `/`. Files that `.gitignore` or `.ignore` exclude are left out silently; hidden,
/// binary and generated ones are skips. Only names are held in memory; texts are read one at a time.
pub struct Folder {
    root: PathBuf,
    options: FolderOptions,
    files: Vec<PathBuf>,
    skips: Vec<Skip>,
    next: usize,
    /// Whether the document that was given last has the time of its file.
    time_of_file: bool,
}

impl Folder {
    /// Opens a folder, or a single file.
    ///
    /// # Errors
    /// When it does not exist or cannot be read.
    pub fn open(path: &Path, options: FolderOptions) -> Result<Self, Error> {
        let metadata =
            std::fs::metadata(path).map_err(|source| Error::io("cannot read the documents", path, source))?;
        if metadata.is_dir() {
            let (files, skips) = walk(path, &options);
            return Ok(Self { root: path.to_owned(), options, files, skips, next: 0, time_of_file: false });
        }
        let root = path.parent().map(Path::to_owned).unwrap_or_default();
        let (files, skips) = (vec![path.to_owned()], Vec::new());
        Ok(Self { root, options, files, skips, next: 0, time_of_file: false })
    }
}

impl Connector for Folder {
    fn next_record(&mut self) -> Result<Option<Record>, Failure> {
        if let Some(skip) = self.skips.pop() {
            return Ok(Some(Record::Skip(skip)));
        }
        let Some(path) = self.files.get(self.next) else { return Ok(None) };
        self.next += 1;
        let (record, time_of_file) = file::read(path, &id_of(&self.root, path), &self.options);
        self.time_of_file = time_of_file;
        Ok(Some(record))
    }

    fn has_time_of_file(&self) -> bool {
        self.time_of_file
    }

    fn position(&self) -> Position {
        Position { done: self.next as u64, of: Some(self.files.len() as u64), unit: Unit::Documents }
    }
}

/// The id of a file: its path from the root.
pub(super) fn id_of(root: &Path, path: &Path) -> String {
    let relative = path.strip_prefix(root).unwrap_or(path);
    let parts: Vec<_> = relative.components().map(|part| part.as_os_str().to_string_lossy()).collect();
    parts.join("/")
}

/// What ignore files are for is seen by what is missing.
const SILENT: [&str; 4] = [".git", ".gitignore", ".ignore", ".gitattributes"];

/// The files of a folder by name, and what was left out.
pub(super) fn walk(root: &Path, options: &FolderOptions) -> (Vec<PathBuf>, Vec<Skip>) {
    let hidden = Arc::new(Mutex::new(Vec::new()));
    let mut files = Vec::new();
    let mut skips = Vec::new();
    for entry in walker(root, options, hidden.clone()).build() {
        match entry {
            Ok(entry) if entry.file_type().is_some_and(|kind| kind.is_file()) => {
                files.push(entry.into_path());
            }
            Ok(entry) if entry.path_is_symlink() => {
                skips.push(Skip::absent(id_of(root, entry.path()), "a link"));
            }
            Ok(_) => {}
            Err(error) => skips.push(unreadable(root, &error)),
        }
    }
    skips.append(&mut hidden.lock().unwrap_or_else(PoisonError::into_inner));
    // They are taken from the end.
    skips.sort_by(|a, b| b.what.cmp(&a.what));
    (files, skips)
}

fn walker(root: &Path, options: &FolderOptions, hidden: Arc<Mutex<Vec<Skip>>>) -> WalkBuilder {
    let mut walker = WalkBuilder::new(root);
    // Hidden files are kept here so that the filter below can say that it left them out.
    walker.hidden(false).require_git(false).follow_links(options.follow_links);
    walker.sort_by_file_path(Path::cmp);
    let (base, except) = (root.to_owned(), options.except.clone());
    walker.filter_entry(move |entry| {
        if !except.is_empty() && is_one_of(entry.path(), &except) {
            return false;
        }
        let shown = entry.depth() == 0 || !is_hidden(entry);
        if !shown && !SILENT.iter().any(|name| entry.file_name() == *name) {
            let skip = Skip::absent(id_of(&base, entry.path()), "hidden");
            hidden.lock().unwrap_or_else(PoisonError::into_inner).push(skip);
        }
        shown
    });
    walker
}

fn is_one_of(path: &Path, except: &[PathBuf]) -> bool {
    path.is_dir() && path.canonicalize().is_ok_and(|path| except.contains(&path))
}

fn is_hidden(entry: &DirEntry) -> bool {
    entry.file_name().as_encoded_bytes().starts_with(b".")
}

/// A folder that cannot be read may hold anything; a link in a loop holds nothing new.
fn unreadable(root: &Path, error: &ignore::Error) -> Skip {
    let (path, why) = match error {
        ignore::Error::WithDepth { err, .. } => return unreadable(root, err),
        ignore::Error::Loop { child, .. } => {
            return Skip::absent(id_of(root, child), "a link to a folder that it is in");
        }
        ignore::Error::WithPath { path, err } => (id_of(root, path), err.to_string()),
        other => (root.display().to_string(), other.to_string()),
    };
    Skip::unknown(path, why)
}
