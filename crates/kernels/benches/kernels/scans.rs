//! One query against many rows, and the choice of the best: every variant against the oracle and against memory.

use std::hint::black_box;

use crate::race::{self, Contender, variants};

const ROWS: usize = 100_000;
const DIM: usize = 384;
const TURNS: usize = 15;

/// Measures and prints.
pub(crate) fn report() {
    let floats: Vec<f32> = noise(ROWS * DIM).map(|bits| bits as f32 / u32::MAX as f32 - 0.5).collect();
    memory(&floats);
    dots(&floats);
    dots_i8();
    hammings();
    in_cache(&floats);
}

/// A sequence that is random enough to measure with (Marsaglia's xorshift, 2003).
pub(crate) fn noise(count: usize) -> impl Iterator<Item = u32> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    std::iter::repeat_with(move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u32
    })
    .take(count)
}

/// Reading in a plain loop: what a scan that waits for memory can be expected to reach, give or take the prefetcher.
fn memory(values: &[f32]) {
    let mut contenders = [Contender::new("read and add", || {
        let sum = |part: &[f32]| part.iter().fold(0_u32, |sum, x| sum.wrapping_add(x.to_bits()));
        black_box(sum(black_box(values)));
    })];
    race::race(&mut contenders, TURNS);
    race::print("memory, 154 MB, 1 thread", &contenders, size_of_val(values) as f64, "GB/s");
}

fn dots(rows: &[f32]) {
    let mut contenders = variants(|kernels| {
        let mut out = vec![0.0; ROWS];
        move || kernels.dots(&rows[..DIM], rows, black_box(&mut out))
    });
    race::race(&mut contenders, TURNS);
    race::print("dots, f32, 100,000 x 384", &contenders, size_of_val(rows) as f64, "GB/s");
}

fn dots_i8() {
    let rows: Vec<i8> = noise(ROWS * DIM).map(|bits| bits as i8).collect();
    let mut contenders = variants(|kernels| {
        let (mut out, rows) = (vec![0; ROWS], &rows);
        move || kernels.dots_i8(&rows[..DIM], rows, black_box(&mut out))
    });
    race::race(&mut contenders, TURNS);
    race::print("dots_i8, 100,000 x 384", &contenders, rows.len() as f64, "GB/s");
}

fn hammings() {
    let rows: Vec<u8> = noise(10 * ROWS * DIM / 8).map(|bits| bits as u8).collect();
    let mut contenders = variants(|kernels| {
        let (mut out, rows) = (vec![0; 10 * ROWS], &rows);
        move || kernels.hammings(&rows[..DIM / 8], rows, black_box(&mut out))
    });
    race::race(&mut contenders, TURNS);
    race::print("hammings, 1,000,000 x 384 bits", &contenders, rows.len() as f64, "GB/s");
}

/// The same scans over rows that stay in the nearest cache, where the kernel and not the memory is measured.
fn in_cache(floats: &[f32]) {
    const REPEAT: usize = 20_000;
    let (floats, count) = (&floats[..12 * DIM], 12);
    let bytes: Vec<i8> = noise(48 * DIM).map(|bits| bits as i8).collect();
    let codes: Vec<u8> = noise(48 * DIM).map(|bits| bits as u8).collect();
    let mut contenders = variants(|kernels| {
        let mut out = vec![0.0; count];
        move || (0..REPEAT).for_each(|_| kernels.dots(&floats[..DIM], floats, black_box(&mut out)))
    });
    race::race(&mut contenders, TURNS);
    race::print("dots in cache, 12 x 384", &contenders, (REPEAT * size_of_val(floats)) as f64, "GB/s");
    let mut contenders = variants(|kernels| {
        let (mut out, bytes) = (vec![0; 48], &bytes);
        move || (0..REPEAT).for_each(|_| kernels.dots_i8(&bytes[..DIM], bytes, black_box(&mut out)))
    });
    race::race(&mut contenders, TURNS);
    race::print("dots_i8 in cache, 48 x 384", &contenders, (REPEAT * bytes.len()) as f64, "GB/s");
    let mut contenders = variants(|kernels| {
        let (mut out, codes) = (vec![0; 384], &codes);
        move || (0..REPEAT).for_each(|_| kernels.hammings(&codes[..48], codes, black_box(&mut out)))
    });
    race::race(&mut contenders, TURNS);
    race::print("hammings in cache, 384 x 384 bits", &contenders, (REPEAT * codes.len()) as f64, "GB/s");
}
