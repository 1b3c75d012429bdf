//! Finding near-duplicates without comparing every pair.
//!
//! Two sets with a Jaccard overlap ≥ t must share one of the `n − ⌈t·n⌉ + 1` first words of each, in any fixed order of words
//! (S. Chaudhuri, V. Ganti, R. Kaushik: *A primitive operator for similarity joins*, ICDE 2006). With the rarest words first, only
//! a handful of survivors are looked at. The result is exact.

use rustc_hash::FxHashMap;

use super::Likeness;
use crate::ledger::Sameness;
use crate::similarity::Profile;

/// The items that have survived so far.
pub(super) struct Survivors<'a> {
    profiles: &'a [Profile<'a>],
    threshold: f64,
    /// The threshold between an item of a copied source and one of no such source, where it is less.
    of_copy: f64,
    /// Which items are of copied sources.
    copies: Vec<bool>,
    likeness: Likeness,
    prefixes: Vec<Vec<u64>>,
    /// For each word, the survivors that have it in their prefix, in order.
    by_word: FxHashMap<u64, Vec<usize>>,
    /// The survivors that have a vector, in order.
    with_vector: Vec<usize>,
}

impl<'a> Survivors<'a> {
    pub(super) fn new(
        profiles: &'a [Profile<'a>],
        (threshold, of_copy): (f64, f64),
        likeness: Likeness,
        copies: Vec<bool>,
    ) -> Self {
        let frequencies = Frequencies::of(profiles);
        let of_copy = of_copy.min(threshold);
        let least = if copies.contains(&true) { of_copy } else { threshold };
        let prefixes =
            profiles.iter().map(|profile| frequencies.prefix(profile.words.hashes(), least)).collect();
        Self {
            profiles,
            threshold,
            of_copy,
            copies,
            likeness,
            prefixes,
            by_word: FxHashMap::default(),
            with_vector: Vec::new(),
        }
    }

    pub(super) fn add(&mut self, index: usize) {
        for word in &self.prefixes[index] {
            self.by_word.entry(*word).or_default().push(index);
        }
        if self.profiles[index].vector.is_some() {
            self.with_vector.push(index);
        }
    }

    /// The best survivor that this item is a copy of.
    pub(super) fn find(&self, index: usize) -> Option<(usize, Sameness)> {
        let by_vector = self.find_by_vector(index);
        let by_words = self.find_by_words(index);
        [by_vector, by_words].into_iter().flatten().min_by_key(|(survivor, _)| *survivor)
    }

    fn find_by_vector(&self, index: usize) -> Option<(usize, Sameness)> {
        if self.likeness != Likeness::Cosine {
            return None;
        }
        self.with_vector.iter().find_map(|&survivor| {
            let similarity = self.profiles[index].cosine(&self.profiles[survivor])?;
            (similarity >= self.threshold).then_some((survivor, Sameness::Cosine { similarity }))
        })
    }

    fn find_by_words(&self, index: usize) -> Option<(usize, Sameness)> {
        let profile = &self.profiles[index];
        let prefix = self.prefixes[index].iter();
        let mut candidates: Vec<usize> =
            prefix.filter_map(|word| self.by_word.get(word)).flatten().copied().collect();
        candidates.sort_unstable();
        candidates.dedup();
        candidates.into_iter().find_map(|survivor| {
            let other = &self.profiles[survivor];
            if self.likeness == Likeness::Cosine && profile.cosine(other).is_some() {
                return None;
            }
            let of_copy = self.copies[index] && !self.copies[survivor];
            let threshold = if of_copy { self.of_copy } else { self.threshold };
            if profile.words.most(&other.words) < threshold {
                return None;
            }
            let similarity = profile.words.jaccard(&other.words);
            (similarity >= threshold).then_some((survivor, Sameness::Jaccard { similarity }))
        })
    }
}

/// Into how many counters words are thrown.
const COUNTERS: usize = 4096;

/// How many items have a word, or more: several words may share a counter. Any fixed order of words gives right prefixes, so that a
/// rough count is as good as an exact one.
struct Frequencies([u16; COUNTERS]);

impl Frequencies {
    fn of(profiles: &[Profile<'_>]) -> Self {
        let mut counters = [0_u16; COUNTERS];
        for hash in profiles.iter().flat_map(|profile| profile.words.hashes()) {
            let counter = &mut counters[*hash as usize % COUNTERS];
            *counter = counter.saturating_add(1);
        }
        Self(counters)
    }

    /// The first words of an item, rarest first, less those that no other item has.
    ///
    /// A word is its frequency and, below, as much of its hash as there is room for.
    fn prefix(&self, hashes: &[u64], threshold: f64) -> Vec<u64> {
        let ranked = |hash: &u64| u64::from(self.0[*hash as usize % COUNTERS]) << 48 | hash >> 16;
        let mut words: Vec<u64> = hashes.iter().map(ranked).collect();
        // The margin keeps rounding from shortening the prefix; a longer one is only slower.
        let needed = (threshold * words.len() as f64 - 1e-9).ceil() as usize;
        let length = (words.len() + 1).saturating_sub(needed);
        if length < words.len() {
            words.select_nth_unstable(length);
            words.truncate(length);
        }
        words.retain(|word| word >> 48 > 1);
        words
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::item::Item;

    proptest! {
        #[test]
        fn the_prefix_misses_nothing(
            texts in prop::collection::vec("[a-f]( [a-f]){0,7}", 1..20),
            threshold in 0.05_f64..=1.0,
        ) {
            let items: Vec<_> = texts.into_iter().map(|text| Item { text: Some(text), ..Item::default() }).collect();
            let profiles: Vec<_> = items.iter().map(Profile::of).collect();
            let mut survivors = Survivors::new(&profiles, (threshold, 0.5), Likeness::Jaccard, vec![false; profiles.len()]);
            let mut kept: Vec<usize> = Vec::new();
            for index in 0..profiles.len() {
                let slow = kept.iter().copied()
                    .find(|&other| profiles[index].words.jaccard(&profiles[other].words) >= threshold);
                prop_assert_eq!(survivors.find(index).map(|(survivor, _)| survivor), slow);
                if slow.is_none() {
                    kept.push(index);
                    survivors.add(index);
                }
            }
        }
    }
}
