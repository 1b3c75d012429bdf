//! `all-MiniLM-L6-v2` on the processor: BERT with six layers, the mean of its token vectors, scaled to unit length.
//!
//! The vector of a text has the same bits whatever it is embedded together with, on however many threads.
#![allow(
    clippy::inline_always,
    reason = "a loop is compiled for an instruction set by being inlined into a function that enables it"
)]

mod attention;
mod forward;
mod lanes;
mod matmul;
mod normal;
mod safetensors;
mod tokenizer;
mod weights;

use std::num::NonZero;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Instant;

use mainstem_core::contract::{Ctx, Embedded, Embedder, ModelCard};
use mainstem_core::diagnostic::Failure;
use pulp::Arch;

use crate::Error;
use forward::Forward;
use tokenizer::{Tokenizer, Tokens};
use weights::{HIDDEN, Weights};

/// The name of the model.
pub const NAME: &str = "all-MiniLM-L6-v2";
/// How many tokens it reads, with the marks at both ends.
const MAX_TOKENS: usize = 256;
/// Tokens that go through the model together: enough to use every weight often while it is in the cache.
const PART: usize = 256;

/// The model, ready to embed.
pub struct MiniLm {
    card: ModelCard,
    tokenizer: Tokenizer,
    weights: Weights,
    arch: Arch,
    threads: usize,
}

impl MiniLm {
    /// Loads the model from a folder with `model.safetensors` and `vocab.txt`, to use all processors.
    ///
    /// # Errors
    /// When a file cannot be read, or is not of this model.
    pub fn load(folder: &Path) -> Result<Self, Error> {
        Ok(Self {
            card: ModelCard { name: NAME.to_owned(), dim: HIDDEN, max_tokens: MAX_TOKENS },
            tokenizer: Tokenizer::load(&folder.join("vocab.txt"))?,
            weights: Weights::load(&folder.join("model.safetensors"))?,
            arch: Arch::new(),
            threads: thread::available_parallelism().map_or(1, NonZero::get),
        })
    }

    /// The same model on this many threads, at least one.
    #[must_use]
    pub fn with_threads(self, threads: usize) -> Self {
        Self { threads: threads.max(1), ..self }
    }

    /// The numbers of the tokens that the model reads of a text, and whether that is not all of it.
    pub fn tokens(&self, text: &str) -> (Vec<u32>, bool) {
        let Tokens { ids, cut } = self.tokenizer.encode(text, MAX_TOKENS);
        (ids, cut)
    }

    /// Lets threads take parts from a common list until it is empty or the time is up.
    fn run(&self, parts: &[&[Tokens]], deadline: Option<Instant>) -> Result<Vec<Vec<f32>>, Error> {
        let next = AtomicUsize::new(0);
        let work = || self.work(parts, &next, deadline);
        let helpers = self.threads.min(parts.len()).saturating_sub(1);
        let mut done = thread::scope(|scope| {
            let helpers: Vec<_> = (0..helpers).map(|_| scope.spawn(work)).collect();
            let own = work();
            helpers.into_iter().try_fold(own, |mut done, helper| {
                done.extend(
                    helper.join().map_err(|_| Error::Internal("a thread of the model died".to_owned()))?,
                );
                Ok::<_, Error>(done)
            })
        })?;
        if done.len() < parts.len() {
            return Err(late());
        }
        done.sort_unstable_by_key(|(index, _)| *index);
        Ok(done.into_iter().flat_map(|(_, vectors)| vectors).collect())
    }

    fn work(
        &self,
        parts: &[&[Tokens]],
        next: &AtomicUsize,
        deadline: Option<Instant>,
    ) -> Vec<(usize, Vec<Vec<f32>>)> {
        let mut forward = Forward::default();
        let take = || Some(next.fetch_add(1, Ordering::Relaxed)).filter(|index| *index < parts.len());
        let in_time = |_: &usize| deadline.is_none_or(|deadline| Instant::now() < deadline);
        std::iter::from_fn(|| take().filter(in_time))
            .map(|index| {
                let texts: Vec<&[u32]> = parts[index].iter().map(|tokens| tokens.ids.as_slice()).collect();
                (index, forward.run(self.arch, &self.weights, &texts))
            })
            .collect()
    }
}

impl Embedder for MiniLm {
    fn card(&self) -> &ModelCard {
        &self.card
    }

    fn embed(&self, texts: &[&str], ctx: &Ctx) -> Result<Vec<Embedded>, Failure> {
        let tokens: Vec<_> = texts.iter().map(|text| self.tokenizer.encode(text, MAX_TOKENS)).collect();
        let vectors =
            self.run(&parts(&tokens, self.threads), ctx.deadline).map_err(crate::models::failure)?;
        let embedded =
            vectors.into_iter().zip(&tokens).map(|(vector, tokens)| Embedded { vector, cut: tokens.cut });
        Ok(embedded.collect())
    }
}

/// Cuts a list of texts into runs of about [`PART`] tokens, or fewer where that leaves a thread without work.
fn parts(texts: &[Tokens], threads: usize) -> Vec<&[Tokens]> {
    let total: usize = texts.iter().map(|text| text.ids.len()).sum();
    let most = PART.min(total.div_ceil(threads));
    let (mut parts, mut from, mut sum) = (Vec::new(), 0, 0);
    for (at, text) in texts.iter().enumerate() {
        if at > from && sum + text.ids.len() > most {
            parts.push(&texts[from..at]);
            (from, sum) = (at, 0);
        }
        sum += text.ids.len();
    }
    parts.extend((from < texts.len()).then_some(&texts[from..]));
    parts
}

fn late() -> Error {
    Error::Unavailable {
        what: format!("`{NAME}` did not finish in time"),
        hint: "allow more time, or embed fewer or shorter texts at once".to_owned(),
    }
}
