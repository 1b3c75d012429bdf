//! Is one run really better than another?
//!
//! Two runs are compared query by query: what counts is the difference that each query shows. [`compare()`] answers, for
//! each measure and each run against the baseline:
//!
//! | question | answer | file |
//! |---|---|---|
//! | how much better is it? | the mean difference and its 95 % interval | [`bootstrap`] |
//! | could that be luck? | a randomisation test, corrected for the number of comparisons | [`randomisation`], [`holm`] |
//! | what does the classic test say? | Student's paired t-test | [`t_test`] |
//! | could these queries have shown anything at all? | the smallest difference they can show | [`detectable`] |
//!
//! # With few or equal differences
//!
//! - **One query**: there is no spread to judge by. The t-test, the interval and the smallest difference are `None`; the
//!   randomisation test gives p = 1.
//! - **All differences 0**: both tests give p = 1, the interval is [0, 0], the smallest difference is `None`.
//! - **All differences equal but not 0**: the t-test gives t = ±∞ and p = 0, as the formula does; the interval is that
//!   one value; the randomisation test gives `2 / 2^n`, which is the honest number. The smallest difference is `None`.
//!
//! Every random number comes from xoshiro256++ with the fixed seed [`SEED`], started anew for each test, so that the same
//! files give the same numbers everywhere.

mod bootstrap;
mod detectable;
mod holm;
mod randomisation;
mod t_test;

pub use bootstrap::{Interval, RESAMPLES, bootstrap};
pub use detectable::detectable;
pub use holm::holm;
pub use randomisation::{EXACT_UP_TO, FLIPS, Randomisation, randomisation};
pub use t_test::{TTest, t_test};

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng as _;
use serde::ser::{Serialize, SerializeStruct, Serializer};

use crate::Evaluation;

/// The seed of every random number in this module. Any other would do; this one never changes, so that results do not.
pub const SEED: u64 = 20_090_719;

/// The level below which an adjusted p-value counts as shown.
pub const ALPHA: f64 = 0.05;

fn generator() -> Xoshiro256PlusPlus {
    Xoshiro256PlusPlus::seed_from_u64(SEED)
}

/// What a comparison shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The run is better than the baseline.
    Better,
    /// The run is worse than the baseline.
    Worse,
    /// The queries do not show a difference. This is not the same as "there is none".
    NotShown,
}

/// How the queries are split.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Queries on which the run is better.
    pub wins: usize,
    /// Queries on which the run is worse.
    pub losses: usize,
    /// Queries on which both have the same value.
    pub ties: usize,
}

/// One run against the baseline, by one measure.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// The measure, as the user typed it.
    pub measure: String,
    /// The name of the baseline.
    pub baseline: String,
    /// The name of the run that is compared with it.
    pub run: String,
    /// Run minus baseline for each query, in query order.
    pub differences: Vec<(String, f64)>,
    /// The mean of the baseline.
    pub baseline_mean: f64,
    /// The mean of the run.
    pub run_mean: f64,
    /// The mean difference.
    pub difference: f64,
    /// The mean difference as a part of the baseline's mean; `None` when that is 0.
    pub relative: Option<f64>,
    /// The 95 % interval of the mean difference.
    pub interval: Option<Interval>,
    /// Student's paired t-test.
    pub t_test: Option<TTest>,
    /// Fisher's randomisation test.
    pub randomisation: Randomisation,
    /// The p-value of the randomisation test, corrected for all comparisons that were made together.
    pub p_adjusted: f64,
    /// How the queries are split.
    pub tally: Tally,
    /// The smallest mean difference that this many queries can show.
    pub detectable: Option<f64>,
}

/// Compares each of `others` with `baseline`, by every measure of the baseline.
///
/// All comparisons of one call are one family for the correction of p-values. They come run by run, and measure by
/// measure within a run. Only queries that both evaluations hold are compared; evaluations of the same judgements
/// hold the same queries.
pub fn compare(baseline: (&str, &Evaluation), others: &[(&str, &Evaluation)]) -> Vec<Comparison> {
    let mut all = Vec::new();
    for other in others {
        for measure in baseline.1.measures() {
            all.push(Comparison::new(measure, baseline, *other));
        }
    }
    let p: Vec<_> = all.iter().map(|comparison| comparison.randomisation.p).collect();
    for (comparison, adjusted) in all.iter_mut().zip(holm(&p)) {
        comparison.p_adjusted = adjusted;
    }
    all
}

impl Comparison {
    fn new(measure: &str, baseline: (&str, &Evaluation), run: (&str, &Evaluation)) -> Self {
        let differences = baseline.1.differences(run.1, measure);
        let values: Vec<_> = differences.iter().map(|(_, value)| *value).collect();
        let baseline_mean = baseline.1.mean(measure).unwrap_or(0.0);
        let difference = mean(&values);
        let randomisation = randomisation(&values);
        Self {
            measure: measure.to_owned(),
            baseline: baseline.0.to_owned(),
            run: run.0.to_owned(),
            differences,
            baseline_mean,
            run_mean: run.1.mean(measure).unwrap_or(0.0),
            difference,
            relative: (baseline_mean != 0.0).then(|| difference / baseline_mean),
            interval: bootstrap(&values),
            t_test: t_test(&values),
            randomisation,
            p_adjusted: randomisation.p,
            tally: Tally::of(&values),
            detectable: detectable(&values),
        }
    }

    /// What the comparison shows, at level [`ALPHA`] of the adjusted p-value.
    pub fn verdict(&self) -> Verdict {
        if self.p_adjusted >= ALPHA || self.difference == 0.0 {
            Verdict::NotShown
        } else if self.difference > 0.0 {
            Verdict::Better
        } else {
            Verdict::Worse
        }
    }
}

impl Tally {
    fn of(differences: &[f64]) -> Self {
        let wins = differences.iter().filter(|&&difference| difference > 0.0).count();
        let losses = differences.iter().filter(|&&difference| difference < 0.0).count();
        Self { wins, losses, ties: differences.len() - wins - losses }
    }
}

/// The mean, summed in order; 0 for no values.
fn mean(values: &[f64]) -> f64 {
    if values.is_empty() {
        return 0.0;
    }
    values.iter().sum::<f64>() / values.len() as f64
}

/// The sample standard deviation (divisor n − 1): exactly 0 for equal values, `None` for fewer than two.
fn standard_deviation(values: &[f64]) -> Option<f64> {
    let (first, rest) = values.split_first()?;
    if rest.is_empty() {
        return None;
    }
    if rest.iter().all(|value| value == first) {
        return Some(0.0);
    }
    let centre = mean(values);
    let squares: f64 = values.iter().map(|value| (value - centre).powi(2)).sum();
    Some((squares / rest.len() as f64).sqrt())
}

/// A map of queries to differences, in order.
struct ByQuery<'a>(&'a [(String, f64)]);

impl Serialize for ByQuery<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(query, value)| (query, value)))
    }
}

impl Serialize for Comparison {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let verdict = match self.verdict() {
            Verdict::Better => "better",
            Verdict::Worse => "worse",
            Verdict::NotShown => "not_shown",
        };
        let mut object = serializer.serialize_struct("Comparison", 18)?;
        object.serialize_field("measure", &self.measure)?;
        object.serialize_field("baseline", &self.baseline)?;
        object.serialize_field("run", &self.run)?;
        object.serialize_field("baseline_mean", &self.baseline_mean)?;
        object.serialize_field("run_mean", &self.run_mean)?;
        object.serialize_field("difference", &self.difference)?;
        object.serialize_field("relative", &self.relative)?;
        object.serialize_field("interval", &self.interval.map(|interval| [interval.low, interval.high]))?;
        object.serialize_field("p_randomisation", &self.randomisation.p)?;
        object.serialize_field("p_randomisation_exact", &self.randomisation.exact)?;
        object.serialize_field("p_adjusted", &self.p_adjusted)?;
        object.serialize_field("p_t_test", &self.t_test.map(|test| test.p))?;
        object.serialize_field("wins", &self.tally.wins)?;
        object.serialize_field("losses", &self.tally.losses)?;
        object.serialize_field("ties", &self.tally.ties)?;
        object.serialize_field("detectable", &self.detectable)?;
        object.serialize_field("verdict", verdict)?;
        object.serialize_field("differences", &ByQuery(&self.differences))?;
        object.end()
    }
}

/// Published data that several tests check against.
#[cfg(test)]
mod samples {
    /// Extra hours of sleep under two drugs, second minus first ("Student", 1908).
    pub(super) const SLEEP: [f64; 10] = [1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4];
    /// Heights of cross- minus self-fertilised maize, in eighths of an inch (Darwin, 1876; Fisher, 1935).
    pub(super) const MAIZE: [f64; 15] =
        [49., -67., 8., 16., 6., 23., 28., 41., 14., 29., 56., 24., 75., 60., -48.];
    /// Fifty draws of a normal distribution with mean 0.02 and standard deviation 0.15, rounded.
    pub(super) const FIFTY: [f64; 50] = [
        0.039, 0.0, 0.116, 0.036, -0.06, 0.074, 0.216, 0.162, -0.086, -0.17, -0.073, 0.026, -0.329, -0.013,
        -0.167, -0.09, -0.062, -0.027, 0.082, 0.176, 0.001, 0.225, -0.08, 0.073, 0.156, 0.034, -0.092,
        -0.118, -0.049, 0.053, -0.131, -0.011, -0.004, 0.101, 0.052, 0.073, -0.078, 0.001, 0.138, 0.244,
        -0.169, 0.247, 0.222, 0.137, 0.06, -0.027, 0.239, 0.314, 0.29, 0.217,
    ];
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::Lines;
    use crate::{Measure, Qrels, Run, Settings, evaluate};

    fn evaluation(run: &str) -> Evaluation {
        let qrels = Qrels::read(Lines::new("1 0 a 1\n2 0 a 1\n3 0 a 1\n".as_bytes(), "q")).unwrap();
        let run = Run::read(Lines::new(run.as_bytes(), "r")).unwrap();
        let measures = ["MRR", "P@1"].map(|name| Measure::parse(name).unwrap());
        evaluate(&qrels, &run, &measures, &Settings::default())
    }

    #[test]
    fn a_comparison_by_hand() {
        let baseline = evaluation("1 Q0 a 1 1 t\n2 Q0 b 1 2 t\n2 Q0 a 2 1 t\n");
        let other = evaluation("1 Q0 a 1 1 t\n2 Q0 a 1 1 t\n3 Q0 a 1 1 t\n");
        let got = compare(("a", &baseline), &[("b", &other)]);
        let [mrr, p1] = got.as_slice() else { panic!("two comparisons") };
        assert_eq!((mrr.measure.as_str(), p1.measure.as_str()), ("MRR", "P@1"));
        assert_eq!((mrr.baseline_mean, mrr.run_mean, mrr.difference), (0.5, 1.0, 0.5));
        assert_eq!(mrr.relative, Some(1.0));
        let tally = Tally { wins: 2, losses: 0, ties: 1 };
        assert_eq!(mrr.tally, tally);
        // Two differences that are not 0: two of four sign patterns are as far from 0. Holm doubles that, at most to 1.
        assert_eq!((mrr.randomisation.p, mrr.p_adjusted), (0.5, 1.0));
        assert_eq!(mrr.verdict(), Verdict::NotShown);
    }

    #[test]
    fn a_run_against_itself_shows_nothing() {
        let same = evaluation("1 Q0 a 1 1 t\n");
        let got = &compare(("a", &same), &[("a", &same)])[0];
        assert_eq!((got.difference, got.p_adjusted, got.detectable), (0.0, 1.0, None));
        assert_eq!(got.t_test.map(|test| test.p), Some(1.0));
        assert_eq!(got.interval.map(|interval| (interval.low, interval.high)), Some((0.0, 0.0)));
        assert!(serde_json::to_string(got).unwrap().contains(r#""verdict":"not_shown""#));
    }

    #[test]
    fn equal_values_have_no_spread() {
        assert_eq!(standard_deviation(&[0.1; 7]), Some(0.0));
        assert_eq!(standard_deviation(&[0.1]), None);
        assert_eq!(standard_deviation(&[]), None);
    }
}
