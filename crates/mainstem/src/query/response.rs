//! The answer as a caller sees it: the ranking core's, with what the store knows about each hit.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::time::Duration;

use mainstem_core::answer::Why;
pub use mainstem_core::answer::WhyNot;
use mainstem_core::contract::Channel;
use mainstem_core::status::Status;
use mainstem_core::time::Moment;
use mainstem_core::{Answer, Candidates, Hit, Ledger, StoredChunk};
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};
use serde_json::{Map, Value};

use super::alternatives::Alternative;
use super::assemble::Chunks;
use super::plan::Plan;
use super::snippet::Snippet;
use crate::words::Highlighter;

/// One hit: a chunk of a document.
#[derive(Clone, Debug)]
pub struct SearchHit {
    /// Its name, `source/document#order`; `source/document` where chunks were joined to documents.
    pub id: String,
    /// Its place, from 1, over all pages.
    pub rank: usize,
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
    pub snippet: Snippet,
    /// The whole text of the chunk.
    pub text: String,
    /// The place of the chunk in its document, from 0.
    pub order: u32,
    /// The bytes of the document that the chunk stands for. Like the place, it is not written: the name says enough to a reader.
    pub span: Range<usize>,
    /// When the document was written.
    pub created_at: Option<Moment>,
    /// When the document was last changed.
    pub updated_at: Option<Moment>,
    /// Anything else that is known about the document.
    pub metadata: Map<String, Value>,
    /// The sources that found it.
    pub sources: Vec<String>,
    /// The labels of what was collapsed into it.
    pub alternates: Vec<String>,
    /// Why it is where it is.
    pub ledger: Ledger,
}

impl SearchHit {
    /// The time that a reader is shown: when the document was written, or else when it was last changed.
    pub fn time(&self) -> Option<&Moment> {
        self.created_at.as_ref().or(self.updated_at.as_ref())
    }

    fn new(hit: &Hit, chunk: &StoredChunk, query: &Highlighter) -> Self {
        let document = &chunk.document;
        Self {
            id: hit.id.clone(),
            rank: hit.rank,
            score: hit.score,
            source: document.source.clone(),
            document: document.id.clone(),
            title: document.title.clone(),
            heading: chunk.chunk.heading.clone(),
            url: document.url.clone(),
            label: document.label.clone(),
            snippet: Snippet::of(&chunk.chunk.text, &query.highlights(&chunk.chunk.text)),
            text: chunk.chunk.text.clone(),
            order: chunk.chunk.order,
            span: chunk.chunk.span.clone(),
            created_at: document.created_at.clone(),
            updated_at: document.updated_at.clone(),
            metadata: document.metadata.clone(),
            sources: hit.sources.clone(),
            alternates: hit.alternates.clone(),
            ledger: hit.ledger.clone(),
        }
    }
}

impl Serialize for SearchHit {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let highlights: Vec<_> =
            self.snippet.highlights.iter().map(|range| [range.start, range.end]).collect();
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("id", &self.id)?;
        map.serialize_entry("rank", &self.rank)?;
        map.serialize_entry("score", &self.score)?;
        map.serialize_entry("source", &self.source)?;
        map.serialize_entry("document", &self.document)?;
        map.serialize_entry("title", &self.title)?;
        map.serialize_entry("heading", &self.heading)?;
        map.serialize_entry("url", &self.url)?;
        map.serialize_entry("label", &self.label)?;
        map.serialize_entry("snippet", &self.snippet.text)?;
        map.serialize_entry("highlights", &highlights)?;
        map.serialize_entry("text", &self.text)?;
        map.serialize_entry("created_at", &self.created_at)?;
        if let Some(updated_at) = &self.updated_at {
            map.serialize_entry("updated_at", updated_at)?;
        }
        map.serialize_entry("metadata", &self.metadata)?;
        map.serialize_entry("sources", &self.sources)?;
        map.serialize_entry("alternates", &self.alternates)?;
        map.serialize_entry("ledger", &self.ledger)?;
        map.end()
    }
}

/// How long each part of a search took.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Timings {
    /// Looking at the store and planning.
    pub plan: Duration,
    /// Waiting for the legs.
    pub retrieve: Duration,
    /// The stages of the ranking core.
    pub rank: Duration,
    /// Putting together what a reader sees.
    pub present: Duration,
    /// When each channel of each variant was home, from the start; those that were late are left out.
    pub legs: Vec<(Channel, Duration)>,
}

/// What a search gives.
#[derive(Clone, Debug)]
pub struct Response {
    /// The hits, best first.
    pub hits: Vec<SearchHit>,
    /// How many hits there were before the cut to a page.
    pub total: usize,
    /// How many of them each source has, by name: of all pages, without those below the least score.
    pub by_source: BTreeMap<String, usize>,
    /// What each leg and each stage did.
    pub status: Status,
    /// What became of the chunk that the caller asked about.
    pub why_not: Option<WhyNot>,
    /// What else could have come first, where the caller asked.
    pub alternatives: Option<Vec<Alternative>>,
    /// What the search did.
    pub plan: Plan,
    /// How long it took.
    pub took: Duration,
    /// How long each part of it took.
    pub timings: Timings,
    /// The answer of the ranking core, with everything that was dropped.
    pub answer: Answer,
}

impl Response {
    pub(super) fn new(
        plan: Plan,
        answer: Answer,
        candidates: &Candidates<String>,
        chunks: &Chunks,
        why_not: Option<&String>,
        took: Duration,
    ) -> Self {
        let query = Highlighter::new(&plan.variants.join(" "));
        let hit = |hit: &Hit| Some(SearchHit::new(hit, chunk_of(hit, chunks)?, &query));
        let why_not = why_not.map(|id| WhyNot::new(&answer, id));
        Self {
            hits: answer.hits.iter().filter_map(hit).collect(),
            total: answer.total,
            by_source: by_source(candidates, &answer),
            status: answer.status.clone(),
            why_not,
            alternatives: None,
            plan,
            took,
            timings: Timings::default(),
            answer,
        }
    }
}

/// The hits of all pages, counted by source: a candidate is of the source whose list holds it, whether it was read or not. A document that
/// was made of chunks is in no list; its name begins with its source.
fn by_source(candidates: &Candidates<String>, answer: &Answer) -> BTreeMap<String, usize> {
    let mut holders: Vec<&str> = vec![""; candidates.len()];
    for list in candidates.lists() {
        list.slots().iter().for_each(|slot| holders[*slot as usize] = &list.leg().source);
    }
    let sources: BTreeSet<&str> = candidates.lists().iter().map(|list| list.leg().source.as_str()).collect();
    let of = |id: &String| {
        if let Some(slot) = candidates.slot(id) {
            return Some(holders[slot as usize]).filter(|source| !source.is_empty());
        }
        // Of two sources that fit, the longer one is meant.
        let mut starts = id.rmatch_indices('/').map(|(at, _)| &id[..at]);
        starts.find_map(|start| sources.get(start).copied())
    };
    let on_other_pages = answer
        .dropped
        .iter()
        .filter(|dropped| matches!(dropped.why, Why::BehindLimit { .. } | Why::BeforeOffset { .. }));
    let ids = answer.hits.iter().map(|hit| &hit.id).chain(on_other_pages.map(|one| &one.id));
    let mut counts = BTreeMap::new();
    for source in ids.filter_map(of) {
        *counts.entry(source.to_owned()).or_default() += 1;
    }
    counts
}

/// The chunk that a hit shows: itself, or the one that stands for its document.
fn chunk_of<'a>(hit: &Hit, chunks: &'a Chunks) -> Option<&'a StoredChunk> {
    chunks.get(&hit.id).or_else(|| {
        let (document, order) = (hit.item.document.as_ref()?, hit.item.order?);
        chunks.get(&format!("{document}#{order}"))
    })
}

/// The status with a `route` in any case, so that a reader need not ask whether it is there.
struct Routed<'a>(&'a Status);

impl Serialize for Routed<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Unrouted<'a> {
            #[serde(flatten)]
            status: &'a Status,
            route: Option<()>,
        }
        match self.0.route {
            Some(_) => self.0.serialize(serializer),
            None => Unrouted { status: self.0, route: None }.serialize(serializer),
        }
    }
}

impl Serialize for Response {
    /// `{"hits", "total", "by_source", "status"}`, and `why_not` and `alternatives` where they were asked. How long it took is left out: the same
    /// search gives the same bytes.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("hits", &self.hits)?;
        map.serialize_entry("total", &self.total)?;
        map.serialize_entry("by_source", &self.by_source)?;
        map.serialize_entry("status", &Routed(&self.status))?;
        if let Some(why_not) = &self.why_not {
            map.serialize_entry("why_not", why_not)?;
        }
        if let Some(alternatives) = &self.alternatives {
            map.serialize_entry("alternatives", alternatives)?;
        }
        map.end()
    }
}
