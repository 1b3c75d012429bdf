//! The forward pass over a few texts at once.
//!
//! The tokens of all texts lie one after the other without padding: only the attention knows where a text ends.

use pulp::Arch;

use super::attention::Attention;
use super::lanes;
use super::matmul::{Product, Rows, Start};
use super::tokenizer::Tokens;
use super::weights::{Dims, Layer, Linear, Weights};

/// Tokens that go through a feed-forward part together; what is inside of it then fits into the second-level cache.
const BLOCK: usize = 96;

/// The memory of a forward pass, used again for every few texts.
#[derive(Default)]
pub(super) struct Forward {
    hidden: Vec<f32>,
    mixed: Vec<f32>,
    found: Vec<f32>,
    inner: Vec<f32>,
    change: Vec<f32>,
    attention: Attention,
}

impl Forward {
    /// What `pick` makes of the vectors of each text's tokens, one row for each.
    pub(super) fn run<T>(
        &mut self,
        arch: Arch,
        weights: &Weights,
        texts: &[Tokens],
        pick: impl Fn(&[f32]) -> T,
    ) -> Vec<T> {
        self.look_up(arch, weights, texts);
        for layer in &weights.layers {
            self.attend(arch, &weights.dims, layer, texts);
            self.feed(arch, &weights.dims, layer);
        }
        let mut rows = self.hidden.as_slice();
        let length = |text: &Tokens| text.ids.len() * weights.dims.hidden;
        let mut next = |text: &Tokens| rows.split_off(..length(text)).unwrap_or_default();
        texts.iter().map(|text| pick(next(text))).collect()
    }

    fn look_up(&mut self, arch: Arch, weights: &Weights, texts: &[Tokens]) {
        let hidden = weights.dims.hidden;
        self.hidden.clear();
        self.change.clear();
        for text in texts {
            for (place, token) in text.ids.iter().enumerate() {
                let positions = &weights.positions[usize::from(place >= text.second)];
                self.hidden.extend_from_slice(&weights.words[*token as usize * hidden..][..hidden]);
                self.change.extend_from_slice(&positions[place * hidden..][..hidden]);
            }
        }
        lanes::add_and_norm(arch, &mut self.hidden, &self.change, &weights.norm);
        self.mixed.resize(self.hidden.len() * 3, 0.0);
        self.found.resize(self.hidden.len(), 0.0);
    }

    fn attend(&mut self, arch: Arch, dims: &Dims, layer: &Layer, texts: &[Tokens]) {
        apply(arch, &layer.mix, &self.hidden, &mut self.mixed);
        let (mut mixed, mut found) = (self.mixed.as_slice(), self.found.as_mut_slice());
        for text in texts {
            let (mixed_here, mixed_rest) = mixed.split_at(text.ids.len() * dims.hidden * 3);
            let (found_here, found_rest) = found.split_at_mut(text.ids.len() * dims.hidden);
            self.attention.attend(arch, dims, mixed_here, found_here);
            (mixed, found) = (mixed_rest, found_rest);
        }
        apply(arch, &layer.gather, &self.found, &mut self.change);
        lanes::add_and_norm(arch, &mut self.hidden, &self.change, &layer.attention_norm);
    }

    fn feed(&mut self, arch: Arch, dims: &Dims, layer: &Layer) {
        for block in self.hidden.chunks_mut(BLOCK * dims.hidden) {
            self.inner.resize(block.len() / dims.hidden * dims.inner, 0.0);
            apply(arch, &layer.widen, block, &mut self.inner);
            lanes::gelu(arch, &mut self.inner);
            let change = &mut self.change[..block.len()];
            apply(arch, &layer.narrow, &self.inner, change);
            lanes::add_and_norm(arch, block, change, &layer.norm);
        }
    }
}

fn apply(arch: Arch, linear: &Linear, from: &[f32], to: &mut [f32]) {
    let outputs = linear.bias.len();
    let count = to.len() / outputs;
    let left = Rows { data: from, stride: from.len() / count.max(1), count };
    let start = Start::Bias(&linear.bias);
    Product { left, right: &linear.weight, start, out: to, stride: outputs }.compute(arch);
}
