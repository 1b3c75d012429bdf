//! A question as it is asked.

use indexmap::IndexMap;
use mainstem::ask::{CONSIDERED, Stages};
use mainstem_core::PipelineSpec;
use mainstem_core::time::Moment;
use schemars::JsonSchema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use super::super::search::{Ask, ChannelName, Patience};
use super::super::shapes::{time, time_or_span};
use crate::app::App;
use crate::error::ApiError;

/// A question. What is left out is as configured.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AskRequest {
    /// What to ask.
    #[schemars(regex(pattern = r"\S"))]
    pub query: String,
    /// Other ways to say it, which are searched as well.
    #[serde(default)]
    pub variants: Vec<String>,
    /// The vector of the query, instead of asking the embedding model.
    #[serde(default)]
    #[schemars(length(min = 1))]
    pub vector: Option<Vec<f32>>,
    /// Search these sources only.
    #[serde(default)]
    pub sources: Option<Vec<String>>,
    /// Search sources of these kinds only.
    #[serde(default)]
    pub kinds: Option<Vec<String>>,
    /// Search by meaning or by words only.
    #[serde(default)]
    pub channels: Option<Vec<ChannelName>>,
    /// Find only what was written since this time, or since so long ago: `2026-01-31`, `30d`.
    #[serde(default)]
    #[schemars(schema_with = "time_or_span")]
    pub since: Option<String>,
    /// Find only what was written before this time.
    #[serde(default)]
    #[schemars(schema_with = "time_or_span")]
    pub until: Option<String>,
    /// Find only documents whose metadata have these values.
    #[serde(rename = "where", default)]
    pub metadata: IndexMap<String, String>,
    /// Find only what this person may read.
    #[serde(default)]
    pub reader: Option<String>,
    /// How many hits are considered; 30 when left out.
    #[serde(default)]
    #[schemars(range(max = 1000))]
    pub k: Option<usize>,
    /// What this search does otherwise than configured, as in a search.
    #[serde(default)]
    #[schemars(with = "Option<PipelineSpec>")]
    pub pipeline: Option<Map<String, Value>>,
    /// How long to wait for the legs; as configured, else 1 s and 5 s, when left out.
    #[serde(default, deserialize_with = "object")]
    pub deadline: Option<Patience>,
    /// The clock for freshness; that of the server when left out.
    #[serde(default)]
    #[schemars(schema_with = "time")]
    pub now: Option<Moment>,
    /// How many tokens the context has at most.
    #[serde(default)]
    #[schemars(range(min = 1, max = 32_000))]
    pub budget: Option<usize>,
    /// In how many passes the answer is written: 1, or 3 (outline, expand, assemble).
    #[serde(default)]
    #[schemars(extend("enum" = [1, 3, null]))]
    pub stages: Option<u8>,
    /// Whether a model is asked, where one is configured; `false` for the context alone.
    #[serde(default = "yes")]
    pub answer: bool,
    /// Whether the answer comes as events, as it is written.
    #[serde(default = "yes")]
    pub stream: bool,
}

/// Reads an object; the reader alone would also take a list, for one without names.
fn object<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Patience>, D::Error> {
    let fields = Option::<Map<String, Value>>::deserialize(deserializer)?;
    fields.map(|fields| serde_json::from_value(Value::Object(fields))).transpose().map_err(D::Error::custom)
}

const fn yes() -> bool {
    true
}

impl AskRequest {
    /// The search for what the model reads.
    pub(super) fn search(&self) -> Ask {
        Ask {
            query: self.query.clone(),
            variants: self.variants.clone(),
            vector: self.vector.clone(),
            sources: self.sources.clone(),
            kinds: self.kinds.clone(),
            channels: self.channels.clone(),
            since: self.since.clone(),
            until: self.until.clone(),
            metadata: self.metadata.clone(),
            reader: self.reader.clone(),
            k: Some(self.k.unwrap_or(CONSIDERED)),
            offset: Some(0),
            pipeline: self.pipeline.clone(),
            deadline: self.deadline,
            now: self.now.clone(),
            ..Ask::default()
        }
    }

    pub(super) fn stages(&self) -> Result<Option<Stages>, ApiError> {
        if self.query.trim().is_empty() {
            return Err(ApiError::value(
                "`query` is empty, expected some words",
                "say what you want to know",
            ));
        }
        let hint = "1 is a single pass; 3 is outline, expand, assemble";
        let read = |count| Stages::try_from(count).map_err(|message| ApiError::value(message, hint));
        self.stages.map(read).transpose()
    }

    pub(super) fn budget(&self, app: &App) -> Result<Option<usize>, ApiError> {
        let most = app.config.most_tokens.max(app.asker.settings().budget);
        match self.budget {
            Some(budget) if !(1..=most).contains(&budget) => {
                let message = format!("`budget` is {budget}, expected 1 to {most} tokens");
                Err(ApiError::value(message, "ask for less, or let the operator raise `most_tokens`"))
            }
            budget => Ok(budget),
        }
    }
}
