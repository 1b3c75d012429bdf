//! Student's paired t-test.

use statrs::distribution::{ContinuousCDF as _, StudentsT};

use super::{mean, standard_deviation};

/// The outcome of a paired t-test.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TTest {
    /// The t statistic; infinite when all differences are equal and not 0.
    pub t: f64,
    /// The two-sided p-value.
    pub p: f64,
}

/// The two-sided paired t-test of "the mean difference is 0"; `None` for fewer than two queries.
///
/// ```text
/// t = mean / (sd / √n)      p = 2 · P(T > |t|)  with n − 1 degrees of freedom, sd with divisor n − 1
/// ```
///
/// All differences 0 give p = 1. All differences equal but not 0 give t = ±∞ and p = 0.
///
/// - **Use it** to compare with papers, which mostly report it, and with 50 queries or more: it is robust enough there
///   although differences of measures are never normal.
/// - **Not** with few queries or measures that are mostly 0 or 1 (`Success@k`, `P@1`): trust the randomisation test.
///
/// Student, *The probable error of a mean*, Biometrika 6, 1908; Urbano, Lima and Hanjalic, *Statistical significance
/// testing in information retrieval*, SIGIR 2019.
pub fn t_test(differences: &[f64]) -> Option<TTest> {
    let sd = standard_deviation(differences)?;
    let centre = mean(differences);
    if sd == 0.0 {
        let equal = differences.first().is_none_or(|&first| first == 0.0);
        let t = if equal { 0.0 } else { f64::INFINITY.copysign(centre) };
        return Some(TTest { t, p: f64::from(u8::from(equal)) });
    }
    let n = differences.len() as f64;
    let t = centre / (sd / n.sqrt());
    let p = (2.0 * student(n - 1.0)?.sf(t.abs())).min(1.0);
    Some(TTest { t, p })
}

/// The t distribution; `None` without a degree of freedom.
pub(super) fn student(freedom: f64) -> Option<StudentsT> {
    StudentsT::new(0.0, 1.0, freedom).ok()
}

#[cfg(test)]
mod tests {
    use super::super::samples::{FIFTY, MAIZE, SLEEP};
    use super::*;

    /// The constants were computed with scipy 1.17.1 (`ttest_rel`, `ttest_1samp`); the first two are also in the
    /// textbooks (t = 4.06, p = .0028; t = 2.148, p = .0497).
    #[test]
    fn agrees_with_published_values() {
        let cases = [
            (SLEEP.as_slice(), 4.062_127_683_382_037, 0.002_832_890_197_384_273),
            (&MAIZE, 2.147_987_461_331_120_5, 0.049_702_944_021_800_866),
            (&FIFTY, 2.015_597_918_128_117, 0.049_343_582_545_689_59),
        ];
        for (data, t, p) in cases {
            let got = t_test(data).unwrap();
            assert!((got.t - t).abs() < 1e-12 && (got.p - p).abs() < 1e-12, "{got:?}");
        }
    }

    /// `2 * scipy.stats.t.sf(t, df)`.
    #[test]
    fn tails_agree_with_scipy() {
        let cases = [
            (2.0, 10.0, 0.073_388_034_770_740_37),
            (0.1, 3.0, 0.926_652_348_800_805_9),
            (5.5, 224.0, 1.032_577_808_271_076_4e-7),
            (30.0, 50.0, 1.238_002_279_598_724_4e-33),
            (1.96, 100_000.0, 0.049_998_563_194_301_68),
        ];
        for (t, freedom, p) in cases {
            let got = 2.0 * student(freedom).unwrap().sf(t);
            assert!((got / p - 1.0).abs() < 1e-9, "{got} {p}");
        }
    }

    #[test]
    fn degenerate_samples_have_a_documented_meaning() {
        assert_eq!(t_test(&[]), None);
        assert_eq!(t_test(&[0.3]), None);
        assert_eq!(t_test(&[0.0; 5]), Some(TTest { t: 0.0, p: 1.0 }));
        let equal = t_test(&[-0.1; 5]).unwrap();
        assert_eq!((equal.t, equal.p), (f64::NEG_INFINITY, 0.0));
        // Opposite differences of the same size: t = 0, p = 1.
        assert_eq!(t_test(&[0.2, -0.2]).unwrap().p, 1.0);
    }
}
