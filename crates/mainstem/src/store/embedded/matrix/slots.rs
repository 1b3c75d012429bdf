//! The sources that are wanted, numbered from 0.

use rustc_hash::FxHashMap;

/// Sources below this are looked up in a table.
const TABLE: u32 = 1 << 16;

/// Gives each wanted source its place in the answer.
#[derive(Debug)]
pub(super) struct Slots {
    sources: Vec<u32>,
    table: Vec<u32>,
    others: FxHashMap<u32, u32>,
}

impl Slots {
    /// The place of a source that is not wanted.
    pub(super) const NONE: u32 = u32::MAX;

    /// Places in the order given; what is given twice counts once.
    pub(super) fn new(sources: &[u32]) -> Self {
        let highest = sources.iter().copied().filter(|&source| source < TABLE).max();
        let table = vec![Self::NONE; highest.map_or(0, |highest| highest as usize + 1)];
        let mut slots = Self { sources: Vec::new(), table, others: FxHashMap::default() };
        for &source in sources {
            if slots.of(source) == Self::NONE {
                slots.add(source);
            }
        }
        slots
    }

    fn add(&mut self, source: u32) {
        let slot = self.sources.len() as u32;
        self.sources.push(source);
        match self.table.get_mut(source as usize) {
            Some(place) => *place = slot,
            None => drop(self.others.insert(source, slot)),
        }
    }

    /// The place of a source, [`Slots::NONE`] if it is not wanted.
    #[inline]
    pub(super) fn of(&self, source: u32) -> u32 {
        match self.table.get(source as usize) {
            Some(&slot) => slot,
            None if self.others.is_empty() => Self::NONE,
            None => self.others.get(&source).copied().unwrap_or(Self::NONE),
        }
    }

    /// The sources, in order of their places.
    pub(super) fn sources(&self) -> &[u32] {
        &self.sources
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_source_has_one_place() {
        let slots = Slots::new(&[7, u32::MAX, 0, 7]);
        assert_eq!(slots.sources(), [7, u32::MAX, 0]);
        assert_eq!(
            [7, u32::MAX, 0, 1, 8, 1 << 20].map(|source| slots.of(source)),
            [0, 1, 2, Slots::NONE, Slots::NONE, Slots::NONE]
        );
    }
}
