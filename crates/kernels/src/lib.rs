//! The inner loops of Mainstem, for every instruction set the machine has.
//!
//! | kernel | formula | used for |
//! |---|---|---|
//! | [`dot`], [`dots`] | `Σ aᵢ·bᵢ` in `f32` | the cosine of unit vectors: exact rescoring, MMR |
//! | [`dot_f16`] | `Σ aᵢ·bᵢ`, the second in `f16` | rescoring what a scan has found |
//! | [`dot_i8`], [`dots_i8`] | `Σ aᵢ·bᵢ` of signed bytes in `i32` | the scan over quantised vectors |
//! | [`hamming`], [`hammings`] | `Σ popcount(aᵢ ⊕ bᵢ)` | nearest one-bit codes, when the query is one as well |
//! | [`sign_dots`] | `Σ aᵢ` over the set bits of a code | the first scan over one-bit codes |
//! | [`above`] | which `aᵢ > b` | what of a scan is worth a look |
//! | [`weigh_signs`] | `(2·s − Σ) · factor` | the scores of that scan |
//! | [`MaxSimQuery`] | `1/\|Q\| · Σ_q max_d cos(q, d)` | reranking by token vectors |
//! | [`top_k`] | the head of the sorted list | the end of every scan |
//!
//! The plural forms take one query and many rows: a scan checks shapes and dispatches once instead of once per row.
//!
//! # Variants
//!
//! Each kernel exists as a plain loop, the *oracle*, and once per instruction set ([`Isa`]), one file each. A variant is
//! written by hand where that pays, and is the oracle compiled for wider registers where it does not:
//!
//! | kernel | AVX-512 | AVX2 | NEON |
//! |---|---|---|---|
//! | `dots` | as AVX2 | compiled oracle | compiled oracle |
//! | `dot_f16` | as AVX2 | F16C | compiled oracle |
//! | `dots_i8` | VNNI | widening multiply | compiled oracle |
//! | `hammings` | VPOPCNTDQ | compiled oracle (`popcnt`) | compiled oracle |
//! | `sign_dots` | BITALG on planes of bits, VNNI | bits widened to bytes | compiled oracle |
//! | `above` | masks of 16 | masks of 8 | compiled oracle |
//! | `MaxSim` | 12 rows × 32 tokens in registers | 6 × 16 | 4 × 16 |
//! | `top_k` | as AVX2 | compiled oracle | compiled oracle |
//!
//! **All variants return the same bits.** Integers are exact, and sums of floats are fused and added in an order that the
//! oracle fixes, so a ranking does not depend on the machine it was computed on.
//!
//! # Dispatch
//!
//! [`Kernels::best`] asks the processor at its first call and remembers a table of functions. The functions below go
//! through that table; [`Kernels::of`] picks another one, for tests and measurements.
//!
//! # Safety
//!
//! This is the only crate of the workspace with `unsafe` code, and none of it shows: a function compiled for an
//! instruction set is reachable only through a table that exists only where the instructions do, and shapes are checked
//! at the door (a panic for slices, [`ShapeError`] for matrices of tokens).

#![allow(
    clippy::inline_always,
    reason = "the oracle is compiled for an instruction set by being inlined into a function that enables it"
)]

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod isa;
mod mapped;
mod maxsim;
#[cfg(target_arch = "aarch64")]
mod neon;
mod scalar;
mod signs;
mod tokens;
mod top_k;

pub use isa::{Isa, Kernels};
pub use mapped::Mapped;
pub use maxsim::{MaxSimQuery, normalize};
pub use signs::SignQuery;
pub use tokens::{ShapeError, TokenBatch, Tokens};
pub use top_k::Scored;

/// `Σ aᵢ·bᵢ` in `f32`; 0 for empty vectors.
///
/// Element `i` is fused into partial sum `i mod 32`, and the partial sums are folded in halves: the error grows with the
/// length over 32, and the result has the same bits everywhere.
///
/// # Panics
/// When the lengths differ.
pub fn dot(a: &[f32], b: &[f32]) -> f32 {
    let mut out = [0.0];
    dots(a, b, &mut out);
    out[0]
}

/// [`dot`] of the query with each row: `out[r]` is that of `rows[r·n..(r + 1)·n]`, where `n` is the query's length.
///
/// ```
/// let mut out = [0.0; 2];
/// mainstem_kernels::dots(&[1.0, 2.0], &[3.0, 4.0, 5.0, 6.0], &mut out);
/// assert_eq!(out, [11.0, 17.0]);
/// ```
///
/// # Panics
/// When `rows` is not `out.len()` rows as long as the query.
pub fn dots(query: &[f32], rows: &[f32], out: &mut [f32]) {
    Kernels::best().dots(query, rows, out);
}

/// [`dot`] with a vector in half precision, two bytes per component, the lower first. It is widened exactly.
///
/// ```
/// assert_eq!(mainstem_kernels::dot_f16(&[3.0, 4.0], &[0x00, 0x3c, 0x00, 0xc0]), 3.0 * 1.0 - 4.0 * 2.0);
/// ```
///
/// # Panics
/// When the row is not two bytes per component of the query.
pub fn dot_f16(query: &[f32], row: &[u8]) -> f32 {
    Kernels::best().dot_f16(query, row)
}

/// `Σ aᵢ·bᵢ` of signed bytes, exact for up to 131,071 of them (beyond, the sum may wrap); 0 for empty vectors.
///
/// # Panics
/// When the lengths differ.
pub fn dot_i8(a: &[i8], b: &[i8]) -> i32 {
    let mut out = [0];
    dots_i8(a, b, &mut out);
    out[0]
}

/// [`dot_i8`] of the query with each row: `out[r]` is that of `rows[r·n..(r + 1)·n]`, where `n` is the query's length.
///
/// # Panics
/// When `rows` is not `out.len()` rows as long as the query.
pub fn dots_i8(query: &[i8], rows: &[i8], out: &mut [i32]) {
    Kernels::best().dots_i8(query, rows, out);
}

/// Number of bits in which two codes differ; 0 for empty codes. Bits are packed eight to a byte, in any order.
///
/// # Panics
/// When the lengths differ.
pub fn hamming(a: &[u8], b: &[u8]) -> u32 {
    let mut out = [0];
    hammings(a, b, &mut out);
    out[0]
}

/// [`hamming`] of the query with each row: `out[r]` is that of `rows[r·n..(r + 1)·n]`, where `n` is the query's length.
///
/// # Panics
/// When `rows` is not `out.len()` rows as long as the query.
pub fn hammings(query: &[u8], rows: &[u8], out: &mut [u32]) {
    Kernels::best().hammings(query, rows, out);
}

/// The sum of the query's components where a row's bit is set: `out[r]` is that of `rows[r·m..(r + 1)·m]`, where `m` is the
/// query's length over 8, rounded up. Bit `i` of a row is bit `i mod 8`, counted from the lowest, of byte `i / 8`.
///
/// With `Σ query` it gives the product with a row of signs: `2·out[r] − Σ query`.
///
/// ```
/// let mut out = [0; 2];
/// let query = mainstem_kernels::SignQuery::new(vec![1, 7, -8]);
/// mainstem_kernels::sign_dots(&query, &[0b101, 0b010], &mut out);
/// assert_eq!(out, [-7, 7]);
/// ```
///
/// # Panics
/// When `rows` is not `out.len()` rows of one bit per component of the query.
pub fn sign_dots(query: &SignQuery, rows: &[u8], out: &mut [i32]) {
    Kernels::best().sign_dots(query, rows, out);
}

/// Which scores are above the bar: bit `i mod 64`, counted from the lowest, of `out[i / 64]` says it of score `i`. NaN is not.
///
/// ```
/// let mut out = [0];
/// mainstem_kernels::above(&[0.5, f32::NAN, 0.7, 0.6], 0.5, &mut out);
/// assert_eq!(out, [0b1100]);
/// ```
///
/// # Panics
/// When `out` is not one number for each 64 scores.
pub fn above(scores: &[f32], bar: f32, out: &mut [u64]) {
    Kernels::best().above(scores, bar, out);
}

/// Asks the memory for bytes that are going to be read soon, and does not wait for them: of rows that lie apart, each would otherwise be
/// waited for. A hint, which does nothing where the machine has none.
#[inline]
pub fn prefetch(bytes: &[u8]) {
    #[cfg(target_arch = "x86_64")]
    for line in bytes.chunks(64) {
        avx2::prefetch(line.as_ptr().cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = bytes;
}

/// The scores of rows of signs: `out[r]` is `(2·sums[r] − total)` times the factor of the row, the last four bytes of `factors[r]`. With the
/// [`sign_dots`] of a query and the sum of its components that is the product with the row, times its factor.
///
/// ```
/// let mut out = [0.0; 2];
/// let factor = |value: f32| std::array::from_fn(|at| [[7; 4], value.to_le_bytes()].concat()[at]);
/// mainstem_kernels::weigh_signs(&[101, 10], 111, &[factor(0.5), factor(-2.0)], &mut out);
/// assert_eq!(out, [45.5, 182.0]);
/// ```
///
/// # Panics
/// When there are not as many factors and sums as `out` has room for.
pub fn weigh_signs(sums: &[i32], total: i32, factors: &[[u8; 8]], out: &mut [f32]) {
    Kernels::best().weigh_signs(sums, total, factors, out);
}

/// The `k` best scores, best first: by score descending (`f32::total_cmp`), then by index ascending.
///
/// NaN is never chosen, so the answer is shorter than `k` when fewer scores are numbers.
///
/// ```
/// let best: Vec<u32> = mainstem_kernels::top_k(&[0.1, 0.7, f32::NAN, 0.7], 2).iter().map(|best| best.index).collect();
/// assert_eq!(best, [1, 3]);
/// ```
///
/// # Panics
/// When there are more than 2³² scores.
pub fn top_k(scores: &[f32], k: usize) -> Vec<Scored> {
    Kernels::best().top_k(scores, k)
}
