//! MaxSim, the late-interaction score of token matrices.
//!
//! `MaxSim(Q, D) = 1/|Q| · Σ_{q ∈ Q} max_{d ∈ D} cos(q, d)`: the mean over the query's tokens of the best cosine with any
//! token of the document (Khattab & Zaharia, `ColBERT`, 2020, sum where we take the mean, so that queries of different
//! length share one scale). It is not symmetric.
//!
//! The query is packed once as `[panel][dim][16 tokens]`. A kernel then broadcasts one component of a document row at a
//! time and multiplies it into 16 query tokens per AVX-512 register, for a block of rows whose sums all stay in
//! registers: per component, one load of the query serves every row and one broadcast serves every token. Each
//! query token owns a lane, so the maximum over rows is a plain vector maximum.

use std::num::NonZeroUsize;
use std::sync::Mutex;

use crate::isa::Kernels;
use crate::tokens::{ShapeError, TokenBatch, Tokens};

/// Query tokens that lie side by side in a packed query: one AVX-512 register, two of AVX2, four of NEON.
pub(crate) const PANEL: usize = 16;

/// Documents a thread takes at a time: few enough to end together, enough to make taking them free.
const BATCH: usize = 8;

/// Rows normalised at a time by [`MaxSimQuery::score_raw`]; a multiple of every variant's row block.
const RAW_ROWS: usize = 48;

/// A query packed for MaxSim: rows scaled to unit length and transposed, so that tokens lie in SIMD lanes.
///
/// Documents need no packing. A token of length zero, or one with a component that is not finite, has cosine 0 with
/// everything. Scores are the same bits on every machine and for every number of threads.
///
/// ```
/// use mainstem_kernels::{MaxSimQuery, Tokens};
/// let query = MaxSimQuery::new(Tokens::new(&[2.0, 0.0, 0.0, 5.0], 2)?);
/// let document = Tokens::new(&[1.0, 0.0], 2)?;
/// assert_eq!(query.score(document)?, 0.5);
/// # Ok::<(), mainstem_kernels::ShapeError>(())
/// ```
#[derive(Debug, Clone)]
pub struct MaxSimQuery {
    /// `[panel][dim][PANEL]`; the last panel is filled up with zeros.
    panels: Vec<f32>,
    tokens: usize,
    dim: usize,
    kernels: &'static Kernels,
}

impl MaxSimQuery {
    /// Packs a query for the best instruction set of this machine.
    pub fn new(query: Tokens<'_>) -> Self {
        Self::with_kernels(query, Kernels::best())
    }

    /// Packs a query for a chosen instruction set; for tests and measurements.
    pub fn with_kernels(query: Tokens<'_>, kernels: &'static Kernels) -> Self {
        let (tokens, dim) = (query.len(), query.dim());
        let mut panels = vec![0.0; tokens.next_multiple_of(PANEL) * dim];
        for (t, row) in query.values().chunks_exact(dim).enumerate() {
            let scale = unit_scale(row);
            for (d, &x) in row.iter().enumerate() {
                panels[(t / PANEL * dim + d) * PANEL + t % PANEL] = scaled(x, scale);
            }
        }
        Self { panels, tokens, dim, kernels }
    }

    /// MaxSim with a document whose rows have unit length, the form in which they are stored.
    ///
    /// An empty query or document scores 0.
    ///
    /// # Errors
    /// When the dimensions differ.
    pub fn score(&self, document: Tokens<'_>) -> Result<f32, ShapeError> {
        self.check(document.dim())?;
        Ok(self.score_unit(document.values(), &mut self.scratch()))
    }

    /// MaxSim with a document whose rows have any length; they are scaled on the way.
    ///
    /// # Errors
    /// When the dimensions differ.
    pub fn score_raw(&self, document: Tokens<'_>) -> Result<f32, ShapeError> {
        self.check(document.dim())?;
        let mut best = self.scratch();
        best.fill(f32::NEG_INFINITY);
        let mut unit = vec![0.0; RAW_ROWS.min(document.len()) * self.dim];
        for rows in document.values().chunks(RAW_ROWS * self.dim) {
            let unit = &mut unit[..rows.len()];
            unit.copy_from_slice(rows);
            normalize(unit, self.dim);
            self.kernels.raise_best(&self.panels, unit, self.dim, &mut best);
        }
        Ok(self.mean(&best))
    }

    /// MaxSim with each document of a batch of unit rows, on up to `threads` threads; `scores[i]` is document `i`'s.
    ///
    /// The threads live for this call only. The work is long against starting them (a thousand documents take
    /// milliseconds), so a pool would buy nothing and cost a dependency; pass 1 where the caller is parallel already.
    ///
    /// # Errors
    /// When the dimensions differ, or `scores` has another length than the batch.
    pub fn score_batch(
        &self,
        batch: &TokenBatch<'_>,
        threads: NonZeroUsize,
        scores: &mut [f32],
    ) -> Result<(), ShapeError> {
        self.check(batch.dim())?;
        if scores.len() != batch.len() {
            return Err(ShapeError::Room { documents: batch.len(), room: scores.len() });
        }
        let helpers = threads.get().min(scores.len().div_ceil(BATCH)).saturating_sub(1);
        let queue = Mutex::new(scores.chunks_mut(BATCH).enumerate());
        std::thread::scope(|scope| {
            for _ in 0..helpers {
                scope.spawn(|| self.drain(batch, &queue));
            }
            self.drain(batch, &queue);
        });
        Ok(())
    }

    /// Scores documents off the queue until it is empty.
    fn drain<'s>(&self, batch: &TokenBatch<'_>, queue: &Mutex<impl Iterator<Item = (usize, &'s mut [f32])>>) {
        let mut best = self.scratch();
        // A poisoned lock means another worker panicked; the scope re-raises that, so stopping here loses nothing.
        while let Some((i, scores)) = queue.lock().ok().and_then(|mut queue| queue.next()) {
            for (j, score) in scores.iter_mut().enumerate() {
                *score = self.score_unit(batch.document(i * BATCH + j), &mut best);
            }
        }
    }

    fn check(&self, document: usize) -> Result<(), ShapeError> {
        if document == self.dim {
            return Ok(());
        }
        Err(ShapeError::Dimensions { query: self.dim, document })
    }

    fn scratch(&self) -> Vec<f32> {
        vec![0.0; self.tokens.next_multiple_of(PANEL)]
    }

    fn score_unit(&self, rows: &[f32], best: &mut [f32]) -> f32 {
        best.fill(f32::NEG_INFINITY);
        self.kernels.raise_best(&self.panels, rows, self.dim, best);
        self.mean(best)
    }

    /// The mean over the tokens; a token that nothing could be compared with counts as 0.
    fn mean(&self, best: &[f32]) -> f32 {
        if self.tokens == 0 {
            return 0.0;
        }
        let comparable = |&best: &f32| {
            if best == f32::NEG_INFINITY { 0.0 } else { f64::from(best) }
        };
        (best[..self.tokens].iter().map(comparable).sum::<f64>() / self.tokens as f64) as f32
    }
}

/// Scales every row of `dim` components to unit length, in place.
///
/// Rows of length zero, and rows with a component that is not finite, become zeros.
///
/// # Panics
/// When `dim` is 0 or does not divide the number of values.
pub fn normalize(rows: &mut [f32], dim: usize) {
    assert!(dim > 0 && rows.len().is_multiple_of(dim), "rows of {dim} components in {} values", rows.len());
    for row in rows.chunks_exact_mut(dim) {
        let scale = unit_scale(row);
        for x in row {
            *x = scaled(*x, scale);
        }
    }
}

/// One over the length of the row, in `f64` because squares of `f32` leave the range of `f32`; 0 when there is none.
fn unit_scale(row: &[f32]) -> f64 {
    let squares: f64 = row.iter().map(|&x| f64::from(x) * f64::from(x)).sum();
    if squares > 0.0 && squares.is_finite() { squares.sqrt().recip() } else { 0.0 }
}

fn scaled(x: f32, scale: f64) -> f32 {
    if scale == 0.0 { 0.0 } else { (f64::from(x) * scale) as f32 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn score(query: &[f32], document: &[f32], dim: usize) -> f32 {
        let tokens = |values| Tokens::new(values, dim).unwrap();
        MaxSimQuery::new(tokens(query)).score_raw(tokens(document)).unwrap()
    }

    #[test]
    fn the_mean_is_over_query_tokens_only() {
        let (short, long) = ([3.0, 0.0], [1.0, 0.0, 0.0, 2.0]);
        assert_eq!(score(&short, &long, 2), 1.0);
        assert_eq!(score(&long, &short, 2), 0.5);
    }

    #[test]
    fn nothing_scores_zero() {
        assert_eq!(score(&[], &[1.0, 0.0], 2), 0.0);
        assert_eq!(score(&[1.0, 0.0], &[], 2), 0.0);
        assert_eq!(score(&[], &[], 2), 0.0);
    }

    #[test]
    fn opposite_tokens_score_minus_one() {
        assert_eq!(score(&[0.0, 4.0], &[0.0, -0.5], 2), -1.0);
    }

    #[test]
    fn a_token_without_direction_has_cosine_zero() {
        assert_eq!(score(&[0.0, 0.0, 1.0, 0.0], &[2.0, 0.0], 2), 0.5);
        assert_eq!(score(&[1.0, 0.0], &[0.0, 0.0], 2), 0.0);
        for broken in [f32::NAN, f32::INFINITY] {
            assert_eq!(score(&[broken, 1.0], &[1.0, 1.0], 2), 0.0);
            assert_eq!(score(&[1.0, 0.0], &[broken, 1.0, 1.0, 0.0], 2), 1.0);
        }
    }

    #[test]
    fn lengths_beyond_the_range_of_their_squares_still_have_a_direction() {
        for scale in [f32::MAX, f32::MIN_POSITIVE, 1e-42] {
            assert_eq!(score(&[scale, 0.0], &[scale, 0.0, 0.0, scale], 2), 1.0);
        }
    }

    #[test]
    fn a_nan_among_stored_rows_never_wins() {
        for kernels in Kernels::available() {
            let query = MaxSimQuery::with_kernels(Tokens::new(&[1.0, 0.0], 2).unwrap(), kernels);
            let mut document = vec![f32::NAN; 2 * 14];
            assert_eq!(query.score(Tokens::new(&document, 2).unwrap()), Ok(0.0), "{}", kernels.isa());
            document[10..12].copy_from_slice(&[0.6, 0.8]);
            assert_eq!(query.score(Tokens::new(&document, 2).unwrap()), Ok(0.6), "{}", kernels.isa());
        }
    }

    #[test]
    fn dimensions_must_agree() {
        let query = MaxSimQuery::new(Tokens::new(&[1.0, 0.0], 2).unwrap());
        let refusal = Err(ShapeError::Dimensions { query: 2, document: 1 });
        assert_eq!(query.score(Tokens::new(&[1.0], 1).unwrap()), refusal);
        assert_eq!(query.score_raw(Tokens::new(&[1.0], 1).unwrap()), refusal);
    }

    #[test]
    fn a_batch_needs_room_for_its_scores() {
        let query = MaxSimQuery::new(Tokens::new(&[1.0, 0.0], 2).unwrap());
        let batch = TokenBatch::new(Tokens::new(&[1.0, 0.0], 2).unwrap(), &[0, 1, 1]).unwrap();
        let mut scores = [7.0; 3];
        let refusal = ShapeError::Room { documents: 2, room: 3 };
        assert_eq!(query.score_batch(&batch, NonZeroUsize::MIN, &mut scores), Err(refusal));
        query.score_batch(&batch, NonZeroUsize::MIN, &mut scores[..2]).unwrap();
        assert_eq!(scores, [1.0, 0.0, 7.0]);
    }
}
