//! The words that tell a document from others.
//!
//! A word weighs what it is worth in a search by words: the rarer, the more. Of a document, the words with the greatest weight count, each by
//! how often it occurs too: `weight × (1 + ln count)`.

use std::sync::{Mutex, PoisonError};

use indexmap::IndexMap;
use mainstem_core::contract::{Channel, Ctx, Filter, Retrieval, View};
use mainstem_core::{Failure, StoredChunk};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::words::tokens;

/// How many words of a document count.
const MOST: usize = 48;

/// How many words that two documents have in common are named.
const SHOWN: usize = 5;

/// How many weights of words are remembered.
const REMEMBERED: usize = 1 << 18;

/// Weighs words by what may be seen of a store.
pub(super) struct Telling<'a> {
    view: &'a dyn View,
    filter: &'a Filter,
    ctx: &'a Ctx,
    known: Mutex<FxHashMap<String, f64>>,
}

/// A word that tells.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct TellingWord {
    /// What is compared.
    pub(super) term: String,
    /// As it is written.
    pub(super) written: String,
    pub(super) weight: f64,
}

/// The words of a document.
pub(super) struct Profile {
    /// Those that tell, the greatest weight first.
    pub(super) telling: Vec<TellingWord>,
    /// All words of each chunk, with its place.
    chunks: Vec<(u32, FxHashSet<String>)>,
}

impl<'a> Telling<'a> {
    pub(super) fn new(view: &'a dyn View, filter: &'a Filter, ctx: &'a Ctx) -> Self {
        Self { view, filter, ctx, known: Mutex::default() }
    }

    /// What a word weighs: what it can add to a score at most.
    fn weight(&self, written: &str) -> Result<f64, Failure> {
        let known = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(weight) = known().get(written) {
            return Ok(*weight);
        }
        let retrieval = Retrieval {
            channel: Channel::Lexical,
            text: written,
            vector: None,
            filter: self.filter,
            limit: 1,
        };
        let weight = self.view.greatest(&retrieval, self.ctx)?.unwrap_or(0.0);
        let mut known = known();
        if known.len() < REMEMBERED {
            known.insert(written.to_owned(), weight);
        }
        Ok(weight)
    }

    /// The words of a document, of which these are the first chunks.
    pub(super) fn of(&self, chunks: &[StoredChunk]) -> Result<Profile, Failure> {
        let mut counts: IndexMap<String, (String, u32)> = IndexMap::new();
        let mut sets = Vec::with_capacity(chunks.len());
        for (at, stored) in chunks.iter().enumerate() {
            // The title counts once, as a part of the beginning.
            let title = stored.document.title.as_deref().filter(|_| at == 0);
            let mut set = FxHashSet::default();
            for text in title.into_iter().chain([stored.chunk.text.as_str()]) {
                for token in tokens(text) {
                    let written = text[token.start..token.end].to_owned();
                    counts.entry(token.term.clone()).or_insert((written, 0)).1 += 1;
                    set.insert(token.term);
                }
            }
            sets.push((stored.chunk.order, set));
        }
        Ok(Profile { telling: self.best(counts)?, chunks: sets })
    }

    fn best(&self, counts: IndexMap<String, (String, u32)>) -> Result<Vec<TellingWord>, Failure> {
        let mut words = Vec::with_capacity(counts.len());
        for (term, (written, count)) in counts {
            let weight = self.weight(&written)? * (1.0 + f64::from(count).ln());
            if weight > 0.0 {
                words.push(TellingWord { term, written, weight });
            }
        }
        words.sort_by(|x, y| y.weight.total_cmp(&x.weight).then_with(|| x.term.cmp(&y.term)));
        words.truncate(MOST);
        Ok(words)
    }
}

impl Profile {
    /// The telling words as a question.
    pub(super) fn question(&self) -> String {
        self.telling.iter().map(|word| word.written.as_str()).collect::<Vec<_>>().join(" ")
    }

    /// Which part of the weight of the telling words the other document has.
    pub(super) fn share_in(&self, other: &Self) -> f64 {
        let whole: f64 = self.telling.iter().map(|word| word.weight).sum();
        let has = |word: &&TellingWord| other.chunks.iter().any(|(_, set)| set.contains(&word.term));
        let shared: f64 = self.telling.iter().filter(has).map(|word| word.weight).sum();
        if whole > 0.0 { shared / whole } else { 0.0 }
    }

    /// The words that tell most of both, as this one writes them, without those that are a part of one before.
    pub(super) fn common(&self, other: &Self) -> Vec<String> {
        let weights: FxHashMap<&str, f64> =
            other.telling.iter().map(|word| (word.term.as_str(), word.weight)).collect();
        let both =
            |word: &TellingWord| Some((word.weight + weights.get(word.term.as_str())?, word.written.clone()));
        let mut words: Vec<(f64, String)> = self.telling.iter().filter_map(both).collect();
        words.sort_by(|x, y| y.0.total_cmp(&x.0).then_with(|| x.1.cmp(&y.1)));
        let mut shown: Vec<String> = Vec::new();
        for (_, word) in words {
            let part = |known: &String| known.to_lowercase().contains(&word.to_lowercase());
            if shown.len() < SHOWN && !shown.iter().any(part) {
                shown.push(word);
            }
        }
        shown
    }

    /// The places of the two chunks that share the greatest weight of telling words; the first of equals.
    pub(super) fn most_alike(&self, other: &Self) -> (u32, u32) {
        let mut best = (f64::NEG_INFINITY, (0, 0));
        for (place, own) in &self.chunks {
            for (other_place, others) in &other.chunks {
                let shared = |word: &&TellingWord| own.contains(&word.term) && others.contains(&word.term);
                let words = self.telling.iter().chain(&other.telling).filter(shared);
                let weight: f64 = words.map(|word| word.weight).sum();
                if weight > best.0 {
                    best = (weight, (*place, *other_place));
                }
            }
        }
        best.1
    }
}
