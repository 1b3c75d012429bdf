//! MaxSim by the embedding model: how well each token of the query is met by some token of the text, in the mean.
//!
//! The model was trained to compare whole texts, by the mean of their token vectors; its token vectors compare words in their context well
//! enough to tell near misses apart. Nothing but the model is needed, and nothing is stored: vectors are made on the fly, those of recent
//! texts are remembered.

use std::sync::Arc;

use half::f16;
use half::slice::HalfFloatSliceExt as _;
use indexmap::IndexMap;
use mainstem_core::Failure;
use mainstem_core::contract::{Ctx, Reranker};
use mainstem_kernels::{MaxSimQuery, ShapeError, Tokens};

use super::states::{Memory, States};
use crate::Error;
use crate::models::minilm::{HIDDEN, MiniLm};
use crate::models::{Cache, known};

/// Its name in settings.
pub const NAME: &str = "maxsim";
/// How many bytes of token vectors are remembered: some 1,300 texts of the greatest length.
const REMEMBERED: usize = 256 << 20;

/// MaxSim, ready to rerank.
pub struct MaxSim {
    model: Arc<MiniLm>,
    memory: Memory,
}

impl MaxSim {
    /// By this model, remembering at most so many bytes of token vectors.
    pub fn new(model: Arc<MiniLm>, bytes: usize) -> Self {
        Self { model, memory: Memory::new(bytes) }
    }

    /// By the model in the folder of models.
    ///
    /// # Errors
    /// When it has not been pulled, or its files are damaged.
    pub fn standard() -> Result<Self, Error> {
        let (cache, model) = (Cache::standard()?, known::find(crate::models::minilm::NAME)?);
        let found = cache.minilm(model)?.ok_or_else(|| Error::Unavailable {
            what: format!("`{NAME}` needs the model `{}`, which is not here", model.name),
            hint: "run `mainstem model pull`, or search with `--rerank off`".to_owned(),
        })?;
        Ok(Self::new(found, REMEMBERED))
    }

    /// The token vectors of these texts, in order. Only those of new texts are made, each once.
    fn states(&self, texts: &[&str], ctx: &Ctx, alone: bool) -> Result<Vec<States>, Error> {
        let keys: Vec<_> = texts.iter().map(|text| Memory::key(text)).collect();
        let mut known: Vec<_> = keys.iter().map(|key| self.memory.get(key)).collect();
        let unknown = (0..texts.len()).filter(|at| known[*at].is_none());
        let new: IndexMap<_, _> = unknown.map(|at| (keys[at], texts[at])).collect();
        let asked: Vec<&str> = new.values().copied().collect();
        let made =
            if asked.is_empty() { Vec::new() } else { self.model.states(&asked, ctx.deadline, alone)? };
        let made: Vec<States> = made.into_iter().map(States::from).collect();
        for (key, states) in new.keys().zip(&made) {
            self.memory.put(*key, Arc::clone(states));
        }
        for (place, key) in known.iter_mut().zip(&keys) {
            let fresh = || new.get_index_of(key).and_then(|at| made.get(at)).cloned();
            *place = place.take().or_else(fresh);
        }
        Ok(known.into_iter().flatten().collect())
    }
}

impl MaxSim {
    /// How alike a document is to each of these, all given as their parts: the mean of how well the tokens of the one are met by the other, and
    /// the other way round. It is the same whichever of two documents comes first.
    ///
    /// # Errors
    /// When the model fails.
    pub fn both_ways(
        &self,
        document: &[String],
        others: &[Vec<String>],
        ctx: &Ctx,
    ) -> Result<Vec<f64>, Error> {
        let parts: Vec<&str> = document.iter().chain(others.iter().flatten()).map(String::as_str).collect();
        // Whoever looks for links has as many threads at work as there shall be.
        let mut states = self.states(&parts, ctx, true)?.into_iter();
        let mut joined = |parts: usize| -> Vec<f32> {
            let mut numbers = Vec::new();
            let mut all = Vec::new();
            for states in states.by_ref().take(parts) {
                numbers.resize(states.len(), 0.0);
                states.convert_to_f32_slice(&mut numbers);
                all.extend_from_slice(&numbers);
            }
            all
        };
        let own = joined(document.len());
        let own_tokens = Tokens::new(&own, HIDDEN).map_err(broken)?;
        let asked = MaxSimQuery::new(own_tokens);
        let mut scores = Vec::with_capacity(others.len());
        for other in others {
            let other = joined(other.len());
            let other = Tokens::new(&other, HIDDEN).map_err(broken)?;
            let (forth, back) = (asked.score(other), MaxSimQuery::new(other).score(own_tokens));
            scores.push(f64::midpoint(forth.map_err(broken)?.into(), back.map_err(broken)?.into()));
        }
        Ok(scores)
    }
}

impl Reranker for MaxSim {
    fn name(&self) -> &'static str {
        NAME
    }

    fn rerank(&self, query: &str, texts: &[&str], ctx: &Ctx) -> Result<Vec<f64>, Failure> {
        let all: Vec<&str> = std::iter::once(query).chain(texts.iter().copied()).collect();
        let states = self.states(&all, ctx, false)?;
        let mut numbers = Vec::new();
        let asked = tokens(&states[0], &mut numbers).map_err(broken)?;
        let asked = MaxSimQuery::new(asked);
        let mut score = |states: &States| {
            let document = tokens(states, &mut numbers)?;
            asked.score(document).map(f64::from)
        };
        Ok(states[1..].iter().map(&mut score).collect::<Result<_, _>>().map_err(broken)?)
    }
}

/// The vectors in 32 bits.
fn tokens<'a>(states: &[f16], numbers: &'a mut Vec<f32>) -> Result<Tokens<'a>, ShapeError> {
    numbers.resize(states.len(), 0.0);
    states.convert_to_f32_slice(numbers);
    Tokens::new(numbers, HIDDEN)
}

fn broken(error: ShapeError) -> Error {
    Error::Internal(format!("token vectors of a wrong shape: {error}"))
}
