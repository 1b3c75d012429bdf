//! The plan: what a search will do, decided before it does anything.
//!
//! A plan is a value. It is made from the request, the settings and what the store says it has, without reading anything else, and
//! can be printed, written as JSON and tested. Running it adds nothing but waiting.

mod legs;
mod print;
mod stages;

use indexmap::IndexSet;
use mainstem_core::contract::{Capabilities, Channel, Filter, ModelCard, SourceStats};
use mainstem_core::deadline::Deadline;
use mainstem_core::route::{Route, Router};
use mainstem_core::{Failure, PipelineSpec};
use serde::{Serialize, Serializer};

use super::request::{Request, Settings};
use crate::Error;

pub(super) use legs::count_readable;
pub(super) use stages::patched;

/// One leg of a plan.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PlannedLeg {
    /// Its name, such as `wiki/dense`.
    pub name: String,
    /// The source.
    pub source: String,
    /// The kind of source.
    pub kind: String,
    /// The channel.
    pub channel: Channel,
    /// What it weighs: its source's weight times its channel's.
    pub weight: f64,
    /// What the route multiplies the weight with.
    pub routed: f64,
}

impl PlannedLeg {
    /// The weight after routing; a leg of weight 0 is not run.
    pub fn effective_weight(&self) -> f64 {
        self.weight * self.routed
    }
}

/// What a search will do.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Plan {
    /// The query and its rewrites, each once; the query is the first.
    pub variants: Vec<String>,
    /// What the routing rules made of the query, where there are rules.
    pub route: Option<Route>,
    /// Which documents may be found.
    pub filter: Filter,
    /// What is searched.
    pub legs: Vec<PlannedLeg>,
    /// How many candidates go into each list that is fused.
    pub candidates: usize,
    /// How long the search waits for its legs.
    #[serde(rename = "deadline_ms", serialize_with = "milliseconds")]
    pub deadline: Deadline,
    /// What happens to the candidates.
    pub pipeline: PipelineSpec,
    /// What else the reader of the answer should know.
    pub notes: Vec<String>,
}

fn milliseconds<S: Serializer>(deadline: &Deadline, serializer: S) -> Result<S::Ok, S::Error> {
    let [soft, hard] = [deadline.soft, deadline.hard].map(|limit| limit.as_millis() as u64);
    serializer.collect_map([("soft", soft), ("hard", hard)])
}

/// What a store and a model can do, which is all that planning looks at.
#[derive(Clone, Debug)]
pub struct Known<'a> {
    /// The sources of the store.
    pub sources: &'a [SourceStats],
    /// What the store can do by itself.
    pub capabilities: Capabilities,
    /// The model that embeds queries, if there is one.
    pub model: Option<&'a ModelCard>,
}

impl Plan {
    /// Plans a search.
    ///
    /// # Errors
    /// When the query is empty, a source is not known, or a setting is out of range.
    pub fn new(request: &Request, settings: &Settings, known: &Known<'_>) -> Result<Self, Failure> {
        check(request, settings)?;
        let mut notes = Vec::new();
        let variants = variants(request, &mut notes);
        let sources = legs::chosen_sources(&request.filter, known.sources)?;
        let pipeline = stages::pipeline(request, settings, &sources)?;
        let route = route(&pipeline, request)?;
        let channels = legs::channels(request, known, &sources, &mut notes)?;
        let mut plan = Self {
            variants,
            route,
            filter: request.filter.clone(),
            legs: Vec::new(),
            candidates: settings.candidates,
            deadline: request.deadline.unwrap_or(settings.deadline),
            pipeline,
            notes,
        };
        plan.legs = plan.planned(settings, &sources, &channels);
        Ok(plan)
    }

    /// The query.
    pub fn query(&self) -> &str {
        self.variants.first().map_or("", String::as_str)
    }

    /// The channels that are searched, in order.
    pub fn channels(&self) -> Vec<Channel> {
        let run = self.legs.iter().filter(|leg| leg.effective_weight() > 0.0);
        run.map(|leg| leg.channel).collect::<IndexSet<_>>().into_iter().collect()
    }

    /// The legs of a channel that are run.
    pub fn legs_of(&self, channel: Channel) -> impl Iterator<Item = &PlannedLeg> {
        self.legs.iter().filter(move |leg| leg.channel == channel && leg.effective_weight() > 0.0)
    }

    /// Whether all sources are searched the same ways.
    pub(super) fn is_even(&self) -> bool {
        let of = |channel| self.legs_of(channel).map(|leg| &leg.source).collect::<IndexSet<_>>();
        let mut ways = self.channels().into_iter().map(of);
        let first = ways.next();
        ways.all(|sources| Some(sources) == first)
    }

    /// Legs in the order of the sources, and of the channels within.
    fn planned(
        &self,
        settings: &Settings,
        sources: &[&SourceStats],
        channels: &[Channel],
    ) -> Vec<PlannedLeg> {
        let route = |source: &str| self.route.as_ref().and_then(|route| route.weights.get(source)).copied();
        let leg = |source: &SourceStats, channel: Channel| PlannedLeg {
            name: format!("{}/{}", source.name, channel.as_str()),
            source: source.name.clone(),
            kind: source.kind.clone(),
            channel,
            weight: settings.sources.get(&source.name).copied().unwrap_or(1.0)
                * settings.channel_weight(channel, &self.pipeline),
            routed: route(&source.name).unwrap_or(1.0),
        };
        let has = |source: &SourceStats, channel| channel != Channel::Dense || source.vectors > 0;
        let pairs = sources.iter().flat_map(|source| channels.iter().map(move |channel| (*source, *channel)));
        pairs
            .filter(|(source, channel)| has(source, *channel))
            .map(|(source, channel)| leg(source, channel))
            .collect()
    }
}

fn check(request: &Request, settings: &Settings) -> Result<(), Failure> {
    if request.query.trim().is_empty() && request.vector.is_none() {
        return Err(Box::new(Error::input(
            "the query is empty, expected some words",
            "say what you look for",
        )));
    }
    if settings.candidates == 0 {
        return Err(Box::new(mainstem_core::Error::range("`candidates`", "at least 1", 0)));
    }
    Ok(())
}

/// The query and its rewrites, each once, whatever the case and the spaces.
fn variants(request: &Request, notes: &mut Vec<String>) -> Vec<String> {
    let mut seen = IndexSet::new();
    let mut variants = Vec::new();
    for text in std::iter::once(&request.query).chain(&request.variants) {
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let is_rewrite = !variants.is_empty();
        if is_rewrite && words.is_empty() {
            continue;
        }
        if seen.insert(words.to_lowercase()) {
            variants.push(words);
        } else {
            notes.push(format!("the variant `{words}` is there already and counts once"));
        }
    }
    variants
}

fn route(pipeline: &PipelineSpec, request: &Request) -> Result<Option<Route>, Failure> {
    if pipeline.route.is_empty() {
        return Ok(None);
    }
    let router = Router::new(&pipeline.route).map_err(|error| Box::new(error) as Failure)?;
    Ok(Some(router.route(&request.query)))
}
