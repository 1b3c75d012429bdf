//! The run: what connectors give is compared with what the store has, embedded where it is new, and written in batches.

mod batch;
mod direct;
mod embed;
mod known;
mod steps;
mod summary;

use std::sync::atomic::AtomicBool;

use mainstem_core::Failure;
use mainstem_core::contract::{Embedder, ModelCard, Store};
use mainstem_core::diagnostic::Code;

use super::chunk::Size;
use super::connector::Connector;
use crate::Error;
use steps::Run;

pub use embed::reading;
pub use known::Known;
pub use summary::{Progress, Skips, Summary};

/// How much is written at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// So many documents: 2,048.
    pub documents: usize,
    /// So many bytes of text and vectors: 16 MiB.
    pub bytes: usize,
    /// So many texts are embedded in one call: 64. After four calls the batch is written, whatever its size, so that little is lost when a
    /// run is stopped: a model takes longer than everything else.
    pub texts: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { documents: 2048, bytes: 16 << 20, texts: 64 }
    }
}

/// What becomes of documents of the source that the connector does not give any more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Missing {
    /// They stay.
    #[default]
    Keep,
    /// They stay, and the run says how many they are.
    Count,
    /// They are removed, unless the connector gave no document at all: then the disk is more likely to be missing than the documents.
    Remove,
    /// They are removed, all of them if need be.
    RemoveAll,
}

/// Where vectors come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Vectors<'a> {
    /// A document brought one of this length.
    Brought(usize),
    /// This model made them.
    Embedded(&'a ModelCard),
}

/// Is told where vectors come from, before the first of them is written: a store has to know their model. It refuses those that it cannot
/// take.
pub type Announce<'a> = &'a dyn Fn(Vectors<'_>) -> Result<(), Failure>;

/// A run.
///
/// Every batch is safe once it is written, so that a run which was stopped goes on where it was. A run over a source that has not
/// changed writes nothing and embeds nothing.
pub struct Ingest<'a> {
    /// The name of the source.
    pub source: &'a str,
    /// Where documents go.
    pub store: &'a dyn Store,
    /// What the store has; without it, every document is embedded and written, and nothing can be removed.
    pub known: Option<&'a dyn Known>,
    /// The model; without it, documents have the vectors that they bring.
    pub embedder: Option<&'a dyn Embedder>,
    /// Is told where vectors come from.
    pub announce: Option<Announce<'a>>,
    /// How large chunks are.
    pub size: Size,
    /// How much is written at once.
    pub limits: Limits,
    /// What becomes of documents that are gone.
    pub missing: Missing,
    /// Whether something that is skipped because it is malformed ends the run.
    pub strict: bool,
    /// Ends the run early when it becomes true; what is in hand is written first.
    pub stop: Option<&'a AtomicBool>,
}

impl<'a> Ingest<'a> {
    /// A run that writes what it is given into a source, and removes nothing.
    pub fn new(source: &'a str, store: &'a dyn Store) -> Self {
        let (size, limits) = (Size::default(), Limits::default());
        let (known, embedder, announce, stop) = (None, None, None, None);
        let missing = Missing::Keep;
        Self { source, store, known, embedder, announce, size, limits, missing, strict: false, stop }
    }

    /// Runs. `progress` is called now and then.
    ///
    /// # Errors
    /// When the connector cannot go on, the model cannot be reached or the store cannot be written, and when something is malformed in a
    /// strict run. What was written before stays.
    pub fn run(
        &self,
        connector: &mut dyn Connector,
        progress: &mut dyn FnMut(&Progress),
    ) -> Result<Summary, Failure> {
        if self.missing != Missing::Keep && self.known.is_none() {
            return Err(cannot_sync());
        }
        Run::new(self, progress)?.finish(connector)
    }
}

fn cannot_sync() -> Failure {
    Box::new(Error::Input {
        message: "expected a store that can say what it has, received one that cannot".to_owned(),
        code: Code::Conflict,
        hint: "keep what is missing, or use the embedded store".to_owned(),
        place: None,
    })
}
