//! Links between documents, and the runs that found them.

use std::time::Duration;

use mainstem_core::link::{Judge, LinkSettings, Way};
pub use mainstem_core::linked::{
    EndedRun, FoundFrom, Grounds, LinkEnd, LinkedDocument, RunEnd, RunOutcome, RunUnderWay, RunWithLinks,
    Runs, Said, ShownLink, ShownRun, UndoneRun,
};
use serde::Serialize;

use crate::{Client, Error, encoded, typed};

/// How long a run may take whose end is waited for.
const PATIENCE: Duration = Duration::from_secs(24 * 60 * 60);

/// How to look for links. What is left out is as the server is configured.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct LinkRequest {
    /// Only documents of these sources.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sources: Option<Vec<String>>,
    /// The ways to find documents that may belong together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ways: Option<Vec<Way>>,
    /// How many documents come before the judge for each document.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub candidates: Option<usize>,
    /// How many links a document makes at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub per_document: Option<usize>,
    /// What judges.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub judge: Option<Judge>,
    /// The least score of a link.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub least: Option<f64>,
    /// How many of their telling words two documents must have in common.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub words: Option<f64>,
    /// Whether documents of the same source may be linked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub within: Option<bool>,
    /// Look, and keep nothing.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub dry_run: bool,
    /// How many of the best links come back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub k: Option<usize>,
}

impl From<LinkSettings> for LinkRequest {
    /// All of the settings, whatever the server is configured to.
    fn from(settings: LinkSettings) -> Self {
        Self {
            sources: settings.sources,
            ways: Some(settings.ways),
            candidates: Some(settings.candidates),
            per_document: Some(settings.per_document),
            judge: settings.judge,
            least: settings.least,
            words: Some(settings.words),
            within: Some(settings.within),
            dry_run: false,
            k: None,
        }
    }
}

impl Client {
    /// All runs that looked for links, newest first, and the one that is under way.
    ///
    /// # Errors
    /// As [`Client::search`].
    pub fn link_runs(&self) -> Result<Runs, Error> {
        typed(self.call("GET", "/v1/links/runs", None)?)
    }

    /// A run with a page of what it says.
    ///
    /// # Errors
    /// As [`Client::search`], and when there is no such run.
    pub fn link_run(&self, id: &str, k: usize, offset: usize) -> Result<RunWithLinks, Error> {
        typed(self.call("GET", &format!("/v1/links/runs/{}?k={k}&offset={offset}", encoded(id)), None)?)
    }

    /// Looks for links, and waits until that is done.
    ///
    /// # Errors
    /// As [`Client::search`], and when a run is under way or the key does not allow it.
    pub fn link(&self, request: &LinkRequest) -> Result<RunOutcome, Error> {
        let body = serde_json::to_value(request).map_err(|error| Error::unreadable(&error))?;
        typed(self.call_within("POST", "/v1/links/runs", Some(&body), Some(PATIENCE))?)
    }

    /// Has the server look for links, and does not wait: [`Client::link_runs`] tells how far it is, and how it ended.
    ///
    /// # Errors
    /// As [`Client::link`].
    pub fn start_linking(&self, request: &LinkRequest) -> Result<RunUnderWay, Error> {
        let mut body = serde_json::to_value(request).map_err(|error| Error::unreadable(&error))?;
        body["wait"] = false.into();
        typed(self.call("POST", "/v1/links/runs", Some(&body))?)
    }

    /// Takes back what a run said.
    ///
    /// # Errors
    /// As [`Client::link_run`], and when the key does not allow it.
    pub fn undo_links(&self, id: &str) -> Result<UndoneRun, Error> {
        typed(self.call("DELETE", &format!("/v1/links/runs/{}", encoded(id)), None)?)
    }
}
