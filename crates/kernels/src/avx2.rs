//! AVX2 with FMA and F16C: Haswell, Zen and later.

use std::arch::x86_64::{
    __m256, __m256i, _CMP_GT_OQ, _MM_HINT_T0, _mm_add_epi32, _mm_extract_epi32, _mm_loadu_si128,
    _mm_prefetch, _mm_unpackhi_epi64, _mm256_add_epi32, _mm256_and_si256, _mm256_castsi256_si128,
    _mm256_cmp_ps, _mm256_cmpeq_epi8, _mm256_cvtepi8_epi16, _mm256_cvtph_ps, _mm256_extracti128_si256,
    _mm256_fmadd_ps, _mm256_loadu_ps, _mm256_loadu_si256, _mm256_madd_epi16, _mm256_maddubs_epi16,
    _mm256_max_ps, _mm256_movemask_ps, _mm256_set_epi64x, _mm256_set1_epi8, _mm256_set1_epi16,
    _mm256_set1_epi32, _mm256_set1_epi64x, _mm256_set1_ps, _mm256_setzero_ps, _mm256_setzero_si256,
    _mm256_shuffle_epi8, _mm256_storeu_ps,
};

use crate::maxsim::PANEL;
use crate::scalar::{self, LANES};
use crate::signs::SignQuery;
use crate::top_k::{Scored, select};

/// Document rows scored together: 6 rows × 2 halves of a panel fill 12 of the 16 registers with independent sums.
const ROWS: usize = 6;

#[target_feature(enable = "avx2,fma")]
pub(crate) fn dots(query: &[f32], rows: &[f32], out: &mut [f32]) {
    for (out, row) in out.iter_mut().zip(rows.chunks_exact(query.len())) {
        *out = scalar::dot(query, row);
    }
}

/// The oracle's lanes in four registers; the conversion is the machine's, which the compiler does not find.
#[target_feature(enable = "avx2,fma,f16c")]
pub(crate) fn dot_f16(query: &[f32], row: &[u8]) -> f32 {
    let mut sums = [_mm256_setzero_ps(); LANES / 8];
    let ((query, query_tail), (row, row_tail)) = (query.as_chunks(), row.as_chunks());
    for (query, row) in query.iter().zip(row) {
        add_half_products(&mut sums, query, row);
    }
    if !query_tail.is_empty() {
        add_half_products(&mut sums, &scalar::padded(query_tail), &scalar::padded(row_tail));
    }
    let mut lanes = [0.0; LANES];
    for (lanes, sum) in lanes.as_chunks_mut::<8>().0.iter_mut().zip(sums) {
        // SAFETY: eight floats are there, and the store needs no alignment.
        unsafe { _mm256_storeu_ps(lanes.as_mut_ptr(), sum) };
    }
    scalar::folded(lanes)
}

#[inline]
#[target_feature(enable = "avx2,fma,f16c")]
fn add_half_products(sums: &mut [__m256; LANES / 8], query: &[f32; LANES], row: &[u8; 2 * LANES]) {
    let (query, row) = (query.as_chunks::<8>().0, row.as_chunks::<16>().0);
    for ((sum, query), row) in sums.iter_mut().zip(query).zip(row) {
        // SAFETY: eight floats and sixteen bytes are there, and the loads need no alignment.
        let (query, row) = unsafe { (_mm256_loadu_ps(query.as_ptr()), _mm_loadu_si128(row.as_ptr().cast())) };
        *sum = _mm256_fmadd_ps(query, _mm256_cvtph_ps(row), *sum);
    }
}

#[target_feature(enable = "avx2")]
pub(crate) fn dots_i8(query: &[i8], rows: &[i8], out: &mut [i32]) {
    for (out, row) in out.iter_mut().zip(rows.chunks_exact(query.len())) {
        *out = dot_i8(query, row);
    }
}

/// Widens to 16 bits and multiplies in pairs, which cannot overflow: 2 · 128² < 2³¹. Two sums hide the latency.
#[inline]
#[target_feature(enable = "avx2")]
fn dot_i8(a: &[i8], b: &[i8]) -> i32 {
    let mut sums = [_mm256_setzero_si256(); 2];
    let ((a, a_tail), (b, b_tail)) = (a.as_chunks::<32>(), b.as_chunks::<32>());
    for (a, b) in a.iter().zip(b) {
        let (a, b) = (a.as_chunks::<16>().0, b.as_chunks::<16>().0);
        for ((sum, a), b) in sums.iter_mut().zip(a).zip(b) {
            *sum = _mm256_add_epi32(*sum, _mm256_madd_epi16(widened(a), widened(b)));
        }
    }
    lane_sum(_mm256_add_epi32(sums[0], sums[1])).wrapping_add(scalar::dot_i8(a_tail, b_tail))
}

#[inline]
#[target_feature(enable = "avx2")]
fn widened(bytes: &[i8; 16]) -> __m256i {
    // SAFETY: sixteen bytes are there, and the load needs no alignment.
    _mm256_cvtepi8_epi16(unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) })
}

#[inline]
#[target_feature(enable = "avx2")]
fn lane_sum(lanes: __m256i) -> i32 {
    let four = _mm_add_epi32(_mm256_castsi256_si128(lanes), _mm256_extracti128_si256::<1>(lanes));
    let two = _mm_add_epi32(four, _mm_unpackhi_epi64(four, four));
    _mm_extract_epi32::<0>(two).wrapping_add(_mm_extract_epi32::<1>(two))
}

#[target_feature(enable = "avx2,popcnt")]
pub(crate) fn hammings(query: &[u8], rows: &[u8], out: &mut [u32]) {
    for (out, row) in out.iter_mut().zip(rows.chunks_exact(query.len())) {
        *out = scalar::hamming(query, row);
    }
}

#[target_feature(enable = "avx2")]
pub(crate) fn sign_dots(query: &SignQuery, rows: &[u8], out: &mut [i32]) {
    for (out, row) in out.iter_mut().zip(rows.chunks_exact(query.row_len())) {
        *out = sign_dot(query.codes(), row);
    }
}

/// Eight scores give eight bits.
#[target_feature(enable = "avx2")]
pub(crate) fn above(scores: &[f32], bar: f32, out: &mut [u64]) {
    let bar_of_all = _mm256_set1_ps(bar);
    for (out, scores) in out.iter_mut().zip(scores.chunks(64)) {
        let (eights, rest) = scores.as_chunks::<8>();
        *out = 0;
        for (at, eight) in eights.iter().enumerate() {
            // SAFETY: eight floats are there, and the load needs no alignment.
            let eight = unsafe { _mm256_loadu_ps(eight.as_ptr()) };
            let bits = _mm256_movemask_ps(_mm256_cmp_ps::<_CMP_GT_OQ>(eight, bar_of_all));
            *out |= u64::from(bits.cast_unsigned()) << (8 * at);
        }
        for (at, score) in (8 * eights.len()..).zip(rest) {
            *out |= u64::from(*score > bar) << at;
        }
    }
}

/// 32 components at a time: what is left of the query under a mask, added up in pairs of bytes, then of 16 bits, where
/// neither can overflow.
#[inline]
#[target_feature(enable = "avx2")]
fn sign_dot(query: &[i8], bits: &[u8]) -> i32 {
    let mut sum = _mm256_setzero_si256();
    let ((query, query_tail), (words, _)) = (query.as_chunks::<32>(), bits.as_chunks::<4>());
    for (query, word) in query.iter().zip(words) {
        // SAFETY: thirty-two bytes are there, and the load needs no alignment.
        let query = unsafe { _mm256_loadu_si256(query.as_ptr().cast()) };
        let chosen = _mm256_and_si256(query, byte_mask(u32::from_le_bytes(*word)));
        let pairs = _mm256_maddubs_epi16(_mm256_set1_epi8(1), chosen);
        sum = _mm256_add_epi32(sum, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
    }
    lane_sum(sum).wrapping_add(scalar::sign_dot(query_tail, &bits[4 * query.len()..]))
}

/// 32 bits as 32 bytes, all ones where the bit is set.
#[inline]
#[target_feature(enable = "avx2")]
fn byte_mask(bits: u32) -> __m256i {
    let source =
        _mm256_set_epi64x(0x0303030303030303, 0x0202020202020202, 0x0101010101010101, 0x0000000000000000);
    let place = _mm256_set1_epi64x(0x8040201008040201_u64.cast_signed());
    let spread = _mm256_shuffle_epi8(_mm256_set1_epi32(bits.cast_signed()), source);
    _mm256_cmpeq_epi8(_mm256_and_si256(spread, place), place)
}

#[target_feature(enable = "avx2")]
pub(crate) fn weigh_signs(sums: &[i32], total: i32, factors: &[[u8; 8]], out: &mut [f32]) {
    scalar::weigh_signs(sums, total, factors, out);
}

#[target_feature(enable = "avx2")]
pub(crate) fn top_k(scores: &[f32], k: usize) -> Vec<Scored> {
    select(scores, k)
}

/// Query tokens sit in the lanes, so the running maximum is vertical and nothing is reduced before the end.
#[target_feature(enable = "avx2,fma")]
pub(crate) fn raise_best(panels: &[f32], rows: &[f32], dim: usize, best: &mut [f32]) {
    let (best, _) = best.as_chunks_mut::<PANEL>();
    let (columns, _) = panels.as_chunks::<PANEL>();
    for (panel, best) in columns.chunks_exact(dim).zip(best) {
        raise_panel(panel, rows, best);
    }
}

/// Blocks of [`ROWS`], the last one overlapping its predecessor, which a maximum does not mind.
#[inline]
#[target_feature(enable = "avx2,fma")]
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
#[target_feature(enable = "avx2,fma")]
fn raise_block<const R: usize>(panel: &[[f32; PANEL]], rows: &[f32], best: &mut [f32; PANEL]) {
    let dim = panel.len();
    assert!(rows.len() >= R * dim);
    let mut sums = [[_mm256_setzero_ps(); 2]; R];
    let ahead = rows.as_ptr().wrapping_add(2 * R * dim);
    for (d, query) in panel.iter().enumerate() {
        prefetch(ahead.wrapping_add(d * R));
        let query = halves(query);
        for (r, sums) in sums.iter_mut().enumerate() {
            // SAFETY: r < R and d < dim, and there are R × dim components.
            let x = _mm256_set1_ps(unsafe { *rows.as_ptr().add(r * dim + d) });
            for (sum, query) in sums.iter_mut().zip(query) {
                *sum = _mm256_fmadd_ps(query, x, *sum);
            }
        }
    }
    let mut highest = halves(best);
    for sums in sums {
        for (highest, sum) in highest.iter_mut().zip(sums) {
            *highest = _mm256_max_ps(sum, *highest);
        }
    }
    // SAFETY: a panel's best are 16 floats, two registers.
    unsafe {
        _mm256_storeu_ps(best.as_mut_ptr(), highest[0]);
        _mm256_storeu_ps(best.as_mut_ptr().add(8), highest[1]);
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn halves(panel: &[f32; PANEL]) -> [__m256; 2] {
    // SAFETY: a panel is 16 floats, two registers.
    unsafe { [_mm256_loadu_ps(panel.as_ptr()), _mm256_loadu_ps(panel.as_ptr().add(8))] }
}

/// Asks for the cache line at `at`, which need not exist. The hardware does not see a walk over several rows at once as
/// a stream: without this, documents that come from memory are scored at half the speed.
#[inline]
pub(crate) fn prefetch(at: *const f32) {
    #[allow(unused_unsafe, reason = "the intrinsic is declared safe in later releases than our oldest")]
    // SAFETY: a prefetch may name any address; it changes nothing that the program can see.
    unsafe {
        _mm_prefetch::<_MM_HINT_T0>(at.cast());
    }
}
