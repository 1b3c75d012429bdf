//! What a set of queries can show at all.

use statrs::distribution::ContinuousCDF as _;

use super::standard_deviation;
use super::t_test::student;

/// The smallest mean difference that this many queries with this spread would show, four times out of five.
///
/// ```text
/// (t(1 − α/2) + t(power)) · sd / √n      α = .05 two-sided, power = .8, both quantiles with n − 1 degrees of freedom
/// ```
///
/// `None` for fewer than two queries, and when all differences are equal: then their spread is unknown.
///
/// - **Use it** before believing "no significant difference": if the smallest difference is 0.05 and you hoped for 0.01,
///   the queries could not have told you. It says how many queries you need: four times as many show half of it.
/// - **Not** as a second test. Judging a finished comparison by its own power only repeats the p-value.
///
/// Cohen, *Statistical power analysis for the behavioral sciences*, 1988; Sakai, *Statistical reform in information
/// retrieval?*, SIGIR Forum 48(1), 2014.
pub fn detectable(differences: &[f64]) -> Option<f64> {
    let sd = standard_deviation(differences).filter(|&sd| sd > 0.0)?;
    let n = differences.len() as f64;
    let student = student(n - 1.0)?;
    Some((student.inverse_cdf(0.975) + student.inverse_cdf(0.8)) * sd / n.sqrt())
}

#[cfg(test)]
mod tests {
    use super::super::samples::SLEEP;
    use super::*;

    /// `scipy.stats.t.ppf` in the formula above.
    #[test]
    fn agrees_with_scipy() {
        assert!((detectable(&SLEEP).unwrap() - 1.223_493_401_218_351).abs() < 1e-9);
        let quantiles = [
            (0.975, 1.0, 12.706_204_736_174_694),
            (0.8, 1.0, 1.376_381_920_471_173_8),
            (0.975, 2.0, 4.302_652_729_749_462),
            (0.975, 224.0, 1.970_610_961_102_363_7),
            (0.8, 224.0, 0.843_228_824_686_556_6),
            (0.975, 6979.0, 1.960_303_958_133_713),
        ];
        for (q, freedom, expected) in quantiles {
            let got = student(freedom).unwrap().inverse_cdf(q);
            assert!((got / expected - 1.0).abs() < 1e-8, "{q} {freedom}: {got}");
        }
    }

    #[test]
    fn no_spread_no_answer() {
        assert_eq!(detectable(&[0.1]), None);
        assert_eq!(detectable(&[0.1; 9]), None);
    }
}
