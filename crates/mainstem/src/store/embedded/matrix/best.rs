//! The best rows of a source, so far.

/// Keeps the best rows of those that are offered: larger score first, then lower row.
#[derive(Clone, Debug)]
pub(super) struct Best {
    keep: usize,
    /// Packed so that a larger number is a better row: the score's order above, the complement of the row below.
    packed: Vec<u64>,
    /// A score must be above it.
    bar: f32,
}

impl Best {
    /// Keeps the best `keep`, of which there is at least one.
    pub(super) fn new(keep: usize) -> Self {
        Self { keep: keep.max(1), packed: Vec::new(), bar: f32::NEG_INFINITY }
    }

    /// What a score must be above to be of interest.
    #[inline]
    pub(super) fn bar(&self) -> f32 {
        self.bar
    }

    /// Takes a row whose score is above the bar. Rows MUST come in ascending order, so that one with the score of the bar loses.
    pub(super) fn take(&mut self, score: f32, row: u32) {
        self.packed.push(pack(score, row));
        if self.packed.len() >= (2 * self.keep).max(128) {
            self.cut();
        }
    }

    /// Takes what another kept, of any rows.
    pub(super) fn merge(&mut self, other: &Self) {
        self.packed.extend(&other.packed);
    }

    /// The best of the rows, as many as that, in no order.
    pub(super) fn first_rows(&self, count: usize) -> Vec<u32> {
        let mut packed = self.packed.clone();
        if count < packed.len() {
            packed.select_nth_unstable_by(count, |a, b| b.cmp(a));
            packed.truncate(count);
        }
        packed.into_iter().map(|packed| !(packed as u32)).collect()
    }

    /// The rows, in ascending order.
    pub(super) fn into_rows(mut self) -> Vec<u32> {
        self.cut();
        let mut rows: Vec<u32> = self.packed.iter().map(|&packed| !(packed as u32)).collect();
        rows.sort_unstable();
        rows
    }

    fn cut(&mut self) {
        if self.packed.len() > self.keep {
            let (_, &mut worst, _) = self.packed.select_nth_unstable_by(self.keep - 1, |a, b| b.cmp(a));
            self.packed.truncate(self.keep);
            self.bar = unpack_score(worst);
        }
    }
}

fn pack(score: f32, row: u32) -> u64 {
    let bits = score.to_bits();
    let order = if bits >> 31 == 1 { !bits } else { bits | 1 << 31 };
    u64::from(order) << 32 | u64::from(!row)
}

fn unpack_score(packed: u64) -> f32 {
    let order = (packed >> 32) as u32;
    f32::from_bits(if order >> 31 == 1 { order & !(1 << 31) } else { !order })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packing_keeps_the_order_of_scores() {
        let scores = [-2.0, -1.0, -0.0, 0.0, 1e-9, 3.0];
        assert!(scores.windows(2).all(|pair| pack(pair[0], 9) < pack(pair[1], 9)));
        assert!(pack(1.0, 3) > pack(1.0, 4));
        assert!(scores.iter().all(|&score| unpack_score(pack(score, 5)).to_bits() == f32::to_bits(score)));
    }

    #[test]
    fn the_first_rows_are_the_best_so_far() {
        let mut best = Best::new(100);
        for (row, score) in (0..).zip([0.5, 0.9, -0.1, 0.7, 0.9]) {
            best.take(score, row);
        }
        let first = |count| {
            let mut rows = best.first_rows(count);
            rows.sort_unstable();
            rows
        };
        assert_eq!([first(0), first(1), first(3)], [vec![], vec![1], vec![1, 3, 4]]);
        assert_eq!(first(9), [0, 1, 2, 3, 4]);
    }

    #[test]
    fn equal_scores_keep_the_lowest_rows_however_they_are_split() {
        let offer = |rows: std::ops::Range<u32>| {
            let mut best = Best::new(3);
            for row in rows.filter(|row| row % 2 == 0) {
                if 0.5 > best.bar() {
                    best.take(0.5, row);
                }
            }
            best
        };
        let mut halves = offer(500..1000);
        halves.merge(&offer(0..500));
        assert_eq!(offer(0..1000).into_rows(), [0, 2, 4]);
        assert_eq!(halves.into_rows(), [0, 2, 4]);
    }
}
