//! Where a source is filled from: a folder removes what is gone from it only while it is the only one.

use mainstem::ingest::{Missing, Summary};
use mainstem::store::embedded::EmbeddedStore;

use super::input::Input;
use super::{IngestArgs, failure};
use crate::failure::Failure;

/// What stands for documents of which it is not known where they are from: an older version wrote them.
const UNKNOWN: &str = "unknown";

/// Where a run fills a source from, and what filled it before.
pub(super) struct Origin {
    here: String,
    /// Where else its documents are from.
    elsewhere: Option<String>,
}

impl Origin {
    /// Looks into the store.
    pub(super) fn of(args: &IngestArgs, store: &EmbeddedStore) -> Result<Self, Failure> {
        let here = args.path.canonicalize().unwrap_or_else(|_| args.path.clone()).display().to_string();
        let sources = store.sources().map_err(failure)?;
        if !sources.iter().any(|source| source.name == args.source && source.documents > 0) {
            return Ok(Self { here, elsewhere: None });
        }
        let mut known = store.origins(&args.source).map_err(failure)?;
        if known.is_empty() {
            known.push(UNKNOWN.to_owned());
        }
        let elsewhere = known.into_iter().find(|known| *known != here);
        Ok(Self { here, elsewhere })
    }

    /// What becomes of documents that are gone. `followed` says that a watch has seen documents here before, so that a folder without any is
    /// no disk that is missing.
    pub(super) fn missing(&self, input: Input, args: &IngestArgs, followed: bool) -> Missing {
        match input.missing(args) {
            Missing::Remove if self.elsewhere.is_some() => Missing::Count,
            Missing::Remove if followed => Missing::RemoveAll,
            missing => missing,
        }
    }

    /// Tells the store, before the first document is written.
    pub(super) fn begin(&self, args: &IngestArgs, store: &EmbeddedStore) -> Result<(), Failure> {
        for origin in self.elsewhere.iter().chain([&self.here]) {
            store.add_origin(&args.source, origin).map_err(failure)?;
        }
        Ok(())
    }

    /// Tells the store after a run: one that has seen every document of the source is where all of them are from.
    pub(super) fn end(
        &self,
        args: &IngestArgs,
        store: &EmbeddedStore,
        (missing, summary): (Missing, &Summary),
    ) -> Result<(), Failure> {
        if missing == Missing::Keep || summary.interrupted || summary.kept > 0 || summary.documents == 0 {
            return Ok(());
        }
        store.set_origin(&args.source, &self.here).map_err(failure)
    }

    /// Where else documents are from, as a sentence names it, if they were kept for that.
    pub(super) fn kept_for(&self, missing: Missing) -> Option<String> {
        let elsewhere = self.elsewhere.as_deref().filter(|_| missing == Missing::Count)?;
        Some(if elsewhere == UNKNOWN { "elsewhere".to_owned() } else { format!("`{elsewhere}`") })
    }
}
