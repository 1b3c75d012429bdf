//! One call to a service, made again while that makes sense and there is time.

use std::io::Read as _;
use std::thread;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use mainstem_core::contract::Ctx;
use serde_json::Value;
use ureq::http::Response;
use ureq::{Agent, Body};

use super::retry;
use super::settings::HttpSettings;
use crate::Error;

/// No answer is longer: 4,096 vectors of 4,096 numbers, 16 characters each.
const LONGEST_ANSWER: u64 = 256 << 20;
/// Nor longer than this for each text, and once more for what some services add: a vector of 16,384 numbers, 64 characters each.
const LONGEST_VECTOR: u64 = 1 << 20;
/// How much of a refusal is shown.
const LONGEST_REASON: usize = 300;

/// Where to ask, and how.
pub(super) struct Client {
    agent: Agent,
    url: String,
    /// What the service is called in errors.
    pub(super) shown: String,
    key: Option<String>,
    patience: Duration,
    retries: u32,
}

/// Why there is no answer.
#[derive(Debug)]
pub(super) struct Trouble {
    error: Error,
    status: Option<u16>,
}

impl Trouble {
    /// Whether the service may have refused because a text is too long for it.
    pub(super) fn may_be_length(&self) -> bool {
        matches!(self.status, Some(400 | 413 | 422))
    }

    /// The error for the caller.
    pub(super) fn into_error(self) -> Error {
        self.error
    }
}

/// What one try came to.
enum Try {
    Answer(Vec<u8>),
    /// It may work later, perhaps after as long as the service says.
    Later(String, Option<Duration>),
    Refused(Trouble),
}

impl Client {
    /// Reads the key from the environment.
    pub(super) fn new(settings: &HttpSettings) -> Result<Self, Error> {
        let config = Agent::config_builder().http_status_as_error(false).build();
        let key = settings.key_env.as_deref().map(key).transpose()?;
        let url = settings.shape.url(&settings.url);
        let (shown, retries) = (url.clone(), settings.retries);
        Ok(Self { agent: config.into(), url, shown, key, patience: settings.patience(), retries })
    }

    /// The body of the answer to a question about so many texts.
    pub(super) fn post(&self, body: &Value, texts: usize, ctx: &Ctx) -> Result<Vec<u8>, Trouble> {
        let longest = LONGEST_ANSWER.min((texts as u64 + 1).saturating_mul(LONGEST_VECTOR));
        let mut attempt = 0;
        loop {
            let patience = self.patience.min(left(ctx));
            if patience.is_zero() {
                return Err(self.unavailable("there was no time left"));
            }
            let (reason, asked) = match self.try_once(body, longest, patience) {
                Try::Answer(answer) => return Ok(answer),
                Try::Refused(trouble) => return Err(trouble),
                Try::Later(reason, asked) => (reason, asked),
            };
            let wait = retry::delay(attempt, asked);
            if attempt >= self.retries || wait >= left(ctx).min(retry::PATIENCE) {
                let tries = if attempt == 0 { String::new() } else { format!(", {} times", attempt + 1) };
                return Err(self.unavailable(&format!("{reason}{tries}")));
            }
            thread::sleep(wait);
            attempt += 1;
        }
    }

    fn try_once(&self, body: &Value, longest: u64, patience: Duration) -> Try {
        let mut request = self.agent.post(&self.url).config().timeout_global(Some(patience)).build();
        if let Some(key) = &self.key {
            request = request.header("authorization", format!("Bearer {key}"));
        }
        let read = |mut answer: Response<Body>| {
            let mut body = Vec::new();
            // What is counted comes after decompression.
            answer.body_mut().as_reader().take(longest + 1).read_to_end(&mut body)?;
            if body.len() as u64 > longest {
                return Err(ureq::Error::BodyExceedsLimit(longest));
            }
            Ok((answer, body))
        };
        match request.send_json(body).and_then(read) {
            Ok((answer, body)) => self.judge(&answer, body),
            Err(error) => self.judge_error(&error),
        }
    }

    fn judge(&self, answer: &Response<Body>, body: Vec<u8>) -> Try {
        let status = answer.status().as_u16();
        let header = answer.headers().get("retry-after").and_then(|value| value.to_str().ok());
        let asked = header.and_then(|value| retry::retry_after(value, Timestamp::now()));
        match status {
            200..=299 => Try::Answer(body),
            // llama.cpp calls a text that is too long its own fault; it would be so the next time as well.
            500 if String::from_utf8_lossy(&body).contains("too large to process") => Try::Refused(trouble(
                format!("`{}` answered {status}: {}", self.shown, self.reason(&body)),
                "let the service take longer texts, or `max_tokens` be what it takes",
                Some(413),
            )),
            408 | 429 | 500.. => {
                let reason = Some(self.reason(&body)).filter(|reason| !reason.is_empty());
                let reason = reason.map(|reason| format!(": {reason}")).unwrap_or_default();
                Try::Later(format!("it answered {status}{reason}"), asked)
            }
            401 | 403 => Try::Refused(trouble(
                format!("`{}` answered {status}", self.shown),
                "check the key in the environment variable that `key_env` names",
                Some(status),
            )),
            _ => Try::Refused(trouble(
                format!("`{}` answered {status}: {}", self.shown, self.reason(&body)),
                "check the URL, the model and the length of the texts",
                Some(status),
            )),
        }
    }

    fn judge_error(&self, error: &ureq::Error) -> Try {
        use ureq::Error as E;
        let reason = match error {
            E::Timeout(_) => "it did not answer in time".to_owned(),
            E::BodyExceedsLimit(longest) => {
                let most = longest >> 20;
                return Try::Refused(self.nonsense(&format!("expected at most {most} MiB, received more")));
            }
            E::Io(_) | E::ConnectionFailed | E::HostNotFound | E::Protocol(_) => error.to_string(),
            _ => return Try::Refused(self.unavailable(&error.to_string())),
        };
        Try::Later(reason, None)
    }

    /// What the service said, short, on one line and without the key.
    fn reason(&self, body: &[u8]) -> String {
        // The key goes before anything is cut, so that no part of it stays.
        let said = String::from_utf8_lossy(body);
        let said = match &self.key {
            Some(key) => said.replace(key, "…"),
            None => said.into_owned(),
        };
        let said: String = said.split_whitespace().collect::<Vec<_>>().join(" ");
        said.chars().filter(|c| !c.is_control()).take(LONGEST_REASON).collect()
    }

    /// An answer that cannot be used.
    pub(super) fn nonsense(&self, what: &str) -> Trouble {
        let hint = "check that `shape`, `model` and `dim` are those of the service";
        let what = self.reason(what.as_bytes());
        trouble(format!("`{}` gave an answer that cannot be used: {what}", self.shown), hint, None)
    }

    pub(super) fn unavailable(&self, reason: &str) -> Trouble {
        let hint = "check that the service runs and can be reached, or allow more time";
        trouble(format!("cannot reach `{}`: {reason}", self.shown), hint, None)
    }
}

fn trouble(what: String, hint: &str, status: Option<u16>) -> Trouble {
    Trouble { error: Error::Unavailable { what, hint: hint.to_owned() }, status }
}

/// How much time a call has.
pub(crate) fn left(ctx: &Ctx) -> Duration {
    ctx.deadline.map_or(Duration::MAX, |deadline| deadline.saturating_duration_since(Instant::now()))
}

/// The key in this environment variable.
pub(crate) fn key(variable: &str) -> Result<String, Error> {
    let key = std::env::var(variable).ok().map(|key| key.trim().to_owned()).filter(|key| !key.is_empty());
    key.ok_or_else(|| {
        let message = format!("expected a key in the environment variable `{variable}`, found none");
        Error::input(message, format!("set `{variable}`, or leave `key_env` out"))
    })
}
