//! Fisher's randomisation test.

use rand_xoshiro::rand_core::Rng;

use super::generator;

/// Up to this many differences that are not 0, all sign patterns are enumerated and the p-value is exact.
pub const EXACT_UP_TO: usize = 16;

/// How many random sign patterns are drawn otherwise.
pub const FLIPS: u32 = 100_000;

/// The outcome of a randomisation test.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Randomisation {
    /// The two-sided p-value.
    pub p: f64,
    /// Whether every sign pattern was counted, rather than a random sample.
    pub exact: bool,
}

/// The two-sided randomisation (sign-flip, permutation) test of "the two runs are interchangeable".
///
/// If they are, then each difference could as well have had the other sign. The p-value is the share of sign patterns
/// whose sum is at least as far from 0 as the one observed:
///
/// ```text
/// up to 16 differences ≠ 0:   p = count / 2^n            all patterns
/// more:                       p = (count + 1) / (100,000 + 1)   random patterns, seed SEED
/// ```
///
/// The added one counts the observed pattern itself; without it a p-value could be 0, which no sample can prove. Sums
/// that differ by rounding only (10⁻¹² of the sum of absolute differences) count as equal. No difference ≠ 0: p = 1.
///
/// - **Use it** always: it assumes nothing about the distribution. The verdicts of this crate rest on it.
/// - **Not** to look for p-values below 10⁻⁵ with more than 16 queries; that is as far as the sample reaches.
///
/// Fisher, *The design of experiments*, 1935; Smucker, Allan and Carterette, *A comparison of statistical significance
/// tests for information retrieval evaluation*, CIKM 2007; Phipson and Smyth, *Permutation p-values should never be
/// zero*, 2010.
pub fn randomisation(differences: &[f64]) -> Randomisation {
    let moving: Vec<_> = differences.iter().copied().filter(|&difference| difference != 0.0).collect();
    let spread: f64 = moving.iter().map(|difference| difference.abs()).sum();
    let observed = moving.iter().sum::<f64>().abs() - 1e-12 * spread;
    let exact = moving.len() <= EXACT_UP_TO;
    let p = if exact {
        let patterns = 1u64 << moving.len();
        let count = (0..patterns).filter(|&bits| flipped(&moving, || bits).abs() >= observed).count();
        count as f64 / patterns as f64
    } else {
        let mut random = generator();
        let count = (0..FLIPS).filter(|_| flipped(&moving, || random.next_u64()).abs() >= observed).count();
        (count + 1) as f64 / f64::from(FLIPS + 1)
    };
    Randomisation { p, exact }
}

/// The sum after flipping the sign of each difference whose bit is set; `bits` gives 64 at a time.
fn flipped(differences: &[f64], mut bits: impl FnMut() -> u64) -> f64 {
    let mut sum = 0.0;
    for chunk in differences.chunks(64) {
        let signs = bits();
        for (index, difference) in chunk.iter().enumerate() {
            sum += f64::from_bits(difference.to_bits() ^ ((signs >> index) << 63));
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::super::samples::{FIFTY, MAIZE, SLEEP};
    use super::*;

    /// Fisher (1935) counted 1,726 of 32,768 patterns for the maize; `scipy.stats.permutation_test` agrees on both.
    #[test]
    fn exact_values_agree_with_published_ones() {
        let maize = randomisation(&MAIZE);
        assert_eq!(maize, Randomisation { p: 1726.0 / 32768.0, exact: true });
        assert_eq!(randomisation(&SLEEP).p, 2.0 / 512.0);
    }

    /// `scipy.stats.permutation_test` with a million resamples gives .0497; 100,000 have a standard error of .0007.
    #[test]
    fn sampled_values_agree_within_their_error() {
        let got = randomisation(&FIFTY);
        assert!(!got.exact);
        assert!((got.p - 0.0497).abs() < 0.002, "{}", got.p);
    }

    #[test]
    fn sampling_agrees_with_enumeration() {
        let mut random = generator();
        let observed = MAIZE.iter().sum::<f64>();
        let extreme = (0..FLIPS).filter(|_| flipped(&MAIZE, || random.next_u64()).abs() >= observed).count();
        assert!((extreme as f64 / f64::from(FLIPS) - 1726.0 / 32768.0).abs() < 0.002);
    }

    #[test]
    fn degenerate_samples_have_a_documented_meaning() {
        assert_eq!(randomisation(&[]).p, 1.0);
        assert_eq!(randomisation(&[0.0; 30]).p, 1.0);
        assert_eq!(randomisation(&[0.5]).p, 1.0);
        assert_eq!(randomisation(&[0.1; 10]).p, 2.0 / 1024.0);
        // Rounding must not lose a pattern: 0.1 + 0.2 − 0.3 is not exactly 0.
        assert_eq!(randomisation(&[0.1, 0.2, -0.3]).p, 1.0);
    }
}
