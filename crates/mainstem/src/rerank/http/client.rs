//! One call to a service, made again only where it surely has not been worked on.
//!
//! A service is paid by the call and a search is waiting: what may have been worked on (it was slow, it broke off in the middle, it answered
//! 500) is not asked for twice. Only a service that could not be reached, hung up before it said anything, or sent us away with 429 or 503
//! is asked again, while there is time.

use std::io::{ErrorKind, Read as _};
use std::thread;
use std::time::Duration;

use jiff::Timestamp;
use mainstem_core::contract::Ctx;
use serde_json::Value;
use ureq::http::Response;
use ureq::{Agent, Body};

use super::ServiceSettings;
use crate::Error;
use crate::models::http::client::{key, left};
use crate::models::http::retry;

/// No answer is longer: 1,000 scores, with room for what some services add.
const LONGEST_ANSWER: u64 = 1 << 20;
/// How much of a refusal is shown.
const LONGEST_REASON: usize = 300;

/// Where to ask, and how.
pub(super) struct Client {
    agent: Agent,
    name: String,
    url: String,
    key: Option<String>,
    patience: Duration,
    retries: u32,
}

/// Why one try came to nothing.
enum Trouble {
    /// The service has not worked on it: it may be asked again, perhaps after as long as it says.
    Again(String, Option<Duration>),
    /// The service is well, and does not like what it was given.
    Refused(String),
    Final(String),
}

/// A call that came to nothing.
pub(super) struct Failed {
    pub(super) error: Error,
    /// Whether the service is well, and does not like what it was given: another search may fare better.
    pub(super) refused: bool,
}

impl From<Error> for Failed {
    fn from(error: Error) -> Self {
        Self { error, refused: false }
    }
}

impl Client {
    /// Reads the key from the environment.
    pub(super) fn new(settings: &ServiceSettings) -> Result<Self, Error> {
        let config = Agent::config_builder().http_status_as_error(false).build();
        Ok(Self {
            agent: config.into(),
            name: settings.model.clone(),
            url: settings.shape.url(&settings.url),
            key: settings.key_env.as_deref().map(key).transpose()?,
            patience: settings.patience(),
            retries: settings.retries,
        })
    }

    /// The body of the answer.
    pub(super) fn post(&self, body: &Value, ctx: &Ctx) -> Result<Vec<u8>, Failed> {
        let mut attempt = 0;
        loop {
            let patience = self.patience.min(left(ctx));
            if patience.is_zero() {
                return Err(self.unavailable("there was no time left").into());
            }
            let (reason, asked) = match self.try_once(body, patience) {
                Ok(answer) => return Ok(answer),
                Err(Trouble::Refused(reason)) => {
                    return Err(Failed { error: self.unavailable(&reason), refused: true });
                }
                Err(Trouble::Final(reason)) => return Err(self.unavailable(&reason).into()),
                Err(Trouble::Again(reason, asked)) => (reason, asked),
            };
            let wait = retry::delay(attempt, asked);
            if attempt >= self.retries || wait >= left(ctx).min(self.patience) {
                return Err(self.unavailable(&reason).into());
            }
            thread::sleep(wait);
            attempt += 1;
        }
    }

    fn try_once(&self, body: &Value, patience: Duration) -> Result<Vec<u8>, Trouble> {
        let mut request = self.agent.post(&self.url).config().timeout_global(Some(patience)).build();
        if let Some(key) = &self.key {
            request = request.header("authorization", format!("Bearer {key}"));
        }
        let mut answer = request.send_json(body).map_err(|error| unanswered(&error))?;
        let read = bounded(&mut answer)?;
        self.judge(&answer, read)
    }

    fn judge(&self, answer: &Response<Body>, body: Vec<u8>) -> Result<Vec<u8>, Trouble> {
        let status = answer.status().as_u16();
        if (200..=299).contains(&status) {
            return Ok(body);
        }
        let said = Some(self.short(&body)).filter(|said| !said.is_empty());
        let reason = match status {
            401 | 403 => format!("it answered {status}; check the key in the variable that `key_env` names"),
            _ => format!("it answered {status}{}", said.map(|said| format!(": {said}")).unwrap_or_default()),
        };
        match status {
            429 | 503 => {}
            400 | 413 | 422 => return Err(Trouble::Refused(reason)),
            _ => return Err(Trouble::Final(reason)),
        }
        let header = answer.headers().get("retry-after").and_then(|value| value.to_str().ok());
        let asked = header.and_then(|value| retry::retry_after(value, Timestamp::now()));
        Err(Trouble::Again(reason, asked))
    }

    /// What the service said, short, on one line and without the key.
    fn short(&self, said: &[u8]) -> String {
        // The key goes before anything is cut, so that no part of it stays.
        let said = String::from_utf8_lossy(said);
        let said = match &self.key {
            Some(key) => said.replace(key, "…"),
            None => said.into_owned(),
        };
        let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
        said.chars().filter(|c| !c.is_control()).take(LONGEST_REASON).collect()
    }

    /// An answer that cannot be used.
    pub(super) fn nonsense(&self, what: &str) -> Error {
        self.unavailable(&format!("it gave an answer that cannot be used: {}", self.short(what.as_bytes())))
    }

    /// By name: where a service lives is nobody's business who searches.
    pub(super) fn unavailable(&self, reason: &str) -> Error {
        let hint =
            "check that the service runs and that `shape` and `model` are its own, or allow it more time";
        Error::Unavailable { what: format!("`{}`: {reason}", self.name), hint: hint.to_owned() }
    }
}

/// The body, unless it is too long. What is counted comes after decompression.
fn bounded(answer: &mut Response<Body>) -> Result<Vec<u8>, Trouble> {
    let mut body = Vec::new();
    let read = answer.body_mut().as_reader().take(LONGEST_ANSWER + 1).read_to_end(&mut body);
    match read {
        Err(error) if error.kind() == ErrorKind::TimedOut || error.to_string().contains("timeout") => {
            Err(Trouble::Final("it did not answer in time".to_owned()))
        }
        Err(error) => Err(Trouble::Final(format!("its answer broke off: {error}"))),
        Ok(_) if body.len() as u64 > LONGEST_ANSWER => Err(Trouble::Final(format!(
            "expected an answer of at most {} KiB, received more",
            LONGEST_ANSWER >> 10
        ))),
        Ok(_) => Ok(body),
    }
}

/// Nothing came back. Who could not be reached, or hung up before a word, has not worked on it.
fn unanswered(error: &ureq::Error) -> Trouble {
    use ureq::Error as E;
    match error {
        E::Timeout(_) => Trouble::Final("it did not answer in time".to_owned()),
        E::ConnectionFailed | E::HostNotFound => Trouble::Again("it cannot be reached".to_owned(), None),
        E::Io(io) => match io.kind() {
            ErrorKind::ConnectionRefused => Trouble::Again("it cannot be reached".to_owned(), None),
            ErrorKind::ConnectionReset
            | ErrorKind::ConnectionAborted
            | ErrorKind::BrokenPipe
            | ErrorKind::UnexpectedEof => Trouble::Again("it hung up".to_owned(), None),
            _ => Trouble::Final(io.to_string()),
        },
        _ => Trouble::Final(error.to_string()),
    }
}
