//! The answer: one list of hits, each with its ledger, and the status.

use serde::ser::{SerializeMap, Serializer};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::contract::Channel;
use crate::item::Item;
use crate::ledger::{Ledger, Scope};
use crate::status::Status;

/// One hit of the answer.
#[derive(Clone, Debug)]
pub struct Hit {
    /// The id.
    pub id: String,
    /// Its place, from 1, over all pages.
    pub rank: usize,
    /// Its final score.
    pub score: f64,
    /// The sources whose lists hold it, in list order.
    pub sources: Vec<String>,
    /// The labels of what was collapsed into it, once each, in order.
    pub alternates: Vec<String>,
    /// Why it is where it is.
    pub ledger: Ledger,
    /// What is known about it.
    pub item: Item,
}

/// The names that a hit has fields of its own for.
const OWN: [&str; 6] = ["id", "rank", "score", "sources", "alternates", "ledger"];

impl Serialize for Hit {
    /// Writes the hit's own fields, then the item's. An item's field whose name is taken goes under `input`.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("id", &self.id)?;
        map.serialize_entry("rank", &self.rank)?;
        map.serialize_entry("score", &self.score)?;
        map.serialize_entry("sources", &self.sources)?;
        map.serialize_entry("alternates", &self.alternates)?;
        map.serialize_entry("ledger", &self.ledger)?;
        self.item.write(&mut map)?;
        let (taken, free): (Vec<_>, Vec<_>) =
            self.item.extra.iter().partition(|(name, _)| OWN.contains(&name.as_str()));
        for (name, value) in free {
            map.serialize_entry(name, value)?;
        }
        if !taken.is_empty() {
            map.serialize_entry("input", &Taken(&taken))?;
        }
        map.end()
    }
}

struct Taken<'a>(&'a [&'a (String, Box<RawValue>)]);

impl Serialize for Taken<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

/// Why a candidate is not in the answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "stage", rename_all = "snake_case")]
pub enum Why {
    /// It is the same thing as another hit.
    Collapsed {
        /// That hit.
        into: String,
        /// Within its source or across sources.
        scope: Scope,
    },
    /// Its score is below the least one wanted.
    BelowMinScore {
        /// Its score.
        score: f64,
        /// The least one wanted.
        min_score: f64,
    },
    /// It is behind the last hit wanted.
    BehindLimit {
        /// Its place.
        rank: usize,
        /// Its score.
        score: f64,
    },
    /// It is on an earlier page.
    BeforeOffset {
        /// Its place.
        rank: usize,
        /// Its score.
        score: f64,
    },
    /// Others were more relevant or more different.
    NotChosen {
        /// Its score before the choice.
        score: f64,
    },
}

/// A candidate that is not in the answer.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Dropped {
    /// The id.
    pub id: String,
    /// Why.
    #[serde(flatten)]
    pub why: Why,
}

/// What a run gives.
#[derive(Clone, Debug, Serialize)]
pub struct Answer {
    /// The hits, best first.
    pub hits: Vec<Hit>,
    /// How many hits there were before the cut.
    #[serde(skip)]
    pub total: usize,
    /// What each leg and each stage did.
    pub status: Status,
    /// What is not in the answer, and why.
    #[serde(skip)]
    pub dropped: Vec<Dropped>,
}

/// What became of one candidate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fate {
    /// It is a hit, at this place.
    Hit(usize),
    /// It was dropped.
    Dropped,
    /// No list holds it.
    Unknown,
}

impl Answer {
    /// What became of a candidate, and why if it was dropped.
    pub fn fate(&self, id: &str) -> (Fate, Option<&Why>) {
        if let Some(hit) = self.hits.iter().find(|hit| hit.id == id) {
            return (Fate::Hit(hit.rank), None);
        }
        match self.dropped.iter().rev().find(|dropped| dropped.id == id) {
            Some(dropped) => (Fate::Dropped, Some(&dropped.why)),
            None => (Fate::Unknown, None),
        }
    }
}

/// What became of one id that a caller asked about.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WhyNot {
    /// The id.
    pub id: String,
    /// What became of it.
    pub fate: Fate,
    /// Why, if it was dropped.
    pub why: Option<Why>,
    /// Where the id is that of a document: the chunk of it that came farthest, which the rest is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<String>,
}

impl WhyNot {
    /// What an answer says about a chunk, or about a document by the chunk of it that came farthest.
    pub fn new(answer: &Answer, id: &str) -> Self {
        let told = |name: &str, part: Option<String>| {
            let (fate, why) = answer.fate(name);
            Self { id: id.to_owned(), fate, why: why.cloned(), part }
        };
        match told(id, None) {
            Self { fate: Fate::Unknown, .. } => {
                let part = farthest(answer, id);
                told(part.unwrap_or(id), part.map(str::to_owned))
            }
            own => own,
        }
    }
}

/// Of the chunks of a document: a hit, else the best of those that have a place, else the first of those that were dropped.
fn farthest<'a>(answer: &'a Answer, document: &str) -> Option<&'a str> {
    let is_part = |name: &str| {
        let number = name.strip_prefix(document).and_then(|rest| rest.strip_prefix('#'));
        number.is_some_and(|number| number.parse::<u32>().is_ok())
    };
    let place = |dropped: &&Dropped| match dropped.why {
        Why::BehindLimit { rank, .. } | Why::BeforeOffset { rank, .. } => rank,
        _ => usize::MAX,
    };
    let hit = answer.hits.iter().map(|hit| hit.id.as_str()).find(|name| is_part(name));
    let dropped = || answer.dropped.iter().filter(|dropped| is_part(&dropped.id)).min_by_key(place);
    hit.or_else(|| dropped().map(|dropped| dropped.id.as_str()))
}

/// What another way of ranking would have put first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Alternative {
    /// The way, in words.
    pub name: String,
    /// The hit that would have been first, if there would have been any.
    pub first: Option<String>,
    /// Where the present first hit, or the copy that would stand for it, would have stood, from 1.
    pub place: Option<usize>,
}

/// A document that is about the same as another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Related {
    /// Its place, from 1.
    pub rank: usize,
    /// How like it is: the cosine of the two chunks, or the score of the words.
    pub score: f64,
    /// The source.
    pub source: String,
    /// The id of the document within the source.
    pub document: String,
    /// The title.
    pub title: Option<String>,
    /// Where a person can see it.
    pub url: Option<String>,
    /// How an answer names it.
    pub label: Option<String>,
    /// Why it is here.
    pub reason: Reason,
}

/// Which two chunks are alike, and by what.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reason {
    /// By meaning or by words.
    pub channel: Channel,
    /// The chunk of the document that was asked about.
    pub from: String,
    /// The chunk of this document.
    pub to: String,
    /// The text of that chunk.
    pub text: String,
}
