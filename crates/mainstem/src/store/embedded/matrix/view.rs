//! Searching one commit.

use std::sync::Arc;

use mainstem_core::ChunkId;
use mainstem_core::contract::Found;
use mainstem_kernels::{dot_f16, prefetch};

use super::super::allowed::{Scope, Spread};
use super::code::{self, Probe, Widener};
use super::scan::{Pass, Scan, Shortlist};
use super::slots::Slots;
use super::snapshot::Snapshot;
use super::{Allowed, Tuning};
use crate::Error;

/// Rows of a source that are scored again, at least: after the codes, and after the signs. Of a million clustered vectors, 200 after the
/// signs keep .997 of the ten nearest, 300 all.
const KEEP_CODES: usize = 50;
const KEEP_SIGNS: usize = 300;
/// How many rows ahead memory is asked for what is going to be scored.
const AHEAD: usize = 4;
/// How many more rows of a source are scored again than are wanted.
const KEEP_TIMES: usize = 4;

/// The matrix as of one commit.
#[derive(Clone, Debug)]
pub(crate) struct MatrixView {
    snapshot: Arc<Snapshot>,
    tuning: Tuning,
}

impl MatrixView {
    pub(super) fn new(snapshot: Arc<Snapshot>, tuning: Tuning) -> Self {
        Self { snapshot, tuning }
    }

    /// How many vectors there are.
    pub(crate) fn len(&self) -> usize {
        self.snapshot.rows() - self.snapshot.commit().dead as usize
    }

    /// Whether all vectors were searched before.
    pub(crate) fn is_known(&self) -> bool {
        self.snapshot.was_searched()
    }

    /// Components per vector; 0 before the first vector.
    pub(crate) fn dim(&self) -> usize {
        self.snapshot.dim()
    }

    /// The sequence number of the commit.
    pub(crate) fn applied(&self) -> u64 {
        self.snapshot.commit().sequence
    }

    /// The best `limit` chunks of each of these sources, best first, with their cosines; equal ones by id. Sources come in the order
    /// given, those without a hit are left out. With `allowed`, only its chunks may be found.
    ///
    /// # Errors
    /// When the query is not of the matrix's dimension, or not of finite numbers.
    pub(crate) fn search(
        &self,
        query: &[f32],
        sources: &[u32],
        allowed: Option<&Arc<Allowed>>,
        limit: usize,
    ) -> Result<Vec<(u32, Vec<Found>)>, Error> {
        let Some(probe) = self.probe(query)? else { return Ok(Vec::new()) };
        let (probe, slots) = (Arc::new(probe), Arc::new(Slots::new(sources)));
        if slots.sources().is_empty() || limit == 0 {
            return Ok(Vec::new());
        }
        let scan = self.scan(&probe, &slots, allowed, limit);
        let shortlists = scan.run(self.tuning.rows_per_thread);
        if !matches!(scan.pass, Pass::Gather(_)) {
            self.snapshot.set_searched();
        }
        let answer = slots.sources().iter().zip(shortlists);
        let answer = answer.map(|(source, shortlist)| (*source, self.rescore(&scan, shortlist, limit)));
        let answer: Vec<_> = answer.filter(|(_, found)| !found.is_empty()).collect();
        if answer.iter().flat_map(|(_, found)| found).any(|found| !found.score.is_finite()) {
            return Err(self.snapshot.not_what_was_written());
        }
        Ok(answer)
    }

    /// The cosines of these chunks, `None` for those that have no vector.
    ///
    /// # Errors
    /// When the query is not of the matrix's dimension, or not of finite numbers.
    pub(crate) fn scores(&self, query: &[f32], chunks: &[ChunkId]) -> Result<Vec<Option<f64>>, Error> {
        let Some(probe) = self.probe(query)? else { return Ok(vec![None; chunks.len()]) };
        let rows: Vec<Option<u32>> = chunks.iter().map(|chunk| self.snapshot.find(chunk.0)).collect();
        let score = |(at, row): (usize, &Option<u32>)| {
            if let Some(Some(ahead)) = rows.get(at + AHEAD) {
                prefetch(self.snapshot.exact_of(*ahead));
            }
            row.map(|row| self.exact(&probe, row))
        };
        Ok(rows.iter().enumerate().map(score).collect())
    }

    /// The vector of a chunk, of length 1 and as exact as f16 is; nothing for one that has none.
    pub(crate) fn vector(&self, chunk: ChunkId, widener: &mut Widener) -> Option<Vec<f32>> {
        let row = self.snapshot.find(chunk.0)?;
        Some(widener.widen(self.snapshot.exact_of(row)).to_vec())
    }

    /// Whether the row of a chunk is, to the bit, what its vector makes it.
    pub(crate) fn holds(&self, id: ChunkId, source: u32, vector: &[f32]) -> bool {
        code::unit(vector).is_ok_and(|unit| {
            self.snapshot.find(id.0).is_some_and(|row| self.snapshot.is_row_of(row, source, &unit))
        })
    }

    /// How many vectors of each of these sources may be seen, and mean and standard deviation of their cosines, in the order given; nothing for
    /// a source without vectors. They are those of a [sample](super::sample).
    ///
    /// # Errors
    /// When the query is not of the matrix's dimension, or not of finite numbers.
    pub(crate) fn background(
        &self,
        (query, scope): (&[f32], &Scope),
        sources: &[u32],
    ) -> Result<Vec<Option<Spread>>, Error> {
        let Some(probe) = self.probe(query)? else { return Ok(vec![None; sources.len()]) };
        let sample = self.snapshot.sample(scope);
        let of = |source: &u32| {
            let (mean, deviation) = sample.spread(&probe, *source)?;
            Some((sample.count(*source), mean, deviation))
        };
        Ok(sources.iter().map(of).collect())
    }

    /// The forms of the query; `None` when there is nothing to compare it with.
    fn probe(&self, query: &[f32]) -> Result<Option<Probe>, Error> {
        if self.dim() == 0 {
            return Ok(None);
        }
        check_dim(self.dim(), query.len())?;
        Probe::new(query).map(Some)
    }

    fn scan(
        &self,
        probe: &Arc<Probe>,
        slots: &Arc<Slots>,
        allowed: Option<&Arc<Allowed>>,
        limit: usize,
    ) -> Scan {
        let least = if self.snapshot.signs().is_some() { KEEP_SIGNS } else { KEEP_CODES };
        let keep = limit.saturating_mul(KEEP_TIMES).max(least).min(self.snapshot.rows());
        Scan {
            snapshot: Arc::clone(&self.snapshot),
            probe: Arc::clone(probe),
            slots: Arc::clone(slots),
            allowed: allowed.cloned(),
            keep,
            pass: self.pass(allowed),
        }
    }

    /// A few allowed chunks are looked up one by one. A row that is picked costs as much as several that are passed in order, and more of
    /// them where those are signs.
    fn pass(&self, allowed: Option<&Arc<Allowed>>) -> Pass {
        let signs = self.snapshot.signs().is_some();
        let cost = if signs { 10 } else { 5 };
        let few = |allowed: &Arc<Allowed>| allowed.len().saturating_mul(cost) <= self.snapshot.rows();
        match allowed {
            Some(allowed) if few(allowed) => Pass::Gather(Arc::clone(allowed)),
            _ if signs => Pass::Signs,
            _ => Pass::Codes,
        }
    }

    /// The best `limit` of a shortlist, by their cosines.
    fn rescore(&self, scan: &Scan, shortlist: Shortlist, limit: usize) -> Vec<Found> {
        let Shortlist { best, mut exact } = shortlist;
        exact.sort_unstable_by_key(|(row, _)| *row);
        let mut known = exact.into_iter().peekable();
        let (mut scored, mut missing) = (Vec::new(), Vec::new());
        for row in best.into_rows() {
            while known.next_if(|(other, _)| *other < row).is_some() {}
            match known.next_if(|(other, _)| *other == row) {
                Some(known) => scored.push(known),
                None => missing.push(row),
            }
        }
        scored.extend(scan.exact(missing.into_iter()));
        let found = |(row, score)| Found { chunk: ChunkId(self.snapshot.id(row)), score };
        let mut found: Vec<Found> = scored.into_iter().map(found).collect();
        found.sort_unstable_by(|a, b| b.score.total_cmp(&a.score).then(a.chunk.cmp(&b.chunk)));
        found.truncate(limit);
        found
    }

    fn exact(&self, probe: &Probe, row: u32) -> f64 {
        f64::from(dot_f16(&probe.full, self.snapshot.exact_of(row)))
    }
}

/// Refuses a vector of another length.
pub(super) fn check_dim(expected: usize, received: usize) -> Result<(), Error> {
    if expected == received {
        return Ok(());
    }
    Err(Error::input(
        format!("expected a vector of {expected} dimensions, received {received}"),
        "use the model that the store was filled with",
    ))
}
