//! The oracle: every kernel as the plain loop that defines it.
//!
//! Each function here is the specification of its vectorised siblings, which MUST return the same bits. It is also what
//! runs on a machine without a supported instruction set, and, compiled again with wider registers allowed, what the
//! instruction-set modules use wherever the compiler vectorises it as well as a person would.

use crate::maxsim::PANEL;

/// Partial sums kept by [`dot`]: element `i` goes to lane `i % 32`.
const LANES: usize = 32;

/// [`dot`] of the query with each row.
pub(crate) fn dots(query: &[f32], rows: &[f32], out: &mut [f32]) {
    for (out, row) in out.iter_mut().zip(rows.chunks_exact(query.len())) {
        *out = dot(query, row);
    }
}

/// [`dot_i8`] of the query with each row.
pub(crate) fn dots_i8(query: &[i8], rows: &[i8], out: &mut [i32]) {
    for (out, row) in out.iter_mut().zip(rows.chunks_exact(query.len())) {
        *out = dot_i8(query, row);
    }
}

/// [`hamming`] of the query with each row.
pub(crate) fn hammings(query: &[u8], rows: &[u8], out: &mut [u32]) {
    for (out, row) in out.iter_mut().zip(rows.chunks_exact(query.len())) {
        *out = hamming(query, row);
    }
}

/// Raises `best[token]` to the largest dot product of that query token with any of `rows`.
///
/// `panels` is the packed query, `[panel][dim][PANEL]`; each product is one fused chain over the dimensions in order.
/// A product that is NaN raises nothing.
pub(crate) fn raise_best(panels: &[f32], rows: &[f32], dim: usize, best: &mut [f32]) {
    for (panel, best) in panels.chunks_exact(dim * PANEL).zip(best.chunks_exact_mut(PANEL)) {
        for row in rows.chunks_exact(dim) {
            let mut products = [0.0_f32; PANEL];
            for (column, &x) in panel.chunks_exact(PANEL).zip(row) {
                for (product, &q) in products.iter_mut().zip(column) {
                    *product = q.mul_add(x, *product);
                }
            }
            for (best, product) in best.iter_mut().zip(products) {
                *best = best.max(product);
            }
        }
    }
}

/// Sums in [`LANES`] fused lanes, the tail padded with zeros, then folds the lanes in halves.
///
/// The order is part of the contract: it is what makes the result the same on every machine.
#[inline(always)]
pub(crate) fn dot(a: &[f32], b: &[f32]) -> f32 {
    let mut lanes = [0.0_f32; LANES];
    let ((a, a_tail), (b, b_tail)) = (a.as_chunks(), b.as_chunks());
    for (a, b) in a.iter().zip(b) {
        add_products(&mut lanes, a, b);
    }
    if !a_tail.is_empty() {
        add_products(&mut lanes, &padded(a_tail), &padded(b_tail));
    }
    let mut width = LANES;
    while width > 1 {
        width /= 2;
        for i in 0..width {
            lanes[i] += lanes[i + width];
        }
    }
    lanes[0]
}

#[inline(always)]
fn add_products(lanes: &mut [f32; LANES], a: &[f32; LANES], b: &[f32; LANES]) {
    for ((lane, a), b) in lanes.iter_mut().zip(a).zip(b) {
        *lane = a.mul_add(*b, *lane);
    }
}

/// A tail shorter than `N`, filled up with zeros.
#[inline(always)]
fn padded<T: Copy + Default, const N: usize>(tail: &[T]) -> [T; N] {
    let mut block = [T::default(); N];
    block[..tail.len()].copy_from_slice(tail);
    block
}

/// Exact integer sum of products, wrapping beyond 131,071 elements.
#[inline(always)]
pub(crate) fn dot_i8(a: &[i8], b: &[i8]) -> i32 {
    a.iter().zip(b).fold(0, |sum, (&x, &y)| sum.wrapping_add(i32::from(x) * i32::from(y)))
}

/// Number of differing bits, eight bytes at a time.
#[inline(always)]
pub(crate) fn hamming(a: &[u8], b: &[u8]) -> u32 {
    let ((a, a_tail), (b, b_tail)) = (a.as_chunks(), b.as_chunks());
    let words = a.iter().zip(b).map(|(&a, &b)| (u64::from_le_bytes(a) ^ u64::from_le_bytes(b)).count_ones());
    let tail = a_tail.iter().zip(b_tail).map(|(a, b)| (a ^ b).count_ones());
    words.sum::<u32>() + tail.sum::<u32>()
}
