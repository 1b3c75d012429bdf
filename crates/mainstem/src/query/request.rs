//! What is asked, and how an engine answers unless asked otherwise.

use std::sync::Arc;

use indexmap::IndexMap;
use mainstem_core::contract::{Channel, Filter};
use mainstem_core::deadline::Deadline;
use mainstem_core::dedup::DedupSpec;
use mainstem_core::fuse::{FuseSpec, Method, Norm};
use mainstem_core::learned::Model;
use mainstem_core::pipeline::{NeighboursSpec, PriorSpec};
use mainstem_core::time::Moment;
use mainstem_core::{Across, PipelineSpec};
use serde_json::Value;

/// How many candidates a leg is asked for, unless told otherwise.
pub const CANDIDATES: usize = 100;

/// How many hits a page has, unless told otherwise.
pub const PAGE: usize = 10;

/// One question.
#[derive(Clone, Debug)]
pub struct Request {
    /// The query.
    pub query: String,
    /// Rewrites of the query, which are searched as well. Those that say the same twice count once.
    pub variants: Vec<String>,
    /// The vector of the query, where the caller has it; the engine's model is asked otherwise.
    pub vector: Option<Vec<f32>>,
    /// Which documents may be found.
    pub filter: Filter,
    /// Only these channels; all when left out.
    pub channels: Option<Vec<Channel>>,
    /// How many hits are wanted.
    pub limit: usize,
    /// How many hits to pass over.
    pub offset: usize,
    /// What this search does otherwise than the settings say: a JSON merge patch (RFC 7396) to their pipeline, where `null` turns a
    /// stage off. Another `across`, or a `fuse` that names its method, takes the place of the settings' way to merge and fuse as a whole,
    /// with its `neighbours` and `prior`.
    pub pipeline: Value,
    /// Say what became of the chunk of this name, or of the document by the chunk of it that came farthest.
    pub why_not: Option<String>,
    /// Say what else could have come first.
    pub alternatives: bool,
    /// The clock; that of this machine when left out.
    pub now: Option<Moment>,
    /// How long to wait for the legs; as the settings say when left out.
    pub deadline: Option<Deadline>,
}

impl Request {
    /// A query with nothing else said.
    pub fn new(query: impl Into<String>) -> Self {
        Self {
            query: query.into(),
            variants: Vec::new(),
            vector: None,
            filter: Filter::default(),
            channels: None,
            limit: PAGE,
            offset: 0,
            pipeline: Value::Null,
            why_not: None,
            alternatives: false,
            now: None,
            deadline: None,
        }
    }
}

/// How an engine answers unless a request says otherwise.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// The stages. Sources of a kind that ages (`slack`, `gmail`, `linear`, `notion`) get recency even if it is not set here.
    pub pipeline: PipelineSpec,
    /// How many candidates go into each list that is fused.
    pub candidates: usize,
    /// How long to wait for the legs.
    pub deadline: Deadline,
    /// What each source weighs; 1 when left out, 0 leaves a source out.
    pub sources: IndexMap<String, f64>,
    /// What the dense channel weighs; 1 when left out.
    pub dense: Option<f64>,
    /// What the lexical channel weighs; 0.8 where scores are calibrated, else 1, when left out.
    pub lexical: Option<f64>,
    /// The model of the stage `learned`, where there is one.
    pub learned: Option<Arc<Model>>,
}

/// What words weigh against meaning where both are calibrated. Half of a query's weight in words is a better sign than a cosine half way
/// between unrelated and equal, but rarer.
const CALIBRATED_WORDS: f64 = 0.8;

impl Settings {
    /// What a channel weighs.
    pub fn channel_weight(&self, channel: Channel, pipeline: &PipelineSpec) -> f64 {
        let calibrated = pipeline.fuse.normalise == Some(Norm::Calibrated);
        match channel {
            Channel::Dense => self.dense.unwrap_or(1.0),
            Channel::Lexical => self.lexical.unwrap_or(if calibrated { CALIBRATED_WORDS } else { 1.0 }),
        }
    }
}

impl Default for Settings {
    fn default() -> Self {
        let dedup = DedupSpec { within: Some(0.9), across: Some(0.9), ..DedupSpec::default() };
        let pipeline = PipelineSpec {
            across: Across::Calibrated,
            fuse: FuseSpec { normalise: Some(Norm::Calibrated), ..FuseSpec::new(Method::Linear) },
            dedup: Some(dedup),
            neighbours: Some(NeighboursSpec::default()),
            prior: Some(PriorSpec::default()),
            ..PipelineSpec::default()
        };
        Self {
            pipeline,
            candidates: CANDIDATES,
            deadline: Deadline::default(),
            sources: IndexMap::new(),
            dense: None,
            lexical: None,
            learned: None,
        }
    }
}
