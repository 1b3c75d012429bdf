//! A packed context with its receipts.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Serialize, Serializer};

use super::Packing;
use super::draft::label;
use crate::ask::piece::Piece;
use crate::ask::quote::fence;

/// Why a passage is in.
#[derive(Clone, Debug, PartialEq)]
pub enum Included {
    /// It belongs to the floor of its kind.
    Floor {
        /// Its place among the hits.
        rank: usize,
        /// Its score.
        score: f64,
        /// The kind.
        kind: String,
        /// Which of its kind it is.
        nth: usize,
        /// How many of the kind go first.
        of: usize,
    },
    /// It was the best that was left.
    Best {
        /// Its place among the hits.
        rank: usize,
        /// Its score.
        score: f64,
    },
}

impl fmt::Display for Included {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Floor { rank, score, kind, nth, of } => {
                write!(f, "rank {rank}, score {score:.3}: floor of {kind}, {nth} of {of}")
            }
            Self::Best { rank, score } => write!(f, "rank {rank}, score {score:.3}: best of what was left"),
        }
    }
}

/// Why a hit is not a passage.
#[derive(Clone, Debug, PartialEq)]
pub enum Omitted {
    /// There was no room.
    Budget,
    /// It says the same as another.
    Duplicate {
        /// That other.
        of: String,
    },
    /// Its score is too low to be worth it.
    BelowFloor {
        /// Its score.
        score: f64,
        /// The least that is worth it.
        least: f64,
    },
    /// It stands beside a passage and is part of it now.
    Joined {
        /// The hit that brought in that passage.
        into: String,
    },
    /// It has no text.
    Empty,
}

impl fmt::Display for Omitted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Budget => f.write_str("budget: there was no room"),
            Self::Duplicate { of } => write!(f, "duplicate of {of}"),
            Self::BelowFloor { score, least } => {
                write!(f, "below the floor: score {score:.3}, worth it from {least:.3}")
            }
            Self::Joined { into } => write!(f, "joined into {into}"),
            Self::Empty => f.write_str("empty: it has no text"),
        }
    }
}

fn as_text<T: fmt::Display, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(value)
}

/// A passage of a context, as its receipt says it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Passage {
    /// Its number, from 1, by which it is cited.
    pub n: usize,
    /// The hit that brought it in.
    pub id: String,
    /// The source.
    pub source: String,
    /// The kind of the source.
    pub kind: String,
    /// The title of the document.
    pub title: Option<String>,
    /// Where a person can see it.
    pub url: Option<String>,
    /// How many tokens it has, its heading and fence included.
    pub tokens: usize,
    /// Why it is in.
    #[serde(serialize_with = "as_text")]
    pub why: Included,
    /// Whether its end was cut off.
    pub cut: bool,
    /// All hits that it is made of, in the order of the document.
    pub parts: Vec<String>,
}

/// A hit that is no passage.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LeftOut {
    /// The hit.
    pub id: String,
    /// Why.
    #[serde(serialize_with = "as_text")]
    pub why: Omitted,
}

/// What a model gets to read.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Context {
    /// The passages.
    pub passages: Vec<Passage>,
    /// The hits that are no passages, best first.
    pub left_out: Vec<LeftOut>,
    /// How many tokens the text has.
    pub tokens: usize,
    /// How many it may have.
    pub budget: usize,
    /// How evenly the passages are spread over the sources that found anything: 0 is one source, 1 is all alike.
    pub diversity: f64,
    /// The text.
    pub text: String,
}

/// How much of a context is of one kind.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Share {
    /// The kind.
    pub kind: String,
    /// How a heading names it.
    pub label: String,
    /// How many passages are of it.
    pub passages: usize,
    /// Its share of the tokens.
    pub share: f64,
}

impl Context {
    /// The kinds of the passages, largest share first.
    pub fn kinds(&self) -> Vec<Share> {
        let mut kinds: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
        for passage in &self.passages {
            let (passages, tokens) = kinds.entry(&passage.kind).or_default();
            *passages += 1;
            *tokens += passage.tokens;
        }
        let all = kinds.values().map(|(_, tokens)| tokens).sum::<usize>().max(1) as f64;
        let share = |(kind, (passages, tokens)): (&str, (usize, usize))| Share {
            kind: kind.to_owned(),
            label: label(kind),
            passages,
            share: tokens as f64 / all,
        };
        let mut shares: Vec<Share> = kinds.into_iter().map(share).collect();
        shares.sort_by(|a, b| b.share.total_cmp(&a.share).then_with(|| a.kind.cmp(&b.kind)));
        shares
    }

    /// The kind that has more than half of the tokens, if one does and there are others.
    pub fn dominant(&self) -> Option<String> {
        let kinds = self.kinds();
        let first = kinds.first().filter(|first| kinds.len() > 1 && first.share > 0.5);
        first.map(|first| first.kind.clone())
    }
}

impl Packing<'_> {
    /// The context as it stands.
    pub(super) fn finish(self, considered: &[Piece]) -> Context {
        let text = self.text();
        let counter = self.packer.counter;
        let fence = fence(self.drafts.iter().map(|draft| draft.text.as_str()));
        let passage = |(draft, n): (&super::Draft<'_>, usize)| Passage {
            n,
            id: draft.lead.id.clone(),
            source: draft.lead.source.clone(),
            kind: draft.lead.kind.clone(),
            title: draft.lead.title.clone(),
            url: draft.lead.url.clone(),
            tokens: counter.count(&draft.block(n, &fence, &self.shared)),
            why: draft.why.clone(),
            cut: draft.cut,
            parts: draft.pieces.iter().map(|piece| piece.id.clone()).collect(),
        };
        let passages: Vec<Passage> = self.drafts.iter().zip(1..).map(passage).collect();
        let mut omitted = self.omitted;
        omitted.sort_by_key(|(piece, _)| piece.rank);
        Context {
            diversity: diversity(&passages, considered),
            left_out: omitted.into_iter().map(|(piece, why)| LeftOut { id: piece.id.clone(), why }).collect(),
            tokens: counter.count(&text),
            budget: self.packer.budget,
            passages,
            text,
        }
    }
}

/// The entropy of the passages over sources, as a share of the largest that the sources of the hits allow.
fn diversity(passages: &[Passage], considered: &[Piece]) -> f64 {
    let count = |names: &mut dyn Iterator<Item = &str>| {
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        names.for_each(|name| *counts.entry(name.to_owned()).or_default() += 1);
        counts
    };
    let found = count(&mut considered.iter().map(|piece| piece.source.as_str())).len();
    let used = count(&mut passages.iter().map(|passage| passage.source.as_str()));
    if found < 2 || passages.is_empty() {
        return 0.0;
    }
    let share = |count: &usize| *count as f64 / passages.len() as f64;
    let entropy: f64 = used.values().map(share).map(|share| -share * share.ln()).sum();
    // The entropy of one source is -0.
    (entropy / (found as f64).ln()).clamp(0.0, 1.0) + 0.0
}
