//! `[ask]`: how questions are answered.

use std::path::PathBuf;
use std::time::Duration;

use mainstem_core::deadline::Deadline;
use serde::{Deserialize, Serialize};

use super::pack::Packer;
use super::tokens::Counter;
use crate::Error;
use crate::models::http::check_url;

/// How many tokens a context has at most, unless told otherwise.
pub const BUDGET: usize = 4000;
/// How long the search behind an answer waits for its legs, unless told otherwise: what takes seconds to write can wait for its sources.
pub const PATIENCE: Deadline = Deadline { soft: Duration::from_secs(1), hard: Duration::from_secs(5) };
/// No budget is larger: no model that we know reads more.
const MOST: usize = 10_000_000;

/// In how many passes an answer is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "u8", into = "u8")]
pub enum Stages {
    /// At once.
    #[default]
    One,
    /// Outline, expand, assemble.
    Three,
}

impl TryFrom<u8> for Stages {
    type Error = String;

    fn try_from(count: u8) -> Result<Self, String> {
        match count {
            1 => Ok(Self::One),
            3 => Ok(Self::Three),
            other => Err(format!("expected `stages` as 1 or 3, received {other}")),
        }
    }
}

impl From<Stages> for u8 {
    fn from(stages: Stages) -> Self {
        match stages {
            Stages::One => 1,
            Stages::Three => 3,
        }
    }
}

/// The table `[ask]` of a configuration file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AskSettings {
    /// The base URL of a service with the interface of `OpenAI`, such as `http://127.0.0.1:8080/v1`. Without one, there is only a context.
    pub url: Option<String>,
    /// The name of the model.
    pub model: Option<String>,
    /// The environment variable that holds the key of the service, if it needs one.
    pub key_env: Option<String>,
    /// How many tokens a context has at most.
    pub budget: usize,
    /// What counts them: `o200k` or `plain`.
    pub tokens: Counter,
    /// The prompt template; the built-in one when left out.
    pub template: Option<PathBuf>,
    /// In how many passes an answer is written: 1 or 3.
    pub stages: Stages,
    /// How many seconds the service may be silent.
    pub timeout: f64,
}

impl Default for AskSettings {
    fn default() -> Self {
        Self {
            url: None,
            model: None,
            key_env: None,
            budget: BUDGET,
            tokens: Counter::default(),
            template: None,
            stages: Stages::default(),
            timeout: 60.0,
        }
    }
}

impl AskSettings {
    /// Refuses what cannot work.
    ///
    /// # Errors
    /// When a value is out of its range, or one is missing.
    pub fn check(&self) -> Result<(), Error> {
        check_budget(self.budget)?;
        if !(0.001..=86400.0).contains(&self.timeout) {
            return Err(refused("timeout", "seconds from 0.001 to 86400", &self.timeout.to_string()));
        }
        match (&self.url, &self.model) {
            (Some(url), Some(model)) => check_service(url, model),
            (None, None) => Ok(()),
            (Some(_), None) => Err(missing("model", "url")),
            (None, Some(_)) => Err(missing("url", "model")),
        }
    }

    /// How contexts are packed.
    pub fn packer(&self) -> Packer {
        Packer::new(self.tokens, self.budget)
    }
}

/// Refuses a budget that no context can have.
///
/// # Errors
/// When it is 0 or beyond what any model reads.
pub(super) fn check_budget(budget: usize) -> Result<(), Error> {
    if (1..=MOST).contains(&budget) {
        return Ok(());
    }
    Err(refused("budget", &format!("a number of tokens from 1 to {MOST}"), &budget.to_string()))
}

fn check_service(url: &str, model: &str) -> Result<(), Error> {
    check_url(url)?;
    if model.trim().is_empty() {
        return Err(refused("model", "a name", model));
    }
    Ok(())
}

fn refused(name: &str, expected: &str, received: &str) -> Error {
    let message = format!("expected `{name}` as {expected}, received `{received}`");
    Error::input(message, "correct the settings in `[ask]`")
}

fn missing(name: &str, other: &str) -> Error {
    let message = format!("`ask.{other}` is given, expected `ask.{name}` as well");
    Error::input(message, "name both, or none to get the context alone")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_that_cannot_work_are_refused() {
        let good =
            AskSettings { url: Some("http://a".into()), model: Some("m".into()), ..AskSettings::default() };
        assert!(good.check().is_ok() && AskSettings::default().check().is_ok());
        let bad = [
            AskSettings { url: Some("a:80".into()), ..good.clone() },
            AskSettings { url: Some("https://user:secret@a".into()), ..good.clone() },
            AskSettings { model: Some(" ".into()), ..good.clone() },
            AskSettings { model: None, ..good.clone() },
            AskSettings { url: None, ..good.clone() },
            AskSettings { budget: 0, ..good.clone() },
            AskSettings { timeout: f64::NAN, ..good },
        ];
        for settings in bad {
            let error = settings.check().unwrap_err().to_string();
            assert!(error.contains("expected") && !error.contains("secret"), "{error}");
        }
    }

    #[test]
    fn slips_are_told() {
        for text in [r#"{"stages": 2}"#, r#"{"tokens": "gpt"}"#, r#"{"modle": "m"}"#, r#"{"budget": -1}"#] {
            assert!(serde_json::from_str::<AskSettings>(text).is_err(), "{text}");
        }
        let read: AskSettings = serde_json::from_str(r#"{"stages": 3, "tokens": "plain"}"#).unwrap();
        assert_eq!((read.stages, read.tokens, read.budget), (Stages::Three, Counter::Plain, BUDGET));
    }
}
