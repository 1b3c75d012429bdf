//! How to reach a model behind HTTP.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::Error;

/// The interface that a service speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Shape {
    /// `POST /v1/embeddings`, as `OpenAI`, vLLM, llama.cpp and many others have it.
    OpenAi,
    /// `POST /embed` of Text Embeddings Inference.
    Tei,
    /// `POST /v2/embed` of Cohere.
    Cohere,
    /// `POST /api/embed` of Ollama.
    Ollama,
}

impl Shape {
    /// The interface of this name: `openai`, `tei`, `cohere` or `ollama`.
    ///
    /// # Errors
    /// When there is none.
    pub fn parse(name: &str) -> Result<Self, Error> {
        serde_json::from_value(name.into())
            .map_err(|_| refused("shape", "`openai`, `tei`, `cohere` or `ollama`", name))
    }

    /// Whether a service of this kind can be told to cut long texts, and not to.
    pub(super) const fn can_cut(self) -> bool {
        !matches!(self, Self::OpenAi)
    }

    /// How many texts a service of this kind takes in one call, at most.
    pub(super) const fn most_texts(self) -> usize {
        match self {
            Self::OpenAi => 2048,
            Self::Cohere => 96,
            Self::Tei | Self::Ollama => 4096,
        }
    }

    /// The path behind the base URL.
    pub(super) const fn path(self) -> &'static str {
        match self {
            Self::OpenAi => "/v1/embeddings",
            Self::Tei => "/embed",
            Self::Cohere => "/v2/embed",
            Self::Ollama => "/api/embed",
        }
    }

    /// The whole URL: people give the base with the version or without.
    pub(super) fn url(self, base: &str) -> String {
        let base = base.trim_end_matches('/');
        let version = self.path().split('/').nth(1).filter(|part| part.starts_with('v')).unwrap_or("/");
        let base = base.strip_suffix(version).unwrap_or(base).trim_end_matches('/');
        format!("{base}{}", self.path())
    }
}

/// A model behind HTTP.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HttpSettings {
    /// The interface: `openai`, `tei`, `cohere` or `ollama`.
    pub shape: Shape,
    /// The base URL, such as `http://127.0.0.1:8080`.
    pub url: String,
    /// The name of the model, which the store remembers.
    pub model: String,
    /// The length of its vectors; asked for when left out.
    #[serde(default)]
    pub dim: Option<usize>,
    /// How many tokens the model reads.
    #[serde(default = "max_tokens")]
    pub max_tokens: usize,
    /// The environment variable that holds the key of the interface, if it needs one.
    #[serde(default)]
    pub key_env: Option<String>,
    /// How many texts go into one call.
    #[serde(default = "batch")]
    pub batch: usize,
    /// How many seconds one call may take.
    #[serde(default = "timeout")]
    pub timeout: f64,
    /// How often a call that failed for a passing reason is made again.
    #[serde(default = "retries")]
    pub retries: u32,
    /// After how many failures in a row it is not asked for a while.
    #[serde(default = "failures")]
    pub failures: u32,
    /// For how many seconds it is not asked then.
    #[serde(default = "cooldown")]
    pub cooldown: f64,
}

const fn max_tokens() -> usize {
    512
}

const fn batch() -> usize {
    32
}

const fn timeout() -> f64 {
    30.0
}

const fn retries() -> u32 {
    4
}

const fn failures() -> u32 {
    3
}

/// Short: every search meanwhile is by words alone, and asking once costs nothing.
const fn cooldown() -> f64 {
    5.0
}

impl HttpSettings {
    /// A model at this URL, with the rest as it is when left out.
    pub fn new(shape: Shape, url: impl Into<String>, model: impl Into<String>) -> Self {
        Self {
            shape,
            url: url.into(),
            model: model.into(),
            dim: None,
            max_tokens: max_tokens(),
            key_env: None,
            batch: batch(),
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
        if self.failures == 0 {
            return Err(refused("failures", "at least 1", "0"));
        }
        let most = self.shape.most_texts();
        if !(1..=most).contains(&self.batch) {
            return Err(refused("batch", &format!("a number from 1 to {most}"), &self.batch.to_string()));
        }
        if self.model.trim().is_empty() {
            return Err(refused("model", "a name", &self.model));
        }
        if self.dim == Some(0) {
            return Err(refused("dim", "a number above 0", "0"));
        }
        Ok(())
    }
}

/// Refuses a URL that cannot be asked, or that has a secret in it.
pub(crate) fn check_url(url: &str) -> Result<(), Error> {
    let scheme = url.strip_prefix("http://").or_else(|| url.strip_prefix("https://"));
    let Some(rest) = scheme.filter(|rest| !rest.is_empty()) else {
        return Err(refused("url", "one that starts with `http://` or `https://`", url));
    };
    if rest.split('/').next().is_some_and(|host| host.contains('@')) {
        let message = "expected a `url` without a user name or password";
        return Err(Error::input(
            message,
            "put the key into an environment variable and name it in `key_env`",
        ));
    }
    Ok(())
}

fn refused(name: &str, expected: &str, received: &str) -> Error {
    let message = format!("expected `{name}` as {expected}, received `{received}`");
    Error::input(message, "correct the settings of the model")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_base_url_may_have_the_version() {
        for base in ["http://a:1", "http://a:1/", "http://a:1/v1", "http://a:1/v1/"] {
            assert_eq!(Shape::OpenAi.url(base), "http://a:1/v1/embeddings");
        }
        assert_eq!(Shape::Cohere.url("https://b/proxy/v2"), "https://b/proxy/v2/embed");
        assert_eq!(Shape::Ollama.url("http://c"), "http://c/api/embed");
        assert_eq!(Shape::Tei.url("http://c/"), "http://c/embed");
    }

    #[test]
    fn settings_that_cannot_work_are_refused() {
        let good = HttpSettings::new(Shape::Tei, "http://a", "m");
        assert!(good.check().is_ok());
        let bad = [
            HttpSettings { url: "a:80".into(), ..good.clone() },
            HttpSettings { url: "https://user:secret@a".into(), ..good.clone() },
            HttpSettings { timeout: f64::NAN, ..good.clone() },
            HttpSettings { cooldown: 0.0, ..good.clone() },
            HttpSettings { failures: 0, ..good.clone() },
            HttpSettings { batch: 0, ..good.clone() },
            HttpSettings { batch: 97, shape: Shape::Cohere, ..good.clone() },
            HttpSettings { model: " ".into(), ..good.clone() },
            HttpSettings { dim: Some(0), ..good },
        ];
        for settings in bad {
            let error = settings.check().unwrap_err();
            assert!(!error.to_string().contains("secret"));
        }
    }

    #[test]
    fn what_is_left_out_has_a_default() {
        let text = r#"{"shape":"openai","url":"http://a","model":"m"}"#;
        let settings: HttpSettings = serde_json::from_str(text).unwrap();
        assert_eq!(settings, HttpSettings::new(Shape::OpenAi, "http://a", "m"));
    }
}
