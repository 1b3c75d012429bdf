//! From what the legs brought to what the ranking core takes.

use indexmap::IndexMap;
use mainstem_core::candidates::{Candidates, NonFinite};
use mainstem_core::contract::{Channel, Filter};
use mainstem_core::time::Moment;
use mainstem_core::{Bounds, ChunkId, Error, Item, Leg, LegState, Search, StoredChunk};
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};

use super::errand::{Named, Scale};
use super::filter::passes;
use super::legs::Outcome;
use super::plan::{Plan, PlannedLeg};

/// The chunks of a search that were read, by name.
pub(super) type Chunks = IndexMap<String, StoredChunk, FxBuildHasher>;

/// Makes one list for each leg and variant, and has each tell the score of what others found.
pub(super) fn lists(plan: &Plan, outcomes: &[Outcome]) -> Result<Candidates<ChunkId>, Error> {
    let mut lists = Candidates::new();
    for variant in 0..plan.variants.len() as u32 {
        for leg in &plan.legs {
            let same = |outcome: &&Outcome| outcome.variant == variant && outcome.channel == leg.channel;
            let Some(outcome) = outcomes.iter().find(same) else {
                let skipped = core_leg(leg, variant, LegState::Skipped, &Scale::default());
                lists.add(skipped, [], NonFinite::Drop)?;
                continue;
            };
            let found = outcome.catch.by_source.get(&leg.source).into_iter().flatten();
            let found = found.map(|candidate| (candidate.chunk, Some(candidate.score)));
            let leg = core_leg(leg, variant, outcome.state, &outcome.catch.scale);
            lists.add(leg, found, NonFinite::Drop)?;
        }
    }
    // Now that all items are known.
    for outcome in outcomes {
        for leg in plan.legs.iter().filter(|leg| leg.channel == outcome.channel) {
            if let Some(scores) = outcome.catch.completed.get(&leg.source) {
                lists.complete(&leg.name, outcome.variant, scores.iter().copied())?;
            }
        }
    }
    Ok(lists)
}

/// What the ranking core takes: the lists, and an item for each chunk that was read. The others keep the number that the store knows
/// them by.
pub(super) fn search(
    plan: &Plan,
    outcomes: &[Outcome],
    lists: Candidates<ChunkId>,
    mut read: FxHashMap<ChunkId, Named>,
    now: Moment,
) -> (Search, Chunks) {
    let mut chunks = Chunks::with_capacity_and_hasher(read.len(), FxBuildHasher);
    let mut search = Search { query: Some(plan.query().to_owned()), now: Some(now), ..Search::default() };
    search.notes.extend(plan.notes.iter().cloned());
    search.notes.extend(outcomes.iter().flat_map(notes));
    search.candidates = lists.renamed(|chunk| {
        let Some(named) = read.remove(chunk) else {
            search.words.push(None);
            search.items.push(Item::default());
            return chunk.to_string();
        };
        // A source may be called `a`, another `a/b`, and a document of the first `b/c`.
        let name =
            if chunks.contains_key(&named.name) { format!("{}{chunk}", named.name) } else { named.name };
        search.words.push(named.words);
        search.items.push(named.item);
        chunks.insert(name.clone(), named.stored);
        name
    });
    (search, chunks)
}

/// Takes from the lists what is not what it was found as: gone, of another source, or outside the filter. Returns whether there was any.
pub(super) fn drop_strays(
    outcomes: &mut [Outcome],
    asked: &[ChunkId],
    read: &FxHashMap<ChunkId, Named>,
    filter: &Filter,
) -> bool {
    let asked: FxHashSet<ChunkId> = asked.iter().copied().collect();
    let mut any = false;
    for Outcome { channel, catch, .. } in outcomes {
        let mut lost = 0;
        for (source, list) in &mut catch.by_source {
            let before = list.len();
            list.retain(|candidate| {
                let right = |named: &Named| {
                    let document = &named.stored.document;
                    document.source == *source && passes(document, filter)
                };
                !asked.contains(&candidate.chunk) || read.get(&candidate.chunk).is_some_and(right)
            });
            lost += before - list.len();
        }
        if lost > 0 {
            let what = if lost == 1 { "candidate was" } else { "candidates were" };
            let why = "gone, of another source, or outside the filter";
            catch.notes.push(format!("{lost} {what} dropped from `{}`: {why}", channel.as_str()));
            any = true;
        }
    }
    any
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

/// What the stages may look at. The vector goes with it.
pub(super) fn item(chunk: &mut StoredChunk) -> Item {
    let vector = chunk.chunk.vector.take();
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
