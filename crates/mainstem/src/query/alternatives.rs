//! What else could have come first: the same lists, merged or weighed otherwise.
//!
//! Nothing is retrieved again, so an alternative says what another setting would have made of what this search found. A search with
//! that setting from the start may look at other candidates.

use indexmap::IndexSet;
pub use mainstem_core::answer::Alternative;
use mainstem_core::answer::{Fate, Why};
use mainstem_core::contract::Channel;
use mainstem_core::{Across, Answer, Error, Failure, Leg, PipelineSpec, RankedList, Search};
use serde_json::json;

use super::plan::{Plan, patched};
use super::request::Settings;

/// How many sources are looked at by themselves: those with the best hits.
const SOURCES: usize = 8;

/// How often a hit is followed to what it was collapsed into: within its source, then across sources.
const COLLAPSES: usize = 2;

/// A way of ranking: other stages, other weights, or both.
struct Way<'a> {
    name: String,
    pipeline: PipelineSpec,
    weight: Box<dyn Fn(&Leg) -> f64 + 'a>,
}

/// Ranks what a search found in each other way. Empty where nothing was found.
pub(super) fn alternatives(
    plan: &Plan,
    settings: &Settings,
    mut search: Search,
) -> Result<Vec<Alternative>, Failure> {
    let present = PipelineSpec { limit: None, offset: 0, ..plan.pipeline.clone() };
    let answer = ranked(&present, &search)?;
    let Some(first) = answer.hits.first() else { return Ok(Vec::new()) };
    let candidates = search.candidates.clone();
    // A least score is one of the present scale, and a reranker has read only what this search put first.
    let reranked = present.rerank.is_some();
    let present = PipelineSpec { min_score: None, rerank: None, ..present };
    search.verdict = None;
    let unranked = || Way {
        name: "without the reranker".to_owned(),
        pipeline: present.clone(),
        weight: Box::new(|leg| leg.weight),
    };
    let mut ways: Vec<_> = reranked.then(unranked).into_iter().collect();
    ways.extend(across(&present, settings)?);
    ways.extend(channels(&present, &search));
    ways.extend(sources(&present, &answer));
    let alternative = |way: Way<'_>| {
        search.candidates = candidates.clone();
        search.candidates.weigh(&way.weight).map_err(boxed)?;
        let answer = ranked(&way.pipeline, &search)?;
        let best = answer.hits.first().map(|hit| hit.id.clone());
        Ok(Alternative { name: way.name, first: best, place: place(&answer, &first.id) })
    };
    ways.into_iter().map(alternative).collect()
}

fn ranked(pipeline: &PipelineSpec, search: &Search) -> Result<Answer, Failure> {
    pipeline.check().and_then(|pipeline| pipeline.run(search)).map_err(boxed)
}

fn boxed(error: Error) -> Failure {
    Box::new(error)
}

fn place(answer: &Answer, id: &str) -> Option<usize> {
    let mut id = id;
    for _ in 0..=COLLAPSES {
        match answer.fate(id) {
            (Fate::Hit(rank), _) => return Some(rank),
            (_, Some(Why::Collapsed { into, .. })) => id = into,
            _ => return None,
        }
    }
    None
}

/// The other ways in which sources can meet, each with what goes with it.
fn across<'a>(present: &PipelineSpec, settings: &'a Settings) -> Result<Vec<Way<'a>>, Failure> {
    let others = [Across::Rank, Across::Score].into_iter().filter(|across| *across != present.across);
    let way = |across: Across| {
        let pipeline = patched(present.clone(), &json!({ "across": across.as_str() }))?;
        let weights = |pipeline: &PipelineSpec| {
            [Channel::Dense, Channel::Lexical]
                .map(|channel| (channel, settings.channel_weight(channel, pipeline)))
        };
        let factors = weights(&pipeline).into_iter().zip(weights(present));
        let factors: Vec<_> = factors.map(|((channel, then), (_, now))| (channel, then / now)).collect();
        let weight = move |leg: &Leg| {
            let factor = factors.iter().find(|(channel, _)| channel.as_str() == leg.channel());
            // A leg of weight 0 was not run, whatever its channel would weigh.
            if leg.weight == 0.0 { 0.0 } else { leg.weight * factor.map_or(1.0, |(_, factor)| *factor) }
        };
        Ok(Way { name: format!("across = \"{}\"", across.as_str()), pipeline, weight: Box::new(weight) })
    };
    others.map(way).collect()
}

/// Each channel by itself, where there are several.
fn channels(present: &PipelineSpec, search: &Search) -> Vec<Way<'static>> {
    let legs = search.candidates.lists().iter().map(RankedList::leg);
    let run = legs.filter(|leg| leg.weight > 0.0 && leg.state.answered());
    let channels: IndexSet<&str> = run.map(Leg::channel).collect();
    // What only the other channel found is behind all that this one did: its completed scores are not needed.
    let across = if present.across == Across::Calibrated { Across::Score } else { present.across };
    let way = |channel: Channel| Way {
        name: match channel {
            Channel::Dense => "meaning alone".to_owned(),
            Channel::Lexical => "words alone".to_owned(),
        },
        pipeline: PipelineSpec { across, ..present.clone() },
        weight: Box::new(move |leg| if leg.channel() == channel.as_str() { leg.weight } else { 0.0 }),
    };
    let several = |_: &Channel| channels.len() > 1;
    [Channel::Dense, Channel::Lexical].into_iter().filter(several).map(way).collect()
}

/// Each source by itself, where there are several.
fn sources(present: &PipelineSpec, answer: &Answer) -> Vec<Way<'static>> {
    let sources: IndexSet<&String> = answer.hits.iter().flat_map(|hit| &hit.sources).collect();
    let way = |source: &String| {
        let only = source.clone();
        Way {
            name: format!("{source} alone"),
            pipeline: present.clone(),
            weight: Box::new(move |leg| if leg.source == only { leg.weight } else { 0.0 }),
        }
    };
    let several = |_: &&String| sources.len() > 1;
    sources.iter().copied().filter(several).take(SOURCES).map(way).collect()
}
