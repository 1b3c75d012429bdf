//! Numbers by chance that are the same in every run.

/// `SplitMix64` by S. Vigna: small, and good enough for texts and directions.
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    /// One of these.
    pub(crate) fn of<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }

    /// A vector of length 1 in a direction by chance: the sum of twelve uniform numbers is close enough to normal.
    pub(crate) fn direction(&mut self, dim: usize) -> Vec<f32> {
        let mut normal = || (0..12).map(|_| self.next() as f64 / u64::MAX as f64).sum::<f64>() - 6.0;
        unit((0..dim).map(|_| normal() as f32).collect())
    }

    /// A vector of length 1 that lies off this one by `distance`, before its length is set right.
    pub(crate) fn near(&mut self, vector: &[f32], distance: f32) -> Vec<f32> {
        let off = self.direction(vector.len());
        unit(vector.iter().zip(off).map(|(value, off)| value + distance * off).collect())
    }
}

/// The vector, with length 1.
pub(crate) fn unit(mut vector: Vec<f32>) -> Vec<f32> {
    let length = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
    for value in &mut vector {
        *value /= length;
    }
    vector
}
