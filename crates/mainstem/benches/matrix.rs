//! The vector matrix: how fast, how right, how much memory.
//!
//! `cargo bench -p mainstem --bench matrix` measures 100,000 vectors of 384 dimensions, twice: by codes, and by signs first. The variable
//! `MAINSTEM_BENCH_ROWS` names other sizes, such as `100000,1000000` (a million takes 1.3 GB of disk and some minutes).
#![allow(
    dead_code,
    unused_imports,
    missing_docs,
    unreachable_pub,
    reason = "the matrix is taken into this program as it is"
)]

#[path = "../src/store/embedded/allowed.rs"]
mod allowed;
#[path = "../src/error.rs"]
mod error;
#[path = "../src/store/embedded/matrix/mod.rs"]
mod matrix;
#[path = "../src/workers.rs"]
mod workers;

/// What the lexical index knows about readers, who do not come here.
mod lexical {
    #[derive(Debug, Default)]
    pub struct Readable;
}

pub use error::Error;

use std::fs;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use allowed::Allowed;
use mainstem_core::ChunkId;
use matrix::{Matrix, MatrixView, Tuning};

const DIM: usize = 384;
const CENTRES: usize = 2000;
const SOURCES: u32 = 4;
const LIMIT: usize = 50;
const QUERIES: usize = 100;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let sizes = std::env::var("MAINSTEM_BENCH_ROWS").unwrap_or_else(|_| "100000".into());
    for size in sizes.split(',') {
        let rows: usize = size.trim().parse()?;
        for (name, signs_from) in [("codes", usize::MAX), ("signs first", 0)] {
            println!("\n{rows} x {DIM}, {name}");
            measure(rows, Tuning { signs_from, ..Tuning::default() })?;
        }
    }
    Ok(())
}

fn measure(rows: usize, tuning: Tuning) -> Result<(), Error> {
    let dir = std::env::temp_dir().join(format!("mainstem-bench-{}", std::process::id()));
    drop(fs::remove_dir_all(&dir));
    let corpus = Corpus::new();
    fill(&Matrix::tuned(&dir, tuning)?, &corpus, rows)?;
    let start = Instant::now();
    let matrix = Matrix::tuned(&dir, tuning)?;
    let view = matrix.view()?;
    print("open", format!("{:.2} ms", milliseconds(start)));
    let queries: Vec<Vec<f32>> = (0..QUERIES).map(|i| corpus.vector(rows + i * 37)).collect();
    latencies(&view, &queries, rows)?;
    memory();
    print("recall@10", format!("{:.4}", recall(&view, &corpus, &queries, rows)?));
    bandwidth(&dir, if tuning.signs_from == 0 { &["signs", "factors"] } else { &["codes", "rows"] });
    drop((view, matrix));
    drop(fs::remove_dir_all(&dir));
    Ok(())
}

fn fill(matrix: &Matrix, corpus: &Corpus, rows: usize) -> Result<(), Error> {
    let mut writer = matrix.writer()?;
    let mut seconds = 0.0;
    for block in 0..rows.div_ceil(10_000) {
        let of_block = block * 10_000..rows.min(block * 10_000 + 10_000);
        let vectors: Vec<Vec<f32>> = of_block.clone().map(|row| corpus.vector(row)).collect();
        let start = Instant::now();
        for (row, vector) in of_block.zip(&vectors) {
            writer.put(ChunkId(row as u64), source(row), vector)?;
        }
        seconds += start.elapsed().as_secs_f64();
    }
    let start = Instant::now();
    writer.commit(1)?;
    let commit = start.elapsed().as_secs_f64();
    print("append", format!("{:.0} rows/s, commit {commit:.2} s", rows as f64 / (seconds + commit)));
    let start = Instant::now();
    writer.put(ChunkId(rows as u64), 0, &corpus.vector(rows))?;
    writer.commit(2)?;
    print("append one and commit", format!("{:.2} ms", milliseconds(start)));
    Ok(())
}

/// Sources in runs of 1,000 rows, as ingestion leaves them.
fn source(row: usize) -> u32 {
    (row / 1000) as u32 % SOURCES
}

fn latencies(view: &MatrixView, queries: &[Vec<f32>], rows: usize) -> Result<(), Error> {
    let every = |step: usize| Arc::new(Allowed::new((0..rows as u64).step_by(step).map(ChunkId).collect()));
    let all: Vec<u32> = (0..SOURCES).collect();
    let start = Instant::now();
    view.search(&queries[0], &all, None, LIMIT)?;
    print("search, first", format!("{:.2} ms", milliseconds(start)));
    let cases: [(&str, &[u32], Option<_>); 7] = [
        ("search, all sources", &all, None),
        ("search, one source", &all[..1], None),
        ("search, 50 % allowed", &all, Some(every(2))),
        ("search, 10 % allowed", &all, Some(every(10))),
        ("search, 4 % allowed", &all, Some(every(25))),
        ("search, 1 % allowed", &all, Some(every(100))),
        ("search, 0.1 % allowed", &all, Some(every(1000))),
    ];
    for (name, sources, allowed) in cases {
        let mut times = Vec::new();
        for query in queries {
            let start = Instant::now();
            black_box(view.search(query, sources, allowed.as_ref(), LIMIT)?);
            times.push(milliseconds(start));
        }
        times.sort_by(f64::total_cmp);
        let at = |share: f64| times[(times.len() as f64 * share) as usize];
        print(name, format!("p50 {:.3} ms, p95 {:.3} ms, best {:.3} ms", at(0.5), at(0.95), times[0]));
    }
    Ok(())
}

/// The share of the ten nearest of all, by f32, that the search finds.
fn recall(view: &MatrixView, corpus: &Corpus, queries: &[Vec<f32>], rows: usize) -> Result<f64, Error> {
    let mut nearest: Vec<Vec<(f32, u64)>> = vec![Vec::new(); queries.len()];
    for row in 0..=rows {
        let vector = corpus.vector(row);
        for (best, query) in nearest.iter_mut().zip(queries) {
            best.push((mainstem_kernels::dot(query, &vector), row as u64));
            if best.len() == 1000 || row == rows {
                best.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
                best.truncate(10);
            }
        }
    }
    let all: Vec<u32> = (0..SOURCES).collect();
    let mut hits = 0;
    for (query, right) in queries.iter().zip(&nearest) {
        let answer = view.search(query, &all, None, 10)?;
        let found = |id: u64| answer.iter().any(|(_, found)| found.iter().any(|found| found.chunk.0 == id));
        hits += right.iter().filter(|(_, id)| found(*id)).count();
    }
    Ok(hits as f64 / (10 * queries.len()) as f64)
}

/// A plain read, by one thread and by all, of the files that a search passes over.
fn bandwidth(dir: &Path, names: &[&str]) {
    let folder = fs::read_dir(dir)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .find(|path| path.is_dir());
    let read = |name: &&str| fs::read(folder.clone().unwrap_or_default().join(name)).unwrap_or_default();
    let bytes: Vec<u8> = names.iter().flat_map(read).collect();
    let sum = |part: &[u8]| {
        part.as_chunks::<8>().0.iter().fold(0_u64, |sum, x| sum.wrapping_add(u64::from_le_bytes(*x)))
    };
    for threads in [1, std::thread::available_parallelism().map_or(1, usize::from)] {
        let best = (0..9).map(|_| {
            let start = Instant::now();
            std::thread::scope(|scope| {
                for part in bytes.chunks(bytes.len().div_ceil(threads).max(1)) {
                    scope.spawn(move || black_box(sum(part)));
                }
            });
            milliseconds(start)
        });
        let best = best.fold(f64::INFINITY, f64::min);
        let rate = bytes.len() as f64 / best / 1e6;
        print("plain read of the same", format!("{best:.3} ms, {rate:.1} GB/s, {threads} threads"));
    }
}

fn memory() {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    for name in ["VmRSS", "RssAnon", "RssFile"] {
        if let Some(line) = status.lines().find(|line| line.starts_with(name)) {
            print("memory", line.split_whitespace().collect::<Vec<_>>().join(" "));
        }
    }
}

fn print(name: &str, value: String) {
    println!("  {name:<24}{value}");
}

fn milliseconds(start: Instant) -> f64 {
    start.elapsed().as_secs_f64() * 1e3
}

/// Unit vectors around centres that share a direction, as those of models do. Any of them can be made again from its number.
struct Corpus {
    centres: Vec<Vec<f32>>,
}

impl Corpus {
    fn new() -> Self {
        let offset = noise(u64::MAX);
        let centre =
            |i: usize| noise(1 << 40 | i as u64).iter().zip(&offset).map(|(x, o)| x + 0.7 * o).collect();
        Self { centres: (0..CENTRES).map(centre).collect() }
    }

    fn vector(&self, row: usize) -> Vec<f32> {
        let centre = &self.centres[row * 7919 % CENTRES];
        let vector: Vec<f32> = centre.iter().zip(noise(row as u64)).map(|(c, x)| c + 0.9 * x).collect();
        let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
        vector.iter().map(|x| x / length).collect()
    }
}

/// About normal: the sum of four uniform numbers of 16 bits (Steele's splitmix, 2014).
fn noise(seed: u64) -> Vec<f32> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let next = || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^= z >> 31;
        (0..4).map(|i| (z >> (16 * i) & 0xffff) as f32 / 65536.0 - 0.5).sum()
    };
    std::iter::repeat_with(next).take(DIM).collect()
}
