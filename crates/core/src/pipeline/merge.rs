//! # Merging sources
//!
//! Ranks of different sources say nothing about each other: the first hit of a useless source ties with the first hit of the
//! right one. Where the scores of a channel are comparable (one embedding model, one set of word statistics), the better way is
//! to merge each channel over all sources by score, and to fuse the channels' lists afterwards:
//!
//! ```text
//! score(d) = leg's score · w(leg) / greatest w of the channel        (divided instead, where the score is negative)
//! ```
//!
//! The merged list is called by its channel (`dense`), weighs what its heaviest leg does, and holds each item once, at its best
//! score. Equal scores go by the rank in their own list, then by the order of the lists.
//!
//! `calibrated` does the same with *completed* scores: an item that one leg found counts in the other channels too, with the score
//! that their legs give it when asked, as if they had found it. Without that, an item just below a list's end looks as if it had nothing.
//!
//! **When not.** Sources with different models or separate word statistics: their scores cannot be compared. A channel in which an
//! item has no score is never merged; a note says so.

use indexmap::IndexMap;
use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};

use super::run::Running;
use crate::candidates::{RankedList, Slot};
use crate::fuse::Fused;
use crate::leg::{Bounds, Leg, LegState};

/// How the lists of different sources meet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Across {
    /// Each source's list is fused as a list of its own.
    #[default]
    Rank,
    /// Each channel is merged over all sources by score first.
    Score,
    /// As `score`, with the scores that each leg gives to what other legs found.
    Calibrated,
}

impl Across {
    /// The name, as written in a configuration.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Rank => "rank",
            Self::Score => "score",
            Self::Calibrated => "calibrated",
        }
    }

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde asks for")]
    pub(super) fn is_rank(&self) -> bool {
        *self == Self::Rank
    }
}

/// The lists as they were before they were merged.
pub(super) struct Unmerged {
    lists: Vec<RankedList>,
    /// The lists that hold an item, by index.
    holders: FxHashMap<Slot, Vec<usize>>,
}

impl Unmerged {
    fn new(lists: Vec<RankedList>) -> Self {
        let mut holders: FxHashMap<Slot, Vec<usize>> = FxHashMap::default();
        for (index, list) in lists.iter().enumerate().filter(|(_, list)| takes_part(list)) {
            list.slots().iter().for_each(|slot| holders.entry(*slot).or_default().push(index));
        }
        Self { lists, holders }
    }
}

fn takes_part(list: &RankedList) -> bool {
    list.leg().weight > 0.0 && list.leg().state.answered()
}

impl Running<'_> {
    /// Merges each channel over all sources by score.
    pub(super) fn merge(&mut self) {
        if self.pipeline.spec.across.is_rank() {
            return;
        }
        let lists = self.candidates.lists().to_vec();
        let notes = &mut self.status.notes;
        let merged = merged(&lists, self.pipeline.spec.across, |channel| {
            notes.push(format!("`{channel}` has items without comparable scores and is not merged"));
        });
        let count = |lists: &[RankedList]| lists.iter().map(RankedList::len).sum();
        self.status.ran("merge", count(&lists), count(&merged));
        self.candidates.to_mut().set_lists(merged);
        self.unmerged = Some(Unmerged::new(lists));
    }

    /// The lists of the sources, merged or not.
    pub(super) fn source_lists(&self) -> &[RankedList] {
        self.unmerged.as_ref().map_or(self.candidates.lists(), |unmerged| &unmerged.lists)
    }

    /// The legs that hold an item, in list order.
    pub(super) fn holders(&self, fused: &Fused, slot: Slot) -> Vec<&Leg> {
        if let Some(unmerged) = &self.unmerged {
            let held = unmerged.holders.get(&slot).into_iter().flatten();
            return held.map(|&list| unmerged.lists[list].leg()).collect();
        }
        let held = fused.cells(slot).iter().filter(|cell| cell.rank > 0);
        held.map(|cell| self.candidates.lists()[cell.list as usize].leg()).collect()
    }

    /// The weight with which a leg is fused: its own, or that of the list it is merged into.
    pub(super) fn fused_weight(&self, leg: &Leg) -> f64 {
        let same =
            |other: &&RankedList| other.leg().variant == leg.variant && other.leg().name == leg.channel();
        let merged = self.unmerged.as_ref().and_then(|_| self.candidates.lists().iter().find(same));
        merged.map_or(leg.weight, |list| list.leg().weight)
    }
}

/// The lists of each channel as one. A channel whose scores cannot be compared is named, and stays as it is.
pub(super) fn merged(
    lists: &[RankedList],
    across: Across,
    mut unmerged: impl FnMut(&str),
) -> Vec<RankedList> {
    let mut channels: IndexMap<(u32, &str), Vec<&RankedList>> = IndexMap::new();
    for list in lists {
        channels.entry((list.leg().variant, list.leg().channel())).or_default().push(list);
    }
    let mut merged = Vec::with_capacity(channels.len());
    for ((_, channel), lists) in channels {
        if comparable(&lists) {
            merged.push(merge(channel, &lists, across == Across::Calibrated));
        } else {
            unmerged(channel);
            merged.extend(lists.into_iter().cloned());
        }
    }
    merged
}

fn comparable(lists: &[&RankedList]) -> bool {
    let direction = lists.first().map(|list| list.leg().direction);
    lists.iter().all(|list| {
        Some(list.leg().direction) == direction && list.similarities().iter().all(|score| !score.is_nan())
    })
}

fn merge(channel: &str, lists: &[&RankedList], completed: bool) -> RankedList {
    let leg = merged_leg(channel, lists);
    let taking_part = lists.iter().filter(|list| takes_part(list));
    let mut places: Vec<(f64, usize, Slot)> = Vec::new();
    for list in taking_part {
        let share = list.leg().weight / leg.weight;
        let scored = list.slots().iter().zip(list.similarities()).enumerate();
        places.extend(scored.map(|(rank, (&slot, &score))| (weighted(score, share), rank, slot)));
        let unlisted = list.completed_similarities().iter().filter(|_| completed);
        places.extend(unlisted.map(|&(slot, score)| (weighted(score, share), list.len(), slot)));
    }
    // The sort is stable: what is equal in score and rank stays in the order of the lists.
    places.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let mut seen = FxHashSet::default();
    places.retain(|(_, _, slot)| seen.insert(*slot));
    RankedList::of(leg, places.into_iter().map(|(score, _, slot)| (slot, score)))
}

/// A score that counts as much as its leg: never more than it was, whatever its sign.
fn weighted(score: f64, share: f64) -> f64 {
    if score < 0.0 { score / share } else { score * share }
}

fn merged_leg(channel: &str, lists: &[&RankedList]) -> Leg {
    let legs = || lists.iter().map(|list| list.leg());
    let answered = lists.iter().filter(|list| takes_part(list)).map(|list| list.leg());
    let weight = |legs: &mut dyn Iterator<Item = &Leg>| legs.map(|leg| leg.weight).max_by(f64::total_cmp);
    let state = match answered.clone().map(|leg| leg.state).max_by_key(|state| usefulness(*state)) {
        Some(state) => state,
        None => legs().find(|leg| leg.weight > 0.0).map_or(LegState::Skipped, |leg| leg.state),
    };
    let first = legs().next();
    Leg {
        name: channel.to_owned(),
        source: "*".to_owned(),
        kind: None,
        weight: weight(&mut answered.clone()).or_else(|| weight(&mut legs())).unwrap_or(0.0),
        variant: first.map_or(0, |leg| leg.variant),
        direction: first.map(|leg| leg.direction).unwrap_or_default(),
        bounds: Bounds {
            min: least(legs().map(|leg| leg.bounds.min)),
            max: least(legs().map(|leg| leg.bounds.max.map(|max| -max))).map(|max| -max),
            typical: typical(lists),
        },
        state,
        copy: false,
    }
}

/// What an unrelated item scores: as in the source that has the best item. A source that has nothing to do with the query does not change it, and
/// neither does a copy of a source.
fn typical(lists: &[&RankedList]) -> Option<f64> {
    let of = |copy: bool| {
        let lists = lists.iter().filter(|list| takes_part(list) && list.leg().copy == copy);
        let known = lists.filter_map(|list| Some((list.similarities().first()?, list.leg().bounds.typical?)));
        known.max_by(|a, b| a.0.total_cmp(b.0).then(a.1.total_cmp(&b.1)))
    };
    of(false).or_else(|| of(true)).map(|(_, typical)| typical)
}

fn usefulness(state: LegState) -> u8 {
    match state {
        LegState::Ok => 2,
        LegState::Slow => 1,
        _ => 0,
    }
}

/// The least of all, if all are known.
fn least(bounds: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    let known: Option<Vec<f64>> = bounds.collect();
    known?.into_iter().min_by(f64::total_cmp)
}
