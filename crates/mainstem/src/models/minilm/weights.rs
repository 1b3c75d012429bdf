//! The numbers of the model, laid out for the forward pass.

use super::lanes::Norm;
use super::matmul::{Packed, Rows, WIDTH};
use super::safetensors::Tensors;
use crate::Error;

/// How large a model is.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Dims {
    /// The length of a token's vector.
    pub(crate) hidden: usize,
    /// How many heads an attention has.
    pub(crate) heads: usize,
    /// The length of the vector inside a feed-forward part.
    pub(crate) inner: usize,
    /// How many layers there are.
    pub(crate) layers: usize,
    /// How many tokens it knows.
    pub(crate) vocabulary: usize,
    /// How many tokens it can read.
    pub(crate) positions: usize,
    /// What is added to a variance before its root divides.
    pub(crate) epsilon: f32,
}

impl Dims {
    /// The length of a head's vectors.
    pub(super) const fn head(&self) -> usize {
        self.hidden / self.heads
    }

    /// Why the matrix products cannot work on this, if they cannot: rows are written in whole panels.
    pub(crate) fn unfit(&self) -> Option<String> {
        let whole = self.heads > 0 && self.hidden.is_multiple_of(self.heads);
        if whole && self.head().is_multiple_of(WIDTH) && self.inner.is_multiple_of(WIDTH) {
            return None;
        }
        Some(format!(
            "expected heads and inner vectors whose lengths are multiples of {WIDTH}, received {} over {} heads, and {}",
            self.hidden, self.heads, self.inner
        ))
    }
}

/// A linear layer: `x·W + b`.
pub(super) struct Linear {
    /// The weights.
    pub(super) weight: Packed,
    /// What the sums start from.
    pub(super) bias: Vec<f32>,
}

/// One of the layers.
pub(super) struct Layer {
    /// From a token to its queries, keys and values.
    pub(super) mix: Linear,
    /// From what the heads found to a token.
    pub(super) gather: Linear,
    /// Behind the attention.
    pub(super) attention_norm: Norm,
    /// Into the feed-forward part.
    pub(super) widen: Linear,
    /// Out of it.
    pub(super) narrow: Linear,
    /// Behind it.
    pub(super) norm: Norm,
}

/// All of the model.
pub(super) struct Weights {
    /// How large it is.
    pub(super) dims: Dims,
    /// A row for each token of the vocabulary.
    pub(super) words: Vec<f32>,
    /// A row for each place in a text, for the first segment and for the second; the vector of the segment is added already.
    pub(super) positions: [Vec<f32>; 2],
    /// Behind their sum.
    pub(super) norm: Norm,
    /// The layers, in order.
    pub(super) layers: Vec<Layer>,
}

impl Weights {
    /// Reads them from open tensors whose names begin with `prefix`.
    pub(super) fn read(tensors: &mut Tensors, prefix: &str, dims: &Dims) -> Result<Self, Error> {
        let mut reader = Reader { tensors, prefix, dims };
        let hidden = dims.hidden;
        let words = reader.read("embeddings.word_embeddings.weight", &[dims.vocabulary, hidden])?;
        let positions = reader.read("embeddings.position_embeddings.weight", &[dims.positions, hidden])?;
        let segments = reader.read("embeddings.token_type_embeddings.weight", &[2, hidden])?;
        let norm = reader.norm("embeddings.LayerNorm")?;
        let layers = (0..dims.layers).map(|index| reader.layer(index)).collect::<Result<_, _>>()?;
        let placed = |segment: usize| {
            let segment = &segments[segment * hidden..][..hidden];
            let row =
                |row: &[f32]| row.iter().zip(segment).map(|(x, segment)| x + segment).collect::<Vec<_>>();
            positions.chunks_exact(hidden).flat_map(row).collect::<Vec<f32>>()
        };
        Ok(Self { dims: dims.clone(), words, positions: [placed(0), placed(1)], norm, layers })
    }
}

/// Reads parts of a model.
struct Reader<'a> {
    tensors: &'a mut Tensors,
    prefix: &'a str,
    dims: &'a Dims,
}

impl Reader<'_> {
    fn read(&mut self, name: &str, shape: &[usize]) -> Result<Vec<f32>, Error> {
        self.tensors.read(&format!("{}{name}", self.prefix), shape)
    }

    fn layer(&mut self, index: usize) -> Result<Layer, Error> {
        let name = |part: &str| format!("encoder.layer.{index}.{part}");
        let Dims { hidden, inner, .. } = *self.dims;
        Ok(Layer {
            mix: self.mix(&name("attention.self"))?,
            gather: self.linear(&name("attention.output.dense"), hidden, hidden)?,
            attention_norm: self.norm(&name("attention.output.LayerNorm"))?,
            widen: self.linear(&name("intermediate.dense"), inner, hidden)?,
            narrow: self.linear(&name("output.dense"), hidden, inner)?,
            norm: self.norm(&name("output.LayerNorm"))?,
        })
    }

    /// Queries, keys and values in one layer. The queries carry the `1/√d` of the attention, so that nothing divides the scores later.
    fn mix(&mut self, name: &str) -> Result<Linear, Error> {
        let hidden = self.dims.hidden;
        let (mut weight, mut bias) = (Vec::new(), Vec::new());
        for part in ["query", "key", "value"] {
            weight.extend(self.read(&format!("{name}.{part}.weight"), &[hidden, hidden])?);
            bias.extend(self.read(&format!("{name}.{part}.bias"), &[hidden])?);
        }
        let scale = (self.dims.head() as f32).sqrt().recip();
        weight[..hidden * hidden].iter_mut().chain(&mut bias[..hidden]).for_each(|x| *x *= scale);
        Ok(pack(&weight, bias, hidden))
    }

    fn linear(&mut self, name: &str, outputs: usize, inputs: usize) -> Result<Linear, Error> {
        let weight = self.read(&format!("{name}.weight"), &[outputs, inputs])?;
        let bias = self.read(&format!("{name}.bias"), &[outputs])?;
        Ok(pack(&weight, bias, inputs))
    }

    fn norm(&mut self, name: &str) -> Result<Norm, Error> {
        let weight = self.read(&format!("{name}.weight"), &[self.dims.hidden])?;
        let bias = self.read(&format!("{name}.bias"), &[self.dims.hidden])?;
        Ok(Norm { weight, bias, epsilon: self.dims.epsilon })
    }
}

fn pack(weight: &[f32], bias: Vec<f32>, inputs: usize) -> Linear {
    let rows = Rows { data: weight, stride: inputs, count: bias.len() };
    Linear { weight: Packed::transposed(rows, inputs), bias }
}
