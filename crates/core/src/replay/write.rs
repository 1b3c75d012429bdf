//! The shape of a replay as it is written.

use serde::Serialize;
use serde::ser::{SerializeMap, SerializeSeq, Serializer};

use super::{Replay, VERSION};
use crate::candidates::{RankedList, Slot};
use crate::leg::{Bounds, Direction, LegState};
use crate::pipeline::{PipelineSpec, Search};
use crate::rerank::Verdict;
use crate::time::Moment;

#[derive(Serialize)]
pub(super) struct Written<'a> {
    version: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    query: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    now: Option<&'a Moment>,
    pipeline: &'a PipelineSpec,
    #[serde(skip_serializing_if = "Option::is_none")]
    lists: Option<Vec<ListOut<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    variants: Option<Vec<VariantOut<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reranker: Option<&'a Verdict>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    notes: &'a [String],
}

#[derive(Serialize)]
struct VariantOut<'a> {
    lists: Vec<ListOut<'a>>,
}

#[derive(Serialize)]
struct ListOut<'a> {
    name: &'a str,
    source: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<&'a str>,
    weight: f64,
    #[serde(skip_serializing_if = "is_default")]
    direction: Direction,
    #[serde(skip_serializing_if = "is_default")]
    bounds: Bounds,
    #[serde(skip_serializing_if = "is_default")]
    state: LegState,
    #[serde(skip_serializing_if = "is_default")]
    copy: bool,
    #[serde(skip_serializing_if = "is_default")]
    repeated: usize,
    #[serde(skip_serializing_if = "is_default")]
    dropped: usize,
    items: ItemsOut<'a>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    completed: Vec<CompletedOut<'a>>,
}

/// The score of an item that the list does not hold but was asked about.
#[derive(Serialize)]
struct CompletedOut<'a> {
    id: &'a str,
    score: f64,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// The items of a list. What is known about an item stands where it is listed first.
struct ItemsOut<'a> {
    search: &'a Search,
    list: &'a RankedList,
    first: Vec<bool>,
}

impl Serialize for ItemsOut<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut seq = serializer.serialize_seq(Some(self.list.len()))?;
        for (place, &slot) in self.list.slots().iter().enumerate() {
            let (score, first) = (self.list.score(place), self.first[place]);
            seq.serialize_element(&ItemOut { search: self.search, slot, score, first })?;
        }
        seq.end()
    }
}

struct ItemOut<'a> {
    search: &'a Search,
    slot: Slot,
    score: Option<f64>,
    first: bool,
}

impl Serialize for ItemOut<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("id", self.search.candidates.id(self.slot))?;
        if let Some(score) = self.score {
            map.serialize_entry("score", &score)?;
        }
        if let Some(item) = self.search.items.get(self.slot as usize).filter(|_| self.first) {
            item.write(&mut map)?;
            for (name, value) in &item.extra {
                map.serialize_entry(name, value)?;
            }
        }
        map.end()
    }
}

impl<'a> Written<'a> {
    pub(super) fn of(replay: &'a Replay) -> Self {
        let search = &replay.search;
        let mut seen = vec![false; search.candidates.len()];
        let mut variants: Vec<VariantOut<'a>> = Vec::new();
        for list in search.candidates.lists() {
            let variant = list.leg().variant as usize;
            variants.resize_with(variants.len().max(variant + 1), || VariantOut { lists: Vec::new() });
            variants[variant].lists.push(list_out(search, list, &mut seen));
        }
        let (lists, variants) = match variants.len() {
            0 => (Some(Vec::new()), None),
            1 => (variants.pop().map(|variant| variant.lists), None),
            _ => (None, Some(variants)),
        };
        Self {
            version: VERSION,
            query: search.query.as_deref(),
            now: search.now.as_ref(),
            pipeline: &replay.pipeline,
            lists,
            variants,
            reranker: search.verdict.as_ref(),
            notes: &search.notes,
        }
    }
}

fn list_out<'a>(search: &'a Search, list: &'a RankedList, seen: &mut [bool]) -> ListOut<'a> {
    let leg = list.leg();
    let first = list.slots().iter().map(|&slot| !std::mem::replace(&mut seen[slot as usize], true)).collect();
    ListOut {
        name: &leg.name,
        source: &leg.source,
        kind: leg.kind.as_deref(),
        weight: leg.weight,
        direction: leg.direction,
        bounds: leg.bounds,
        // An empty list is written without its state, which it gets again when it is read.
        copy: list.leg().copy,
        state: if leg.state == LegState::Empty { LegState::Ok } else { leg.state },
        repeated: list.repeated(),
        dropped: list.dropped(),
        items: ItemsOut { search, list, first },
        completed: list
            .completed()
            .map(|(slot, score)| CompletedOut { id: search.candidates.id(slot), score })
            .collect(),
    }
}
