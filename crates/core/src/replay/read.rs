//! The shape of a replay as it is read.

use std::fmt;

use serde::Deserialize;
use serde::de::{self, Deserializer, SeqAccess, Visitor};

use super::{Replay, VERSION};
use crate::candidates::NonFinite;
use crate::error::Error;
use crate::item::Listed;
use crate::leg::{Bounds, Direction, Leg, LegState, checked_weight};
use crate::located;
use crate::object::{Object, object};
use crate::pipeline::{PipelineSpec, Search};
use crate::rerank::Verdict;
use crate::time::Moment;

/// The whole file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object with `lists` or `variants`")]
pub(super) struct Request {
    #[serde(default, deserialize_with = "known_version")]
    #[expect(dead_code, reason = "checked while it is read")]
    version: Option<u32>,
    query: Option<String>,
    now: Option<Moment>,
    reader: Option<String>,
    #[serde(default)]
    pipeline: PipelineSpec,
    lists: Option<Lists>,
    variants: Option<Vec<Variant>>,
    #[serde(default)]
    notes: Vec<String>,
    reranker: Option<Verdict>,
}

/// One rewrite of the query.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Variant {
    query: Option<String>,
    lists: Lists,
}

/// One list as written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ListIn {
    name: Option<String>,
    source: Option<String>,
    kind: Option<String>,
    weight: Option<f64>,
    #[serde(default)]
    direction: Direction,
    #[serde(default, deserialize_with = "object")]
    bounds: Bounds,
    #[serde(default)]
    state: LegState,
    #[serde(default)]
    copy: bool,
    #[serde(default)]
    repeated: usize,
    #[serde(default)]
    dropped: usize,
    #[serde(default)]
    items: Vec<Listed>,
    #[serde(default)]
    completed: Vec<Completed>,
}

/// The score of an item that the list does not hold but was asked about.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Completed {
    id: String,
    score: f64,
}

/// A list that has been checked.
struct Checked {
    leg: Leg,
    items: Vec<Listed>,
    completed: Vec<Completed>,
    /// How many repeated ids and unusable scores were passed over when the list was first read.
    passed_over: (usize, usize),
}

/// Lists whose weights are in range and whose names are unique, checked while the reader still knows the line.
struct Lists(Vec<Checked>);

impl<'de> Deserialize<'de> for Lists {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(ListsVisitor)
    }
}

struct ListsVisitor;

impl<'de> Visitor<'de> for ListsVisitor {
    type Value = Lists;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("lists, such as [{\"name\": \"bm25\", \"items\": []}]")
    }

    fn visit_seq<S: SeqAccess<'de>>(self, mut seq: S) -> Result<Lists, S::Error> {
        let mut lists: Vec<Checked> = Vec::new();
        while let Some(Object(list)) = seq.next_element::<Object<ListIn>>()? {
            let list = list.check(lists.len()).map_err(located::refuse)?;
            if lists.iter().any(|known| known.leg.name == list.leg.name) {
                return Err(located::refuse(Error::Duplicate { what: "list", name: list.leg.name }));
            }
            lists.push(list);
        }
        Ok(Lists(lists))
    }
}

impl ListIn {
    fn check(self, index: usize) -> Result<Checked, Error> {
        let name = self.name.or_else(|| self.source.clone()).unwrap_or_else(|| format!("list{}", index + 1));
        let mut leg = Leg::new(name);
        leg.source = self.source.unwrap_or(leg.source);
        leg.kind = self.kind;
        leg.weight = checked_weight(&leg.name, self.weight.unwrap_or(1.0))?;
        leg.direction = self.direction;
        leg.bounds = self.bounds;
        leg.state = self.state;
        leg.copy = self.copy;
        self.items.iter().try_for_each(|listed| listed.check(&leg.name))?;
        let passed_over = (self.repeated, self.dropped);
        Ok(Checked { leg, items: self.items, completed: self.completed, passed_over })
    }
}

fn known_version<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u32>, D::Error> {
    let version = Option::<u32>::deserialize(deserializer)?;
    if version.is_some_and(|version| version > VERSION) {
        let message =
            format!("the replay has version {}, expected at most {VERSION}", version.unwrap_or_default());
        return Err(de::Error::custom(message));
    }
    Ok(version)
}

impl Request {
    pub(super) fn into_replay(self) -> Result<Replay, Error> {
        let search = Search {
            query: self.query,
            now: self.now,
            verdict: self.reranker,
            notes: self.notes,
            ..Search::default()
        };
        let mut replay = Replay { pipeline: self.pipeline, search };
        match (self.lists, self.variants) {
            (Some(_), Some(_)) => {
                return Err(Error::range("the input", "either `lists` or `variants`", "both"));
            }
            (Some(lists), None) => replay.take(lists, 0, self.reader.as_deref())?,
            (None, Some(variants)) => replay.take_variants(variants, self.reader.as_deref())?,
            (None, None) => {
                return Err(Error::Missing {
                    what: "`lists`".into(),
                    why: "there is nothing to fuse".into(),
                    hint: "give `\"lists\": [{\"name\": \"bm25\", \"items\": [{\"id\": \"a\", \"score\": 1.0}]}]`".into(),
                });
            }
        }
        Ok(replay)
    }
}

impl Replay {
    fn take_variants(&mut self, variants: Vec<Variant>, reader: Option<&str>) -> Result<(), Error> {
        let mut seen: Vec<String> = Vec::new();
        let mut number = 0;
        for variant in variants {
            if let Some(query) = variant.query {
                if seen.contains(&query) {
                    self.search.notes.push(format!("the variant `{query}` comes twice and counts once"));
                    continue;
                }
                seen.push(query);
            }
            self.take(variant.lists, number, reader)?;
            number += 1;
        }
        Ok(())
    }

    fn take(&mut self, lists: Lists, variant: u32, reader: Option<&str>) -> Result<(), Error> {
        let mut completed = Vec::new();
        for Checked { leg, items: mut listed, completed: scores, passed_over } in lists.0 {
            completed.push((leg.name.clone(), scores));
            listed.retain(|listed| listed.item.readable_by(reader));
            let scores: Vec<_> = listed.iter().map(|listed| (listed.id.clone(), listed.score)).collect();
            self.search.candidates.add(Leg { variant, ..leg }, scores, NonFinite::Refuse)?;
            if let Some(list) = self.search.candidates.last_mut() {
                list.passed_over(passed_over.0, passed_over.1);
            }
            self.search.items.resize_with(self.search.candidates.len(), Default::default);
            for Listed { id, item, .. } in listed {
                if let Some(slot) = self.search.candidates.slot(&id) {
                    self.search.items[slot as usize].complete(item);
                }
            }
        }
        // Only when all lists are there is it known which items there are.
        for (name, scores) in completed {
            let scores = scores.into_iter().map(|completed| (completed.id, completed.score));
            self.search.candidates.complete(&name, variant, scores)?;
        }
        Ok(())
    }
}
