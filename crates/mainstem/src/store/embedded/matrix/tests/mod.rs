//! The matrix as a whole.

mod crash;
mod life;
mod recall;

use std::fs;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use mainstem_core::ChunkId;
use mainstem_core::contract::Found;

use super::{Matrix, Tuning};

/// Small enough numbers that small tests reach everything.
const SMALL: Tuning = Tuning { signs_from: 500, signs_dim: 64, rewrite_from: 20, rows_per_thread: 300 };

/// A folder that goes away with the test.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let name =
            format!("mainstem-matrix-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        Self(std::env::temp_dir().join(name))
    }
}

impl Deref for Folder {
    type Target = Path;

    fn deref(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.0));
    }
}

/// Marsaglia's xorshift, 2003.
struct Noise(u64);

impl Noise {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() >> 33) as usize % bound
    }

    /// About normal: the sum of four uniform numbers.
    fn normal(&mut self) -> f32 {
        (0..4).map(|_| (self.next() >> 40) as f32 / (1 << 24) as f32 - 0.5).sum()
    }

    fn vector(&mut self, dim: usize) -> Vec<f32> {
        (0..dim).map(|_| self.normal()).collect()
    }

    /// Vectors around a few centres, all of them off the origin, as those of models are.
    fn clustered(&mut self, count: usize, dim: usize) -> Vec<Vec<f32>> {
        let offset = self.vector(dim);
        let centres: Vec<Vec<f32>> = (0..20).map(|_| self.vector(dim)).collect();
        let mut near = |centre: &[f32]| -> Vec<f32> {
            offset.iter().zip(centre).map(|(o, c)| o + c + 0.7 * self.normal()).collect()
        };
        (0..count).map(|i| near(&centres[i * 7 % 20])).collect()
    }
}

/// Rows as a test knows them: id, source, vector.
type Row = (u64, u32, Vec<f32>);

/// The row of vector `i`: ids have gaps, sources alternate in runs.
fn rows(vectors: Vec<Vec<f32>>) -> Vec<Row> {
    let row = |(i, vector): (usize, Vec<f32>)| (3 * i as u64 + i as u64 % 2 + 5, (i / 10 % 3) as u32, vector);
    vectors.into_iter().enumerate().map(row).collect()
}

fn put(matrix: &Matrix, rows: &[Row], sequence: u64) {
    let mut writer = matrix.writer().unwrap();
    for (id, source, vector) in rows {
        writer.put(ChunkId(*id), *source, vector).unwrap();
    }
    writer.commit(sequence).unwrap();
}

fn cosine(a: &[f32], b: &[f32]) -> f64 {
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(&x, &y)| f64::from(x) * f64::from(y)).sum::<f64>();
    dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()
}

/// The right answer for one source.
fn nearest<'a>(rows: impl Iterator<Item = &'a Row>, query: &[f32], source: u32, limit: usize) -> Vec<Found> {
    let of_source = rows.filter(|row| row.1 == source);
    let mut found: Vec<Found> =
        of_source.map(|row| Found { chunk: ChunkId(row.0), score: cosine(query, &row.2) }).collect();
    found.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.chunk.cmp(&b.chunk)));
    found.truncate(limit);
    found
}

fn ids(found: &[Found]) -> Vec<u64> {
    found.iter().map(|found| found.chunk.0).collect()
}

/// How many of the right chunks were found.
fn hits(found: &[Found], right: &[Found]) -> usize {
    right.iter().filter(|right| found.iter().any(|found| found.chunk == right.chunk)).count()
}
