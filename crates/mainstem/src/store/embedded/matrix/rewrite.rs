//! Writing what is there already once more: in a new generation, or as signs.

use super::code::Widener;
use super::columns::Columns;
use super::commit::Commit;
use super::snapshot::{Snapshot, source_of};
use super::writer::MatrixWriter;
use crate::Error;

/// Rows that the centre is the mean of, at most.
const SAMPLE: usize = 1 << 16;

impl MatrixWriter {
    /// Writes the rows that are alive into a new generation, in the order of their ids.
    pub(super) fn rewrite(&mut self) -> Result<Commit, Error> {
        let all = self.everything()?;
        let alive = |row: &u32| !all.is_dead(*row) && !self.pending.dead.contains(row);
        let mut rows: Vec<u32> = (0..self.rows()).filter(alive).collect();
        if self.pending.disordered {
            rows.sort_unstable_by_key(|row| all.id(*row));
        }
        let mut columns = Columns::create(&self.dir, all.dim())?;
        for &row in &rows {
            columns.copy(&all, row)?;
        }
        if rows.len() >= self.tuning.signs_from && all.dim() >= self.tuning.signs_dim {
            sign(&mut columns, &all, &rows)?;
        }
        columns.flush()?;
        let commit = Commit {
            generation: columns.generation,
            rows: rows.len() as u32,
            dim: columns.dim as u32,
            signs: columns.has_signs(),
            ..Commit::default()
        };
        self.columns = Some(columns);
        Ok(commit)
    }

    /// Gives signs to the rows that are there.
    pub(super) fn add_signs(&mut self) -> Result<(), Error> {
        let all = self.everything()?;
        let rows: Vec<u32> = (0..self.rows()).collect();
        let columns = self.columns(all.dim())?;
        sign(columns, &all, &rows)
    }

    /// All rows, those since the last commit included.
    fn everything(&mut self) -> Result<Snapshot, Error> {
        if let Some(columns) = &mut self.columns {
            columns.flush()?;
        }
        let dead = self.base.commit().dead;
        Snapshot::open(&self.dir, Commit { dead, signs: false, ..self.count() }, Some(&self.base))
    }
}

/// Starts the signs of a generation with those of `rows`, whose centre is theirs.
fn sign(columns: &mut Columns, all: &Snapshot, rows: &[u32]) -> Result<(), Error> {
    columns.start_signs(&mean(all, rows))?;
    let mut widener = Widener::default();
    for &row in rows {
        columns.push_signs(source_of(all.row(row)), widener.widen(all.exact_of(row)))?;
    }
    Ok(())
}

/// The mean of a sample that is spread evenly over the rows.
fn mean(all: &Snapshot, rows: &[u32]) -> Vec<f32> {
    let mut sums = vec![0.0_f64; all.dim()];
    let mut widener = Widener::default();
    let sample = || rows.iter().step_by(rows.len().div_ceil(SAMPLE).max(1));
    for &row in sample() {
        let vector = widener.widen(all.exact_of(row));
        sums.iter_mut().zip(vector).for_each(|(sum, x)| *sum += f64::from(*x));
    }
    let count = sample().count().max(1) as f64;
    sums.iter().map(|sum| (sum / count) as f32).collect()
}
