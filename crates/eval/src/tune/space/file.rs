//! The written form of a space.

use mainstem_core::Error;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{Axis, Choice, Condition};
use crate::tune::setting::{Path, Setting};

/// A space as written.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SpaceFile {
    /// The axes.
    pub axis: Vec<AxisFile>,
}

/// An axis as written.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AxisFile {
    /// How reports call it; the path when left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The place in the settings.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The values to try there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub values: Option<Vec<Value>>,
    /// The least value of a range.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<f64>,
    /// The greatest value of a range.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<f64>,
    /// How many values the range has; 7 when left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steps: Option<usize>,
    /// How the values of the range are spaced.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scale: Option<Scale>,
    /// Also try it without what is at this place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub off: Option<String>,
    /// The value where the settings do not say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<Value>,
    /// Where the axis has a meaning: a place, and the value or values it must have there.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub when: Map<String, Value>,
    /// Merge patches over all settings, instead of values at one place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub patches: Option<Vec<Value>>,
}

/// How the values of a range are spaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scale {
    /// By equal steps.
    Linear,
    /// By equal factors.
    Log,
}

impl SpaceFile {
    /// Reads a space that has been read as JSON or TOML.
    ///
    /// # Errors
    /// When it is not of the documented shape.
    pub fn from_json(value: Value) -> Result<Self, Error> {
        serde_json::from_value(value)
            .map_err(|error| mainstem_core::error::from_deserialiser(&error.to_string(), None))
    }
}

impl AxisFile {
    /// Values at a place.
    pub(super) fn at(path: impl ToString, values: impl IntoIterator<Item = Value>) -> Self {
        Self { path: Some(path.to_string()), values: Some(values.into_iter().collect()), ..Self::default() }
    }

    fn name(&self) -> String {
        self.name.clone().or_else(|| self.path.clone()).unwrap_or_else(|| "an axis".into())
    }

    fn wrong(&self, expected: &str, received: impl ToString) -> Error {
        Error::range(format!("axis `{}`", self.name()), expected, received)
    }

    /// The axis as seen from these settings.
    pub(super) fn resolve(&self, base: &Setting) -> Result<Axis, Error> {
        let mut choices = match (&self.path, &self.patches) {
            (Some(path), None) => self.at_place(&Path::parse(path)?, base)?,
            (None, Some(patches)) => self.patched(patches, base)?,
            (Some(_), Some(_)) => return Err(self.wrong("either `path` or `patches`", "both")),
            (None, None) => return Err(self.wrong("expected `path` or `patches`", "neither")),
        };
        if let Some(off) = &self.off {
            let path = Path::parse(off)?;
            if base.get(&path).is_some() {
                choices.push(Choice {
                    label: "off".into(),
                    number: None,
                    changes: vec![(path, Value::Null)],
                });
            }
        }
        let when = self.when.iter().map(|(path, value)| {
            let values = value.as_array().cloned().unwrap_or_else(|| vec![value.clone()]);
            Ok(Condition { path: Path::parse(path)?, values })
        });
        let order = order(&choices);
        Ok(Axis { name: self.name(), when: when.collect::<Result<_, Error>>()?, order, choices })
    }

    fn at_place(&self, path: &Path, base: &Setting) -> Result<Vec<Choice>, Error> {
        let now = base.get(path).cloned().or_else(|| self.default.clone());
        let home = Choice {
            label: now.as_ref().map_or("not set".into(), label),
            number: now.as_ref().and_then(number),
            changes: Vec::new(),
        };
        let choice = |value: Value| Choice {
            label: label(&value),
            number: number(&value),
            changes: vec![(path.clone(), value)],
        };
        let others = self.values()?.into_iter().filter(|value| !same(now.as_ref(), value));
        Ok(std::iter::once(home).chain(others.map(choice)).collect())
    }

    fn values(&self) -> Result<Vec<Value>, Error> {
        match (&self.values, self.from, self.to) {
            (Some(values), None, None) => Ok(values.clone()),
            (None, Some(from), Some(to)) => self.range(from, to),
            _ => Err(self.wrong("expected `values`, `from` and `to`, or `patches`", "something else")),
        }
    }

    fn range(&self, from: f64, to: f64) -> Result<Vec<Value>, Error> {
        let steps = self.steps.unwrap_or(7);
        if !(2..=1000).contains(&steps) || from >= to {
            return Err(
                self.wrong("`from` below `to`, and 2 to 1000 `steps`", format!("{from} to {to} in {steps}"))
            );
        }
        let log = self.scale == Some(Scale::Log);
        if log && from <= 0.0 {
            return Err(self.wrong("numbers over 0 for `scale = \"log\"`", from));
        }
        let value = |step: usize| {
            let share = step as f64 / (steps - 1) as f64;
            let value = if log { from * (to / from).powf(share) } else { from + (to - from) * share };
            Value::from(rounded(value))
        };
        Ok((0..steps).map(value).collect())
    }

    fn patched(&self, patches: &[Value], base: &Setting) -> Result<Vec<Choice>, Error> {
        let mut choices = vec![Choice { label: "as it is".into(), number: None, changes: Vec::new() }];
        for patch in patches {
            let Value::Object(places) = patch else {
                return Err(self.wrong("merge patches, such as `{ candidates = 50 }`", patch));
            };
            let changes: Vec<_> =
                places.iter().map(|(name, value)| (Path::of([name.as_str()]), value.clone())).collect();
            let choice = Choice { label: label(patch), number: None, changes };
            let mut other = base.clone();
            if !choice.apply(&mut other) || other != *base {
                choices.push(choice);
            }
        }
        Ok(choices)
    }
}

/// Whether a value is the one that is there: numbers by value, a fusion by what it says.
fn same(now: Option<&Value>, value: &Value) -> bool {
    match (now.and_then(Value::as_f64), value.as_f64()) {
        (Some(now), Some(value)) => now == value,
        _ => now == Some(value),
    }
}

/// The choices that have a number, in its order.
fn order(choices: &[Choice]) -> Vec<u16> {
    let mut order: Vec<(f64, u16)> =
        (0..).zip(choices).filter_map(|(at, choice)| Some((choice.number?, at))).collect();
    order.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    order.into_iter().map(|(_, at)| at).collect()
}

/// Four significant digits.
fn rounded(value: f64) -> f64 {
    format!("{value:.3e}").parse().unwrap_or(value)
}

/// A number, or a time such as `14d` in days.
fn number(value: &Value) -> Option<f64> {
    let days = || value.as_str()?.strip_suffix('d')?.parse().ok();
    value.as_f64().or_else(days)
}

/// A value for people.
fn label(value: &Value) -> String {
    match value {
        Value::Null => "off".into(),
        Value::String(text) => text.clone(),
        Value::Object(map) => {
            let pair = |(name, value): (&String, &Value)| match name.as_str() {
                "method" => label(value),
                _ => format!("{name} {}", label(value)),
            };
            // The order of a table depends on how serde_json was built.
            let mut pairs: Vec<_> = map.iter().collect();
            pairs.sort_by_key(|(name, _)| (*name != "method", *name));
            pairs.into_iter().map(pair).collect::<Vec<_>>().join(", ")
        }
        other => other.to_string(),
    }
}
