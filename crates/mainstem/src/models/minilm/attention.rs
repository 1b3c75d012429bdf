//! What each token takes from the others of its text.

use pulp::Arch;

use super::lanes;
use super::matmul::{Packed, Product, Rows, Start, WIDTH};
use super::weights::{HEADS, HIDDEN};

/// The length of a head's vectors.
pub(super) const HEAD: usize = HIDDEN / HEADS;

/// The memory of an attention, used again for every head.
#[derive(Default)]
pub(super) struct Attention {
    keys: Packed,
    values: Packed,
    scores: Vec<f32>,
}

impl Attention {
    /// `softmax(Q·Kᵀ)·V` for every head of one text. `mixed` has for each token its queries (scaled already), keys and values, one after
    /// the other; `out` gets one row for each token.
    pub(super) fn attend(&mut self, arch: Arch, mixed: &[f32], out: &mut [f32]) {
        let count = mixed.len() / (3 * HIDDEN);
        let stride = count.next_multiple_of(WIDTH);
        self.scores.resize(count * stride, 0.0);
        for head in 0..HEADS {
            let rows = |part| Rows { data: &mixed[part * HIDDEN + head * HEAD..], stride: 3 * HIDDEN, count };
            self.keys.set_transposed(rows(1), HEAD);
            self.values.set(rows(2), HEAD);
            let scores = Product {
                left: rows(0),
                right: &self.keys,
                start: Start::Zero,
                out: &mut self.scores,
                stride,
            };
            scores.compute(arch);
            lanes::softmax(arch, &mut self.scores, stride, count);
            let shares = Rows { data: &self.scores, stride, count };
            let out = &mut out[head * HEAD..];
            Product { left: shares, right: &self.values, start: Start::Zero, out, stride: HIDDEN }
                .compute(arch);
        }
    }
}
