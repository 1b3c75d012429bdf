//! A BERT encoder on all processors: tokens go in, what is made of their vectors comes out.

use std::num::NonZero;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Instant;

use pulp::Arch;

use super::forward::Forward;
use super::safetensors::Tensors;
use super::tokenizer::{Tokenizer, Tokens};
use super::weights::{Dims, Weights};
use crate::Error;

/// Tokens that go through the model together: enough to use every weight often while it is in the cache.
const PART: usize = 256;

/// The encoder, ready to read.
pub(crate) struct Encoder {
    name: String,
    tokenizer: Tokenizer,
    weights: Weights,
    arch: Arch,
    threads: usize,
}

impl Encoder {
    /// Reads the vocabulary of a folder, and the weights whose names begin with `prefix`.
    pub(crate) fn load(
        name: &str,
        folder: &Path,
        tensors: &mut Tensors,
        prefix: &str,
        dims: &Dims,
    ) -> Result<Self, Error> {
        let vocabulary = folder.join("vocab.txt");
        let tokenizer = Tokenizer::load(&vocabulary)?;
        if tokenizer.greatest() as usize >= dims.vocabulary {
            let (known, received) = (dims.vocabulary, tokenizer.greatest() as usize + 1);
            let what = format!("expected at most {known} lines, as the weights have, received {received}");
            return Err(Error::damaged(what, &vocabulary, "get the vocabulary that belongs to the weights"));
        }
        Ok(Self {
            name: name.to_owned(),
            tokenizer,
            weights: Weights::read(tensors, prefix, dims)?,
            arch: Arch::new(),
            threads: thread::available_parallelism().map_or(1, NonZero::get),
        })
    }

    /// Uses this many threads, at least one.
    pub(super) fn set_threads(&mut self, threads: usize) {
        self.threads = threads.max(1);
    }

    /// How many threads it uses.
    pub(super) fn threads(&self) -> usize {
        self.threads
    }

    /// What turns texts into tokens.
    pub(crate) fn tokenizer(&self) -> &Tokenizer {
        &self.tokenizer
    }

    /// What `pick` makes of the vectors of each text's tokens, in order. Texts lie one after the other without padding, so it does not
    /// matter whether those of a length stand together.
    ///
    /// # Errors
    /// When the deadline passes before all are done.
    pub(crate) fn run<T: Send>(
        &self,
        texts: &[Tokens],
        deadline: Option<Instant>,
        pick: impl Fn(&[f32]) -> T + Sync,
    ) -> Result<Vec<T>, Error> {
        self.run_on(self.threads, texts, deadline, pick)
    }

    /// As [`Encoder::run`], on this many threads; with one, on that of the caller.
    ///
    /// # Errors
    /// As [`Encoder::run`].
    pub(crate) fn run_on<T: Send>(
        &self,
        threads: usize,
        texts: &[Tokens],
        deadline: Option<Instant>,
        pick: impl Fn(&[f32]) -> T + Sync,
    ) -> Result<Vec<T>, Error> {
        let parts = parts(texts, threads);
        let next = AtomicUsize::new(0);
        let work = || self.work(&parts, &next, deadline, &pick);
        let helpers = threads.min(parts.len()).saturating_sub(1);
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
            return Err(self.late());
        }
        done.sort_unstable_by_key(|(index, _)| *index);
        Ok(done.into_iter().flat_map(|(_, picked)| picked).collect())
    }

    /// Takes parts from a common list until it is empty or the time is up.
    fn work<T>(
        &self,
        parts: &[&[Tokens]],
        next: &AtomicUsize,
        deadline: Option<Instant>,
        pick: &impl Fn(&[f32]) -> T,
    ) -> Vec<(usize, Vec<T>)> {
        let mut forward = Forward::default();
        let take = || Some(next.fetch_add(1, Ordering::Relaxed)).filter(|index| *index < parts.len());
        let in_time = |_: &usize| deadline.is_none_or(|deadline| Instant::now() < deadline);
        std::iter::from_fn(|| take().filter(in_time))
            .map(|index| (index, forward.run(self.arch, &self.weights, parts[index], pick)))
            .collect()
    }

    fn late(&self) -> Error {
        Error::Unavailable {
            what: format!("`{}` did not finish in time", self.name),
            hint: "allow more time, or give it fewer or shorter texts at once".to_owned(),
        }
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
