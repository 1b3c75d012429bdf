//! What a run did.

use std::time::Duration;

use mainstem_core::contract::Applied;
use serde::{Serialize, Serializer};

use super::super::connector::{Position, Skip};

/// How far a run is.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// How far the connector is.
    pub position: Position,
    /// How many documents were read.
    pub documents: usize,
    /// How many chunks were embedded.
    pub embedded: usize,
}

/// What a run did.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Summary {
    /// How many documents the connector gave.
    pub documents: usize,
    /// What became of them.
    #[serde(flatten)]
    pub applied: Applied,
    /// How many chunks they have.
    pub chunks: usize,
    /// How many chunks were embedded.
    pub embedded: usize,
    /// How many of these were longer than the model reads.
    pub cut: usize,
    /// What was left out, and why.
    pub skipped: Skips,
    /// Documents that were not given any more, but were not removed: nothing was found at all, something could
    /// not be read, or they may be from elsewhere.
    pub kept: usize,
    /// Whether the run was stopped before its end.
    pub interrupted: bool,
    /// How long it took.
    #[serde(rename = "elapsed_s", serialize_with = "seconds")]
    pub elapsed: Duration,
}

impl Summary {
    /// Adds what more was done. Times do not add up: parts may have been done at once.
    pub fn add(&mut self, more: Self) {
        self.documents += more.documents;
        self.count(more.applied);
        self.chunks += more.chunks;
        self.embedded += more.embedded;
        self.cut += more.cut;
        self.kept += more.kept;
        self.interrupted |= more.interrupted;
        let unlisted = more.skipped.count - more.skipped.first.len();
        more.skipped.first.into_iter().for_each(|skip| self.skipped.add(skip));
        self.skipped.count += unlisted;
    }

    /// Adds what a batch did.
    pub(super) fn count(&mut self, more: Applied) {
        self.applied.added += more.added;
        self.applied.changed += more.changed;
        self.applied.unchanged += more.unchanged;
        self.applied.removed += more.removed;
    }
}

fn seconds<S: Serializer>(elapsed: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64((elapsed.as_secs_f64() * 1000.0).round() / 1000.0)
}

/// What was left out: the first thousand, and how many in all.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Skips {
    /// How many.
    pub count: usize,
    /// The first ones.
    pub first: Vec<Skip>,
}

impl Skips {
    const LISTED: usize = 1000;

    /// Counts one more.
    pub fn add(&mut self, skip: Skip) {
        self.count += 1;
        if self.first.len() < Self::LISTED {
            self.first.push(skip);
        }
    }
}
