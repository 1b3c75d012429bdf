//! Packing: which passages a model gets to read, and why.
//!
//! The best 30 hits are considered. A hit is worth it when its score is at least 0.2 of the best one's. First every kind of source gets
//! its floor: up to 5 of its hits, the best of each kind, then the second of each, and so on. Then the rest follow by rank, until the
//! budget is spent. Parts that stand next to each other in a document become one passage; the passage that no longer fits is cut behind a
//! sentence or a word, and is the last.
//!
//! The budget is kept by counting the whole text after every step, headings, fences and separators included: tokens of parts do not add up to
//! those of the whole.

mod context;
mod cut;
mod draft;
mod order;

use std::collections::BTreeSet;

use super::piece::Piece;
use super::tokens::Counter;

pub use context::{Context, Included, LeftOut, Omitted, Passage, Share};
use draft::Draft;

/// So many of the best hits are considered.
pub const CONSIDERED: usize = 30;
/// So many hits of each kind of source go first.
pub const FLOOR: usize = 5;
/// A hit is worth it when its score is at least this share of the best one's.
pub const WORTH: f64 = 0.2;

/// How a context is packed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Packer {
    /// What counts tokens.
    pub counter: Counter,
    /// No context has more tokens.
    pub budget: usize,
    /// How many hits are considered.
    pub considered: usize,
    /// How many hits of each kind of source go first.
    pub floor: usize,
    /// Which share of the best score makes a hit worth it.
    pub worth: f64,
}

impl Packer {
    /// A packer with this budget, and everything else as usual.
    pub fn new(counter: Counter, budget: usize) -> Self {
        Self { counter, budget, considered: CONSIDERED, floor: FLOOR, worth: WORTH }
    }

    /// Packs hits, best first.
    pub fn pack(&self, hits: &[Piece]) -> Context {
        let considered = &hits[..hits.len().min(self.considered)];
        let mut omitted = Vec::new();
        let chosen = order::choose(considered, self, &mut omitted);
        let mut packing =
            Packing { packer: self, drafts: Vec::new(), omitted, shared: shared_kinds(considered) };
        packing.fill(chosen);
        packing.finish(considered)
    }
}

/// Kinds that several sources have, so that a heading says which.
fn shared_kinds(pieces: &[Piece]) -> BTreeSet<&str> {
    let pairs: BTreeSet<(&str, &str)> =
        pieces.iter().map(|piece| (piece.kind.as_str(), piece.source.as_str())).collect();
    let several = |kind: &str| pairs.iter().filter(|(other, _)| *other == kind).count() > 1;
    pairs.iter().map(|(kind, _)| *kind).filter(|kind| several(kind)).collect()
}

/// A context in the making.
struct Packing<'a> {
    packer: &'a Packer,
    drafts: Vec<Draft<'a>>,
    omitted: Vec<(&'a Piece, Omitted)>,
    shared: BTreeSet<&'a str>,
}

/// A hit with the reason why it may come in.
type Chosen<'a> = (&'a Piece, Included);

impl<'a> Packing<'a> {
    fn fill(&mut self, chosen: Vec<Chosen<'a>>) {
        let mut full = false;
        for (piece, why) in chosen {
            if full {
                self.omitted.push((piece, Omitted::Budget));
            } else if self.drafts.iter().any(|draft| draft.touches(piece)) {
                self.join(piece);
            } else {
                full = !self.add(piece, why);
            }
        }
    }

    /// Adds a passage, whole or cut. Says whether there may be room for more.
    fn add(&mut self, piece: &'a Piece, why: Included) -> bool {
        self.drafts.push(Draft::new(piece, why));
        if self.fits() {
            return true;
        }
        let whole = self.drafts.pop();
        let cut = whole.and_then(|draft| cut::to_fit(draft, self));
        match cut {
            Some(draft) => self.drafts.push(draft),
            None => self.omitted.push((piece, Omitted::Budget)),
        }
        false
    }

    /// Joins a piece to the passages beside it, which become one. If that does not fit, nothing changes.
    fn join(&mut self, piece: &'a Piece) {
        let Some(at) = self.drafts.iter().position(|draft| draft.touches(piece)) else { return };
        let before = self.drafts.clone();
        let mut joined = self.drafts[at].clone().with(piece);
        let mut swallowed = vec![piece];
        while let Some(further) = self.drafts[at + 1..].iter().position(|draft| draft.touches(piece)) {
            let other = self.drafts.remove(at + 1 + further);
            swallowed.push(other.lead);
            joined = joined.and(other);
        }
        let into = joined.lead.id.clone();
        self.drafts[at] = joined;
        if self.fits() {
            let told = swallowed.into_iter().map(|piece| (piece, Omitted::Joined { into: into.clone() }));
            self.omitted.extend(told);
        } else {
            self.drafts = before;
            self.omitted.push((piece, Omitted::Budget));
        }
    }

    fn fits(&self) -> bool {
        self.packer.counter.within(&self.text(), self.packer.budget).is_some()
    }

    fn text(&self) -> String {
        draft::render(&self.drafts, &self.shared)
    }
}
