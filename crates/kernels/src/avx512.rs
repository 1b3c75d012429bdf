//! AVX-512 with VNNI, VPOPCNTDQ and BITALG: Ice Lake, Zen 4 and later.
//!
//! Only the kernels that gain: `dots` and `top_k` wait for memory already with 256 bits, so their AVX2 variants serve.

use std::arch::x86_64::{
    __m512, __m512i, _CMP_GT_OQ, _mm_add_epi32, _mm_storeu_si128, _mm256_add_epi32, _mm256_castsi256_si128,
    _mm256_extracti128_si256, _mm256_storeu_si256, _mm512_add_epi32, _mm512_add_epi64, _mm512_and_si512,
    _mm512_castsi512_si256, _mm512_cvtepi64_epi32, _mm512_dpbusd_epi32, _mm512_extracti64x4_epi64,
    _mm512_fmadd_ps, _mm512_loadu_ps, _mm512_loadu_si512, _mm512_mask_add_epi32, _mm512_mask_cmp_ps_mask,
    _mm512_maskz_loadu_epi8, _mm512_maskz_loadu_ps, _mm512_maskz_permutex2var_epi64, _mm512_max_ps,
    _mm512_permutex2var_epi64, _mm512_permutexvar_epi32, _mm512_popcnt_epi8, _mm512_popcnt_epi64,
    _mm512_reduce_add_epi32, _mm512_reduce_add_epi64, _mm512_set1_epi8, _mm512_set1_ps, _mm512_setr_epi32,
    _mm512_setr_epi64, _mm512_setzero_ps, _mm512_setzero_si512, _mm512_shuffle_i64x2, _mm512_storeu_ps,
    _mm512_storeu_si512, _mm512_unpackhi_epi32, _mm512_unpackhi_epi64, _mm512_unpacklo_epi32,
    _mm512_unpacklo_epi64, _mm512_xor_si512,
};

use crate::avx2::prefetch;
use crate::maxsim::PANEL;
use crate::signs::{PACKED, SignQuery, WEIGHTS};

/// Bytes in a register.
const WIDTH: usize = 64;
/// Document rows scored together: 12 rows × 2 panels fill 24 of the 32 registers with independent sums.
const ROWS: usize = 12;

/// The first 64 bytes, or as many as there are and zeros.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn load_bytes<T: Byte>(from: &[T]) -> __m512i {
    let mask = if from.len() < WIDTH { (1_u64 << from.len()) - 1 } else { u64::MAX };
    // SAFETY: `T` is one byte and the mask selects at most `from.len()` of them; what it leaves out is not read.
    unsafe { _mm512_maskz_loadu_epi8(mask, from.as_ptr().cast()) }
}

/// One byte of memory: what [`load_bytes`] may read.
trait Byte {}
impl Byte for i8 {}
impl Byte for u8 {}

/// VNNI multiplies unsigned by signed bytes: `(row + 128)·query − 128·Σ query`, exact modulo 2³² even for −128, where
/// the other known trick (moving the row's sign onto the query) overflows.
#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
pub(crate) fn dots_i8(query: &[i8], rows: &[i8], out: &mut [i32]) {
    let excess = query.iter().fold(0_i32, |sum, &x| sum.wrapping_add(128 * i32::from(x)));
    for (out, row) in out.iter_mut().zip(rows.chunks_exact(query.len())) {
        *out = shifted_dot(row, query).wrapping_sub(excess);
    }
}

/// `(row + 128)·query`, in four sums. One row at a time: reading several at once is faster in cache and slower from
/// memory, where the hardware prefers a single stream.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
fn shifted_dot(row: &[i8], query: &[i8]) -> i32 {
    let mut sums = [_mm512_setzero_si512(); 4];
    let (row, row_rest) = row.as_chunks::<{ 4 * WIDTH }>();
    let (query, query_rest) = query.as_chunks::<{ 4 * WIDTH }>();
    for (row, query) in row.iter().zip(query) {
        for (i, sum) in sums.iter_mut().enumerate() {
            *sum = add_shifted(*sum, &row[i * WIDTH..], &query[i * WIDTH..]);
        }
    }
    let rest = row_rest.chunks(WIDTH).zip(query_rest.chunks(WIDTH));
    for ((row, query), sum) in rest.zip(&mut sums) {
        *sum = add_shifted(*sum, row, query);
    }
    let [a, b, c, d] = sums;
    _mm512_reduce_add_epi32(_mm512_add_epi32(_mm512_add_epi32(a, b), _mm512_add_epi32(c, d)))
}

/// Adds the products of one register; bytes beyond the end are 0 in the query, so what they meet does not matter.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
fn add_shifted(sum: __m512i, row: &[i8], query: &[i8]) -> __m512i {
    let shifted = _mm512_xor_si512(load_bytes(row), _mm512_set1_epi8(i8::MIN));
    _mm512_dpbusd_epi32(sum, shifted, load_bytes(query))
}

/// Codes are short, so the horizontal sum is most of the work: four rows share one.
#[target_feature(enable = "avx512f,avx512bw,avx512vpopcntdq")]
pub(crate) fn hammings(query: &[u8], rows: &[u8], out: &mut [u32]) {
    let len = query.len();
    let (groups, rest) = out.as_chunks_mut::<4>();
    let split = groups.len() * 4 * len;
    for (out, rows) in groups.iter_mut().zip(rows.chunks_exact(4 * len)) {
        let (first, second) = rows.split_at(2 * len);
        let ((a, b), (c, d)) = (first.split_at(len), second.split_at(len));
        *out = lane_sums(differing_bits(query, [a, b, c, d]));
    }
    for (out, row) in rest.iter_mut().zip(rows[split..].chunks_exact(len)) {
        let [sums] = differing_bits(query, [row]);
        *out = _mm512_reduce_add_epi64(sums) as u32;
    }
}

/// For each row, eight partial counts of the bits that differ.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vpopcntdq")]
fn differing_bits<const R: usize>(query: &[u8], rows: [&[u8]; R]) -> [__m512i; R] {
    let mut sums = [_mm512_setzero_si512(); R];
    for (i, query) in query.chunks(WIDTH).enumerate() {
        let query = load_bytes(query);
        for (sum, row) in sums.iter_mut().zip(rows) {
            let differing = _mm512_xor_si512(load_bytes(&row[i * WIDTH..]), query);
            *sum = _mm512_add_epi64(*sum, _mm512_popcnt_epi64(differing));
        }
    }
    sums
}

/// The sum of each register's lanes: a transposition by halves, adding as it goes.
#[inline]
#[target_feature(enable = "avx512f")]
fn lane_sums([a, b, c, d]: [__m512i; 4]) -> [u32; 4] {
    let ab = _mm512_add_epi64(_mm512_unpacklo_epi64(a, b), _mm512_unpackhi_epi64(a, b));
    let cd = _mm512_add_epi64(_mm512_unpacklo_epi64(c, d), _mm512_unpackhi_epi64(c, d));
    let halves = _mm512_add_epi64(
        _mm512_shuffle_i64x2::<0b01_00_01_00>(ab, cd),
        _mm512_shuffle_i64x2::<0b11_10_11_10>(ab, cd),
    );
    let whole = _mm512_add_epi64(
        _mm512_shuffle_i64x2::<0b00_00_10_00>(halves, halves),
        _mm512_shuffle_i64x2::<0b00_00_11_01>(halves, halves),
    );
    let mut sums = [0; 8];
    // SAFETY: eight 32-bit sums fit the array; the upper four repeat and are dropped.
    unsafe { _mm256_storeu_si256(sums.as_mut_ptr().cast(), _mm512_cvtepi64_epi32(whole)) };
    let [a, b, c, d, ..] = sums;
    [a, b, c, d]
}

/// Four rows share one horizontal sum, as in [`hammings`].
#[target_feature(enable = "avx512f,avx512bw,avx512vnni,avx512bitalg")]
pub(crate) fn sign_dots(query: &SignQuery, rows: &[u8], out: &mut [i32]) {
    let len = query.row_len();
    let done = query.packed().map_or(0, |planes| packed_sign_dots(planes, rows, out));
    let (rows, out) = (&rows[done * len..], &mut out[done..]);
    let (groups, rest) = out.as_chunks_mut::<4>();
    let split = groups.len() * 4 * len;
    for (out, rows) in groups.iter_mut().zip(rows.chunks_exact(4 * len)) {
        let (first, second) = rows.split_at(2 * len);
        let ((a, b), (c, d)) = (first.split_at(len), second.split_at(len));
        *out = lane_sums_i32(chosen_sums(query, [a, b, c, d]));
    }
    for (out, row) in rest.iter_mut().zip(rows[split..].chunks_exact(len)) {
        let [sums] = chosen_sums(query, [row]);
        *out = _mm512_reduce_add_epi32(sums);
    }
}

/// [`sign_dots`] of rows of 384 bits, sixteen at a time: four of them fill three registers, where one by one would leave a quarter of each
/// empty. Returns how many rows are done.
#[target_feature(enable = "avx512f,avx512bw,avx512vnni,avx512bitalg")]
fn packed_sign_dots(planes: &[[u8; PACKED]; 4], rows: &[u8], out: &mut [i32]) -> usize {
    let planes = planes.each_ref().map(|plane| thirds(plane));
    let weights = WEIGHTS.map(|weight| _mm512_set1_epi8(weight));
    // The sums of four rows are one lane of each quarter.
    let in_order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    let (blocks, outs) = (rows.as_chunks::<{ 4 * PACKED }>().0, out.as_chunks_mut::<16>().0);
    let done = blocks.len().min(outs.len());
    for (out, block) in outs.iter_mut().zip(blocks) {
        let mut sums = [_mm512_setzero_si512(); 4];
        for (sum, rows) in sums.iter_mut().zip(block.as_chunks::<PACKED>().0) {
            *sum = packed_sums(&planes, &weights, rows);
        }
        let sums = _mm512_permutexvar_epi32(in_order, quarter_sums(sums));
        // SAFETY: sixteen sums of 32 bits fill the array.
        unsafe { _mm512_storeu_si512(out.as_mut_ptr().cast(), sums) };
    }
    16 * done
}

/// The partial sums of four rows, those of each in a quarter of the register.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vnni,avx512bitalg")]
fn packed_sums(planes: &[[__m512i; 3]; 4], weights: &[__m512i; 4], rows: &[u8; PACKED]) -> __m512i {
    let bits = thirds(rows);
    let mut sums = [_mm512_setzero_si512(); 3];
    for (plane, weight) in planes.iter().zip(weights) {
        for ((sum, bits), plane) in sums.iter_mut().zip(bits).zip(plane) {
            let chosen = _mm512_popcnt_epi8(_mm512_and_si512(bits, *plane));
            *sum = _mm512_dpbusd_epi32(*sum, chosen, *weight);
        }
    }
    // The quarters are those of rows AAAB, BBCC and CDDD. They are put together as ABCD three times; those that are already in their place,
    // the first and the last, are added there.
    let [x, y, z] = sums;
    let once = _mm512_permutex2var_epi64(x, _mm512_setr_epi64(4, 5, 6, 7, 8, 9, 10, 11), z);
    let twice = _mm512_setr_epi64(2, 3, 8, 9, 12, 13, 0, 0);
    let twice = _mm512_maskz_permutex2var_epi64(0b0011_1111, x, twice, y);
    let thrice = _mm512_setr_epi64(0, 0, 2, 3, 6, 7, 12, 13);
    let thrice = _mm512_maskz_permutex2var_epi64(0b1111_1100, y, thrice, z);
    let sum = _mm512_add_epi32(once, _mm512_add_epi32(twice, thrice));
    let sum = _mm512_mask_add_epi32(sum, 0b0000_0000_0000_1111, sum, x);
    _mm512_mask_add_epi32(sum, 0b1111_0000_0000_0000, sum, z)
}

/// Three registers of bytes.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn thirds(bytes: &[u8; PACKED]) -> [__m512i; 3] {
    let [a, b, c] = [0, 1, 2].map(|third| bytes[third * WIDTH..].as_ptr());
    // SAFETY: each third is one register wide.
    unsafe { [_mm512_loadu_si512(a.cast()), _mm512_loadu_si512(b.cast()), _mm512_loadu_si512(c.cast())] }
}

/// For each row, sixteen partial sums of the components whose bit is set: the bits that are chosen are counted in each byte of a plane, and
/// one VNNI instruction adds 64 counts, times the weight of the plane.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vnni,avx512bitalg")]
fn chosen_sums<const R: usize>(query: &SignQuery, rows: [&[u8]; R]) -> [__m512i; R] {
    let mut sums = [_mm512_setzero_si512(); R];
    for (block, planes) in query.planes().iter().enumerate() {
        let bits = rows.map(|row| load_bytes(&row[block * WIDTH..]));
        for (plane, weight) in planes.iter().zip(WEIGHTS) {
            let (plane, weight) = (load_bytes(plane), _mm512_set1_epi8(weight));
            for (sum, bits) in sums.iter_mut().zip(bits) {
                let chosen = _mm512_popcnt_epi8(_mm512_and_si512(bits, plane));
                *sum = _mm512_dpbusd_epi32(*sum, chosen, weight);
            }
        }
    }
    sums
}

/// Sixteen scores give sixteen bits.
#[target_feature(enable = "avx512f,avx512bw")]
pub(crate) fn above(scores: &[f32], bar: f32, out: &mut [u64]) {
    let bar = _mm512_set1_ps(bar);
    for (out, scores) in out.iter_mut().zip(scores.chunks(64)) {
        *out = 0;
        for (at, scores) in scores.chunks(16).enumerate() {
            let there = if scores.len() < 16 { (1_u16 << scores.len()) - 1 } else { u16::MAX };
            // SAFETY: the mask selects as many floats as there are; what it leaves out is not read.
            let scores = unsafe { _mm512_maskz_loadu_ps(there, scores.as_ptr()) };
            *out |= u64::from(_mm512_mask_cmp_ps_mask::<_CMP_GT_OQ>(there, scores, bar)) << (16 * at);
        }
    }
}

/// The sum of each register's lanes of 32 bits, as [`lane_sums`].
#[inline]
#[target_feature(enable = "avx512f")]
fn lane_sums_i32(sums: [__m512i; 4]) -> [i32; 4] {
    let all = quarter_sums(sums);
    let half = _mm256_add_epi32(_mm512_castsi512_si256(all), _mm512_extracti64x4_epi64::<1>(all));
    let quarter = _mm_add_epi32(_mm256_castsi256_si128(half), _mm256_extracti128_si256::<1>(half));
    let mut sums = [0; 4];
    // SAFETY: four sums of 32 bits fill the array.
    unsafe { _mm_storeu_si128(sums.as_mut_ptr().cast(), quarter) };
    sums
}

/// The sum of each quarter of four registers: in each quarter, a lane for each register.
#[inline]
#[target_feature(enable = "avx512f")]
fn quarter_sums([a, b, c, d]: [__m512i; 4]) -> __m512i {
    let ab = _mm512_add_epi32(_mm512_unpacklo_epi32(a, b), _mm512_unpackhi_epi32(a, b));
    let cd = _mm512_add_epi32(_mm512_unpacklo_epi32(c, d), _mm512_unpackhi_epi32(c, d));
    _mm512_add_epi32(_mm512_unpacklo_epi64(ab, cd), _mm512_unpackhi_epi64(ab, cd))
}

/// Query tokens sit in the lanes, so the running maximum is vertical and nothing is reduced before the end.
#[target_feature(enable = "avx512f")]
pub(crate) fn raise_best(panels: &[f32], rows: &[f32], dim: usize, best: &mut [f32]) {
    let (best, _) = best.as_chunks_mut::<PANEL>();
    let (pairs, single) = best.as_chunks_mut::<2>();
    let (columns, _) = panels.as_chunks::<PANEL>();
    let mut panels = columns.chunks_exact(dim);
    for best in pairs {
        if let (Some(first), Some(second)) = (panels.next(), panels.next()) {
            raise_panels([first, second], rows, best);
        }
    }
    if let ([best], Some(panel)) = (single, panels.next()) {
        raise_panels([panel], rows, std::array::from_mut(best));
    }
}

/// Blocks of [`ROWS`], then of 4 (the last one overlapping its predecessor, which a maximum does not mind), then of 1.
#[inline]
#[target_feature(enable = "avx512f")]
fn raise_panels<const P: usize>(panels: [&[[f32; PANEL]]; P], rows: &[f32], best: &mut [[f32; PANEL]; P]) {
    let dim = panels[0].len();
    let mut rest = rows;
    while rest.len() >= ROWS * dim {
        raise_block::<P, ROWS>(panels, rest, best);
        rest = &rest[ROWS * dim..];
    }
    while !rest.is_empty() {
        if rows.len() >= 4 * dim {
            let from = (rows.len() - rest.len()).min(rows.len() - 4 * dim);
            raise_block::<P, 4>(panels, &rows[from..], best);
            rest = &rows[from + 4 * dim..];
        } else {
            raise_block::<P, 1>(panels, rest, best);
            rest = &rest[dim..];
        }
    }
}

/// `P` panels of the query against the first `R` rows.
#[inline]
#[target_feature(enable = "avx512f")]
fn raise_block<const P: usize, const R: usize>(
    panels: [&[[f32; PANEL]]; P],
    rows: &[f32],
    best: &mut [[f32; PANEL]; P],
) {
    let dim = panels[0].len();
    assert!(rows.len() >= R * dim && panels.iter().all(|panel| panel.len() == dim));
    let mut sums = [[_mm512_setzero_ps(); P]; R];
    let ahead = rows.as_ptr().wrapping_add(R * dim);
    for d in 0..dim {
        prefetch(ahead.wrapping_add(d * R));
        // SAFETY: d < dim, which is the length of every panel.
        let query: [__m512; P] =
            std::array::from_fn(|p| unsafe { _mm512_loadu_ps(panels[p].as_ptr().add(d).cast()) });
        for (r, sums) in sums.iter_mut().enumerate() {
            // SAFETY: r < R and d < dim, and there are R × dim components.
            let x = _mm512_set1_ps(unsafe { *rows.as_ptr().add(r * dim + d) });
            for (sum, query) in sums.iter_mut().zip(query) {
                *sum = _mm512_fmadd_ps(query, x, *sum);
            }
        }
    }
    for (p, best) in best.iter_mut().enumerate() {
        // SAFETY: a panel's best are 16 floats.
        let mut highest = unsafe { _mm512_loadu_ps(best.as_ptr()) };
        for sums in &sums {
            highest = _mm512_max_ps(sums[p], highest);
        }
        // SAFETY: a panel's best are 16 floats.
        unsafe { _mm512_storeu_ps(best.as_mut_ptr(), highest) };
    }
}
