//! Normalisation: bringing the scores of one list to a scale that can be added to another's.
//!
//! | name | formula | all scores equal |
//! |---|---|---|
//! | `minmax` | `(s − min) / (max − min)` over the list | `equal` (1.0) |
//! | `zscore` | `(s − mean) / sd` over the list | 0 |
//! | `theoretical` | `(s − lower) / (upper − lower)`: the leg's [bounds](crate::leg::Bounds); the upper one as seen when not given | 1.0 |
//! | `three_sigma` | `(s − (mean − 3 sd)) / (6 sd)` over the list | `equal` (0.5) |
//! | `calibrated` | `(s − typical) / (upper − typical)`, or `s / (upper^⅔ · best^⅓)` where the leg has no `typical` score; within \[0, 1\] | 0 |
//! | `none` | `s` | – |
//!
//! `calibrated` asks what a score means, not where it stands in its list: 1 is as good as can be, 0 no better than an unrelated
//! item. A cosine has a `typical` score for unrelated texts, which is its zero. A sum over words has no such score, but a greatest
//! possible one, that of a text made of the query's words alone: a hit gets the share of it that it reaches, seen a third of the way from the
//! best hit of the list. So a list in which nothing matches well stays small, and does not drown the others.
//!
//! `theoretical` is the *TM2C2* normalisation of S. Bruch, S. Gai, A. Ingber: *An analysis of fusion functions for hybrid
//! retrieval*, TOIS 2023: the worst hit of a good list does not become worthless merely because it came last.
//!
//! An item without a score gets `1 − rank0 / n` (1.0 when n ≤ 1), whatever the normalisation.

use serde::{Deserialize, Serialize};

use super::tally::{Field, Term};
use crate::candidates::RankedList;
use crate::error::Error;
use crate::leg::{Direction, Leg, is_sane};

/// The kind of normalisation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Norm {
    /// The list's own range to \[0, 1\].
    #[default]
    Minmax,
    /// Standard deviations from the list's mean.
    Zscore,
    /// The leg's theoretical range to \[0, 1\].
    Theoretical,
    /// Mean ± 3 standard deviations to \[0, 1\].
    ThreeSigma,
    /// From what an unrelated item scores to the best that is possible.
    Calibrated,
    /// Scores as they are.
    None,
}

/// Which standard deviation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Deviation {
    /// Divides by n.
    #[default]
    Population,
    /// Divides by n − 1.
    Sample,
}

/// A normalisation with its settings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Normalise {
    /// The kind.
    pub norm: Norm,
    /// What every item gets when all scores of a list are equal.
    pub equal: f64,
    /// The least that an item of the list gets (OpenSearch: 0.001), so that being last differs from being absent.
    pub floor: Option<f64>,
    /// Which standard deviation.
    pub deviation: Deviation,
}

impl Default for Normalise {
    fn default() -> Self {
        Self { norm: Norm::Minmax, equal: 1.0, floor: None, deviation: Deviation::Population }
    }
}

impl Normalise {
    /// A normalisation with the default settings.
    pub fn new(norm: Norm) -> Self {
        Self { norm, ..Self::default() }
    }

    pub(super) fn check(&self, field: &Field<'_>) -> Result<(), Error> {
        if self.norm != Norm::Theoretical {
            return Ok(());
        }
        field.lists().iter().try_for_each(|(_, list)| check_bounds(list.leg()))
    }

    pub(super) fn words(&self) -> &'static str {
        match self.norm {
            Norm::Minmax => "min-max score",
            Norm::Zscore => "z-score",
            Norm::Theoretical => "score within its theoretical bounds",
            Norm::ThreeSigma => "(score − (mean − 3 sd)) / 6 sd",
            Norm::Calibrated => "calibrated score",
            Norm::None => "score",
        }
    }

    pub(super) fn terms(&self, list: &RankedList, terms: &mut Vec<Term>) -> Term {
        let weight = list.leg().weight;
        terms.extend(self.values(list).map(|value| Term::of_value(value, weight)));
        Term::NOTHING
    }

    /// The normalised scores, in list order.
    pub(super) fn values<'a>(&self, list: &'a RankedList) -> impl Iterator<Item = f64> + use<'a> {
        let line = self.line(list);
        let unit = self.norm == Norm::Calibrated;
        let floor = self.floor;
        let length = list.len();
        list.similarities().iter().enumerate().map(move |(rank0, &score)| {
            if score.is_nan() {
                return by_rank(rank0, length);
            }
            let value = if unit { line.at(score).clamp(0.0, 1.0) } else { line.at(score) };
            floor.map_or(value, |floor| value.max(floor))
        })
    }

    /// The straight line that this normalisation is for one list.
    fn line(&self, list: &RankedList) -> Line {
        let scores = || list.similarities().iter().copied().filter(|score| !score.is_nan());
        match self.norm {
            Norm::None => Line { zero: 0.0, span: 1.0, equal: 0.0 },
            Norm::Minmax => {
                let (min, max) = range(scores());
                Line { zero: min, span: max - min, equal: self.equal }
            }
            Norm::Theoretical => {
                let bounds = list.leg().similarity_bounds();
                let (min, max) = (bounds.min.unwrap_or(0.0), bounds.max.unwrap_or_else(|| range(scores()).1));
                Line { zero: min, span: max - min, equal: 1.0 }
            }
            Norm::Zscore => {
                let (mean, sd) = self.moments(scores);
                Line { zero: mean, span: sd, equal: 0.0 }
            }
            Norm::ThreeSigma => {
                let (mean, sd) = self.moments(scores);
                Line { zero: mean - 3.0 * sd, span: 6.0 * sd, equal: self.equal }
            }
            Norm::Calibrated => calibrated(list.leg(), range(scores())),
        }
    }

    fn moments<S: Iterator<Item = f64>>(&self, scores: impl Fn() -> S) -> (f64, f64) {
        let (count, sum) = scores().fold((0_u32, 0.0), |(count, sum), score| (count + 1, sum + score));
        let mean = sum / f64::from(count.max(1));
        let squares: f64 = scores().map(|score| (score - mean).powi(2)).sum();
        let divisor = match self.deviation {
            Deviation::Population => count,
            Deviation::Sample => count.saturating_sub(1),
        };
        // A mean of equal scores can be off by rounding, which must not pass for a spread.
        let (min, max) = range(scores());
        let sd = if max > min { (squares / f64::from(divisor.max(1))).sqrt() } else { 0.0 };
        (mean, sd)
    }

    /// The most that a normalised score can be, where there is such a bound.
    pub(super) fn most(&self) -> Option<f64> {
        match self.norm {
            Norm::Minmax => Some(self.equal.max(1.0)),
            Norm::Calibrated => Some(1.0),
            _ => None,
        }
    }

    /// Whether normalised scores are in \[0, 1\] whatever the list.
    pub(super) fn is_unit(&self) -> bool {
        // A calibrated score is in [0, 1] too, but the best hit has a long way to 1: freshness or a reranker beside it would decide alone.
        self.norm == Norm::Minmax && (0.0..=1.0).contains(&self.equal)
    }
}

/// The calibrated line of a list whose scores lie in this range.
fn calibrated(leg: &Leg, (least, best): (f64, f64)) -> Line {
    let bounds = leg.similarity_bounds();
    let upper = bounds.max.unwrap_or(best).max(best);
    if let Some(typical) = bounds.typical {
        return Line { zero: typical, span: upper - typical, equal: 0.0 };
    }
    let zero = bounds.min.unwrap_or(0.0).min(least);
    Line { zero, span: ((upper - zero).powi(2) * (best - zero)).cbrt(), equal: 0.0 }
}

/// Theoretical normalisation needs the worst score that is possible, and a range that is one.
fn check_bounds(leg: &Leg) -> Result<(), Error> {
    let bounds = leg.similarity_bounds();
    let side = if leg.direction == Direction::Distance { "upper" } else { "lower" };
    let worst = bounds.min.ok_or_else(|| Error::Missing {
        what: format!("the {side} bound of list `{}`", leg.name),
        why: "`theoretical` normalisation needs it".into(),
        hint: "give the list `bounds`: `{\"min\": 0}` for BM25, `{\"min\": -1, \"max\": 1}` for cosine"
            .into(),
    })?;
    let best = bounds.max.unwrap_or(worst + 1.0);
    let sane = is_sane(worst) && is_sane(best);
    if sane && best - worst >= SMALLEST_SPAN {
        return Ok(());
    }
    let received =
        format!("{:?} to {:?}", leg.bounds.min.unwrap_or(f64::NAN), leg.bounds.max.unwrap_or(f64::NAN));
    Err(Error::range(format!("the bounds of list `{}`", leg.name), "min < max, within ±1e100", received))
}

/// The smallest theoretical range: a score divided by it stays finite.
const SMALLEST_SPAN: f64 = 1e-100;

/// `1 − rank0 / n`: what an item without a score is worth.
pub(super) fn by_rank(rank0: usize, length: usize) -> f64 {
    if length <= 1 { 1.0 } else { 1.0 - rank0 as f64 / length as f64 }
}

/// A normalisation of one list: `(score − zero) / span`, or a constant where the span is 0.
#[derive(Clone, Copy)]
struct Line {
    zero: f64,
    span: f64,
    equal: f64,
}

impl Line {
    fn at(self, score: f64) -> f64 {
        if self.span > 0.0 { (score - self.zero) / self.span } else { self.equal }
    }
}

fn range(scores: impl Iterator<Item = f64>) -> (f64, f64) {
    scores.fold((f64::INFINITY, f64::NEG_INFINITY), |(min, max), score| (min.min(score), max.max(score)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::candidates::{Candidates, NonFinite};
    use crate::leg::{Bounds, Leg};

    fn values(normalise: Normalise, leg: Leg, scores: &[Option<f64>]) -> Vec<f64> {
        let mut candidates = Candidates::new();
        candidates.add(leg, scores.iter().copied().enumerate(), NonFinite::Refuse).unwrap();
        normalise.values(&candidates.lists()[0]).collect()
    }

    fn of(norm: Norm, scores: &[f64]) -> Vec<f64> {
        let scores: Vec<_> = scores.iter().copied().map(Some).collect();
        values(Normalise::new(norm), Leg::new("a"), &scores)
    }

    #[test]
    fn minmax_spans_the_list() {
        assert_eq!(of(Norm::Minmax, &[3.0, 2.0, 1.0]), [1.0, 0.5, 0.0]);
        assert_eq!(of(Norm::Minmax, &[-1.0, -2.0, -3.0]), [1.0, 0.5, 0.0]);
    }

    #[test]
    fn equal_scores_and_single_hits_have_a_stated_value() {
        assert_eq!(of(Norm::Minmax, &[7.0, 7.0]), [1.0, 1.0]);
        assert_eq!(of(Norm::Minmax, &[7.0]), [1.0]);
        assert_eq!(of(Norm::Zscore, &[0.1, 0.1, 0.1]), [0.0, 0.0, 0.0]);
    }

    #[test]
    fn a_zscore_has_mean_zero_and_deviation_one() {
        let z = of(Norm::Zscore, &[5.0, 3.0, 1.0]);
        assert!(z.iter().sum::<f64>().abs() < 1e-12);
        assert!((z.iter().map(|v| v * v).sum::<f64>() / 3.0 - 1.0).abs() < 1e-12);
    }

    #[test]
    fn theoretical_bounds_do_not_punish_the_last_hit() {
        let leg = Leg { bounds: Bounds { min: Some(0.0), ..Bounds::default() }, ..Leg::new("a") };
        assert_eq!(values(Normalise::new(Norm::Theoretical), leg, &[Some(10.0), Some(9.0)]), [1.0, 0.9]);
    }

    #[test]
    fn theoretical_bounds_of_distances_are_turned_round() {
        let bounds = Bounds { min: Some(0.0), max: Some(2.0), typical: None };
        let leg = Leg { bounds, direction: Direction::Distance, ..Leg::new("a") };
        assert_eq!(values(Normalise::new(Norm::Theoretical), leg, &[Some(0.5), Some(2.0)]), [0.75, 0.0]);
    }

    #[test]
    fn a_calibrated_score_says_what_it_means_whatever_else_is_in_the_list() {
        let calibrated = |bounds, scores: &[f64]| {
            let scores: Vec<_> = scores.iter().copied().map(Some).collect();
            values(Normalise::new(Norm::Calibrated), Leg { bounds, ..Leg::new("a") }, &scores)
        };
        let cosine = Bounds { min: Some(-1.0), max: Some(1.0), typical: Some(0.5) };
        assert_eq!(calibrated(cosine, &[1.0, 0.75, 0.5, -0.3]), [1.0, 0.5, 0.0, 0.0]);
        assert_eq!(calibrated(cosine, &[0.75]), [0.5], "the company does not matter");
        let words = Bounds { min: Some(0.0), max: Some(8.0), typical: None };
        let close = |got: Vec<f64>, expected: &[f64]| {
            assert!(got.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12), "{got:?} {expected:?}");
        };
        close(calibrated(words, &[8.0, 4.0]), &[1.0, 0.5]);
        close(calibrated(words, &[1.0, 0.5]), &[0.25, 0.125]);
        assert_eq!(calibrated(words, &[0.0, 0.0]), [0.0, 0.0], "nothing matched at all");
    }

    #[test]
    fn an_item_without_a_score_is_valued_by_its_rank() {
        let normalise = Normalise::default();
        assert_eq!(values(normalise, Leg::new("a"), &[None, None, None, None]), [1.0, 0.75, 0.5, 0.25]);
        assert_eq!(values(normalise, Leg::new("a"), &[None]), [1.0]);
        assert_eq!(
            values(normalise, Leg::new("a"), &[Some(2.0), None, Some(1.0)]),
            [1.0, 1.0 - 1.0 / 3.0, 0.0]
        );
    }
}
