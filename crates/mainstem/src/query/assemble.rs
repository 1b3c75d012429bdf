//! From what the legs brought to what the ranking core takes.

use std::sync::Arc;

use indexmap::IndexMap;
use mainstem_core::candidates::NonFinite;
use mainstem_core::contract::Channel;
use mainstem_core::time::Moment;
use mainstem_core::{Bounds, Error, Item, Leg, LegState, Search};
use rustc_hash::FxBuildHasher;
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};

use super::errand::{Candidate, Named, Scale};
use super::legs::Outcome;
use super::plan::{Plan, PlannedLeg};

/// The chunks of a search, by name.
pub(super) type Chunks = IndexMap<String, Arc<Named>, FxBuildHasher>;

/// Makes one list for each leg and variant, and an item for each chunk.
pub(super) fn search(plan: &Plan, outcomes: Vec<Outcome>, now: Moment) -> Result<(Search, Chunks), Error> {
    let mut chunks = Chunks::default();
    let mut search = Search { query: Some(plan.query().to_owned()), now: Some(now), ..Search::default() };
    search.notes.extend(plan.notes.iter().cloned());
    search.notes.extend(outcomes.iter().flat_map(notes));
    let mut outcomes = outcomes;
    for variant in 0..plan.variants.len() as u32 {
        for leg in &plan.legs {
            let outcome = outcomes
                .iter_mut()
                .find(|outcome| outcome.variant == variant && outcome.channel == leg.channel);
            let Some(outcome) = outcome else {
                let skipped = core_leg(leg, variant, LegState::Skipped, &Scale::default());
                search.candidates.add(skipped, [], NonFinite::Drop)?;
                continue;
            };
            let candidates = outcome.catch.by_source.swap_remove(&leg.source).unwrap_or_default();
            let listed =
                candidates.into_iter().enumerate().map(|(at, candidate)| named(at, candidate, &mut chunks));
            let leg = core_leg(leg, variant, outcome.state, &outcome.catch.scale);
            search.candidates.add(leg, listed, NonFinite::Drop)?;
        }
    }
    complete(plan, &mut outcomes, &mut search)?;
    // A vector that the legs no longer hold is moved, not copied.
    drop(outcomes);
    for slot in 0..search.candidates.len() as u32 {
        let chunk = chunks.get_mut(search.candidates.id(slot));
        search.words.push(chunk.as_ref().and_then(|chunk| chunk.words.clone()));
        search.items.push(chunk.map(item).unwrap_or_default());
    }
    Ok((search, chunks))
}

/// Adds the scores that each leg gave to what others found, now that all items are known.
fn complete(plan: &Plan, outcomes: &mut [Outcome], search: &mut Search) -> Result<(), Error> {
    for outcome in outcomes {
        for leg in plan.legs.iter().filter(|leg| leg.channel == outcome.channel) {
            let scores = outcome.catch.completed.swap_remove(&leg.source).unwrap_or_default();
            search.candidates.complete(&leg.name, outcome.variant, scores)?;
        }
    }
    Ok(())
}

/// The candidate under its name. One without a chunk has a useless score and is dropped by the list.
fn named(at: usize, candidate: Candidate, chunks: &mut Chunks) -> (String, Option<f64>) {
    let name = candidate.chunk.map(|chunk| {
        let name = chunk.name.clone();
        chunks.entry(name.clone()).or_insert(chunk);
        name
    });
    (name.unwrap_or_else(|| format!("#{at}")), Some(candidate.score))
}

fn core_leg(leg: &PlannedLeg, variant: u32, state: LegState, scale: &Scale) -> Leg {
    let bounds = match leg.channel {
        Channel::Dense => {
            Bounds { min: Some(-1.0), max: Some(1.0), typical: scale.typical.get(&leg.source).copied() }
        }
        Channel::Lexical => Bounds { min: Some(0.0), max: scale.greatest, typical: None },
    };
    Leg {
        source: leg.source.clone(),
        kind: Some(leg.kind.clone()).filter(|kind| !kind.is_empty()),
        weight: leg.weight,
        variant,
        bounds,
        state,
        copy: scale.copies.contains(&leg.source),
        ..Leg::new(&leg.name)
    }
}

/// What went wrong or was odd, each once.
fn notes(outcome: &Outcome) -> Vec<String> {
    let name = outcome.channel.as_str();
    let variant =
        if outcome.variant > 0 { format!(" of variant {}", outcome.variant + 1) } else { String::new() };
    let failed = outcome.reason.as_ref().map(|reason| format!("`{name}`{variant} failed: {reason}"));
    let late =
        (outcome.state == LegState::TimedOut).then(|| format!("`{name}`{variant} did not answer in time"));
    failed.into_iter().chain(late).chain(outcome.catch.notes.iter().cloned()).collect()
}

/// What the stages may look at. The vector goes with it, unless others still have the chunk.
fn item(chunk: &mut Arc<Named>) -> Item {
    let vector = match Arc::get_mut(chunk) {
        Some(own) => own.stored.chunk.vector.take(),
        None => chunk.stored.chunk.vector.clone(),
    };
    let chunk = &chunk.stored;
    let document = &chunk.document;
    let url = document.url.as_ref().map(|url| ("url", Value::from(url.as_str())));
    let metadata = document.metadata.iter().filter(|(name, _)| *name != "url");
    let fields = url.into_iter().chain(metadata.map(|(name, value)| (name.as_str(), value.clone())));
    Item {
        title: document.title.clone(),
        text: Some(chunk.chunk.text.clone()),
        label: document.label.clone(),
        created_at: document.created_at.clone(),
        key: document.key.as_ref().map(|key| format!("{key}#{}", chunk.chunk.order)),
        document: Some(format!("{}/{}", document.source, document.id)),
        order: Some(i64::from(chunk.chunk.order)),
        vector,
        readers: document.readers.clone(),
        extra: fields.filter_map(|(name, value)| key_field(name, value, chunk.chunk.order)).collect(),
    }
}

/// A field of the document as a key of one of its chunks: the parts of one page are not copies of each other, but the third part of
/// a page is a copy of the third part of the same page elsewhere.
fn key_field(name: &str, value: Value, order: u32) -> Option<(String, Box<RawValue>)> {
    let value = match (order, value) {
        (0, value) => value,
        (_, Value::String(text)) => format!("{text}#{order}").into(),
        (_, other) => format!("{other}#{order}").into(),
    };
    Some((name.to_owned(), to_raw_value(&value).ok()?))
}
