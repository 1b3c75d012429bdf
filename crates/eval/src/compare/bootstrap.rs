//! The bootstrap interval of a mean.

use rand_xoshiro::rand_core::Rng;

use super::{generator, mean};

/// How many resamples are drawn.
pub const RESAMPLES: usize = 10_000;

/// A 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The lower end: the 2.5 % quantile.
    pub low: f64,
    /// The upper end: the 97.5 % quantile.
    pub high: f64,
}

/// The 95 % percentile bootstrap interval of the mean difference; `None` for fewer than two queries.
///
/// Draws 10,000 samples of n queries with replacement (seed SEED) and takes the 2.5 % and 97.5 % quantiles of their
/// means, interpolated linearly between order statistics.
///
/// - **Use it** to say how large a difference is, which a p-value does not say.
/// - **Not** below some ten queries, where it is too narrow. It is not corrected for several comparisons, so it can
///   leave out 0 where the adjusted p-value says "not shown".
///
/// Efron and Tibshirani, *An introduction to the bootstrap*, 1993, chapter 13; Sakai, *Evaluating evaluation metrics
/// based on the bootstrap*, SIGIR 2006.
pub fn bootstrap(differences: &[f64]) -> Option<Interval> {
    if differences.len() < 2 {
        return None;
    }
    let mut random = generator();
    let mut means: Vec<_> = (0..RESAMPLES).map(|_| resampled_mean(differences, &mut random)).collect();
    means.sort_unstable_by(f64::total_cmp);
    Some(Interval { low: quantile(&means, 0.025), high: quantile(&means, 0.975) })
}

fn resampled_mean(differences: &[f64], random: &mut impl Rng) -> f64 {
    // All equal: the mean of copies can differ from the value in the last bit, and an interval must not.
    let n = differences.len();
    let draws: Vec<_> = (0..n).map(|_| differences[below(n, random)]).collect();
    let first = draws[0];
    if draws.iter().all(|&draw| draw == first) { first } else { mean(&draws) }
}

/// A random index below `n`, by multiplying a 32-bit fraction; the bias is under n / 2³².
fn below(n: usize, random: &mut impl Rng) -> usize {
    (((random.next_u64() >> 32) * n as u64) >> 32) as usize
}

fn quantile(sorted: &[f64], q: f64) -> f64 {
    let position = q * (sorted.len() - 1) as f64;
    let below = position as usize;
    let above = (below + 1).min(sorted.len() - 1);
    sorted[below] + (sorted[above] - sorted[below]) * position.fract()
}

#[cfg(test)]
mod tests {
    use super::super::samples::{FIFTY, SLEEP};
    use super::*;

    /// `scipy.stats.bootstrap(method="percentile")` with 200,000 and 300,000 resamples.
    #[test]
    fn agrees_with_scipy_within_its_error() {
        let sleep = bootstrap(&SLEEP).unwrap();
        assert!((sleep.low - 0.95).abs() < 0.03 && (sleep.high - 2.38).abs() < 0.04, "{sleep:?}");
        let fifty = bootstrap(&FIFTY).unwrap();
        assert!((fifty.low - 0.00138).abs() < 0.0015 && (fifty.high - 0.07712).abs() < 0.0015, "{fifty:?}");
    }

    #[test]
    fn degenerate_samples_have_a_documented_meaning() {
        assert_eq!(bootstrap(&[]), None);
        assert_eq!(bootstrap(&[0.4]), None);
        assert_eq!(bootstrap(&[0.1; 7]), Some(Interval { low: 0.1, high: 0.1 }));
    }

    #[test]
    fn quantiles_interpolate() {
        assert_eq!(quantile(&[0.0, 1.0, 2.0], 0.25), 0.5);
        assert_eq!(quantile(&[0.0, 1.0, 2.0], 1.0), 2.0);
    }
}
