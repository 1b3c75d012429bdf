//! A search as the server takes it.

use indexmap::IndexMap;
use mainstem_core::contract::Channel;
use mainstem_core::time::Moment;
use serde::Serialize;
use serde_json::{Map, Value};

/// A search. What is left out is as the server is configured.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Search {
    /// What to look for.
    pub query: String,
    /// Other ways to say the query, which are searched as well.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub variants: Vec<String>,
    /// The vector of the query, instead of asking the server's model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vector: Option<Vec<f32>>,
    /// Search these sources only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sources: Option<Vec<String>>,
    /// Search sources of these kinds only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kinds: Option<Vec<String>>,
    /// Search by meaning or by words only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub channels: Option<Vec<Channel>>,
    /// Find only what was written since this time, or since so long ago: `2026-01-31`, `30d`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
    /// Find only what was written before this time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
    /// Find only documents whose metadata have these values.
    #[serde(rename = "where", skip_serializing_if = "IndexMap::is_empty")]
    pub metadata: IndexMap<String, String>,
    /// Find only what this person may read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reader: Option<String>,
    /// How many hits are wanted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub k: Option<usize>,
    /// How many hits to pass over.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offset: Option<usize>,
    /// What this search does otherwise than configured.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub pipeline: Map<String, Value>,
    /// Say what else could have come first.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub explain: bool,
    /// Say what became of this chunk, such as `wiki/release#2`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why_not: Option<String>,
    /// How long to wait.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Patience>,
    /// The clock for freshness; that of the server when left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub now: Option<Moment>,
}

/// How long to wait for the legs of a search, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Patience {
    /// After this, go on as soon as anything has arrived.
    pub soft_ms: u64,
    /// At this, go on regardless.
    pub hard_ms: u64,
}

impl Search {
    /// A query with nothing else said.
    pub fn new(query: impl Into<String>) -> Self {
        Self { query: query.into(), ..Self::default() }
    }
}
