//! How alike two documents are, from 0 to 1.

use mainstem_core::contract::Ctx;
use mainstem_core::link::Judge;
use mainstem_core::{Failure, StoredChunk};
use mainstem_kernels::dot;

use super::{Pair, Scene};
use crate::ingest::reading;
use crate::rerank::MaxSim;

/// How many chunks MaxSim reads of a document, from its start.
const READ: usize = 2;

/// What the judge says about a pair that belongs together.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Verdict {
    pub(super) judge: Judge,
    pub(super) score: f64,
    /// The places of the two chunks that are most alike.
    pub(super) chunks: (u32, u32),
    /// How many of their telling words they share, and the most telling of them.
    pub(super) words: f64,
    pub(super) common: Vec<String>,
}

/// Where pairs are judged.
pub(super) struct Bench<'a> {
    pub(super) scene: &'a Scene<'a>,
    pub(super) judge: Judge,
    pub(super) states: Option<&'a MaxSim>,
}

/// The first chunks of a document.
type First = Vec<StoredChunk>;

impl Bench<'_> {
    /// What the judge says about pairs that all have this document in common, which comes first in each; nothing about pairs that do not
    /// belong together.
    pub(super) fn hear(&self, document: u32, pairs: &[Pair]) -> Result<Vec<Option<Verdict>>, Failure> {
        if pairs.is_empty() {
            return Ok(Vec::new());
        }
        let own = self.scene.first_chunks(document)?;
        let others = pairs.iter().map(|(_, other)| self.scene.first_chunks(*other));
        let others: Vec<First> = others.collect::<Result<_, _>>()?;
        let scores = match (self.judge, self.states) {
            (Judge::MaxSim, Some(states)) => by_tokens(states, &own, &others, self.scene.ctx)?,
            (Judge::Words, _) => vec![None; others.len()],
            _ => others.iter().map(|other| by_vectors(&own, other)).collect(),
        };
        scores.into_iter().zip(&others).map(|(score, other)| self.decide(score, &own, other)).collect()
    }

    /// Whether two documents belong together, by a score of tokens or of vectors, and by their words. Words alone decide where there is no score.
    fn decide(
        &self,
        score: Option<(Judge, f64)>,
        own: &First,
        other: &First,
    ) -> Result<Option<Verdict>, Failure> {
        let least = |judge: Judge| self.scene.settings.least.unwrap_or_else(|| judge.least());
        if score.is_some_and(|(judge, score)| score < least(judge)) {
            return Ok(None);
        }
        let (a, b) = (self.scene.telling.of(own)?, self.scene.telling.of(other)?);
        let words = f64::midpoint(a.share_in(&b), b.share_in(&a)).clamp(0.0, 1.0);
        let (judge, score) = score.unwrap_or((Judge::Words, words));
        if score < least(judge) || words < self.scene.settings.words {
            return Ok(None);
        }
        let chunks = nearest(own, other).map_or_else(|| a.most_alike(&b), |(_, places)| places);
        Ok(Some(Verdict { judge, score, chunks, words, common: a.common(&b) }))
    }
}

/// The mean of how well the tokens of each are met by those of the other.
fn by_tokens(
    states: &MaxSim,
    own: &[StoredChunk],
    others: &[First],
    ctx: &Ctx,
) -> Result<Vec<Option<(Judge, f64)>>, Failure> {
    let texts: Vec<Vec<String>> = others.iter().map(|chunks| read(chunks)).collect();
    let scores = states.both_ways(&read(own), &texts, ctx)?;
    Ok(scores.into_iter().map(|score| Some((Judge::MaxSim, score.clamp(0.0, 1.0)))).collect())
}

/// The cosine of the chunks that are most alike.
fn by_vectors(own: &[StoredChunk], other: &[StoredChunk]) -> Option<(Judge, f64)> {
    nearest(own, other).map(|(cosine, _)| (Judge::Cosine, cosine.clamp(0.0, 1.0)))
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
            let lengths = f64::from(dot(x, x) * dot(y, y)).sqrt();
            let cosine = f64::from(dot(x, y)) / lengths.max(f64::MIN_POSITIVE);
            if best.is_none_or(|(known, _)| cosine > known) {
                best = Some((cosine, (a.chunk.order, b.chunk.order)));
            }
        }
    }
    best
}
