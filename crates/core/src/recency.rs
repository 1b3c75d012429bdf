//! # Recency
//!
//! ```text
//! window   score · (1 + factor)                                     when 0 ≤ age ≤ days
//! decay    (1 − w) · relevance + w · 2^(−max(0, age) / half-life)   on relevance in [0, 1]
//! ```
//!
//! Rules are set per source, because sources age differently: a chat message is old after a week, a wiki page after a
//! year. Decay is on by default for these kinds of sources and off for all others:
//!
//! | kind | half-life | weight |
//! |---|---|---|
//! | `slack` | 7 days | 0.6 |
//! | `gmail` | 14 days | 0.5 |
//! | `linear` | 14 days | 0.4 |
//! | `notion` | 30 days | 0.2 |
//! | any other, when configured without numbers | 14 days | 0.3 |
//!
//! `scaled = true` lets freshness count in proportion to relevance, `w · relevance · 2^(−age / half-life)`: a new message that has nothing to do with the
//! query then gains nothing from being new. In `fuse` it is off unless written; live searches have it on, because they look at sources that
//! have nothing to do with the query at all, and a chat always has something new.
//!
//! An item without a time counts as half fresh (0.5), or is left alone (`missing = "skip"`). A time in the future counts as now
//! in decay, gets no boost from a window, and is reported. A weight of 0 is the same as no rule, to the byte.
//!
//! Relevance is brought to \[0, 1\] first ([`Unit`](crate::ledger::Unit)): beside a raw RRF score of 0.016 a freshness of 0.9
//! would decide alone.
//!
//! **When not.** Reference material, and questions that are not about time: decay then only adds noise.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::ledger::Freshness;
use crate::leg::is_sane;
use crate::time::{Days, Moment};

/// How fresh an item without a time is taken to be.
pub const UNKNOWN_FRESHNESS: f64 = 0.5;

/// What to do with an item that has no time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum MissingTime {
    /// It counts as half fresh.
    #[default]
    Neutral,
    /// Its score stays.
    Skip,
}

/// A source's rule, as written. Names either a window or a decay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct RecencySpec {
    /// Decay: after how long an item is half as fresh, such as `30d`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub half_life: Option<Days>,
    /// Decay: the weight of freshness against relevance, from 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weight: Option<f64>,
    /// Decay: what to do with an item that has no time, `neutral` or `skip`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing: Option<MissingTime>,
    /// Decay: whether freshness counts in proportion to relevance. Off when left out, on in live searches.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scaled: Option<bool>,
    /// Window: how many days count as recent. Default 30.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window_days: Option<f64>,
    /// Window: the boost of a recent item. Default 0.15.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub factor: Option<f64>,
}

/// A source's rule, checked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Recency {
    /// A boost for recent items.
    Window {
        /// How many days count as recent.
        days: f64,
        /// The boost.
        factor: f64,
    },
    /// Freshness that halves again and again.
    Decay {
        /// How long a half takes.
        half_life: Days,
        /// The weight of freshness against relevance.
        weight: f64,
        /// What to do with an item that has no time.
        missing: MissingTime,
        /// Whether freshness counts in proportion to relevance.
        scaled: bool,
    },
}

impl RecencySpec {
    /// Checks the rule; what is left out takes the defaults of the kind.
    ///
    /// # Errors
    /// When numbers are out of range, or window and decay are mixed.
    pub fn check(&self, kind: &str) -> Result<Recency, Error> {
        let is_window = self.window_days.is_some() || self.factor.is_some();
        let is_decay = self.half_life.is_some() || self.weight.is_some() || self.missing.is_some();
        if is_window && (is_decay || self.scaled.is_some()) {
            let setting = format!("`recency.{kind}`");
            return Err(Error::range(setting, "either a window or a decay", "settings of both"));
        }
        if is_window {
            return self.window(kind);
        }
        let (half_life, weight) = of_kind(kind).unwrap_or(DEFAULT_DECAY);
        let weight = self.weight.unwrap_or(weight);
        if !(0.0..=1.0).contains(&weight) {
            return Err(Error::range(format!("`recency.{kind}.weight`"), "a number from 0 to 1", weight));
        }
        let half_life = self.half_life.map_or_else(|| Days::new(half_life), Ok)?;
        let (missing, scaled) = (self.missing.unwrap_or_default(), self.scaled.unwrap_or(false));
        Ok(Recency::Decay { half_life, weight, missing, scaled })
    }

    fn window(&self, kind: &str) -> Result<Recency, Error> {
        let (days, factor) = (self.window_days.unwrap_or(30.0), self.factor.unwrap_or(0.15));
        if !(days.is_finite() && days >= 0.0) {
            return Err(Error::range(format!("`recency.{kind}.window_days`"), "a finite number ≥ 0", days));
        }
        if !(factor >= 0.0 && is_sane(factor)) {
            return Err(Error::range(format!("`recency.{kind}.factor`"), "a finite number ≥ 0", factor));
        }
        Ok(Recency::Window { days, factor })
    }
}

const DEFAULT_DECAY: (f64, f64) = (14.0, 0.3);

/// The half-life in days and the weight of the kinds for which decay is on by default.
pub fn of_kind(kind: &str) -> Option<(f64, f64)> {
    match kind {
        "slack" => Some((7.0, 0.6)),
        "gmail" => Some((14.0, 0.5)),
        "linear" => Some((14.0, 0.4)),
        "notion" => Some((30.0, 0.2)),
        _ => None,
    }
}

impl Recency {
    /// Whether the rule can change any score.
    pub fn is_active(&self) -> bool {
        match self {
            Self::Window { factor, .. } => *factor > 0.0,
            Self::Decay { weight, .. } => *weight > 0.0,
        }
    }

    /// What the rule does to an item of this age; nothing stands for "no time known".
    pub fn at(&self, age_days: Option<f64>) -> Freshness {
        match *self {
            Self::Window { days, factor } => {
                let inside = age_days.is_some_and(|age| (0.0..=days).contains(&age));
                Freshness::Window { age_days, days, factor, inside }
            }
            Self::Decay { missing: MissingTime::Skip, .. } if age_days.is_none() => Freshness::Untouched,
            Self::Decay { half_life, weight, scaled, .. } => {
                let half_life_days = half_life.get();
                let freshness =
                    age_days.map_or(UNKNOWN_FRESHNESS, |age| (-age.max(0.0) / half_life_days).exp2());
                Freshness::Decay { age_days, half_life_days, weight, freshness, scaled }
            }
        }
    }

    /// What the rule makes of a hit of relevance 1 at each age: a preview for choosing the numbers.
    pub fn preview(&self, ages_days: &[f64]) -> Vec<(f64, f64)> {
        ages_days.iter().map(|&age| (age, self.at(Some(age)).apply(1.0))).collect()
    }
}

/// The rules of all sources. The key `*` stands for every source that is not named.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RecencyTable {
    rules: IndexMap<String, Recency>,
}

impl RecencyTable {
    /// Checks the rules of these sources. A source's kind decides what its rule leaves out, also where the rule is that of `*`.
    ///
    /// # Errors
    /// When a rule is out of range.
    pub fn new<'a>(
        specs: &IndexMap<String, RecencySpec>,
        sources: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Result<Self, Error> {
        let mut rules = IndexMap::new();
        for (source, kind) in sources {
            if let Some(spec) = specs.get(source).or_else(|| specs.get("*")) {
                rules.insert(source.to_owned(), spec.check(kind)?);
            }
        }
        Ok(Self { rules })
    }

    /// Whether any rule can change a score.
    pub fn is_active(&self) -> bool {
        self.rules.values().any(Recency::is_active)
    }

    /// Whether some decay needs relevance in \[0, 1\].
    pub(crate) fn decays(&self) -> bool {
        self.rules.values().any(|rule| rule.is_active() && matches!(rule, Recency::Decay { .. }))
    }

    /// Whether some window can lift scores above 1.
    pub(crate) fn has_window(&self) -> bool {
        self.rules.values().any(|rule| rule.is_active() && matches!(rule, Recency::Window { .. }))
    }

    /// The rule of a source.
    pub fn of(&self, source: &str) -> Option<&Recency> {
        self.rules.get(source).filter(|rule| rule.is_active())
    }
}

/// The age of an item in days, where both times are known.
pub(crate) fn age(created_at: Option<&Moment>, now: Option<&Moment>) -> Option<f64> {
    Some(created_at?.age_days(now?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decay(half_life: f64, weight: f64) -> Recency {
        Recency::Decay {
            half_life: Days::new(half_life).unwrap(),
            weight,
            missing: MissingTime::Neutral,
            scaled: false,
        }
    }

    #[test]
    fn freshness_is_exactly_half_at_the_half_life() {
        assert_eq!(decay(14.0, 1.0).at(Some(14.0)).apply(0.0), 0.5);
        assert_eq!(decay(14.0, 1.0).at(Some(28.0)).apply(0.0), 0.25);
        assert_eq!(decay(14.0, 0.3).at(Some(14.0)).apply(1.0), 0.7 + 0.15);
    }

    #[test]
    fn a_future_time_counts_as_now_in_decay_and_gets_no_window() {
        assert_eq!(decay(7.0, 0.6).at(Some(-3.0)).apply(0.5), decay(7.0, 0.6).at(Some(0.0)).apply(0.5));
        let window = Recency::Window { days: 30.0, factor: 0.15 };
        assert_eq!(window.at(Some(-0.001)).apply(1.0), 1.0);
        assert_eq!(window.at(Some(0.0)).apply(1.0), 1.15);
        assert_eq!(window.at(Some(30.0)).apply(1.0), 1.15);
        assert_eq!(window.at(Some(30.001)).apply(1.0), 1.0);
    }

    #[test]
    fn without_a_time_an_item_is_half_fresh_or_left_alone() {
        assert_eq!(decay(7.0, 0.6).at(None).apply(1.0), 0.4 + 0.6 * 0.5);
        let skip = Recency::Decay {
            half_life: Days::new(7.0).unwrap(),
            weight: 0.6,
            missing: MissingTime::Skip,
            scaled: false,
        };
        assert_eq!(skip.at(None).apply(0.9), 0.9);
    }

    #[test]
    fn kinds_have_defaults() {
        let rule = |kind: &str| RecencySpec::default().check(kind).unwrap();
        assert_eq!(rule("slack"), decay(7.0, 0.6));
        assert_eq!(rule("gmail"), decay(14.0, 0.5));
        assert_eq!(rule("linear"), decay(14.0, 0.4));
        assert_eq!(rule("notion"), decay(30.0, 0.2));
        assert_eq!(rule("wiki"), decay(14.0, 0.3));
    }

    #[test]
    fn the_rule_for_all_others_takes_the_defaults_of_each_kind() {
        let specs = [("*".to_owned(), RecencySpec::default())].into_iter().collect();
        let table = RecencyTable::new(&specs, [("chat", "slack"), ("pages", "wiki")]).unwrap();
        assert_eq!(table.of("chat"), Some(&decay(7.0, 0.6)));
        assert_eq!(table.of("pages"), Some(&decay(14.0, 0.3)));
        assert_eq!(table.of("absent"), None);
    }

    #[test]
    fn rules_have_ranges_and_are_of_one_kind() {
        let refused = [
            RecencySpec { weight: Some(1.5), ..Default::default() },
            RecencySpec { weight: Some(f64::NAN), ..Default::default() },
            RecencySpec { window_days: Some(-1.0), ..Default::default() },
            RecencySpec { factor: Some(f64::INFINITY), ..Default::default() },
            RecencySpec { factor: Some(0.1), weight: Some(0.2), ..Default::default() },
        ];
        for spec in refused {
            assert!(spec.check("wiki").is_err(), "{spec:?}");
        }
    }

    #[test]
    fn scaled_freshness_does_nothing_for_what_is_irrelevant() {
        let spec = RecencySpec { scaled: Some(true), ..RecencySpec::default() };
        let rule = spec.check("slack").unwrap();
        let new = rule.at(Some(0.0));
        assert_eq!((new.apply(1.0), new.apply(0.0)), (1.0, 0.0));
        let old = rule.at(Some(7.0));
        assert!((old.apply(0.8) - (0.4 * 0.8 + 0.6 * 0.8 * 0.5)).abs() < 1e-12);
        let window = RecencySpec { scaled: Some(true), factor: Some(0.1), ..RecencySpec::default() };
        assert!(window.check("slack").is_err(), "a window has nothing to scale");
    }

    #[test]
    fn a_preview_falls_with_age() {
        let preview = decay(14.0, 0.3).preview(&[0.0, 7.0, 14.0, 28.0, 365.0]);
        assert_eq!(preview[0], (0.0, 1.0));
        assert!(preview.windows(2).all(|pair| pair[0].1 > pair[1].1));
    }
}
