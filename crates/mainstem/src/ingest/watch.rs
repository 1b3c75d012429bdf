//! Keeping a folder in step: waits for changes, then lets a run look.
//!
//! The run compares everything with the store again. That costs reading the files, but no event that a system loses, and no rename that it
//! reports in an odd way, can leave a document behind.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use ignore::gitignore::Gitignore;
use mainstem_core::Failure;
use notify::{Event, EventKind, RecursiveMode, Watcher as _};

use crate::Error;

/// A change is acted upon when nothing more has happened for so long.
const QUIET: Duration = Duration::from_millis(300);
/// It is acted upon after so long even if changes go on.
const PATIENCE: Duration = Duration::from_secs(3);
/// How often the order to stop is looked at.
const TICK: Duration = Duration::from_millis(100);

/// Calls `changed` after each group of changes to a folder or file, until `stop` is true. Hidden files, what the `.gitignore` of the folder
/// excludes, and what is inside of `except` does not count.
///
/// # Errors
/// When the folder cannot be watched, and what `changed` fails with.
pub fn watch(
    root: &Path,
    except: &[PathBuf],
    stop: &AtomicBool,
    changed: &mut dyn FnMut() -> Result<(), Failure>,
) -> Result<(), Failure> {
    let (sender, events) = mpsc::channel();
    let mut watcher = notify::recommended_watcher(sender).map_err(|error| cannot(root, &error))?;
    let root =
        root.canonicalize().map_err(|error| Box::new(Error::io("cannot watch", root, error)) as Failure)?;
    watcher.watch(&root, RecursiveMode::Recursive).map_err(|error| cannot(&root, &error))?;
    let matters = Matters { ignored: Gitignore::new(root.join(".gitignore")).0, except, root: &root };
    // What happened between the first run and now has no event.
    changed()?;
    while !stop.load(Ordering::Relaxed) {
        if wait(&events, &matters) {
            settle(&events, &matters);
            changed()?;
        }
    }
    Ok(())
}

type Events = Receiver<notify::Result<Event>>;

/// Waits a tick; true when something happened.
fn wait(events: &Events, matters: &Matters<'_>) -> bool {
    match events.recv_timeout(TICK) {
        Ok(event) => matters.is_change(&event),
        Err(RecvTimeoutError::Timeout) => false,
        Err(RecvTimeoutError::Disconnected) => {
            std::thread::sleep(TICK);
            false
        }
    }
}

/// Waits until it is quiet.
fn settle(events: &Events, matters: &Matters<'_>) {
    let started = Instant::now();
    let mut last = started;
    while last.elapsed() < QUIET && started.elapsed() < PATIENCE {
        if wait(events, matters) {
            last = Instant::now();
        }
    }
}

/// Which events matter.
struct Matters<'a> {
    root: &'a Path,
    except: &'a [PathBuf],
    ignored: Gitignore,
}

impl Matters<'_> {
    /// An error counts as well: events may have been lost.
    fn is_change(&self, event: &notify::Result<Event>) -> bool {
        match event {
            Ok(event) if matches!(event.kind, EventKind::Access(_)) => false,
            Ok(event) => event.paths.is_empty() || event.paths.iter().any(|path| self.is_inside(path)),
            Err(_) => true,
        }
    }

    fn is_inside(&self, path: &Path) -> bool {
        let Ok(relative) = path.strip_prefix(self.root) else { return true };
        let hidden = |part: std::path::Component<'_>| part.as_os_str().as_encoded_bytes().starts_with(b".");
        let ignore_file = relative.ends_with(".gitignore") || relative.ends_with(".ignore");
        let excepted = self.except.iter().any(|except| path.starts_with(except));
        let ignored = || self.ignored.matched_path_or_any_parents(relative, path.is_dir()).is_ignore();
        !excepted && (ignore_file || !(relative.components().any(hidden) || ignored()))
    }
}

fn cannot(root: &Path, error: &notify::Error) -> Failure {
    Box::new(Error::Unavailable {
        what: format!("cannot watch `{}`: {error}", root.display()),
        hint: "run `ingest` without `--watch` from time to time instead".to_owned(),
    })
}
