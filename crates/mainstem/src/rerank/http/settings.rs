//! How to reach a reranker behind HTTP.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::Error;
use crate::models::http::check_url;

/// The interface that a service speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Shape {
    /// `POST /v2/rerank` of Cohere.
    Cohere,
    /// `POST /v1/rerank` of Jina; vLLM, llama.cpp, Infinity and Xinference speak it too.
    Jina,
    /// `POST /rerank` of Text Embeddings Inference.
    Tei,
}

impl Shape {
    /// The interface of this name: `cohere`, `jina` or `tei`.
    ///
    /// # Errors
    /// When there is none.
    pub fn parse(name: &str) -> Result<Self, Error> {
        serde_json::from_value(name.into()).map_err(|_| refused("shape", "`cohere`, `jina` or `tei`", name))
    }

    /// How many texts go into one call, unless told otherwise. TEI takes 32 if nobody told it otherwise.
    pub(super) const fn batch(self) -> usize {
        match self {
            Self::Cohere | Self::Jina => 1000,
            Self::Tei => 32,
        }
    }

    /// The whole URL: people give the base with the version or without.
    pub(super) fn url(self, base: &str) -> String {
        let base = base.trim_end_matches('/');
        match self {
            Self::Cohere => format!("{}/v2/rerank", base.strip_suffix("/v2").unwrap_or(base)),
            Self::Jina => format!("{}/v1/rerank", base.strip_suffix("/v1").unwrap_or(base)),
            Self::Tei => format!("{base}/rerank"),
        }
    }
}

/// A reranker behind HTTP. Its key is named, never written.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ServiceSettings {
    /// The interface: `cohere`, `jina` or `tei`.
    pub shape: Shape,
    /// The base URL, such as `http://127.0.0.1:8080`.
    pub url: String,
    /// The name of the model.
    pub model: String,
    /// The environment variable that holds the key of the interface, if it needs one.
    #[serde(default)]
    pub key_env: Option<String>,
    /// How many texts go into one call; what the interface takes when left out.
    #[serde(default)]
    pub batch: Option<usize>,
    /// How many seconds one call may take; a search may give it less.
    #[serde(default = "timeout")]
    pub timeout: f64,
    /// How often a call is made again that the service surely has not worked on.
    #[serde(default = "retries")]
    pub retries: u32,
    /// After how many failures in a row it is not asked for a while.
    #[serde(default = "failures")]
    pub failures: u32,
    /// For how many seconds it is not asked then.
    #[serde(default = "cooldown")]
    pub cooldown: f64,
}

const fn timeout() -> f64 {
    10.0
}

const fn retries() -> u32 {
    1
}

const fn failures() -> u32 {
    5
}

const fn cooldown() -> f64 {
    30.0
}

impl ServiceSettings {
    /// A reranker at this URL, with the rest as it is when left out.
    pub fn new(shape: Shape, url: impl Into<String>, model: impl Into<String>) -> Self {
        Self {
            shape,
            url: url.into(),
            model: model.into(),
            key_env: None,
            batch: None,
            timeout: timeout(),
            retries: retries(),
            failures: failures(),
            cooldown: cooldown(),
        }
    }

    /// The time that one call may take.
    pub(super) fn patience(&self) -> Duration {
        Duration::from_secs_f64(self.timeout)
    }

    /// Refuses what cannot work.
    pub(super) fn check(&self) -> Result<(), Error> {
        check_url(&self.url)?;
        for (name, seconds) in [("timeout", self.timeout), ("cooldown", self.cooldown)] {
            if !(0.001..=86400.0).contains(&seconds) {
                return Err(refused(name, "seconds from 0.001 to 86400", &seconds.to_string()));
            }
        }
        for (name, count) in [("batch", self.batch.unwrap_or(1)), ("failures", self.failures as usize)] {
            if count == 0 {
                return Err(refused(name, "at least 1", "0"));
            }
        }
        if self.model.trim().is_empty() || self.model == super::super::maxsim::NAME || self.model == "off" {
            return Err(refused("model", "a name that is not `maxsim` or `off`", &self.model));
        }
        Ok(())
    }
}

fn refused(name: &str, expected: &str, received: &str) -> Error {
    let message = format!("expected `{name}` as {expected}, received `{received}`");
    Error::input(message, "correct the settings of the reranker")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_base_url_may_have_the_version() {
        for base in ["http://a:1", "http://a:1/", "http://a:1/v2", "http://a:1/v2/"] {
            assert_eq!(Shape::Cohere.url(base), "http://a:1/v2/rerank");
        }
        assert_eq!(Shape::Jina.url("https://api.jina.ai/v1"), "https://api.jina.ai/v1/rerank");
        assert_eq!(Shape::Tei.url("http://a/"), "http://a/rerank");
    }

    #[test]
    fn settings_that_cannot_work_are_refused() {
        let good = ServiceSettings::new(Shape::Tei, "http://a", "m");
        assert!(good.check().is_ok());
        let bad = [
            ServiceSettings { url: "https://user:secret@a".into(), ..good.clone() },
            ServiceSettings { timeout: 0.0, ..good.clone() },
            ServiceSettings { cooldown: f64::NAN, ..good.clone() },
            ServiceSettings { batch: Some(0), ..good.clone() },
            ServiceSettings { failures: 0, ..good.clone() },
            ServiceSettings { model: "maxsim".into(), ..good },
        ];
        for settings in bad {
            let error = settings.check().unwrap_err();
            assert!(!error.to_string().contains("secret"));
        }
    }
}
