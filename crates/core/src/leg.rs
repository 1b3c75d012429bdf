//! Legs: what is known about a ranked list apart from its items.

use serde::{Deserialize, Serialize};

use crate::error::Error;

/// The largest score, weight or bound, by magnitude: everything that is computed from such numbers stays finite.
pub const LARGEST: f64 = 1e100;

/// The smallest weight that is not 0.
pub const SMALLEST_WEIGHT: f64 = 1e-100;

/// Whether a number is finite and not absurdly large.
pub(crate) fn is_sane(number: f64) -> bool {
    number.abs() <= LARGEST
}

/// Whether a larger score is better.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// Larger is better: BM25, cosine, probabilities.
    #[default]
    Similarity,
    /// Smaller is better: Euclidean or cosine distance.
    Distance,
}

/// What happened to a leg.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LegState {
    /// It answered.
    #[default]
    Ok,
    /// It answered with nothing.
    Empty,
    /// It answered after the soft deadline and was still used.
    Slow,
    /// It had not answered when the search went on.
    TimedOut,
    /// It failed.
    Failed,
    /// It was not run, because its weight is 0.
    Skipped,
}

impl LegState {
    /// Whether the leg's items take part in the answer.
    pub fn answered(self) -> bool {
        matches!(self, Self::Ok | Self::Empty | Self::Slow)
    }
}

/// The range that a leg's scores can take in theory, as opposed to the range seen in one answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bounds {
    /// The least score that is possible: 0 for BM25, −1 for cosine.
    pub min: Option<f64>,
    /// The greatest score that is possible; the greatest one seen when left out.
    pub max: Option<f64>,
    /// What an unrelated item scores, where `calibrated` normalisation has its zero.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub typical: Option<f64>,
}

/// One ranked list's identity: source × channel, its weight, and how to read its scores.
#[derive(Clone, Debug, PartialEq)]
pub struct Leg {
    /// Unique within its variant, such as `wiki/dense`.
    pub name: String,
    /// The source that was searched, such as `wiki`.
    pub source: String,
    /// The kind of source, such as `slack`; decides recency and dedup defaults.
    pub kind: Option<String>,
    /// The weight of the leg. Finite and ≥ 0; 0 means the leg is not run.
    pub weight: f64,
    /// Which rewrite of the query it answers, from 0.
    pub variant: u32,
    /// How to read its scores.
    pub direction: Direction,
    /// The range of its scores in theory.
    pub bounds: Bounds,
    /// What happened to it.
    pub state: LegState,
    /// Whether the source is a copy, or nearly so, of another one that is searched: its items never stand for those of the other.
    pub copy: bool,
}

impl Leg {
    /// A leg with weight 1. Its source is the part of the name before the last `/`.
    pub fn new(name: impl Into<String>) -> Self {
        let name = name.into();
        let source = name.rsplit_once('/').map_or(name.as_str(), |(source, _)| source).to_owned();
        Self {
            name,
            source,
            kind: None,
            weight: 1.0,
            variant: 0,
            direction: Direction::default(),
            bounds: Bounds::default(),
            state: LegState::default(),
            copy: false,
        }
    }

    /// The same leg of a named source.
    #[must_use]
    pub fn source(mut self, source: impl Into<String>) -> Self {
        self.source = source.into();
        self
    }

    /// The same leg with another weight.
    ///
    /// # Errors
    /// When the weight is negative, NaN or infinite.
    pub fn weight(mut self, weight: f64) -> Result<Self, Error> {
        self.weight = checked_weight(&self.name, weight)?;
        Ok(self)
    }

    /// The kind of the source, or its name where no kind was given.
    pub fn kind(&self) -> &str {
        self.kind.as_deref().unwrap_or(&self.source)
    }

    /// The bounds of the leg's similarities: those of its scores, turned round for distances.
    pub(crate) fn similarity_bounds(&self) -> Bounds {
        match self.direction {
            Direction::Similarity => self.bounds,
            Direction::Distance => {
                let turned = |bound: Option<f64>| bound.map(|bound| -bound);
                Bounds {
                    min: turned(self.bounds.max),
                    max: turned(self.bounds.min),
                    typical: turned(self.bounds.typical),
                }
            }
        }
    }

    /// The last part of the name: `dense` for `wiki/dense`.
    pub fn channel(&self) -> &str {
        self.name.rsplit_once('/').map_or(self.name.as_str(), |(_, channel)| channel)
    }
}

/// Weights are 0 or positive, and neither absurdly small nor large.
pub(crate) fn checked_weight(list: &str, weight: f64) -> Result<f64, Error> {
    let setting = || format!("the weight of list `{list}`");
    if !(weight.is_finite() && weight >= 0.0) {
        return Err(Error::range(setting(), "a finite number ≥ 0", weight));
    }
    if weight != 0.0 && !(SMALLEST_WEIGHT..=LARGEST).contains(&weight) {
        return Err(Error::range(setting(), "0 or a number from 1e-100 to 1e100", weight));
    }
    Ok(weight)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_holds_source_and_channel() {
        let leg = Leg::new("wiki/dense");
        assert_eq!((leg.source.as_str(), leg.channel(), leg.kind()), ("wiki", "dense", "wiki"));
        assert_eq!(Leg::new("bm25").source, "bm25");
    }

    #[test]
    fn weights_are_finite_and_not_negative() {
        for weight in [-1.0, f64::NAN, f64::INFINITY] {
            assert!(Leg::new("a").weight(weight).is_err(), "{weight}");
        }
        for weight in [1e-101, 1e101] {
            assert!(Leg::new("a").weight(weight).is_err(), "{weight}");
        }
        assert_eq!(Leg::new("a").weight(0.0).unwrap().weight, 0.0);
    }
}
