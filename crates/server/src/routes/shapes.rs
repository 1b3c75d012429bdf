//! The shapes of answers, as `/openapi.json` describes them. What is written is made by the engine's own types; a test holds them against
//! these.

use std::collections::BTreeMap;

use axum::body::Body;
use axum::http::{HeaderValue, header};
use axum::response::Response;
use mainstem_core::PipelineSpec;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::error::ApiError;

/// An answer of JSON.
///
/// # Errors
/// When the value cannot be written.
pub fn json(value: &impl Serialize) -> Result<Response, ApiError> {
    serde_json::to_vec(value).map(json_bytes).map_err(|_| ApiError::internal())
}

/// An answer of JSON that is written already.
pub fn json_bytes(bytes: Vec<u8>) -> Response {
    let mut response = Response::new(Body::from(bytes));
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

/// The first and the last time that numbers can say, in milliseconds since 1970: the years -9999 to 9999, in every time zone.
const EARLIEST: i64 = -377_705_023_201_000;
const LATEST: i64 = 253_402_207_200_000;

/// A time: text, or seconds or milliseconds since 1970.
pub fn time(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "description": "A time such as `2026-01-31T09:00:00Z`, a date, or seconds or milliseconds since 1970",
        "anyOf": [
            { "type": "string", "format": "date-time" },
            { "type": "string", "format": "date" },
            { "type": "number", "minimum": EARLIEST, "maximum": LATEST },
            { "type": "null" },
        ],
    })
}

/// A time, or how long before now it was.
pub fn time_or_span(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "description": "A time such as `2026-01-31`, or how long ago: `12h`, `30d`, `2w`",
        "anyOf": [
            { "type": "string", "format": "date-time" },
            { "type": "string", "format": "date" },
            { "type": "string", "pattern": "^[1-9][0-9]{0,3}[mhdw]$" },
            { "type": "null" },
        ],
    })
}

/// What is known about the sources.
#[derive(JsonSchema)]
#[schemars(rename = "Sources")]
pub struct SourcesShape {
    /// The sources, by name.
    pub sources: Vec<SourceShape>,
}

/// What is known about a source.
#[derive(JsonSchema)]
#[schemars(rename = "Source")]
pub struct SourceShape {
    /// Its name.
    pub name: String,
    /// Its kind, such as `slack`.
    pub kind: String,
    /// How many documents it has. This and what follows is not told to the key of a reader.
    #[schemars(default)]
    pub documents: u64,
    /// How many chunks.
    #[schemars(default)]
    pub chunks: u64,
    /// How many of the chunks have a vector.
    #[schemars(default)]
    pub vectors: u64,
    /// When its newest document was written: a time, or seconds or milliseconds since 1970.
    #[schemars(default)]
    pub newest: Value,
    /// When it was last written to.
    #[schemars(default)]
    pub written_at: Value,
}

/// The answer to a search.
#[derive(JsonSchema)]
#[schemars(rename = "SearchAnswer")]
pub struct SearchAnswerShape {
    /// The hits, best first.
    pub hits: Vec<SearchHitShape>,
    /// How many hits there were before the cut to a page.
    pub total: u64,
    /// How many of them each source has, by name.
    pub by_source: BTreeMap<String, u64>,
    /// What each leg and each stage did.
    pub status: StatusShape,
    /// What became of the chunk that was asked about, where it was.
    #[schemars(default)]
    pub why_not: Option<Map<String, Value>>,
    /// What else could have come first, where `explain` was asked for.
    #[schemars(default)]
    pub alternatives: Option<Vec<Map<String, Value>>>,
}

/// One hit: a chunk of a document.
#[derive(JsonSchema)]
#[schemars(rename = "SearchHit")]
pub struct SearchHitShape {
    /// Its name, `source/document#order`.
    pub id: String,
    /// Its place, from 1, over all pages.
    pub rank: u64,
    /// Its final score.
    pub score: f64,
    /// The source.
    pub source: String,
    /// The id of the document within the source.
    pub document: String,
    /// The title of the document.
    pub title: Option<String>,
    /// The headings that the chunk stands under.
    pub heading: Option<String>,
    /// Where a person can see it.
    pub url: Option<String>,
    /// How an answer names it.
    pub label: Option<String>,
    /// The part of the text that shows best why it was found.
    pub snippet: String,
    /// Where words of the query stand in the snippet, in bytes.
    pub highlights: Vec<[u64; 2]>,
    /// The whole text of the chunk.
    pub text: String,
    /// When the document was written: a time, or seconds or milliseconds since 1970.
    pub created_at: Value,
    /// When the document was last changed, where that is known: as `created_at`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub updated_at: Option<Value>,
    /// Anything else that is known about the document.
    pub metadata: Map<String, Value>,
    /// The sources that found it.
    pub sources: Vec<String>,
    /// The labels of what was collapsed into it.
    pub alternates: Vec<String>,
    /// Why it is where it is, step by step.
    pub ledger: Vec<Map<String, Value>>,
}

/// What each leg and each stage did.
#[derive(JsonSchema)]
#[schemars(rename = "Status")]
pub struct StatusShape {
    /// Whether some leg did not answer.
    pub partial: bool,
    /// How lists were fused, in words.
    pub formula: String,
    /// The clock that recency used.
    #[schemars(default)]
    pub now: Option<String>,
    /// What each leg did.
    pub legs: Vec<Map<String, Value>>,
    /// What each stage did, in order.
    pub stages: Vec<Map<String, Value>>,
    /// What the routing rules made of the query.
    #[schemars(default)]
    pub route: Option<Map<String, Value>>,
    /// Things to know that are no errors.
    #[schemars(default)]
    pub notes: Vec<String>,
}

/// Ranked lists, settings and a clock.
#[derive(JsonSchema)]
#[schemars(rename = "Fuse", deny_unknown_fields)]
#[schemars(extend("oneOf" = [
    { "required": ["lists"], "properties": { "lists": { "type": "array" } } },
    { "required": ["variants"], "properties": { "variants": { "type": "array" } } },
]))]
pub struct FuseShape {
    /// The version of the format: 1.
    #[schemars(default, range(min = 1, max = 1))]
    pub version: Option<u32>,
    /// The query, for routing rules.
    #[schemars(default)]
    pub query: Option<String>,
    /// The clock for recency; that of the server when left out.
    #[schemars(default, schema_with = "time")]
    pub now: Value,
    /// Drop what this person may not read.
    #[schemars(default)]
    pub reader: Option<String>,
    /// The stages; those that are left out do not run.
    #[schemars(default)]
    pub pipeline: PipelineSpec,
    /// The lists.
    #[schemars(default)]
    pub lists: Option<Vec<ListShape>>,
    /// In place of `lists`: the lists of several rewrites of a query.
    #[schemars(default)]
    pub variants: Option<Vec<VariantShape>>,
    /// Remarks that come back in the status.
    #[schemars(default)]
    pub notes: Vec<String>,
    /// What a reranker said.
    #[schemars(default)]
    pub reranker: Option<Map<String, Value>>,
}

/// One rewrite of a query.
#[derive(JsonSchema)]
#[schemars(rename = "Variant", deny_unknown_fields)]
pub struct VariantShape {
    /// The rewrite.
    #[schemars(default)]
    pub query: Option<String>,
    /// Its lists.
    pub lists: Vec<ListShape>,
}

/// One ranked list.
#[derive(JsonSchema)]
#[schemars(rename = "List", deny_unknown_fields)]
pub struct ListShape {
    /// Its name, such as `wiki/dense`; two lists have two names.
    #[schemars(default)]
    pub name: Option<String>,
    /// The kind of its source.
    #[schemars(default)]
    pub kind: Option<String>,
    /// `similarity`, where larger scores are better, or `distance`.
    #[schemars(default, extend("enum" = ["similarity", "distance"]))]
    pub direction: String,
    /// What happened to it: `ok`, `empty`, `slow`, `timed_out`, `failed` or `skipped`.
    #[schemars(default, extend("enum" = ["ok", "empty", "slow", "timed_out", "failed", "skipped"]))]
    pub state: String,
    /// The least and the greatest score that are possible, and that of an unrelated item.
    #[schemars(default)]
    pub bounds: BoundsShape,
    /// How many repeated ids were passed over.
    #[schemars(default)]
    pub repeated: u64,
    /// How many items were dropped for their scores.
    #[schemars(default)]
    pub dropped: u64,
    /// Scores of items that it does not hold.
    #[schemars(default)]
    pub completed: Vec<CompletedShape>,
    /// Its source.
    #[schemars(default)]
    pub source: Option<String>,
    /// What it weighs.
    #[schemars(default, range(min = 0))]
    pub weight: Option<f64>,
    /// The items, best first.
    #[schemars(default)]
    pub items: Vec<ItemShape>,
}

/// The score of an item that a list does not hold.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Completed", deny_unknown_fields)]
pub struct CompletedShape {
    /// The item.
    pub id: String,
    /// Its score.
    pub score: f64,
}

/// The range of scores.
#[derive(Default, Serialize, JsonSchema)]
#[schemars(rename = "Bounds", deny_unknown_fields)]
pub struct BoundsShape {
    /// The least.
    pub min: Option<f64>,
    /// The greatest.
    pub max: Option<f64>,
    /// That of an unrelated item.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub typical: Option<f64>,
}

/// One item of a list. Other fields come back untouched.
#[derive(JsonSchema)]
#[schemars(rename = "Item")]
pub struct ItemShape {
    /// Its id.
    #[schemars(extend("type" = ["string", "number"]))]
    pub id: String,
    /// Its score; it is ranked by place when left out.
    #[schemars(default)]
    pub score: Option<f64>,
    /// Anything else.
    #[serde(flatten)]
    pub rest: BTreeMap<String, Value>,
}

/// The fused list.
#[derive(JsonSchema)]
#[schemars(rename = "FuseAnswer")]
pub struct FuseAnswerShape {
    /// The hits, best first.
    pub hits: Vec<FusedHitShape>,
    /// What each list and each stage did.
    pub status: StatusShape,
}

/// One hit of a fused list, with the other fields of its item.
#[derive(JsonSchema)]
#[schemars(rename = "FusedHit")]
pub struct FusedHitShape {
    /// The id.
    pub id: String,
    /// Its place, from 1.
    pub rank: u64,
    /// Its final score.
    pub score: f64,
    /// The sources whose lists hold it.
    pub sources: Vec<String>,
    /// The labels of what was collapsed into it.
    pub alternates: Vec<String>,
    /// Why it is where it is.
    pub ledger: Vec<Map<String, Value>>,
}
