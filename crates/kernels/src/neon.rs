//! NEON, which every `aarch64` machine has.

use std::arch::aarch64::{float32x4_t, vdupq_n_f32, vfmaq_n_f32, vld1q_f32, vmaxnmq_f32, vst1q_f32};

use crate::maxsim::PANEL;
use crate::scalar;
use crate::signs::SignQuery;
use crate::top_k::{Scored, select};

/// Document rows scored together: 4 rows × 4 quarters of a panel fill 16 of the 32 registers with independent sums.
const ROWS: usize = 4;
/// Registers to a panel.
const QUARTERS: usize = PANEL / 4;

#[target_feature(enable = "neon")]
pub(crate) fn dots(query: &[f32], rows: &[f32], out: &mut [f32]) {
    for (out, row) in out.iter_mut().zip(rows.chunks_exact(query.len())) {
        *out = scalar::dot(query, row);
    }
}

#[target_feature(enable = "neon")]
pub(crate) fn dot_f16(query: &[f32], row: &[u8]) -> f32 {
    scalar::dot_f16(query, row)
}

#[target_feature(enable = "neon")]
pub(crate) fn dots_i8(query: &[i8], rows: &[i8], out: &mut [i32]) {
    for (out, row) in out.iter_mut().zip(rows.chunks_exact(query.len())) {
        *out = scalar::dot_i8(query, row);
    }
}

#[target_feature(enable = "neon")]
pub(crate) fn hammings(query: &[u8], rows: &[u8], out: &mut [u32]) {
    for (out, row) in out.iter_mut().zip(rows.chunks_exact(query.len())) {
        *out = scalar::hamming(query, row);
    }
}

#[target_feature(enable = "neon")]
pub(crate) fn sign_dots(query: &SignQuery, rows: &[u8], out: &mut [i32]) {
    for (out, row) in out.iter_mut().zip(rows.chunks_exact(query.row_len())) {
        *out = scalar::sign_dot(query.codes(), row);
    }
}

#[target_feature(enable = "neon")]
pub(crate) fn top_k(scores: &[f32], k: usize) -> Vec<Scored> {
    select(scores, k)
}

/// Query tokens sit in the lanes, so the running maximum is vertical and nothing is reduced before the end.
#[target_feature(enable = "neon")]
pub(crate) fn raise_best(panels: &[f32], rows: &[f32], dim: usize, best: &mut [f32]) {
    let (best, _) = best.as_chunks_mut::<PANEL>();
    let (columns, _) = panels.as_chunks::<PANEL>();
    for (panel, best) in columns.chunks_exact(dim).zip(best) {
        raise_panel(panel, rows, best);
    }
}

/// Blocks of [`ROWS`], the last one overlapping its predecessor, which a maximum does not mind.
#[inline]
#[target_feature(enable = "neon")]
fn raise_panel(panel: &[[f32; PANEL]], rows: &[f32], best: &mut [f32; PANEL]) {
    let dim = panel.len();
    let Some(last) = rows.len().checked_sub(ROWS * dim) else {
        for row in rows.chunks_exact(dim) {
            raise_block::<1>(panel, row, best);
        }
        return;
    };
    for from in (0..last).step_by(ROWS * dim) {
        raise_block::<ROWS>(panel, &rows[from..], best);
    }
    raise_block::<ROWS>(panel, &rows[last..], best);
}

/// A panel of the query against the first `R` rows.
#[inline]
#[target_feature(enable = "neon")]
fn raise_block<const R: usize>(panel: &[[f32; PANEL]], rows: &[f32], best: &mut [f32; PANEL]) {
    let dim = panel.len();
    assert!(rows.len() >= R * dim);
    let mut sums = [[vdupq_n_f32(0.0); QUARTERS]; R];
    for (d, query) in panel.iter().enumerate() {
        let query = quarters(query);
        for (r, sums) in sums.iter_mut().enumerate() {
            // SAFETY: r < R and d < dim, and there are R × dim components.
            let x = unsafe { *rows.as_ptr().add(r * dim + d) };
            for (sum, query) in sums.iter_mut().zip(query) {
                *sum = vfmaq_n_f32(*sum, query, x);
            }
        }
    }
    let mut highest = quarters(best);
    for sums in sums {
        for (highest, sum) in highest.iter_mut().zip(sums) {
            // The "number" maximum: NaN loses.
            *highest = vmaxnmq_f32(sum, *highest);
        }
    }
    for (best, highest) in best.as_chunks_mut::<4>().0.iter_mut().zip(highest) {
        // SAFETY: a quarter of a panel is four floats, one register.
        unsafe { vst1q_f32(best.as_mut_ptr(), highest) };
    }
}

#[inline]
#[target_feature(enable = "neon")]
fn quarters(panel: &[f32; PANEL]) -> [float32x4_t; QUARTERS] {
    // SAFETY: q < 4, and a panel is 16 floats, four registers.
    std::array::from_fn(|q| unsafe { vld1q_f32(panel.as_ptr().add(4 * q)) })
}
