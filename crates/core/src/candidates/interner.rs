//! Ids in the order they came, each with its slot.
//!
//! An open-addressed table whose entries carry half of the hash: another id is told apart without looking at it, and
//! growing moves integers only. With string ids this takes half the time of an `IndexSet`, and interning is most of
//! what a fusion of raw lists costs.

use std::hash::BuildHasher;

use rustc_hash::FxBuildHasher;

use super::{Id, Slot};

/// An entry that is not taken.
const FREE: u64 = 0;

#[derive(Clone, Debug)]
pub(super) struct Interner<I> {
    ids: Vec<I>,
    /// `hash << 32 | slot + 1`. The length is a power of two, and at least half of the entries are free.
    table: Vec<u64>,
}

impl<I> Default for Interner<I> {
    fn default() -> Self {
        Self { ids: Vec::new(), table: Vec::new() }
    }
}

impl<I> Interner<I> {
    /// The ids, by slot.
    pub(super) fn ids(&self) -> &[I] {
        &self.ids
    }

    /// Makes room for more ids.
    pub(super) fn reserve(&mut self, more: usize) {
        self.ids.reserve(more);
        let wanted = 2 * (self.ids.len() + more);
        if wanted > self.table.len() {
            self.grow(wanted.next_power_of_two());
        }
    }

    fn grow(&mut self, length: usize) {
        let mut table = vec![FREE; length];
        for &entry in self.table.iter().filter(|entry| **entry != FREE) {
            let mut at = (entry >> 32) as usize & (length - 1);
            while table[at] != FREE {
                at = (at + 1) & (length - 1);
            }
            table[at] = entry;
        }
        self.table = table;
    }
}

impl<I: Id> Interner<I> {
    /// The slot of an id, made if it is new.
    #[inline]
    pub(super) fn intern(&mut self, id: I) -> Slot {
        if 2 * self.ids.len() >= self.table.len() {
            self.reserve(1 + self.ids.len());
        }
        let hash = hash(&id);
        self.find(&id, hash).unwrap_or_else(|free| {
            let slot = self.ids.len() as Slot;
            self.ids.push(id);
            self.table[free] = hash << 32 | (u64::from(slot) + 1);
            slot
        })
    }

    /// The slot of an id that is there.
    pub(super) fn slot(&self, id: &I) -> Option<Slot> {
        if self.table.is_empty() { None } else { self.find(id, hash(id)).ok() }
    }

    /// The slot of an id, or the free entry where it belongs. The table must not be empty.
    #[inline]
    fn find(&self, id: &I, hash: u64) -> Result<Slot, usize> {
        let last = self.table.len() - 1;
        let mut at = hash as usize & last;
        loop {
            let entry = self.table[at];
            if entry == FREE {
                return Err(at);
            }
            let slot = (entry as u32).wrapping_sub(1);
            if entry >> 32 == hash && self.ids[slot as usize] == *id {
                return Ok(slot);
            }
            at = (at + 1) & last;
        }
    }
}

/// The half of the hash that an entry carries.
fn hash<I: Id>(id: &I) -> u64 {
    FxBuildHasher.hash_one(id) & u64::from(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_keep_their_slots_while_the_table_grows() {
        let mut interner = Interner::default();
        assert_eq!(interner.slot(&"none".to_owned()), None);
        for round in 0..2 {
            for number in 0..5_000_u32 {
                assert_eq!(interner.intern(format!("id {number}")), number, "round {round}");
            }
        }
        assert_eq!(interner.ids().len(), 5_000);
        assert_eq!(interner.slot(&"id 4999".to_owned()), Some(4_999));
        assert_eq!(interner.slot(&"id 5000".to_owned()), None);
    }

    #[test]
    fn ids_of_one_hash_are_told_apart() {
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
        struct Same(u32);
        impl std::hash::Hash for Same {
            fn hash<H: std::hash::Hasher>(&self, _: &mut H) {}
        }
        impl std::fmt::Display for Same {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.0.fmt(f)
            }
        }
        let mut interner = Interner::default();
        let slots: Vec<_> = [7, 8, 9, 8, 7].map(|number| interner.intern(Same(number))).into();
        assert_eq!(slots, [0, 1, 2, 1, 0]);
    }
}
