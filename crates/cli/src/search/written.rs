//! What a `mainstem.toml` says, by its text alone.

use std::time::Duration;

use indexmap::IndexMap;
use jiff::SignedDuration;
use mainstem::ask::AskSettings;
use mainstem::query::Settings;
use mainstem::rerank::RerankConfig;
use mainstem_core::deadline::Deadline;
use mainstem_core::link::LinkSettings;
use mainstem_core::{Diagnostic as _, Error, PipelineSpec, Place};
use serde::de::{DeserializeOwned, Error as _, IgnoredAny};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

/// The file as it is written. Whatever else is in it is a slip.
#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub(crate) struct Written {
    /// What it changes in the pipeline.
    pub(crate) pipeline: Option<Map<String, Value>>,
    /// What the weights of channels and sources are multiplied with.
    #[serde(default)]
    pub(crate) weights: IndexMap<String, f64>,
    /// How many of each list are taken.
    pub(crate) candidates: Option<usize>,
    /// How long a search waits.
    #[serde(default)]
    pub(crate) deadline: Patience,
    /// Who reads the best hits once more.
    pub(crate) rerank: Option<RerankConfig>,
    /// How questions are answered.
    pub(crate) ask: Option<AskSettings>,
    /// How documents are linked.
    pub(crate) link: Option<LinkSettings>,
    /// For `mainstem serve`, which checks it.
    pub(crate) server: Option<IgnoredAny>,
}

/// The same file with its pipeline read, which names the line of what is wrong there.
#[derive(Deserialize)]
struct Checked {
    #[serde(rename = "pipeline")]
    _pipeline: Option<PipelineSpec>,
}

impl Written {
    /// Reads and checks the text of a file.
    ///
    /// # Errors
    /// When it is not TOML, holds what is no setting or one that is out of range, or says nothing at all.
    pub(crate) fn read(text: &str) -> Result<Self, Error> {
        let written: Self = from_toml(text)?;
        if written == Self::default() {
            return Err(no_pipeline());
        }
        if let Some((name, weight)) =
            written.weights.iter().find(|(_, weight)| !(**weight >= 0.0 && weight.is_finite()))
        {
            return Err(Error::range(format!("`weights.{name}`"), "a finite number ≥ 0", weight));
        }
        if let Some(ask) = &written.ask {
            ask.check().map_err(|error| refused(&error))?;
        }
        if let Some(link) = &written.link {
            link.check()?;
        }
        written.deadline.check(["`deadline.soft`", "`deadline.hard`"])?;
        match &written.pipeline {
            Some(pipeline) if lacks_method(pipeline) => check_with_default_method(pipeline)?,
            _ => drop(from_toml::<Checked>(text)?),
        }
        Ok(written)
    }
}

/// What the library refuses, as something that is wrong in the file.
fn refused(error: &mainstem::Error) -> Error {
    let hint = error.hint().map(std::borrow::Cow::into_owned);
    Error::Parse { message: error.to_string(), code: error.code(), hint, place: Place::default() }
}

fn lacks_method(pipeline: &Map<String, Value>) -> bool {
    pipeline.get("fuse").is_some_and(|fuse| fuse.is_object() && fuse.get("method").is_none())
}

/// Options of the fusion without its method are those of the method that searches use.
fn check_with_default_method(pipeline: &Map<String, Value>) -> Result<(), Error> {
    let mut pipeline = pipeline.clone();
    let method = Settings::default().pipeline.fuse.method.as_str();
    if let Some(Value::Object(fuse)) = pipeline.get_mut("fuse") {
        fuse.insert("method".to_owned(), method.into());
    }
    let checked: Result<PipelineSpec, _> = serde_json::from_value(Value::Object(pipeline));
    checked.map(drop).map_err(|error| mainstem_core::error::from_deserialiser(&error.to_string(), None))
}

/// Reads TOML. What is wrong in it is named with its line.
pub(crate) fn from_toml<T: DeserializeOwned>(text: &str) -> Result<T, Error> {
    toml::from_str(text).map_err(|error| {
        let line = error.span().map(|span| 1 + text[..span.start].matches('\n').count() as u64);
        mainstem_core::error::from_deserialiser(error.message(), line)
    })
}

/// What to say of a configuration without settings.
pub(crate) fn no_pipeline() -> Error {
    Error::Missing {
        what: "the table `[pipeline]`".into(),
        why: "`--config` takes the settings from it".into(),
        hint: "begin the settings with a line `[pipeline]`".into(),
    }
}

/// How long a search waits for its legs, as far as it was said.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub(crate) struct Patience {
    /// After this, go on as soon as anything has arrived.
    pub(crate) soft: Option<Wait>,
    /// At this, go on regardless.
    pub(crate) hard: Option<Wait>,
}

impl Patience {
    /// Refuses a pair that contradicts itself; `names` are what the two are called where they were said.
    pub(crate) fn check(self, [soft, hard]: [&str; 2]) -> Result<(), Error> {
        match (self.soft, self.hard) {
            (Some(first), Some(last)) if first.0 > last.0 => {
                let expected = format!("at least {soft}, which is {:?}", first.0);
                Err(Error::range(hard, expected, format!("{:?}", last.0)))
            }
            _ => Ok(()),
        }
    }

    /// What was said, laid over what holds otherwise. Of two limits that contradict each other, the one that was said here stays.
    pub(crate) fn over(self, usual: Deadline) -> Deadline {
        let [soft, hard] = [self.soft, self.hard].map(|wait| wait.map(|wait| wait.0));
        Deadline {
            soft: soft.unwrap_or_else(|| hard.map_or(usual.soft, |hard| usual.soft.min(hard))),
            hard: hard.unwrap_or_else(|| soft.map_or(usual.hard, |soft| usual.hard.max(soft))),
        }
    }
}

/// How long to wait, such as `200ms` or `1.5s`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Wait(Duration);

impl Wait {
    /// Reads it; nothing when it is no time, or less than a millisecond.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let span: SignedDuration = text.trim().parse().ok()?;
        Duration::try_from(span).ok().filter(|wait| *wait >= Duration::from_millis(1)).map(Self)
    }
}

impl<'de> Deserialize<'de> for Wait {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let written = Value::deserialize(deserializer)?;
        let refused =
            || D::Error::custom(format!("expected a time such as \"200ms\" or \"1.5s\", received {written}"));
        written.as_str().and_then(Self::parse).ok_or_else(refused)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(number: u64) -> Duration {
        Duration::from_millis(number)
    }

    #[test]
    fn waits_have_units() {
        for (text, expected) in [("200ms", 200), ("1.5s", 1500), (" 1s 20ms ", 1020), ("2m", 120_000)] {
            assert_eq!(Wait::parse(text), Some(Wait(ms(expected))), "{text}");
        }
        for text in ["", "200", "ms", "-1s", "0s", "100us", "soon", "1s ago", "9999999999999999999s"] {
            assert_eq!(Wait::parse(text), None, "{text}");
        }
    }

    #[test]
    fn what_is_said_later_wins() {
        let said = |soft: Option<&str>, hard: Option<&str>| Patience {
            soft: soft.and_then(Wait::parse),
            hard: hard.and_then(Wait::parse),
        };
        let usual = Deadline { soft: ms(200), hard: ms(500) };
        let over = |soft, hard| {
            let deadline = said(soft, hard).over(usual);
            (deadline.soft, deadline.hard)
        };
        assert_eq!(over(None, None), (ms(200), ms(500)));
        assert_eq!(over(Some("50ms"), None), (ms(50), ms(500)));
        assert_eq!(over(Some("1s"), None), (ms(1000), ms(1000)), "no longer than the later limit");
        assert_eq!(over(None, Some("80ms")), (ms(80), ms(80)), "no longer than the later limit");
        assert_eq!(over(Some("1s"), Some("2s")), (ms(1000), ms(2000)));
        assert!(said(Some("2s"), Some("1s")).check(["a", "b"]).is_err());
        assert!(said(Some("1s"), Some("1s")).check(["a", "b"]).is_ok());
    }

    #[test]
    fn any_table_is_enough() {
        for text in [
            "[pipeline]",
            "[weights]\ndense = 2",
            "candidates = 50",
            "[deadline]\nsoft = \"1s\"",
            "[ask]\nbudget = 900",
        ] {
            assert!(Written::read(text).is_ok(), "{text}");
        }
        for text in ["", "[deadlines]", "[deadline]\nsoft = 200", "[deadline]\nsoft = \"2s\"\nhard = \"1s\""]
        {
            assert!(Written::read(text).is_err(), "{text}");
        }
    }
}
