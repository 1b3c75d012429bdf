//! The numbers of the model, laid out for the forward pass.

use std::path::Path;

use super::attention::HEAD;
use super::lanes::Norm;
use super::matmul::{Packed, Rows};
use super::safetensors::Tensors;
use crate::Error;

/// The length of a token's vector.
pub(super) const HIDDEN: usize = 384;
/// How many heads an attention has.
pub(super) const HEADS: usize = 12;
/// The length of the vector inside a feed-forward part.
pub(super) const INNER: usize = 1536;
const LAYERS: usize = 6;
const VOCABULARY: usize = 30522;
const POSITIONS: usize = 512;

/// A linear layer: `x·W + b`.
pub(super) struct Linear {
    /// The weights.
    pub(super) weight: Packed,
    /// What the sums start from.
    pub(super) bias: Vec<f32>,
}

/// One of the six layers.
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
    /// A row for each token of the vocabulary.
    pub(super) words: Vec<f32>,
    /// A row for each place in a text; the vector of the first segment is added already.
    pub(super) positions: Vec<f32>,
    /// Behind their sum.
    pub(super) norm: Norm,
    /// The layers, in order.
    pub(super) layers: Vec<Layer>,
}

impl Weights {
    /// Reads them from a file.
    pub(super) fn load(path: &Path) -> Result<Self, Error> {
        let mut tensors = Tensors::open(path)?;
        let words = tensors.read("embeddings.word_embeddings.weight", &[VOCABULARY, HIDDEN])?;
        let mut positions = tensors.read("embeddings.position_embeddings.weight", &[POSITIONS, HIDDEN])?;
        let segments = tensors.read("embeddings.token_type_embeddings.weight", &[2, HIDDEN])?;
        for position in positions.chunks_exact_mut(HIDDEN) {
            position.iter_mut().zip(&segments).for_each(|(x, segment)| *x += segment);
        }
        let norm = norm(&mut tensors, "embeddings.LayerNorm")?;
        let layers = (0..LAYERS).map(|index| layer(&mut tensors, index)).collect::<Result<_, _>>()?;
        Ok(Self { words, positions, norm, layers })
    }
}

fn layer(tensors: &mut Tensors, index: usize) -> Result<Layer, Error> {
    let name = |part: &str| format!("encoder.layer.{index}.{part}");
    Ok(Layer {
        mix: mix(tensors, &name("attention.self"))?,
        gather: linear(tensors, &name("attention.output.dense"), HIDDEN, HIDDEN)?,
        attention_norm: norm(tensors, &name("attention.output.LayerNorm"))?,
        widen: linear(tensors, &name("intermediate.dense"), INNER, HIDDEN)?,
        narrow: linear(tensors, &name("output.dense"), HIDDEN, INNER)?,
        norm: norm(tensors, &name("output.LayerNorm"))?,
    })
}

/// Queries, keys and values in one layer. The queries carry the `1/√d` of the attention, so that nothing divides the scores later.
fn mix(tensors: &mut Tensors, name: &str) -> Result<Linear, Error> {
    let (mut weight, mut bias) = (Vec::new(), Vec::new());
    for part in ["query", "key", "value"] {
        weight.extend(tensors.read(&format!("{name}.{part}.weight"), &[HIDDEN, HIDDEN])?);
        bias.extend(tensors.read(&format!("{name}.{part}.bias"), &[HIDDEN])?);
    }
    let scale = (HEAD as f32).sqrt().recip();
    weight[..HIDDEN * HIDDEN].iter_mut().chain(&mut bias[..HIDDEN]).for_each(|x| *x *= scale);
    Ok(pack(&weight, bias, HIDDEN))
}

fn linear(tensors: &mut Tensors, name: &str, outputs: usize, inputs: usize) -> Result<Linear, Error> {
    let weight = tensors.read(&format!("{name}.weight"), &[outputs, inputs])?;
    let bias = tensors.read(&format!("{name}.bias"), &[outputs])?;
    Ok(pack(&weight, bias, inputs))
}

fn pack(weight: &[f32], bias: Vec<f32>, inputs: usize) -> Linear {
    let rows = Rows { data: weight, stride: inputs, count: bias.len() };
    Linear { weight: Packed::transposed(rows, inputs), bias }
}

fn norm(tensors: &mut Tensors, name: &str) -> Result<Norm, Error> {
    let weight = tensors.read(&format!("{name}.weight"), &[HIDDEN])?;
    Ok(Norm { weight, bias: tensors.read(&format!("{name}.bias"), &[HIDDEN])? })
}
