//! `all-MiniLM-L6-v2` on the processor: BERT with six layers, the mean of its token vectors, scaled to unit length.
//!
//! The vector of a text has the same bits whatever it is embedded together with, on however many threads.
#![allow(
    clippy::inline_always,
    reason = "a loop is compiled for an instruction set by being inlined into a function that enables it"
)]

mod attention;
pub(crate) mod encoder;
mod forward;
mod lanes;
mod matmul;
mod normal;
pub(crate) mod safetensors;
pub(crate) mod tokenizer;
pub(crate) mod weights;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Instant;

use half::f16;
use half::slice::HalfFloatSliceExt as _;
use mainstem_core::contract::{Ctx, Embedded, Embedder, ModelCard};
use mainstem_core::diagnostic::Failure;

use crate::Error;
use encoder::Encoder;
use safetensors::Tensors;
use tokenizer::Tokens;
use weights::Dims;

/// The name of the model.
pub const NAME: &str = "all-MiniLM-L6-v2";
/// How many tokens it reads, with the marks at both ends.
const MAX_TOKENS: usize = 256;
/// How large it is.
const DIMS: Dims = Dims {
    hidden: 384,
    heads: 12,
    inner: 1536,
    layers: 6,
    vocabulary: 30522,
    positions: 512,
    epsilon: 1e-12,
};
/// The length of the vectors of its tokens.
pub(crate) const HIDDEN: usize = DIMS.hidden;

/// The model, ready to embed.
pub struct MiniLm {
    card: ModelCard,
    encoder: Encoder,
}

/// The models that somebody uses, by folder.
static IN_USE: Mutex<Vec<(PathBuf, Weak<MiniLm>)>> = Mutex::new(Vec::new());

impl MiniLm {
    /// Loads the model from a folder with `model.safetensors` and `vocab.txt`, to use all processors.
    ///
    /// # Errors
    /// When a file cannot be read, or is not of this model.
    pub fn load(folder: &Path) -> Result<Self, Error> {
        let mut tensors = Tensors::open(&folder.join("model.safetensors"))?;
        Ok(Self {
            card: ModelCard { name: NAME.to_owned(), dim: HIDDEN, max_tokens: MAX_TOKENS },
            encoder: Encoder::load(NAME, folder, &mut tensors, "", &DIMS)?,
        })
    }

    /// As [`MiniLm::load`], or the model of that folder that is loaded already: who embeds and who reranks have one between them.
    ///
    /// # Errors
    /// As [`MiniLm::load`].
    pub fn shared(folder: &Path) -> Result<Arc<Self>, Error> {
        let mut in_use = IN_USE.lock().unwrap_or_else(PoisonError::into_inner);
        in_use.retain(|(_, model)| model.strong_count() > 0);
        if let Some(model) =
            in_use.iter().find(|(path, _)| path == folder).and_then(|(_, model)| model.upgrade())
        {
            return Ok(model);
        }
        let model = Arc::new(Self::load(folder)?);
        in_use.push((folder.to_owned(), Arc::downgrade(&model)));
        Ok(model)
    }

    /// The same model on this many threads, at least one.
    #[must_use]
    pub fn with_threads(mut self, threads: usize) -> Self {
        self.encoder.set_threads(threads);
        self
    }

    /// The numbers of the tokens that the model reads of a text, and whether that is not all of it.
    pub fn tokens(&self, text: &str) -> (Vec<u32>, bool) {
        let Tokens { ids, cut, .. } = self.encoder.tokenizer().encode(text, MAX_TOKENS);
        (ids, cut)
    }

    /// The vectors of the tokens of these texts, one row of [`HIDDEN`] for each, of unit length.
    ///
    /// They are rounded to 16 bits at once, so that one that was kept is the same as one that was just made.
    ///
    /// Where many are at work already, each has its own thread do it (`alone`).
    pub(crate) fn states(
        &self,
        texts: &[&str],
        deadline: Option<Instant>,
        alone: bool,
    ) -> Result<Vec<Vec<f16>>, Error> {
        let tokens = self.encode(texts);
        let threads = if alone { 1 } else { self.encoder.threads() };
        self.encoder.run_on(threads, &tokens, deadline, |rows| {
            let mut rows = rows.to_vec();
            mainstem_kernels::normalize(&mut rows, HIDDEN);
            let mut rounded = vec![f16::ZERO; rows.len()];
            rounded.convert_from_f32_slice(&rows);
            rounded
        })
    }

    fn encode(&self, texts: &[&str]) -> Vec<Tokens> {
        texts.iter().map(|text| self.encoder.tokenizer().encode(text, MAX_TOKENS)).collect()
    }
}

impl Embedder for MiniLm {
    fn card(&self) -> &ModelCard {
        &self.card
    }

    fn embed(&self, texts: &[&str], ctx: &Ctx) -> Result<Vec<Embedded>, Failure> {
        let tokens = self.encode(texts);
        let pool = |rows: &[f32]| lanes::mean_direction(rows, HIDDEN);
        let vectors = self.encoder.run(&tokens, ctx.deadline, pool).map_err(crate::models::failure)?;
        let embedded =
            vectors.into_iter().zip(&tokens).map(|(vector, tokens)| Embedded { vector, cut: tokens.cut });
        Ok(embedded.collect())
    }
}
