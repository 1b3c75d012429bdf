//! What the tools take. The comments are what a model reads.

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::Deserialize;

/// Which documents may be found.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Within {
    /// Search only these sources, by name as the tool `sources` lists them. All sources when left out.
    pub sources: Option<Vec<String>>,
    /// Search only sources of these kinds, such as `slack` or `wiki`.
    pub kinds: Option<Vec<String>>,
    /// Find only what was written at or after this time: a date (`2026-01-31`), a time, or a span back from now (`12h`, `30d`, `2w`).
    pub since: Option<String>,
    /// Find only what was written before this time; the same forms as `since`.
    pub until: Option<String>,
    /// Find only documents whose metadata have all of these values, such as `{"status": "open"}`.
    pub metadata: IndexMap<String, String>,
}

/// A search.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct Search {
    /// What to look for: a question, words, or an exact name.
    pub query: String,
    /// Other ways to say the same, searched as well and fused into the one list. What several of them find comes higher.
    #[serde(default)]
    #[schemars(length(max = 16))]
    pub variants: Vec<String>,
    /// Which documents may be found.
    #[serde(flatten)]
    pub within: Within,
    /// How many hits: 10 when left out.
    #[schemars(range(min = 1, max = 1000))]
    pub k: Option<usize>,
    /// Which page of `k` hits, from 1.
    #[schemars(range(min = 1))]
    pub page: Option<usize>,
    /// Also give the account of each hit, step by step, and what other ways of ranking would have put first.
    #[serde(default)]
    pub explain: bool,
}

/// Which document or part to read.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Fetch {
    /// A document, `source/id`, or one part of it, `source/id#2`: the `document` or the `id` of a hit.
    pub id: String,
    /// At which character of the text to begin: 0 when left out.
    #[serde(default)]
    pub start: usize,
    /// How many characters of the text to give at most: 20000 when left out.
    #[serde(default = "usual_length")]
    #[schemars(range(min = 1, max = 1000000))]
    pub max_characters: usize,
}

fn usual_length() -> usize {
    20_000
}

/// To which document others shall be related.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Related {
    /// A document, `source/id`; for the id of a part, its document is taken.
    pub id: String,
    /// How many documents: 10 when left out.
    #[schemars(range(min = 1, max = 1000))]
    pub k: Option<usize>,
    /// Only documents of these sources. All sources when left out.
    #[serde(default)]
    pub sources: Vec<String>,
}

/// Nothing.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Nothing {}

/// Which rank to explain.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct Explain {
    /// The query that was searched for.
    pub query: String,
    /// The document, `source/id`, or part, `source/id#2`, to explain.
    pub id: String,
    /// The variants that were searched for as well.
    #[serde(default)]
    #[schemars(length(max = 16))]
    pub variants: Vec<String>,
    /// Which documents may be found.
    #[serde(flatten)]
    pub within: Within,
}
