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
    likeness: Likeness,
    frequency: FxHashMap<u64, u32>,
    /// For each word, the survivors that have it in their prefix, in order.
    by_word: FxHashMap<u64, Vec<usize>>,
    /// The survivors that have a vector, in order.
    with_vector: Vec<usize>,
}

impl<'a> Survivors<'a> {
    pub(super) fn new(profiles: &'a [Profile<'a>], threshold: f64, likeness: Likeness) -> Self {
        let mut frequency = FxHashMap::default();
        for hash in profiles.iter().flat_map(|profile| profile.words.hashes()) {
            *frequency.entry(*hash).or_insert(0) += 1;
        }
        Self {
            profiles,
            threshold,
            likeness,
            frequency,
            by_word: FxHashMap::default(),
            with_vector: Vec::new(),
        }
    }

    /// The first words of an item, rarest first.
    fn prefix(&self, index: usize) -> Vec<u64> {
        let mut hashes = self.profiles[index].words.hashes().to_vec();
        hashes.sort_unstable_by_key(|hash| (self.frequency[hash], *hash));
        // The margin keeps rounding from shortening the prefix; a longer one is only slower.
        let needed = (self.threshold * hashes.len() as f64 - 1e-9).ceil() as usize;
        hashes.truncate((hashes.len() + 1).saturating_sub(needed));
        hashes
    }

    pub(super) fn add(&mut self, index: usize) {
        for hash in self.prefix(index) {
            self.by_word.entry(hash).or_default().push(index);
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
        let mut candidates: Vec<usize> =
            self.prefix(index).iter().filter_map(|hash| self.by_word.get(hash)).flatten().copied().collect();
        candidates.sort_unstable();
        candidates.dedup();
        candidates.into_iter().find_map(|survivor| {
            let other = &self.profiles[survivor];
            if self.likeness == Likeness::Cosine && profile.cosine(other).is_some() {
                return None;
            }
            let similarity = profile.words.jaccard(&other.words);
            (similarity >= self.threshold).then_some((survivor, Sameness::Jaccard { similarity }))
        })
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
            let mut survivors = Survivors::new(&profiles, threshold, Likeness::Jaccard);
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
