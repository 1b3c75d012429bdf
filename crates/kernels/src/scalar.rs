//! The oracle: every kernel as the plain loop that defines it.
//!
//! Each function here is the specification of its vectorised siblings, which MUST return the same bits. It is also what
//! runs on a machine without a supported instruction set, and, compiled again with wider registers allowed, what the
//! instruction-set modules use wherever the compiler vectorises it as well as a person would.

use crate::maxsim::PANEL;
use crate::signs::SignQuery;

/// Partial sums kept by [`dot`]: element `i` goes to lane `i % 32`.
pub(crate) const LANES: usize = 32;

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

/// [`sign_dot`] of the query with each row.
pub(crate) fn sign_dots(query: &SignQuery, rows: &[u8], out: &mut [i32]) {
    for (out, row) in out.iter_mut().zip(rows.chunks_exact(query.row_len())) {
        *out = sign_dot(query.codes(), row);
    }
}

/// See [`crate::above`]. Other variants are this one, compiled for their instructions.
#[inline(always)]
pub(crate) fn above(scores: &[f32], bar: f32, out: &mut [u64]) {
    for (out, scores) in out.iter_mut().zip(scores.chunks(64)) {
        *out = (0..).zip(scores).fold(0, |bits, (at, score)| bits | u64::from(*score > bar) << at);
    }
}

/// See [`crate::weigh_signs`]. Other variants are this one, compiled for their instructions.
#[inline(always)]
pub(crate) fn weigh_signs(sums: &[i32], total: i32, factors: &[[u8; 8]], out: &mut [f32]) {
    for ((out, sum), &[_, _, _, _, a, b, c, d]) in out.iter_mut().zip(sums).zip(factors) {
        *out = (sum.wrapping_mul(2).wrapping_sub(total)) as f32 * f32::from_le_bytes([a, b, c, d]);
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
    folded(lanes)
}

/// [`dot`] with a row of half precision, little-endian.
#[inline(always)]
pub(crate) fn dot_f16(query: &[f32], row: &[u8]) -> f32 {
    let mut lanes = [0.0_f32; LANES];
    let ((query, query_tail), (row, row_tail)) = (query.as_chunks(), row.as_chunks::<{ 2 * LANES }>());
    for (query, row) in query.iter().zip(row) {
        add_products(&mut lanes, query, &widened(row));
    }
    if !query_tail.is_empty() {
        add_products(&mut lanes, &padded(query_tail), &widened(&padded(row_tail)));
    }
    folded(lanes)
}

#[inline(always)]
fn widened(row: &[u8; 2 * LANES]) -> [f32; LANES] {
    let (halves, _) = row.as_chunks::<2>();
    std::array::from_fn(|i| widen(u16::from_le_bytes(halves[i])))
}

/// Half precision as `f32`, which is exact: the exponent moves by a multiplication, which also serves numbers too small to be normal.
#[inline(always)]
fn widen(half: u16) -> f32 {
    let (sign, size) = (u32::from(half & 0x8000) << 16, u32::from(half & 0x7fff) << 13);
    let finite = (f32::from_bits(size) * f32::from_bits(0x7780_0000)).to_bits();
    f32::from_bits(sign | if size >= 0x0f80_0000 { size | 0x7f80_0000 } else { finite })
}

/// The sum of the lanes, folded in halves.
#[inline(always)]
pub(crate) fn folded(mut lanes: [f32; LANES]) -> f32 {
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
pub(crate) fn padded<T: Copy + Default, const N: usize>(tail: &[T]) -> [T; N] {
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

/// Exact sum of the components whose bit is set, lowest bit first. Bits beyond the query are not looked at.
#[inline(always)]
pub(crate) fn sign_dot(query: &[i8], bits: &[u8]) -> i32 {
    let mut sum = 0_i32;
    for (query, &byte) in query.chunks(8).zip(bits) {
        for (i, &x) in query.iter().enumerate() {
            sum = sum.wrapping_add(i32::from(x) * i32::from(byte >> i & 1));
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_precision_widens_exactly() {
        let known = [(0x0000, 0.0), (0x3c00, 1.0), (0xc000, -2.0), (0x7bff, 65504.0), (0x3555, 0.333_251_95)];
        assert!(known.iter().all(|&(half, value)| widen(half) == value));
        assert_eq!(widen(0x0001), 2.0_f32.powi(-24));
        assert_eq!(widen(0x03ff), 1023.0 * 2.0_f32.powi(-24));
        assert_eq!(widen(0x8000).to_bits(), (-0.0_f32).to_bits());
        assert_eq!((widen(0x7c00), widen(0xfc00)), (f32::INFINITY, f32::NEG_INFINITY));
        assert!(widen(0x7e00).is_nan());
    }
}
