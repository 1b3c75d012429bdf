//! Candidates: every item that some leg returned, and the ranked lists over them.
//!
//! Ids are interned once: a list holds small *slots* instead of ids, so that fusing the same lists again with other
//! settings (a replay, a tuner) hashes nothing. Lists can only be made here, and so they are sorted, unique and finite
//! by construction.

mod interner;
mod list;

use std::fmt::Display;
use std::hash::Hash;
use std::sync::Arc;

use indexmap::IndexSet;

use crate::error::Error;
use crate::leg::{Bounds, Direction, Leg, LegState, checked_weight, is_sane};
use interner::Interner;

pub use list::RankedList;

/// What can name an item: a string, a number, anything that is ordered, hashable and printable.
pub trait Id: Clone + Eq + Ord + Hash + Display {}
impl<T: Clone + Eq + Ord + Hash + Display> Id for T {}

/// The place of an item among the [`Candidates`].
pub type Slot = u32;

/// What to do with a score that is NaN, infinite or absurdly large ([`LARGEST`](crate::leg::LARGEST)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NonFinite {
    /// Refuse the list and name the item: for input that a person can correct.
    Refuse,
    /// Drop the item and count it: for a live leg, which must not break the answer.
    Drop,
}

/// All items of one search with the ranked lists over them.
///
/// ```
/// use mainstem_core::{Candidates, Fusion, Leg};
///
/// let mut candidates = Candidates::new();
/// candidates.scored(Leg::new("bm25"), [("a", 12.5), ("b", 11.0), ("c", 9.2)])?;
/// candidates.scored(Leg::new("dense"), [("b", 0.95), ("c", 0.88), ("d", 0.70)])?;
///
/// let fused = Fusion::default().fuse(&candidates)?;
/// let order: Vec<_> = fused.hits().iter().map(|hit| *candidates.id(hit.slot)).collect();
/// assert_eq!(order, ["b", "c", "a", "d"]);
/// # Ok::<(), mainstem_core::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Candidates<I> {
    /// Shared by clones: a stage that changes the lists need not copy the ids.
    ids: Arc<Interner<I>>,
    lists: Vec<RankedList>,
}

impl<I> Default for Candidates<I> {
    fn default() -> Self {
        Self { ids: Arc::default(), lists: Vec::new() }
    }
}

impl<I: Id> Candidates<I> {
    /// No candidates yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a list whose items all have scores.
    ///
    /// # Errors
    /// As [`Self::add`], with [`NonFinite::Refuse`].
    pub fn scored(&mut self, leg: Leg, items: impl IntoIterator<Item = (I, f64)>) -> Result<(), Error> {
        self.add(leg, items.into_iter().map(|(id, score)| (id, Some(score))), NonFinite::Refuse)
    }

    /// Adds a list of which only the order is known.
    ///
    /// # Errors
    /// As [`Self::add`].
    pub fn ranked(&mut self, leg: Leg, items: impl IntoIterator<Item = I>) -> Result<(), Error> {
        self.add(leg, items.into_iter().map(|id| (id, None)), NonFinite::Refuse)
    }

    /// Adds a list, best first after sorting.
    ///
    /// Items with scores are put in order of score; equal scores keep the order given. Items without one keep the
    /// place they were given. An id that comes again keeps its first place, and the ranks behind it close up.
    ///
    /// # Errors
    /// When the weight is not finite and ≥ 0, when a list of this name and variant is there already, or when a score is
    /// NaN or infinite and `non_finite` says to refuse it.
    pub fn add(
        &mut self,
        leg: Leg,
        items: impl IntoIterator<Item = (I, Option<f64>)>,
        non_finite: NonFinite,
    ) -> Result<(), Error> {
        checked_weight(&leg.name, leg.weight)?;
        if self.lists.iter().any(|list| list.leg.name == leg.name && list.leg.variant == leg.variant) {
            return Err(Error::Duplicate { what: "list", name: leg.name });
        }
        let items = items.into_iter();
        let room = items.size_hint().0;
        let ids = Arc::make_mut(&mut self.ids);
        ids.reserve(room);
        let mut list = RankedList::with_room(leg, room);
        for (id, score) in items {
            match score {
                Some(score) if !is_sane(score) && non_finite == NonFinite::Drop => list.dropped += 1,
                Some(score) if !is_sane(score) => {
                    return Err(Error::NonFinite { list: list.leg.name, id: id.to_string(), score });
                }
                _ => {
                    list.slots.push(ids.intern(id));
                    list.scores.push(similarity(score, list.leg.direction));
                }
            }
        }
        list.sort();
        list.drop_repeated(ids.ids().len());
        if list.is_empty() && list.leg.state == LegState::Ok {
            list.leg.state = LegState::Empty;
        }
        self.lists.push(list);
        Ok(())
    }

    /// Tells the score in a list of items that the list does not hold: those that another list found. Items that no list holds,
    /// and scores that are NaN or infinite, are passed over.
    ///
    /// # Errors
    /// When there is no such list.
    pub fn complete(
        &mut self,
        name: &str,
        variant: u32,
        items: impl IntoIterator<Item = (I, f64)>,
    ) -> Result<(), Error> {
        let Self { ids, lists } = self;
        let meant = lists.iter_mut().find(|list| list.leg.name == name && list.leg.variant == variant);
        let list = meant.ok_or_else(|| Error::unknown("list", name, []))?;
        let direction = list.leg.direction;
        let sane = items.into_iter().filter(|(_, score)| is_sane(*score));
        list.complete(
            sane.filter_map(|(id, score)| Some((ids.slot(&id)?, similarity(Some(score), direction)))),
        );
        Ok(())
    }

    /// The same lists over items of other names. Names MUST differ where ids do.
    #[must_use]
    pub fn renamed<J: Id>(self, name: impl FnMut(&I) -> J) -> Candidates<J> {
        let mut ids = Interner::default();
        ids.reserve(self.len());
        self.ids.ids().iter().map(name).for_each(|id| {
            ids.intern(id);
        });
        Candidates { ids: Arc::new(ids), lists: self.lists }
    }

    /// The id in a slot.
    ///
    /// # Panics
    /// When the slot is not of these candidates.
    pub fn id(&self, slot: Slot) -> &I {
        &self.ids.ids()[slot as usize]
    }

    /// The slot of an id, if some list holds it.
    pub fn slot(&self, id: &I) -> Option<Slot> {
        self.ids.slot(id)
    }

    /// The slot of an id, made if it is new.
    pub(crate) fn intern(&mut self, id: I) -> Slot {
        Arc::make_mut(&mut self.ids).intern(id)
    }
}

impl<I> Candidates<I> {
    /// How many different items there are.
    pub fn len(&self) -> usize {
        self.ids.ids().len()
    }

    /// Whether there is no item at all.
    pub fn is_empty(&self) -> bool {
        self.ids.ids().is_empty()
    }

    /// The lists, in the order they were added.
    pub fn lists(&self) -> &[RankedList] {
        &self.lists
    }

    /// Sets the weight of the list of this name, or of all lists of the source of this name.
    ///
    /// # Errors
    /// When there is no such list or source, or the weight is not finite and ≥ 0.
    pub fn set_weight(&mut self, name: &str, weight: f64) -> Result<(), Error> {
        let weight = checked_weight(name, weight)?;
        self.change(name, |leg| leg.weight = weight)
    }

    /// Sets the theoretical bounds of the list of this name, or of all lists of the source of this name.
    ///
    /// # Errors
    /// When there is no such list or source.
    pub fn set_bounds(&mut self, name: &str, bounds: Bounds) -> Result<(), Error> {
        self.change(name, |leg| leg.bounds = bounds)
    }

    fn change(&mut self, name: &str, change: impl Fn(&mut Leg)) -> Result<(), Error> {
        let by_name = self.lists.iter().any(|list| list.leg.name == name);
        let meant = |leg: &Leg| {
            if by_name { leg.name == name } else { leg.source == name }
        };
        if !self.lists.iter().any(|list| meant(&list.leg)) {
            let names = self.lists.iter().map(|list| list.leg.name.as_str());
            let sources = self.lists.iter().map(|list| list.leg.source.as_str());
            let known: IndexSet<&str> = names.chain(sources).collect();
            return Err(Error::unknown("list or source", name, known));
        }
        self.lists.iter_mut().filter(|list| meant(&list.leg)).for_each(|list| change(&mut list.leg));
        Ok(())
    }

    /// Sets every leg's weight anew, once each is checked.
    ///
    /// # Errors
    /// When a weight is negative, NaN or infinite.
    pub fn weigh(&mut self, weight: impl Fn(&Leg) -> f64) -> Result<(), Error> {
        let check = |list: &RankedList| checked_weight(&list.leg.name, weight(&list.leg)).map(drop);
        self.lists.iter().try_for_each(check)?;
        self.reweigh(weight);
        Ok(())
    }

    /// Sets every leg's weight anew.
    pub(crate) fn reweigh(&mut self, mut weight: impl FnMut(&Leg) -> f64) {
        for list in &mut self.lists {
            list.leg.weight = weight(&list.leg);
        }
    }

    /// The list that was added last.
    pub(crate) fn last_mut(&mut self) -> Option<&mut RankedList> {
        self.lists.last_mut()
    }

    /// Replaces the lists by others over the same items.
    pub(crate) fn set_lists(&mut self, lists: Vec<RankedList>) {
        self.lists = lists;
    }
}

fn similarity(score: Option<f64>, direction: Direction) -> f64 {
    match (score, direction) {
        (None, _) => f64::NAN,
        (Some(score), Direction::Similarity) => score,
        (Some(score), Direction::Distance) => -score,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids<'a>(candidates: &'a Candidates<&'a str>, list: usize) -> Vec<&'a str> {
        candidates.lists()[list].slots().iter().map(|&slot| *candidates.id(slot)).collect()
    }

    #[test]
    fn weights_are_set_all_or_none() {
        let mut candidates = Candidates::new();
        candidates.ranked(Leg::new("a"), ["x"]).unwrap();
        candidates.ranked(Leg::new("b"), ["x"]).unwrap();
        let weights =
            |candidates: &Candidates<&str>| [0, 1].map(|list| candidates.lists()[list].leg().weight);
        assert!(candidates.weigh(|leg| if leg.name == "a" { 2.0 } else { -1.0 }).is_err());
        assert_eq!(weights(&candidates), [1.0, 1.0]);
        candidates.weigh(|leg| if leg.name == "a" { 2.0 } else { 0.0 }).unwrap();
        assert_eq!(weights(&candidates), [2.0, 0.0]);
    }

    #[test]
    fn lists_are_sorted_and_unique_whatever_comes_in() {
        let mut candidates = Candidates::new();
        candidates.scored(Leg::new("a"), [("x", 1.0), ("y", 3.0), ("x", 2.0), ("z", 3.0)]).unwrap();
        assert_eq!(ids(&candidates, 0), ["y", "z", "x"]);
        assert_eq!(candidates.lists()[0].repeated(), 1);
        assert_eq!(candidates.lists()[0].score(2), Some(2.0));
    }

    #[test]
    fn items_without_a_score_keep_their_place() {
        let mut candidates = Candidates::new();
        let items = [("low", Some(1.0)), ("none", None), ("high", Some(9.0))];
        candidates.add(Leg::new("a"), items, NonFinite::Refuse).unwrap();
        assert_eq!(ids(&candidates, 0), ["high", "none", "low"]);
        assert_eq!(candidates.lists()[0].score(1), None);
    }

    #[test]
    fn distances_sort_the_other_way() {
        let mut candidates = Candidates::new();
        let leg = Leg { direction: Direction::Distance, ..Leg::new("a") };
        candidates.scored(leg, [("far", 0.9), ("near", 0.1)]).unwrap();
        assert_eq!(ids(&candidates, 0), ["near", "far"]);
        assert_eq!(candidates.lists()[0].score(0), Some(0.1));
    }

    #[test]
    fn non_finite_scores_are_refused_with_the_id_or_dropped_and_counted() {
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e101, -1e308] {
            let mut candidates = Candidates::new();
            let error = candidates.scored(Leg::new("a"), [("ok", 1.0), ("bad", bad)]).unwrap_err();
            assert!(error.to_string().contains("`bad`"), "{error}");

            let mut candidates = Candidates::new();
            candidates.add(Leg::new("a"), [("ok", Some(1.0)), ("bad", Some(bad))], NonFinite::Drop).unwrap();
            assert_eq!((ids(&candidates, 0), candidates.lists()[0].dropped()), (vec!["ok"], 1));
        }
    }

    #[test]
    fn renamed_items_keep_their_places() {
        let mut candidates = Candidates::new();
        candidates.scored(Leg::new("a"), [(7, 1.0), (3, 3.0)]).unwrap();
        candidates.scored(Leg::new("b"), [(5, 1.0)]).unwrap();
        candidates.complete("b", 0, [(7, 0.5)]).unwrap();
        let renamed = candidates.clone().renamed(|id| format!("n{id}"));
        assert_eq!(renamed.lists(), candidates.lists());
        let slots: Vec<_> = (0..3).map(|slot| renamed.id(slot).as_str()).collect();
        assert_eq!(slots, ["n7", "n3", "n5"]);
        assert_eq!(renamed.slot(&"n5".to_owned()), Some(2));
    }

    #[test]
    fn list_names_are_unique_within_a_variant() {
        let mut candidates = Candidates::new();
        candidates.scored(Leg::new("a"), [("x", 1.0)]).unwrap();
        assert!(candidates.scored(Leg::new("a"), [("x", 1.0)]).is_err());
        let other = Leg { variant: 1, ..Leg::new("a") };
        assert!(candidates.scored(other, [("x", 1.0)]).is_ok());
    }
}
