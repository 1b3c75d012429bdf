//! How alike two documents are, from 0 to 1.

use mainstem_core::contract::{Ctx, View};
use mainstem_core::link::Judge;
use mainstem_core::{Failure, StoredChunk};
use mainstem_kernels::dot;

use super::Pair;
use super::discover::first_chunks;
use super::telling::{Profile, Telling};
use crate::ingest::reading;
use crate::rerank::MaxSim;
use crate::store::embedded::Outline;

/// How many chunks MaxSim reads of a document, from its start.
const READ: usize = 2;

/// What the judge says about a pair.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Verdict {
    pub(super) judge: Judge,
    pub(super) score: f64,
    /// The places of the two chunks that are most alike.
    pub(super) a_chunk: u32,
    pub(super) b_chunk: u32,
}

/// Where pairs are judged.
pub(super) struct Bench<'a> {
    pub(super) view: &'a dyn View,
    pub(super) outline: &'a Outline,
    pub(super) telling: &'a Telling<'a>,
    pub(super) states: Option<&'a MaxSim>,
    pub(super) judge: Judge,
    pub(super) ctx: &'a Ctx,
}

impl Bench<'_> {
    /// What the judge says about pairs that all have this document in common, which comes first in each.
    pub(super) fn hear(&self, document: u32, pairs: &[Pair]) -> Result<Vec<Verdict>, Failure> {
        if pairs.is_empty() {
            return Ok(Vec::new());
        }
        let own = first_chunks(self.view, self.outline, document)?;
        let others = pairs.iter().map(|(_, other)| first_chunks(self.view, self.outline, *other));
        let others: Vec<Vec<StoredChunk>> = others.collect::<Result<_, _>>()?;
        match (self.judge, self.states) {
            (Judge::MaxSim, Some(states)) => self.by_tokens(states, &own, &others),
            (Judge::Words, _) => self.by_words(&own, &others),
            _ => self.by_vectors(&own, &others),
        }
    }

    /// The mean of how well the tokens of each are met by those of the other.
    fn by_tokens(
        &self,
        states: &MaxSim,
        own: &[StoredChunk],
        others: &[Vec<StoredChunk>],
    ) -> Result<Vec<Verdict>, Failure> {
        let texts: Vec<Vec<String>> = others.iter().map(|chunks| read(chunks)).collect();
        let scores = states.both_ways(&read(own), &texts, self.ctx)?;
        let verdict = |(score, chunks): (f64, &Vec<StoredChunk>)| {
            let (a_chunk, b_chunk) = self.most_alike(own, chunks)?;
            Ok(Verdict { judge: Judge::MaxSim, score: score.clamp(0.0, 1.0), a_chunk, b_chunk })
        };
        scores.into_iter().zip(others).map(verdict).collect()
    }

    /// The cosine of the chunks that are most alike; words where one of the two has no vector.
    fn by_vectors(&self, own: &[StoredChunk], others: &[Vec<StoredChunk>]) -> Result<Vec<Verdict>, Failure> {
        let judge = |chunks: &Vec<StoredChunk>| match nearest(own, chunks) {
            Some((cosine, (a_chunk, b_chunk))) => {
                Ok(Verdict { judge: Judge::Cosine, score: cosine.clamp(0.0, 1.0), a_chunk, b_chunk })
            }
            None => verdict_of(&self.telling.of(own)?, &self.telling.of(chunks)?),
        };
        others.iter().map(judge).collect()
    }

    /// The mean of how much of the weight of the telling words of each the other has.
    fn by_words(&self, own: &[StoredChunk], others: &[Vec<StoredChunk>]) -> Result<Vec<Verdict>, Failure> {
        let own = self.telling.of(own)?;
        others.iter().map(|chunks| verdict_of(&own, &self.telling.of(chunks)?)).collect()
    }

    fn most_alike(&self, own: &[StoredChunk], others: &[StoredChunk]) -> Result<(u32, u32), Failure> {
        match nearest(own, others) {
            Some((_, places)) => Ok(places),
            None => Ok(self.telling.of(own)?.most_alike(&self.telling.of(others)?)),
        }
    }
}

fn verdict_of(a: &Profile, b: &Profile) -> Result<Verdict, Failure> {
    let (a_chunk, b_chunk) = a.most_alike(b);
    let score = f64::midpoint(a.share_in(b), b.share_in(a)).clamp(0.0, 1.0);
    Ok(Verdict { judge: Judge::Words, score, a_chunk, b_chunk })
}

/// What MaxSim reads of a document.
fn read(chunks: &[StoredChunk]) -> Vec<String> {
    chunks.iter().take(READ).map(|stored| reading(&stored.document, &stored.chunk)).collect()
}

/// The greatest cosine of any two chunks, and their places; the first of equals. Nothing when either has no vector.
fn nearest(own: &[StoredChunk], others: &[StoredChunk]) -> Option<(f64, (u32, u32))> {
    let mut best: Option<(f64, (u32, u32))> = None;
    for a in own {
        for b in others {
            let (Some(x), Some(y)) = (&a.chunk.vector, &b.chunk.vector) else { continue };
            let cosine =
                f64::from(dot(x, y)) / f64::from(dot(x, x) * dot(y, y)).sqrt().max(f64::MIN_POSITIVE);
            if best.is_none_or(|(known, _)| cosine > known) {
                best = Some((cosine, (a.chunk.order, b.chunk.order)));
            }
        }
    }
    best
}
