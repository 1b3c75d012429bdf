//! The inner loops of Mainstem.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod isa;
mod maxsim;
#[cfg(target_arch = "aarch64")]
mod neon;
mod scalar;
mod top_k;

pub use isa::{Isa, Kernels};
pub use maxsim::{MaxSimQuery, ShapeError, TokenBatch, Tokens, normalize};
pub use top_k::Scored;

/// `Σ aᵢ·bᵢ` in `f32`.
///
/// # Panics
/// When the lengths differ.
pub fn dot(a: &[f32], b: &[f32]) -> f32 {
    let mut out = [0.0];
    dots(a, b, &mut out);
    out[0]
}

/// [`dot`] of the query with each row
///
/// # Panics
/// When `rows` is not `out.len()` rows as long as the query.
pub fn dots(query: &[f32], rows: &[f32], out: &mut [f32]) {
    Kernels::best().dots(query, rows, out);
}

/// `Σ aᵢ·bᵢ` of signed bytes, exact.
///
/// # Panics
/// When the lengths differ.
pub fn dot_i8(a: &[i8], b: &[i8]) -> i32 {
    let mut out = [0];
    dots_i8(a, b, &mut out);
    out[0]
}

/// [`dot_i8`] of the query with each row.
///
/// # Panics
/// When `rows` is not `out.len()` rows as long as the query.
pub fn dots_i8(query: &[i8], rows: &[i8], out: &mut [i32]) {
    Kernels::best().dots_i8(query, rows, out);
}

/// Number of bits in which two codes differ.
///
/// # Panics
/// When the lengths differ.
pub fn hamming(a: &[u8], b: &[u8]) -> u32 {
    let mut out = [0];
    hammings(a, b, &mut out);
    out[0]
}

/// [`hamming`] of the query with each row.
///
/// # Panics
/// When `rows` is not `out.len()` rows as long as the query.
pub fn hammings(query: &[u8], rows: &[u8], out: &mut [u32]) {
    Kernels::best().hammings(query, rows, out);
}

/// The `k` best scores.
///
/// # Panics
/// When there are more than 2³² scores.
pub fn top_k(scores: &[f32], k: usize) -> Vec<Scored> {
    Kernels::best().top_k(scores, k)
}
