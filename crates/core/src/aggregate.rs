//! # From chunks to documents
//!
//! A list of chunks becomes a list of documents, before fusion:
//!
//! | name | a document's score is |
//! |---|---|
//! | `max` | that of its best chunk |
//! | `mean` | the mean of its chunks in the list |
//! | `first` | that of its earliest chunk (by `order`, then by rank) in the list |
//!
//! `max` suits questions that one passage answers, `mean` punishes documents that match in one place only, `first` suits
//! documents that say in their first lines what they are about. Where a list has items without scores, `1 − rank0 / n` stands in
//! for all of its scores.

use std::hash::Hash;

use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;
use serde::{Deserialize, Serialize};

use crate::candidates::{Candidates, RankedList, Slot};
use crate::item::Item;

/// How the scores of a document's chunks become its score.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Aggregate {
    /// The best chunk's.
    Max,
    /// Their mean.
    Mean,
    /// The earliest chunk's.
    First,
}

impl Aggregate {
    /// The name, as written in a configuration.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Max => "max",
            Self::Mean => "mean",
            Self::First => "first",
        }
    }
}

/// Lists of documents, with one chunk to stand for each.
pub(crate) struct Documents {
    pub(crate) candidates: Candidates<String>,
    /// What is known about each document: its representative chunk's item.
    pub(crate) items: Vec<Item>,
    /// The chunks of each document.
    pub(crate) chunks: Vec<Vec<String>>,
}

/// One chunk in one list.
struct Chunk {
    order: i64,
    score: f64,
}

/// Brings the chunks of every list together. An item without `document` is its own document.
pub(crate) fn documents(chunks: &Candidates<String>, items: &[Item], method: Aggregate) -> Documents {
    let mut all = Documents { candidates: Candidates::new(), items: Vec::new(), chunks: Vec::new() };
    let lists = chunks.lists().iter().map(|list| all.take(list, chunks, items, method)).collect();
    all.candidates.set_lists(lists);
    all
}

impl Documents {
    fn take(
        &mut self,
        list: &RankedList,
        chunks: &Candidates<String>,
        items: &[Item],
        method: Aggregate,
    ) -> RankedList {
        let scored = list.similarities().iter().all(|score| !score.is_nan());
        let by_rank = |place: usize| 1.0 - place as f64 / list.len() as f64;
        let places = list.slots().iter().zip(list.similarities()).enumerate();
        let found =
            places.map(|(place, (&slot, &score))| (slot, if scored { score } else { by_rank(place) }));
        let ranked = self.grouped(found, chunks, items, method);
        // A chunk that was not listed scores less than one that was, so only documents without one need it.
        let completed = self.grouped(list.completed_similarities().iter().copied(), chunks, items, method);
        let mut documents = list.with_items(
            ranked.into_iter().map(|(slot, score)| (slot, if scored { score } else { f64::NAN })),
        );
        documents.complete(completed);
        documents
    }

    /// The documents of these chunks, best first.
    fn grouped(
        &mut self,
        found: impl Iterator<Item = (Slot, f64)>,
        chunks: &Candidates<String>,
        items: &[Item],
        method: Aggregate,
    ) -> Vec<(Slot, f64)> {
        method.documents(found.map(|(slot, score)| {
            let item = &items[slot as usize];
            let chunk = chunks.id(slot);
            let document = self.document(item.document.as_ref().unwrap_or(chunk), chunk, item);
            (document, item.order.unwrap_or(i64::MAX), score)
        }))
    }

    /// The slot of a document, which this chunk stands for if it is the first to be seen.
    fn document(&mut self, document: &str, chunk: &str, item: &Item) -> Slot {
        let slot = self.candidates.intern(document.to_owned());
        if slot as usize == self.items.len() {
            self.items.push(item.clone());
            self.chunks.push(Vec::new());
        }
        let chunks = &mut self.chunks[slot as usize];
        if !chunks.iter().any(|known| known == chunk) {
            chunks.push(chunk.to_owned());
        }
        slot
    }
}

impl Aggregate {
    /// The documents of these chunks, best first, those of equal scores in the order they came: each chunk with its document, its order in
    /// the document, and its score.
    pub fn documents<D: Eq + Hash>(self, chunks: impl IntoIterator<Item = (D, i64, f64)>) -> Vec<(D, f64)> {
        let mut groups: IndexMap<D, Vec<Chunk>, FxBuildHasher> = IndexMap::default();
        for (document, order, score) in chunks {
            groups.entry(document).or_default().push(Chunk { order, score });
        }
        let mut ranked: Vec<(D, f64)> =
            groups.into_iter().map(|(document, chunks)| (document, self.score(&chunks))).collect();
        ranked.sort_by(|a, b| b.1.total_cmp(&a.1));
        ranked
    }

    fn score(self, chunks: &[Chunk]) -> f64 {
        let scores = || chunks.iter().map(|chunk| chunk.score);
        match self {
            Self::Max => scores().fold(f64::NEG_INFINITY, f64::max),
            Self::Mean => scores().sum::<f64>() / chunks.len() as f64,
            // `min_by_key` keeps the first of equals: chunks come best first.
            Self::First => chunks.iter().min_by_key(|chunk| chunk.order).map_or(0.0, |chunk| chunk.score),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::leg::Leg;

    fn ranking(method: Aggregate) -> Vec<(String, Option<f64>)> {
        let mut chunks = Candidates::new();
        let scores = [("b1", 0.9), ("a2", 0.8), ("a1", 0.6), ("b2", 0.1), ("lone", 0.5)];
        chunks.scored(Leg::new("dense"), scores.map(|(id, score)| (id.to_owned(), score))).unwrap();
        let item = |document: &str, order| Item {
            document: Some(document.into()),
            order: Some(order),
            ..Item::default()
        };
        // In slot order, which is the order of appearance.
        let items = [item("B", 1), item("A", 2), item("A", 1), item("B", 0), Item::default()];
        let documents = documents(&chunks, &items, method);
        let list = &documents.candidates.lists()[0];
        let ids = list.slots().iter().map(|&slot| documents.candidates.id(slot).clone());
        ids.enumerate().map(|(place, id)| (id, list.score(place))).collect()
    }

    fn expect(method: Aggregate, expected: &[(&str, f64)]) {
        let expected: Vec<_> = expected.iter().map(|(id, score)| ((*id).to_owned(), Some(*score))).collect();
        assert_eq!(ranking(method), expected, "{method:?}");
    }

    #[test]
    fn each_way_to_aggregate() {
        expect(Aggregate::Max, &[("B", 0.9), ("A", 0.8), ("lone", 0.5)]);
        expect(Aggregate::Mean, &[("A", 0.7), ("B", 0.5), ("lone", 0.5)]);
        expect(Aggregate::First, &[("A", 0.6), ("lone", 0.5), ("B", 0.1)]);
    }
}
