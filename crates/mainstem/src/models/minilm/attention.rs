//! What each token takes from the others of its text.

use pulp::Arch;

use super::lanes;
use super::matmul::{Packed, Product, Rows, Start, WIDTH};
use super::weights::Dims;

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
    pub(super) fn attend(&mut self, arch: Arch, dims: &Dims, mixed: &[f32], out: &mut [f32]) {
        let (hidden, length) = (dims.hidden, dims.head());
        let count = mixed.len() / (3 * hidden);
        let stride = count.next_multiple_of(WIDTH);
        self.scores.resize(count * stride, 0.0);
        for head in 0..dims.heads {
            let rows =
                |part| Rows { data: &mixed[part * hidden + head * length..], stride: 3 * hidden, count };
            self.keys.set_transposed(rows(1), length);
            self.values.set(rows(2), length);
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
            let out = &mut out[head * length..];
            Product { left: shares, right: &self.values, start: Start::Zero, out, stride: hidden }
                .compute(arch);
        }
    }
}
