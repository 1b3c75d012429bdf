//! Time as the algebra sees it: instants in UTC, and spans in days. The algebra is given a clock, it never reads one.

use std::fmt;

use jiff::Timestamp;
use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use serde::de::{self, Deserializer, Visitor};
use serde::{Deserialize, Serialize, Serializer};

use crate::error::Error;

const SECONDS_PER_DAY: f64 = 86_400.0;

/// Epoch numbers from here on are milliseconds: as seconds they would lie beyond the year 5138.
const MILLISECONDS_FROM: f64 = 1e11;

/// An instant, with the text it was written in.
///
/// Accepted are RFC 3339 (`2026-01-31T09:00:00+09:00`), a date and time without zone and a bare date (both UTC), and numbers:
/// seconds since 1970, or milliseconds from 10¹¹ on. It is written back as it came.
#[derive(Clone, Debug, PartialEq)]
pub struct Moment {
    at: Timestamp,
    written: Written,
}

#[derive(Clone, Debug, PartialEq)]
enum Written {
    Text(String),
    Number(serde_json::Number),
}

impl Moment {
    /// The time on the clock of this machine, to the second. The one place that reads a clock, for whoever starts a search.
    pub fn now() -> Self {
        let seconds = Timestamp::now().as_second();
        Timestamp::from_second(seconds).unwrap_or(Timestamp::UNIX_EPOCH).into()
    }

    /// Reads an instant.
    ///
    /// # Errors
    /// When the text is none of the accepted forms.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let zoned = text.parse::<Timestamp>().ok();
        let naive = || text.parse::<DateTime>().ok();
        let date = || text.parse::<Date>().ok().map(|date| date.to_datetime(jiff::civil::Time::midnight()));
        let utc = |time: DateTime| time.to_zoned(TimeZone::UTC).ok().map(|zoned| zoned.timestamp());
        let at =
            zoned.or_else(|| naive().and_then(utc)).or_else(|| date().and_then(utc)).ok_or_else(|| {
                Error::range("a time", "such as `2026-01-31T09:00:00Z` or `2026-01-31`", format!("`{text}`"))
            })?;
        Ok(Self { at, written: Written::Text(text.to_owned()) })
    }

    fn from_number(number: serde_json::Number) -> Option<Self> {
        let value = number.as_f64()?;
        let seconds = if value.abs() >= MILLISECONDS_FROM { value / 1000.0 } else { value };
        let at = Timestamp::from_millisecond((seconds * 1000.0).round() as i64).ok()?;
        Some(Self { at, written: Written::Number(number) })
    }

    /// How many days before `now` this is; negative in the future.
    pub fn age_days(&self, now: &Moment) -> f64 {
        let span = now.at.as_millisecond() - self.at.as_millisecond();
        span as f64 / 1000.0 / SECONDS_PER_DAY
    }
}

impl From<Timestamp> for Moment {
    fn from(at: Timestamp) -> Self {
        Self { at, written: Written::Text(at.to_string()) }
    }
}

impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.at.fmt(f)
    }
}

impl Serialize for Moment {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.written {
            Written::Text(text) => serializer.serialize_str(text),
            Written::Number(number) => number.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Moment {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(MomentVisitor)
    }
}

struct MomentVisitor;

impl Visitor<'_> for MomentVisitor {
    type Value = Moment;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a time such as `2026-01-31T09:00:00Z`, a date, or seconds since 1970")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Moment, E> {
        Moment::parse(text).map_err(|_| E::invalid_value(de::Unexpected::Str(text), &self))
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Moment, E> {
        Moment::from_number(value.into())
            .ok_or_else(|| E::invalid_value(de::Unexpected::Signed(value), &self))
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Moment, E> {
        Moment::from_number(value.into())
            .ok_or_else(|| E::invalid_value(de::Unexpected::Unsigned(value), &self))
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Moment, E> {
        let number = serde_json::Number::from_f64(value);
        number
            .and_then(Moment::from_number)
            .ok_or_else(|| E::invalid_value(de::Unexpected::Float(value), &self))
    }
}

/// A span of time in days. Written as a number of days, or with a unit: `90m`, `12h`, `30d`, `2w`.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Days(f64);

impl Days {
    /// A span of a positive number of days.
    ///
    /// # Errors
    /// When it is not finite and > 0.
    pub fn new(days: f64) -> Result<Self, Error> {
        if days.is_finite() && days > 0.0 {
            Ok(Self(days))
        } else {
            Err(Error::range("a time span", "a finite number of days > 0", days))
        }
    }

    /// Reads a span such as `30d`.
    ///
    /// # Errors
    /// When the text is not a positive number with one of the units.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let (number, per_day) = match text.trim().char_indices().last() {
            Some((at, 'm')) => (&text.trim()[..at], 1440.0),
            Some((at, 'h')) => (&text.trim()[..at], 24.0),
            Some((at, 'd')) => (&text.trim()[..at], 1.0),
            Some((at, 'w')) => (&text.trim()[..at], 1.0 / 7.0),
            _ => (text.trim(), 1.0),
        };
        let refused = || Error::range("a time span", "such as `12h`, `30d` or `2w`", format!("`{text}`"));
        let value: f64 = number.trim().parse().map_err(|_| refused())?;
        Self::new(value / per_day).map_err(|_| refused())
    }

    /// The number of days.
    pub fn get(self) -> f64 {
        self.0
    }
}

impl fmt::Display for Days {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} d", self.0)
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Days {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Days".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": ["number", "string"], "description": "days, or a span such as `12h`, `30d`, `2w`" })
    }
}

impl Serialize for Days {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.0)
    }
}

impl<'de> Deserialize<'de> for Days {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(
            untagged,
            expecting = "expected a time span: a number of days, or text such as `12h` or `30d`"
        )]
        enum Form {
            Number(f64),
            Text(String),
        }
        match Form::deserialize(deserializer)? {
            Form::Number(days) => Self::new(days),
            Form::Text(text) => Self::parse(&text),
        }
        .map_err(crate::located::refuse)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn day(text: &str) -> f64 {
        -Moment::parse(text).unwrap().age_days(&Moment::parse("1970-01-01").unwrap())
    }

    #[test]
    fn all_written_forms_mean_the_same_instant() {
        for text in ["2026-01-31", "2026-01-31T00:00:00", "2026-01-31T00:00:00Z", "2026-01-31T09:00:00+09:00"]
        {
            assert_eq!(day(text), 20_484.0, "{text}");
        }
        for number in ["1769817600", "1769817600000", "1769817600.0"] {
            let moment: Moment = serde_json::from_str(number).unwrap();
            assert_eq!(moment.age_days(&Moment::parse("2026-01-31").unwrap()), 0.0, "{number}");
            assert_eq!(serde_json::to_string(&moment).unwrap(), number);
        }
    }

    #[test]
    fn odd_instants_are_accepted() {
        assert_eq!(day("0001-01-01"), -719_162.0);
        assert!(Moment::parse("2016-12-31T23:59:60Z").is_ok(), "leap second");
        let before = Moment::parse("2026-03-29T00:30:00+00:00").unwrap();
        let after = Moment::parse("2026-03-29T03:30:00+02:00").unwrap();
        assert_eq!(before.age_days(&after) * 24.0, 1.0, "an hour across a change of clocks");
    }

    #[test]
    fn what_is_no_time_is_refused() {
        for text in ["", "yesterday", "2026-13-01", "2026-02-30", "31.01.2026"] {
            assert!(Moment::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn spans_take_units() {
        assert_eq!(Days::parse("36h").unwrap().get(), 1.5);
        assert_eq!(Days::parse("2w").unwrap().get(), 14.0);
        assert_eq!(Days::parse("30").unwrap().get(), 30.0);
        for text in ["", "d", "-1d", "0", "inf", "NaN", "1y"] {
            assert!(Days::parse(text).is_err(), "{text}");
        }
    }
}
