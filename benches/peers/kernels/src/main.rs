//! The kernels of Mainstem against NumKong and SimSIMD: one race per kernel, every contender in turn, the best counts.

#[path = "../../../../crates/kernels/benches/kernels/race.rs"]
#[allow(dead_code, reason = "shared with the crate's own benchmark, which uses all of it")]
mod race;

use std::hint::black_box;

use mainstem_kernels::{MaxSimQuery, Tokens, dots, dots_i8, hammings, normalize};
use numkong::{Dot, Hamming, MaxSimPackedMatrix, Tensor, u1x8};
use race::{Contender, print, race};
use simsimd::{BinarySimilarity, SpatialSimilarity};

const DIM: usize = 384;
const TURNS: usize = 25;

fn main() {
    println!("scans of rows in cache, then of rows in memory; the first contender is ours");
    for (rows, repeat) in [(12, 20_000), (100_000, 1)] {
        floats(rows, repeat);
        bytes(4 * rows, repeat);
        codes(32 * rows, repeat);
    }
    max_sim();
}

fn floats(count: usize, repeat: usize) {
    let rows = noise(count * DIM);
    let mut out = vec![0.0; count];
    let mut contenders = [
        Contender::new("mainstem dots", || {
            (0..repeat).for_each(|_| dots(&rows[..DIM], &rows, black_box(&mut out)))
        }),
        by_pairs("NumKong dot (sums in f64)", &rows, DIM, repeat, <f32 as Dot>::dot),
        by_pairs("SimSIMD dot", &rows, DIM, repeat, <f32 as SpatialSimilarity>::dot),
    ];
    race(&mut contenders, TURNS);
    print(
        &format!("dot, f32, {count} x {DIM}"),
        &contenders,
        (repeat * size_of_val(&rows[..])) as f64,
        "GB/s",
    );
}

fn bytes(count: usize, repeat: usize) {
    let rows: Vec<i8> = noise(count * DIM).iter().map(|x| (x * 255.0) as i8).collect();
    let mut out = vec![0; count];
    let mut contenders = [
        Contender::new("mainstem dots_i8", || {
            (0..repeat).for_each(|_| dots_i8(&rows[..DIM], &rows, black_box(&mut out)))
        }),
        by_pairs("NumKong dot", &rows, DIM, repeat, <i8 as Dot>::dot),
        by_pairs("SimSIMD dot", &rows, DIM, repeat, <i8 as SpatialSimilarity>::dot),
    ];
    race(&mut contenders, TURNS);
    print(&format!("dot, i8, {count} x {DIM}"), &contenders, (repeat * rows.len()) as f64, "GB/s");
}

fn codes(count: usize, repeat: usize) {
    let width = DIM / 8;
    let rows: Vec<u8> = noise(count * width).iter().map(|x| (x * 255.0) as i8 as u8).collect();
    let packed: Vec<u1x8> = rows.iter().map(|&byte| u1x8(byte)).collect();
    let mut out = vec![0; count];
    let mut contenders = [
        Contender::new("mainstem hammings", || {
            (0..repeat).for_each(|_| hammings(&rows[..width], &rows, black_box(&mut out)));
        }),
        by_pairs("NumKong hamming", &packed, width, repeat, <u1x8 as Hamming>::hamming),
        by_pairs("SimSIMD hamming", &rows, width, repeat, <u8 as BinarySimilarity>::hamming),
    ];
    race(&mut contenders, TURNS);
    print(&format!("hamming, {count} x {DIM} bits"), &contenders, (repeat * rows.len()) as f64, "GB/s");
}

/// A library that takes one pair at a time, over every row.
fn by_pairs<'a, T, O: Copy + Default + 'a>(
    name: &str,
    rows: &'a [T],
    width: usize,
    repeat: usize,
    kernel: impl Fn(&[T], &[T]) -> Option<O> + 'a,
) -> Contender<'a> {
    let mut out = vec![O::default(); rows.len() / width];
    Contender::new(name, move || {
        for _ in 0..repeat {
            for (out, row) in out.iter_mut().zip(rows.chunks_exact(width)) {
                *out = kernel(&rows[..width], row).unwrap_or_default();
            }
            black_box(&mut out);
        }
    })
}

/// One thread: NumKong's packing of the documents is measured apart, since a store could keep them packed.
fn max_sim() {
    let (query_tokens, dim, documents, tokens) = (32, 128, 1_000, 300);
    let mut values = noise((documents * tokens + query_tokens) * dim);
    normalize(&mut values, dim);
    let query = values.split_off(documents * tokens * dim);
    let pack = |rows: &[f32]| {
        let tensor = Tensor::<f32>::try_from_slice(rows, &[rows.len() / dim, dim]).expect("a matrix");
        MaxSimPackedMatrix::try_pack(&tensor.view()).expect("contiguous rows")
    };
    let ours = MaxSimQuery::new(Tokens::new(&query, dim).expect("whole rows"));
    let score =
        |rows: &[f32]| ours.score(Tokens::new(rows, dim).expect("whole rows")).expect("equal dimensions");
    let theirs = pack(&query);
    let packed: Vec<_> = values.chunks_exact(tokens * dim).map(pack).collect();
    let difference = values.chunks_exact(tokens * dim).zip(&packed).map(|(rows, packed)| {
        // NumKong sums the distances, 1 − cosine.
        let cosines = query_tokens as f64 - theirs.score(packed);
        (f64::from(score(rows)) - cosines / query_tokens as f64).abs()
    });
    println!("\nlargest difference of the mean cosine: {:.1e}", difference.fold(0.0, f64::max));
    let mut contenders = [
        Contender::new("mainstem, rows as stored", || {
            values.chunks_exact(tokens * dim).for_each(|rows| sink(black_box(score(rows))));
        }),
        Contender::new("NumKong, packed before", || {
            packed.iter().for_each(|document| sink(black_box(theirs.score(document))));
        }),
        Contender::new("NumKong, packing included", || {
            values.chunks_exact(tokens * dim).for_each(|rows| sink(black_box(theirs.score(&pack(rows)))));
        }),
    ];
    race(&mut contenders, TURNS);
    let flops = (2 * query_tokens * values.len()) as f64;
    print("MaxSim, 32 x 128 against 1,000 x 300 tokens, 1 thread", &contenders, flops, "GFLOP/s");
}

/// Where measured scores go.
fn sink<T>(_: T) {}

/// Values in [-0.5, 0.5) that are random enough to measure with (Marsaglia's xorshift, 2003).
fn noise(count: usize) -> Vec<f32> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 40) as f32 / (1 << 24) as f32 - 0.5
    };
    (0..count).map(|_| next()).collect()
}
