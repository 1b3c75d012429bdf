//! The loops between the matrix products, written so that the compiler turns them into vector code.
//!
//! Sums run in a fixed number of partial sums, so a result has the same bits whatever the width of the registers.

use pulp::{Arch, Simd, WithSimd};

/// Partial sums of a reduction.
const PARTS: usize = 32;

/// `x ← x/2 · (1 + erf(x/√2))`.
pub(super) fn gelu(arch: Arch, values: &mut [f32]) {
    arch.dispatch(Gelu(values));
}

// Structures rather than closures, which the compiler need not inline: outside of the function that enables them, fused operations
// are calls.
struct Gelu<'a>(&'a mut [f32]);

impl WithSimd for Gelu<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        for x in self.0 {
            *x = 0.5 * *x * (1.0 + erf(*x * std::f32::consts::FRAC_1_SQRT_2));
        }
    }
}

/// Turns the first `length` scores of each row into shares that sum to 1. Rows are `stride` long, a multiple of 16; what is behind the
/// first `length` becomes 0.
pub(super) fn softmax(arch: Arch, scores: &mut [f32], stride: usize, length: usize) {
    arch.dispatch(Softmax { scores, stride, length });
}

struct Softmax<'a> {
    scores: &'a mut [f32],
    stride: usize,
    length: usize,
}

impl WithSimd for Softmax<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        for row in self.scores.chunks_exact_mut(self.stride) {
            softmax_row(row, self.length);
        }
    }
}

#[inline(always)]
fn softmax_row(row: &mut [f32], length: usize) {
    row[length..].fill(f32::NEG_INFINITY);
    let (row, _) = row.as_chunks_mut::<16>();
    let mut most = [f32::NEG_INFINITY; 16];
    for chunk in row.iter() {
        most.iter_mut().zip(chunk).for_each(|(most, x)| *most = if *x > *most { *x } else { *most });
    }
    let most = most.into_iter().fold(f32::NEG_INFINITY, f32::max);
    let mut sums = [0.0; 16];
    for chunk in row.iter_mut() {
        for x in chunk.iter_mut() {
            *x = exp(*x - most);
        }
        sums.iter_mut().zip(chunk).for_each(|(sum, x)| *sum += *x);
    }
    let scale = sums.iter().sum::<f32>().recip();
    row.as_flattened_mut().iter_mut().for_each(|x| *x *= scale);
}

/// `x ← (x + y - mean) / √(variance + ε) · weight + bias`, row by row; rows are as long as the weight.
pub(super) fn add_and_norm(arch: Arch, x: &mut [f32], y: &[f32], norm: &Norm) {
    arch.dispatch(AddAndNorm { x, y, norm });
}

struct AddAndNorm<'a> {
    x: &'a mut [f32],
    y: &'a [f32],
    norm: &'a Norm,
}

impl WithSimd for AddAndNorm<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let length = self.norm.weight.len();
        for (x, y) in self.x.chunks_exact_mut(length).zip(self.y.chunks_exact(length)) {
            for (x, y) in x.iter_mut().zip(y) {
                *x += y;
            }
            norm_row(x, self.norm);
        }
    }
}

/// The weight and the bias of a layer normalisation.
pub(super) struct Norm {
    /// What each element is multiplied with.
    pub(super) weight: Vec<f32>,
    /// What is added to it then.
    pub(super) bias: Vec<f32>,
    /// What is added to a variance before its root divides.
    pub(super) epsilon: f32,
}

#[inline(always)]
fn norm_row(row: &mut [f32], norm: &Norm) {
    let count = row.len() as f32;
    let mean = sum(row, |x| x) / count;
    let variance = sum(row, |x| (x - mean) * (x - mean)) / count;
    let scale = (variance + norm.epsilon).sqrt().recip();
    for ((x, weight), bias) in row.iter_mut().zip(&norm.weight).zip(&norm.bias) {
        *x = ((*x - mean) * scale).mul_add(*weight, *bias);
    }
}

#[inline(always)]
fn sum(values: &[f32], of: impl Fn(f32) -> f32) -> f32 {
    let (chunks, rest) = values.as_chunks::<PARTS>();
    let mut parts = [0.0; PARTS];
    for chunk in chunks {
        parts.iter_mut().zip(chunk).for_each(|(part, x)| *part += of(*x));
    }
    parts.iter().sum::<f32>() + rest.iter().map(|x| of(*x)).sum::<f32>()
}

/// `eˣ` for `x ≤ 0`, to one unit in the last place or two; 0 where that would be subnormal.
///
/// `x = n·ln 2 + r` with `|r| ≤ ln 2 / 2`; the polynomial is that of Cephes' `expf`. Adding 1.5·2²³ rounds to an integer and leaves
/// it in the low bits, from where it moves into the exponent.
#[inline(always)]
fn exp(x: f32) -> f32 {
    const ROUND: f32 = 12582912.0;
    const LN2_HIGH: f32 = 0.693_359_4;
    const LN2_LOW: f32 = -2.1219444e-4;
    let shifted = x.max(-87.0).mul_add(std::f32::consts::LOG2_E, ROUND);
    let n = shifted - ROUND;
    let r = n.mul_add(-LN2_LOW, n.mul_add(-LN2_HIGH, x.max(-87.0)));
    let polynomial = [1.3981999e-3, 8.333452e-3, 4.1665796e-2, 1.6666666e-1, 0.5];
    let tail = polynomial.iter().fold(1.9875691e-4, |sum: f32, term| sum.mul_add(r, *term));
    let power = f32::from_bits(shifted.to_bits().wrapping_add(127) << 23);
    if x < -87.0 { 0.0 } else { tail.mul_add(r * r, r + 1.0) * power }
}

/// The error function, to 3·10⁻⁷: the rational approximation of Eigen's `erf` for `f32`, on [-4, 4], beyond which it is ±1.
#[inline(always)]
fn erf(x: f32) -> f32 {
    let x = x.clamp(-4.0, 4.0);
    let square = x * x;
    let above =
        [2.770_681_4e-8, -2.101_024e-6, -5.692_506_4e-5, -7.349_906_3e-4, -2.954_6e-3, -1.609_603_4e-2];
    let below = [-2.133_740_5e-4, -1.682_827e-3, -7.373_329e-3, -1.426_473_9e-2];
    let above = above.iter().fold(-2.726_142_3e-10, |sum: f32, term| sum.mul_add(square, *term));
    let below = below.iter().fold(-1.456_607_2e-5, |sum: f32, term| sum.mul_add(square, *term));
    x * above / below
}

/// The mean of the rows, scaled to unit length; all zeros stay so.
pub(super) fn mean_direction(rows: &[f32], length: usize) -> Vec<f32> {
    let mut mean = vec![0.0f32; length];
    for row in rows.chunks_exact(length) {
        mean.iter_mut().zip(row).for_each(|(mean, x)| *mean += x);
    }
    to_unit(&mut mean);
    mean
}

/// Scales a vector to unit length; all zeros stay so.
pub(super) fn to_unit(vector: &mut [f32]) {
    let norm = sum(vector, |x| x * x).sqrt();
    if norm > 0.0 {
        for x in vector {
            *x /= norm;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `2/√π · Σ (-1)ⁿ x²ⁿ⁺¹ / (n! (2n + 1))`.
    fn erf_series(x: f64) -> f64 {
        let terms = (0..120).scan(x, |term, n| {
            let now = *term / f64::from(2 * n + 1);
            *term *= -x * x / f64::from(n + 1);
            Some(now)
        });
        terms.sum::<f64>() * std::f64::consts::FRAC_2_SQRT_PI
    }

    #[test]
    fn erf_is_near_its_series() {
        for step in -450..=450 {
            let x = step as f32 / 100.0;
            let off = (f64::from(erf(x)) - erf_series(f64::from(x))).abs();
            assert!(off < 3e-7, "erf({x}) is {off} off");
        }
    }

    #[test]
    fn exp_is_near_that_of_the_standard_library() {
        for step in 0..8700 {
            let x = -step as f32 / 100.0;
            let off = (f64::from(exp(x)) / f64::from(x).exp() - 1.0).abs();
            assert!(off < 3e-7, "exp({x}) is {off} off");
        }
        assert_eq!((exp(0.0), exp(-100.0), exp(f32::NEG_INFINITY)), (1.0, 0.0, 0.0));
    }

    #[test]
    fn a_softmax_sums_to_one_over_its_length() {
        let mut row: Vec<f32> = (0..32).map(|i| (i % 7) as f32).collect();
        softmax(Arch::new(), &mut row, 32, 20);
        assert!((row[..20].iter().sum::<f32>() - 1.0).abs() < 1e-6);
        assert!(row[20..].iter().all(|x| *x == 0.0));
        let ratio = row[1] / row[0];
        assert!((ratio - std::f32::consts::E).abs() < 1e-5);
    }

    #[test]
    fn a_normalised_row_has_mean_zero_and_variance_one() {
        let norm = Norm { weight: vec![1.0; 384], bias: vec![0.0; 384], epsilon: 1e-12 };
        let mut x: Vec<f32> = (0..384).map(|i| (i * i % 97) as f32).collect();
        add_and_norm(Arch::new(), &mut x, &vec![3.0; 384], &norm);
        assert!(x.iter().sum::<f32>().abs() < 1e-3);
        assert!((x.iter().map(|x| x * x).sum::<f32>() / 384.0 - 1.0).abs() < 1e-4);
    }

    #[test]
    fn wide_registers_change_no_bit() {
        let start: Vec<f32> = (0..768).map(|i| (i * 7919 % 1009) as f32 / 100.0 - 5.0).collect();
        let norm = Norm { weight: start[..384].to_vec(), bias: start[384..].to_vec(), epsilon: 1e-12 };
        let on = |arch| {
            let (mut activated, mut shares, mut normed) = (start.clone(), start.clone(), start.clone());
            gelu(arch, &mut activated);
            softmax(arch, &mut shares, 48, 37);
            add_and_norm(arch, &mut normed, &start, &norm);
            (activated, shares, normed)
        };
        assert_eq!(on(Arch::new()), on(Arch::Scalar));
    }
}
