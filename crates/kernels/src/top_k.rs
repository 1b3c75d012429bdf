//! The `k` best of many scores.
//!
//! A scan keeps some candidates, at most `max(2k, 128)`, and the key of the worst one worth keeping. Scores are first tested a block at a
//! time against that bar (the part the compiler vectorises), and past the first few thousand almost no block passes.
//! When the candidates fill up, a selection cuts them to the best `k` and raises the bar. The cost is one pass over the
//! scores plus `O(k log(n/k))` candidates for scores in random order; in the worst case, ascending, it stays linear.

/// Scores tested together against the bar.
const BLOCK: usize = 32;

/// The key of +∞; keys above belong to NaN.
const CEILING: i32 = 0x7f80_0000;

/// One of the best scores: its place in the input, and itself.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scored {
    /// Index into the scores.
    pub index: u32,
    /// The score there.
    pub score: f32,
}

/// The `k` best scores, best first; see [`crate::top_k`] for the order.
#[inline(always)]
pub(crate) fn select(scores: &[f32], k: usize) -> Vec<Scored> {
    let mut shortlist = Shortlist::new(k.min(scores.len()));
    if shortlist.k == 0 {
        return Vec::new();
    }
    let (blocks, tail) = scores.as_chunks::<BLOCK>();
    for (i, block) in blocks.iter().enumerate() {
        if shortlist.wants_any(block) {
            shortlist.take(i * BLOCK, block);
        }
    }
    shortlist.take(blocks.len() * BLOCK, tail);
    shortlist.into_best(scores)
}

/// `f32::total_cmp` as integer order: larger score, larger key.
#[inline(always)]
fn order_key(score: f32) -> i32 {
    let bits = score.to_bits().cast_signed();
    bits ^ ((bits >> 31).cast_unsigned() >> 1).cast_signed()
}

/// Candidates, packed so that a larger number is a better candidate: the key above, the complement of the index below.
struct Shortlist {
    k: usize,
    /// How many candidates may gather before a cut.
    room: usize,
    packed: Vec<u64>,
    /// Keys below are of no use; it starts at −∞, which shuts out negative NaN.
    bar: i32,
}

impl Shortlist {
    fn new(k: usize) -> Self {
        let room = (2 * k).max(128);
        Self { k, room, packed: Vec::with_capacity(room), bar: order_key(f32::NEG_INFINITY) }
    }

    #[inline(always)]
    fn wants_any(&self, block: &[f32; BLOCK]) -> bool {
        // One unsigned comparison tests both ends: bar ≤ key ≤ CEILING.
        let span = CEILING.wrapping_sub(self.bar).cast_unsigned();
        let mut any = false;
        for &score in block {
            any |= order_key(score).wrapping_sub(self.bar).cast_unsigned() <= span;
        }
        any
    }

    fn take(&mut self, start: usize, block: &[f32]) {
        for (offset, &score) in block.iter().enumerate() {
            let key = order_key(score);
            if (self.bar..=CEILING).contains(&key) {
                if self.packed.len() == self.room {
                    self.shrink();
                }
                self.packed.push(pack(key, start + offset));
            }
        }
    }

    /// Cuts to the best `k`. A later score must now beat the worst of them: at the same score its index loses.
    fn shrink(&mut self) {
        let (_, &mut worst, _) = self.packed.select_nth_unstable_by(self.k - 1, |a, b| b.cmp(a));
        self.packed.truncate(self.k);
        self.bar = unpack_key(worst).saturating_add(1);
    }

    fn into_best(mut self, scores: &[f32]) -> Vec<Scored> {
        if self.packed.len() > self.k {
            self.shrink();
        }
        self.packed.sort_unstable_by(|a, b| b.cmp(a));
        let index = |packed: u64| !(packed as u32);
        self.packed.iter().map(|&c| Scored { index: index(c), score: scores[index(c) as usize] }).collect()
    }
}

#[inline]
fn pack(key: i32, index: usize) -> u64 {
    let key = key.cast_unsigned() ^ (1 << 31);
    u64::from(key) << 32 | u64::from(!(index as u32))
}

fn unpack_key(packed: u64) -> i32 {
    (((packed >> 32) as u32) ^ (1 << 31)).cast_signed()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn indices(scores: &[f32], k: usize) -> Vec<u32> {
        select(scores, k).into_iter().map(|scored| scored.index).collect()
    }

    #[test]
    fn equal_scores_keep_the_order_of_their_places() {
        assert_eq!(indices(&[0.5, 1.0, 0.5, 1.0], 3), [1, 3, 0]);
        assert_eq!(indices(&vec![0.0; 5000], 3), [0, 1, 2]);
    }

    #[test]
    fn the_order_is_total() {
        assert_eq!(indices(&[-0.0, 0.0, f32::NEG_INFINITY, f32::INFINITY, -1.0], 9), [3, 1, 0, 4, 2]);
    }

    #[test]
    fn nan_is_never_chosen() {
        assert_eq!(indices(&[f32::NAN, 1.0, -f32::NAN], 3), [1]);
        assert_eq!(indices(&[f32::NAN; 300], 3), []);
    }

    #[test]
    fn nothing_is_asked_or_offered() {
        assert_eq!(indices(&[1.0], 0), []);
        assert_eq!(indices(&[], 7), []);
    }

    #[test]
    fn a_shortlist_full_of_infinities_takes_no_more() {
        let mut scores = vec![f32::INFINITY; 3000];
        scores[1] = f32::NAN;
        assert_eq!(indices(&scores, 3), [0, 2, 3]);
    }

    #[test]
    fn rising_scores_are_cut_again_and_again() {
        let scores: Vec<f32> = (0..10_000_u16).map(f32::from).collect();
        assert_eq!(indices(&scores, 2), [9999, 9998]);
    }
}
