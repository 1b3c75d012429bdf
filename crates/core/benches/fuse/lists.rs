//! Made-up lists: every list is a random choice from one pool of ids, best first.

use mainstem_core::{Candidates, Fused, Fusion, Leg};

/// What the legs gave: ids with scores.
pub(crate) type Raw = Vec<Vec<(String, f64)>>;

/// How many lists of how many items, chosen from how many.
#[derive(Clone, Copy)]
pub(crate) struct Shape {
    pub(crate) lists: usize,
    pub(crate) items: usize,
    pub(crate) pool: usize,
}

/// The search that the numbers are about: 8 lists of 200, with some 720 different items among them.
pub(crate) const SEARCH: Shape = Shape { lists: 8, items: 200, pool: 800 };

impl Shape {
    /// The lists; other lists for another seed.
    pub(crate) fn lists(self, seed: u64) -> Raw {
        let mut noise = Noise(seed);
        let mut pool: Vec<usize> = (0..self.pool).collect();
        (0..self.lists).map(|_| self.list(&mut pool, &mut noise)).collect()
    }

    fn list(self, pool: &mut [usize], noise: &mut Noise) -> Vec<(String, f64)> {
        let mut scores: Vec<f64> = (0..self.items).map(|_| noise.next() as f64 / u64::MAX as f64).collect();
        scores.sort_by(|a, b| b.total_cmp(a));
        for at in 0..self.items {
            pool.swap(at, at + noise.next() as usize % (self.pool - at));
        }
        pool.iter().zip(scores).map(|(number, score)| (format!("doc-{number:08}"), score)).collect()
    }

    /// How many items the lists have together.
    pub(crate) fn places(self) -> usize {
        self.lists * self.items
    }
}

/// The lists with their ids interned, by reference.
pub(crate) fn interned(raw: &Raw) -> Candidates<&str> {
    let mut candidates = Candidates::new();
    for (name, list) in NAMES.iter().zip(raw) {
        let items = list.iter().map(|(id, score)| (id.as_str(), *score));
        candidates.scored(Leg::new(*name), items).expect("scores are finite and names differ");
    }
    candidates
}

/// The names of the lists.
pub(crate) const NAMES: [&str; 8] = [
    "wiki/dense",
    "wiki/sparse",
    "chat/dense",
    "chat/sparse",
    "code/dense",
    "code/sparse",
    "mail/dense",
    "mail/sparse",
];

/// The outcome as anyone would hand it on: ids with scores, best first.
pub(crate) fn named<'a>(fused: &Fused, candidates: &Candidates<&'a str>) -> Vec<(&'a str, f64)> {
    fused.hits().iter().map(|hit| (*candidates.id(hit.slot), hit.score)).collect()
}

/// From raw lists to ids with scores, best first.
pub(crate) fn fuse_raw<'a>(fusion: &Fusion, raw: &'a Raw) -> Vec<(&'a str, f64)> {
    let candidates = interned(raw);
    named(&fuse(fusion, &candidates), &candidates)
}

/// Fuses lists that the method can fuse.
pub(crate) fn fuse(fusion: &Fusion, candidates: &Candidates<&str>) -> Fused {
    fusion.fuse(candidates).expect("no method lacks anything for these lists")
}

/// Fuses them and keeps the ledger.
pub(crate) fn fuse_explained(fusion: &Fusion, candidates: &Candidates<&str>) -> Fused {
    fusion.fuse_explained(candidates).expect("no method lacks anything for these lists")
}

/// Splitmix, with 64 bits (G. L. Steele, D. Lea, C. H. Flood, 2014).
struct Noise(u64);

impl Noise {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }
}
