//! One errand: what a thread does for one channel and one variant. Embed, retrieve, cut; and when all are home, score what the others
//! found. Which of it is read, the search decides when it knows what is worth it.
//!
//! Everything that can block happens here, so that the search can go on without it; what cannot, the search may run itself.

use std::sync::Arc;
use std::time::Instant;

use indexmap::IndexMap;
use mainstem_core::contract::{Channel, Ctx, Embedder, Filter, Found, FoundIn, Retrieval, View};
use mainstem_core::{Across, ChunkId, Failure, Item, StoredChunk, Words};
use rustc_hash::FxHashMap;

use super::assemble::item;
use super::cache::VectorCache;
use crate::Error;

/// How many chunks are read before it is asked again whether there is time.
const AT_ONCE: usize = 16;

/// What an errand needs; nothing of it is borrowed, because a late errand outlives its search.
#[derive(Clone)]
pub(super) struct Errand {
    pub(super) view: Arc<dyn View>,
    pub(super) embedder: Option<Arc<dyn Embedder>>,
    pub(super) cache: Arc<VectorCache>,
    pub(super) channel: Channel,
    pub(super) text: String,
    pub(super) vector: Option<Arc<[f32]>>,
    /// What is searched, with the weight of each source.
    pub(super) weights: IndexMap<String, f64>,
    pub(super) filter: Filter,
    pub(super) candidates: usize,
    pub(super) across: Across,
    /// Whether scores are going to be calibrated.
    pub(super) calibrated: bool,
    /// Whether words are going to be compared.
    pub(super) compared: bool,
    pub(super) ctx: Ctx,
}

/// A chunk and what it is called.
pub(super) struct Named {
    pub(super) name: String,
    pub(super) stored: StoredChunk,
    /// What the stages may look at.
    pub(super) item: Item,
    /// The words of the chunk, where a stage is going to look at them.
    pub(super) words: Option<Arc<Words>>,
}

/// One candidate of a leg.
#[derive(Clone, Copy)]
pub(super) struct Candidate {
    pub(super) score: f64,
    pub(super) chunk: ChunkId,
}

/// What the scores of a channel mean for this query.
#[derive(Clone, Default)]
pub(super) struct Scale {
    /// What an unrelated chunk scores, by source.
    pub(super) typical: FxHashMap<String, f64>,
    /// The greatest score that is possible.
    pub(super) greatest: Option<f64>,
    /// The sources that are copies of others.
    pub(super) copies: Vec<String>,
}

/// Scores of chunks, by source.
pub(super) type Completed = IndexMap<String, Vec<(ChunkId, f64)>>;

/// What an errand brings home.
#[derive(Default)]
pub(super) struct Catch {
    /// The candidates, by source.
    pub(super) by_source: IndexMap<String, Vec<Candidate>>,
    /// What their scores mean.
    pub(super) scale: Scale,
    /// The vector of the query, where the channel needs one.
    pub(super) vector: Option<Arc<[f32]>>,
    /// The scores of chunks that other errands found, by source.
    pub(super) completed: Completed,
    /// What was noticed.
    pub(super) notes: Vec<String>,
}

impl Errand {
    /// Runs the errand.
    pub(super) fn run(&self) -> Result<Catch, Failure> {
        let vector = self.vector()?;
        let retrieval = self.retrieval(vector.as_deref());
        let copies = self.view.copies(&self.filter, &self.ctx)?;
        let mut catch = Catch { vector: vector.clone(), ..Catch::default() };
        if self.calibrated {
            catch.scale = self.scale(&retrieval)?;
        }
        let found = self.of_planned_sources(self.view.retrieve(&retrieval, &self.ctx)?, &mut catch);
        let (finite, broken): (Vec<_>, Vec<_>) =
            found.into_iter().partition(|(_, found)| found.score.is_finite());
        let kept = self.cut(finite, &copies);
        catch.scale.copies = copies;
        // A score that is of no use is counted by the list that drops it.
        for (source, Found { score, chunk }) in kept.into_iter().chain(broken) {
            catch.add(&source, Candidate { score, chunk });
        }
        Ok(catch)
    }

    fn retrieval<'a>(&'a self, vector: Option<&'a [f32]>) -> Retrieval<'a> {
        Retrieval {
            channel: self.channel,
            text: &self.text,
            vector,
            filter: &self.filter,
            limit: self.candidates,
        }
    }

    /// What scores mean: a cosine is set against that of unrelated chunks, a sum over words against the greatest there can be.
    fn scale(&self, retrieval: &Retrieval<'_>) -> Result<Scale, Failure> {
        let greatest = self.view.greatest(retrieval, &self.ctx)?.filter(|greatest| *greatest > 0.0);
        let spread = match self.channel {
            Channel::Dense => self.view.background(retrieval, &self.ctx)?,
            Channel::Lexical => Vec::new(),
        };
        let finite = spread.into_iter().filter(|background| background.mean.is_finite());
        let typical = finite.map(|spread| (spread.source, spread.mean)).collect();
        Ok(Scale { typical, greatest, copies: Vec::new() })
    }

    /// Whether it takes hardly longer than to wake a thread for it, and waits for nobody: not for a model that embeds the query either.
    pub(super) fn is_brief(&self) -> bool {
        let ready = self.channel == Channel::Lexical || self.vector.is_some();
        ready && self.view.is_brief(&self.retrieval(self.vector.as_deref()))
    }

    /// The scores of chunks that others found, where they are of a source that this errand searches.
    pub(super) fn score(&self, chunks: &[(String, ChunkId)]) -> Result<Completed, Failure> {
        let vector = self.vector()?;
        let own: Vec<_> = chunks.iter().filter(|(source, _)| self.weights.contains_key(source)).collect();
        let ids: Vec<ChunkId> = own.iter().map(|(_, chunk)| *chunk).collect();
        let scores = self.view.score(&self.retrieval(vector.as_deref()), &ids, &self.ctx)?;
        let mut completed = Completed::new();
        for ((source, chunk), score) in own.into_iter().zip(scores) {
            let Some(score) = score.filter(|score| score.is_finite()) else { continue };
            match completed.get_mut(source) {
                Some(all) => all.push((*chunk, score)),
                None => drop(completed.insert(source.clone(), vec![(*chunk, score)])),
            }
        }
        Ok(completed)
    }

    /// Reads what is known about chunks; those that are gone are left out. Some at a time, so that it ends soon when there is no time left.
    pub(super) fn read(&self, chunks: &[ChunkId]) -> Result<Vec<Named>, Failure> {
        let named = |mut stored: StoredChunk| {
            let words = self.compared.then(|| Arc::new(Words::of(&stored.chunk.text)));
            Named { name: stored.name(), item: item(&mut stored), stored, words }
        };
        let mut read = Vec::with_capacity(chunks.len());
        for chunks in chunks.chunks(AT_ONCE) {
            if self.ctx.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                let hint = "give the search a longer deadline".to_owned();
                return Err(Box::new(Error::Unavailable {
                    what: "there was no time to read it".into(),
                    hint,
                }));
            }
            read.extend(self.view.fetch(chunks)?.into_iter().map(named));
        }
        Ok(read)
    }

    /// The vector of the query, where the channel needs one.
    fn vector(&self) -> Result<Option<Arc<[f32]>>, Failure> {
        match (self.channel, &self.vector, &self.embedder) {
            (Channel::Lexical, ..) => Ok(None),
            (Channel::Dense, Some(vector), _) => Ok(Some(Arc::clone(vector))),
            (Channel::Dense, None, Some(embedder)) => self.embed(embedder.as_ref()).map(Some),
            (Channel::Dense, None, None) => Err(Box::new(Error::Unavailable {
                what: "there is no model to embed the query".into(),
                hint: "`mainstem model pull` gets the default one".into(),
            })),
        }
    }

    fn embed(&self, embedder: &dyn Embedder) -> Result<Arc<[f32]>, Failure> {
        let model = &embedder.card().name;
        if let Some(vector) = self.cache.get(model, &self.text) {
            return Ok(vector);
        }
        let first = embedder.embed(&[&self.text], &self.ctx)?.into_iter().next();
        let usable = |vector: &Vec<f32>| {
            vector.len() == embedder.card().dim && vector.iter().all(|value| value.is_finite())
        };
        let vector = first.map(|embedded| embedded.vector).filter(usable).ok_or_else(|| {
            Box::new(Error::Internal(format!("`{model}` gave no usable vector for the query"))) as Failure
        })?;
        let vector: Arc<[f32]> = vector.into();
        self.cache.put(model, &self.text, Arc::clone(&vector));
        Ok(vector)
    }

    /// What was found in the sources that were asked for.
    fn of_planned_sources(&self, found: Vec<FoundIn>, catch: &mut Catch) -> Vec<(String, Found)> {
        let mut kept = Vec::new();
        for FoundIn { source, found } in found {
            if self.weights.contains_key(&source) {
                kept.extend(found.into_iter().map(|found| (source.clone(), found)));
            } else {
                catch.notes.push(format!(
                    "`{}` answered for a source that was not asked for",
                    self.channel.as_str()
                ));
            }
        }
        kept
    }

    /// The best of each list that is going to be fused: of the channel as a whole, where copies come along with what they are copies of, or of
    /// each source.
    fn cut(&self, mut found: Vec<(String, Found)>, copies: &[String]) -> Vec<(String, Found)> {
        let most = self.weights.values().copied().fold(f64::MIN_POSITIVE, f64::max);
        let worth = |(source, found): &(String, Found)| {
            let share = self.weights.get(source).map_or(1.0, |weight| weight / most);
            if found.score < 0.0 { found.score / share } else { found.score * share }
        };
        // Equal scores go by the name of the source, not by which source came first into the store.
        let place = |a: &(String, Found), b: &(String, Found)| a.0.cmp(&b.0).then(a.1.chunk.cmp(&b.1.chunk));
        found.sort_by(|a, b| worth(b).total_cmp(&worth(a)).then_with(|| place(a, b)));
        if self.across != Across::Rank {
            let mut room = self.candidates;
            let end = found.iter().position(|(source, _)| {
                let counts = !copies.contains(source);
                let full = counts && room == 0;
                room -= usize::from(counts && !full);
                full
            });
            found.truncate(end.unwrap_or(found.len()));
            return found;
        }
        let mut taken: FxHashMap<String, usize> = FxHashMap::default();
        found.retain(|(source, _)| {
            let count = taken.entry(source.clone()).or_default();
            *count += 1;
            *count <= self.candidates
        });
        found
    }
}

impl Catch {
    fn add(&mut self, source: &str, candidate: Candidate) {
        match self.by_source.get_mut(source) {
            Some(all) => all.push(candidate),
            None => drop(self.by_source.insert(source.to_owned(), vec![candidate])),
        }
    }
}
