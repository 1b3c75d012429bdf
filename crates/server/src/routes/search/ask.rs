//! A search as it is asked for.

use std::time::Duration;

use indexmap::IndexMap;
use mainstem::query::{PAGE, Request, moment_or_span};
use mainstem_core::contract::{Channel, Filter};
use mainstem_core::deadline::Deadline;
use mainstem_core::time::Moment;
use mainstem_core::{Code, PipelineSpec};
use schemars::JsonSchema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use super::super::shapes::{time, time_or_span};
use crate::access::Scope;
use crate::app::App;
use crate::config::ServerConfig;
use crate::error::ApiError;

/// A search. What is left out is as configured.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(extend("anyOf" = [
    { "required": ["query"] },
    { "required": ["vector"], "properties": { "vector": { "type": "array" } } },
]))]
pub struct Ask {
    /// What to look for. It may be left out where a `vector` is given.
    #[serde(deserialize_with = "words", skip_serializing_if = "String::is_empty")]
    #[schemars(regex(pattern = r"\S"))]
    pub query: String,
    /// Other ways to say the query, which are searched as well.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub variants: Vec<String>,
    /// The vector of the query, instead of asking the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub vector: Option<Vec<f32>>,
    /// Search these sources only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sources: Option<Vec<String>>,
    /// Search sources of these kinds only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kinds: Option<Vec<String>>,
    /// Search by meaning or by words only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub channels: Option<Vec<ChannelName>>,
    /// Find only what was written since this time, or since so long ago: `2026-01-31`, `30d`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "time_or_span")]
    pub since: Option<String>,
    /// Find only what was written before this time.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "time_or_span")]
    pub until: Option<String>,
    /// Find only documents whose metadata have these values.
    #[serde(rename = "where", skip_serializing_if = "IndexMap::is_empty")]
    pub metadata: IndexMap<String, String>,
    /// Find only what this person may read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reader: Option<String>,
    /// How many hits are wanted; as configured, else 10, when left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 1000))]
    pub k: Option<usize>,
    /// Which page of `k` hits, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1000))]
    pub page: Option<usize>,
    /// How many hits to pass over, instead of a page.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 9000))]
    pub offset: Option<usize>,
    /// What this search does otherwise than configured: a merge patch to the pipeline, where `null` turns a stage off.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<PipelineSpec>")]
    pub pipeline: Option<Map<String, Value>>,
    /// Say what else could have come first.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub explain: bool,
    /// Say what became of this chunk, such as `wiki/release#2`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why_not: Option<String>,
    /// How long to wait for the legs.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "object")]
    pub deadline: Option<Patience>,
    /// The clock for freshness; that of the server when left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "time")]
    pub now: Option<Moment>,
}

/// A way to search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ChannelName {
    /// By meaning.
    Dense,
    /// By words.
    Lexical,
}

/// How long to wait for the legs, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Patience {
    /// After this, go on as soon as anything has arrived: 200.
    #[serde(default = "usual_soft")]
    pub soft_ms: u64,
    /// At this, go on regardless: 500.
    #[serde(default = "usual_hard")]
    pub hard_ms: u64,
}

/// A query that is given says something.
fn words<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let query = String::deserialize(deserializer)?;
    if query.trim().is_empty() {
        return Err(D::Error::custom("`query` is empty, expected some words"));
    }
    Ok(query)
}

/// Reads an object; the reader alone would also take a list, for one without names.
fn object<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Patience>, D::Error> {
    let fields = Option::<Map<String, Value>>::deserialize(deserializer)?;
    fields.map(|fields| serde_json::from_value(Value::Object(fields))).transpose().map_err(D::Error::custom)
}

fn usual_soft() -> u64 {
    Deadline::default().soft.as_millis() as u64
}

fn usual_hard() -> u64 {
    Deadline::default().hard.as_millis() as u64
}

impl Ask {
    /// The request to the engine, within the limits of the server and the scope of the caller.
    ///
    /// # Errors
    /// When something is beyond a limit, outside of the scope, or contradicts itself.
    pub fn request(&self, app: &App, scope: &Scope) -> Result<Request, ApiError> {
        let limits = &app.config;
        self.check_texts(limits)?;
        if self.vector.as_ref().is_some_and(Vec::is_empty) {
            return Err(ApiError::value(
                "`vector` is empty, expected numbers",
                "leave it out to ask the model",
            ));
        }
        let now = self.now.clone().unwrap_or_else(Moment::now);
        let (limit, offset) = self.page(app)?;
        let mut filter = self.filter(&now)?;
        scope.narrow(&mut filter)?;
        let mut pipeline = app.pipeline.clone();
        pipeline.extend(self.pipeline.clone().unwrap_or_default());
        Ok(Request {
            variants: self.variants.clone(),
            vector: self.vector.clone().or_else(|| app.known_vector(&self.query)),
            filter,
            channels: self.channels.as_ref().map(|names| names.iter().copied().map(Channel::from).collect()),
            limit,
            offset,
            pipeline: Value::Object(pipeline),
            why_not: self.why_not.clone(),
            alternatives: self.explain,
            now: Some(now),
            deadline: self.deadline.map(|patience| patience.within(limits)),
            ..Request::new(&self.query)
        })
    }

    fn check_texts(&self, limits: &ServerConfig) -> Result<(), ApiError> {
        if self.variants.len() > limits.most_variants {
            return Err(beyond("variants", self.variants.len(), limits.most_variants));
        }
        for text in std::iter::once(&self.query).chain(&self.variants) {
            let length = text.chars().count();
            if length > limits.query_length {
                let message =
                    format!("a query has {length} characters, expected at most {}", limits.query_length);
                return Err(ApiError::value(message, "ask in fewer words"));
            }
        }
        Ok(())
    }

    fn page(&self, app: &App) -> Result<(usize, usize), ApiError> {
        let limits = &app.config;
        let configured =
            |name: &str| app.pipeline.get(name).and_then(Value::as_u64).map(|count| count as usize);
        let limit = self.k.unwrap_or_else(|| configured("limit").unwrap_or(PAGE));
        if limit > limits.most_hits {
            return Err(beyond("k", limit, limits.most_hits));
        }
        let offset = match (self.page, self.offset) {
            (Some(_), Some(_)) => {
                let message = "`page` and `offset`: expected one of them, received both";
                return Err(ApiError::new(Code::Conflict, message, "leave one of them out"));
            }
            (Some(0), None) => {
                return Err(ApiError::value("`page` is 0, expected at least 1", "the first page is 1"));
            }
            (Some(page), None) => (page - 1).saturating_mul(limit),
            (None, Some(offset)) => offset,
            (None, None) => configured("offset").unwrap_or(0),
        };
        let deepest = offset.saturating_add(limit);
        if deepest > limits.deepest_hit {
            return Err(beyond("offset + k", deepest, limits.deepest_hit));
        }
        Ok((limit, offset))
    }

    fn filter(&self, now: &Moment) -> Result<Filter, ApiError> {
        let moment = |name: &str, text: &Option<String>| match text {
            None => Ok(None),
            Some(text) => moment_or_span(text, now).map(Some).ok_or_else(|| {
                let message = format!("`{name}` is `{text}`, expected a time or a time span");
                ApiError::value(message, "such as `2026-01-31`, `2026-01-31T09:00:00Z` or `30d`")
            }),
        };
        Ok(Filter {
            scope: None,
            sources: self.sources.clone(),
            kinds: self.kinds.clone(),
            since: moment("since", &self.since)?,
            until: moment("until", &self.until)?,
            metadata: self.metadata.iter().map(|(name, value)| (name.clone(), value.clone())).collect(),
            reader: self.reader.clone(),
        })
    }
}

fn beyond(what: &str, received: usize, limit: usize) -> ApiError {
    ApiError::value(format!("`{what}` is {received}, expected at most {limit}"), "ask for less at once")
}

impl From<ChannelName> for Channel {
    fn from(name: ChannelName) -> Self {
        match name {
            ChannelName::Dense => Self::Dense,
            ChannelName::Lexical => Self::Lexical,
        }
    }
}

impl Patience {
    /// Nobody waits for longer than an answer may take.
    fn within(self, limits: &ServerConfig) -> Deadline {
        let within = |ms: u64| Duration::from_millis(ms).min(limits.request_timeout.0);
        Deadline { soft: within(self.soft_ms), hard: within(self.hard_ms) }
    }
}
