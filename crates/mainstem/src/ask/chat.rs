//! Any service with the interface of `OpenAI`: `POST /v1/chat/completions`, streamed.

use std::fmt;
use std::io::{BufReader, Read as _};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use ureq::http::Response;
use ureq::{Agent, Body};

use super::retry::{Stop, pause};
use super::settings::AskSettings;
use super::sse::Events;
use crate::Error;

/// How much of a refusal is read, and how much of it is shown.
const LONGEST_REFUSAL: u64 = 1 << 16;
const LONGEST_REASON: usize = 300;
/// No answer is longer.
const LONGEST_ANSWER: usize = 4 << 20;
/// An answer may take so many times as long as a silence.
const WHOLE: u32 = 10;

/// One message to the model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Message {
    /// Who speaks: `system` or `user`.
    pub role: &'static str,
    /// What.
    pub content: String,
}

impl Message {
    /// Instructions.
    pub fn system(content: String) -> Self {
        Self { role: "system", content }
    }

    /// What the user says.
    pub fn user(content: String) -> Self {
        Self { role: "user", content }
    }
}

/// A conversation with a service, for one answer.
pub struct Chat {
    agent: Agent,
    stop: Stop,
    url: String,
    model: String,
    key: Option<String>,
    /// How long the service may be silent.
    silence: Duration,
}

impl fmt::Debug for Chat {
    /// Without the key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Chat").field("url", &self.url).field("model", &self.model).finish_non_exhaustive()
    }
}

/// One event of a stream.
#[derive(Default, Deserialize)]
struct Chunk {
    #[serde(default)]
    choices: Vec<Choice>,
    error: Option<Value>,
}

#[derive(Deserialize)]
struct Choice {
    delta: Option<Said>,
    message: Option<Said>,
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct Said {
    content: Option<String>,
}

impl Chat {
    /// A conversation under these settings; nothing where they name no service. The key is read from the environment.
    ///
    /// # Errors
    /// When a setting is out of range, or the key is not in the environment.
    pub fn new(settings: &AskSettings) -> Result<Option<Self>, Error> {
        settings.check()?;
        let (Some(url), Some(model)) = (&settings.url, &settings.model) else { return Ok(None) };
        let silence = Duration::from_secs_f64(settings.timeout);
        let agent: Agent = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .timeout_connect(Some(silence))
            .timeout_recv_response(Some(silence))
            .timeout_per_read(Some(silence))
            .timeout_per_write(Some(silence))
            .timeout_global(Some(silence.saturating_mul(WHOLE)))
            .build()
            .into();
        let key = settings.key_env.as_deref().map(key).transpose()?;
        let stop = Stop::new(agent.clone());
        Ok(Some(Self { agent, stop, url: completions(url), model: model.clone(), key, silence }))
    }

    /// What ends the conversation.
    pub fn stop(&self) -> Stop {
        self.stop.clone()
    }

    /// Sends messages and hands on the answer as it comes, until `hear` says that nobody listens any more.
    ///
    /// # Errors
    /// When the service cannot be reached, refuses, breaks off, falls silent or talks nonsense. What came before was handed on.
    pub fn ask(&self, messages: &[Message], hear: &mut dyn FnMut(&str) -> bool) -> Result<(), Error> {
        let body = json!({ "model": self.model, "messages": messages, "stream": true });
        let mut answer = self.send(&body).map_err(|error| self.unreachable(&error))?;
        if !answer.status().is_success() {
            return Err(self.refusal(&mut answer));
        }
        let kind =
            answer.headers().get("content-type").and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        if kind.starts_with("application/json") {
            return self.hear_whole(answer.body_mut(), hear);
        }
        self.hear_stream(answer.body_mut(), hear)
    }

    /// Sends the messages; once more, after a pause, where the service has not taken them.
    fn send(&self, body: &Value) -> Result<Response<Body>, ureq::Error> {
        let first = self.send_once(body);
        match pause(&first, self.silence) {
            Some(pause) if self.stop.pause(pause) => self.send_once(body),
            _ => first,
        }
    }

    fn send_once(&self, body: &Value) -> Result<Response<Body>, ureq::Error> {
        let mut request = self.agent.post(&self.url).header("accept", "text/event-stream");
        if let Some(key) = &self.key {
            request = request.header("authorization", format!("Bearer {key}"));
        }
        request.send_json(body)
    }

    /// A service that does not stream says everything at once.
    fn hear_whole(&self, body: &mut Body, hear: &mut dyn FnMut(&str) -> bool) -> Result<(), Error> {
        let text = body
            .with_config()
            .limit(LONGEST_ANSWER as u64)
            .read_to_string()
            .map_err(|error| self.broken(&error))?;
        let chunk = self.read(&text)?;
        let choice = chunk.choices.into_iter().next().ok_or_else(|| self.nonsense("it has no choices"))?;
        let said = choice.message.and_then(|message| message.content);
        hear(&said.ok_or_else(|| self.nonsense("its message has no content"))?);
        self.judge(choice.finish_reason.as_deref())
    }

    fn hear_stream(&self, body: &mut Body, hear: &mut dyn FnMut(&str) -> bool) -> Result<(), Error> {
        let mut events = Events::new(BufReader::new(body.as_reader()));
        let (mut finish, mut length) = (None, 0);
        loop {
            let data = match events.next() {
                Ok(Some(data)) => data,
                Ok(None) => break,
                Err(error) => return Err(self.broken(&ureq::Error::from(error))),
            };
            if data.trim() == "[DONE]" {
                return self.judge(finish.as_deref().or(Some("stop")));
            }
            let Some(choice) = self.read(&data)?.choices.into_iter().next() else { continue };
            finish = choice.finish_reason.or(finish);
            let Some(said) = choice.delta.and_then(|delta| delta.content).filter(|said| !said.is_empty())
            else {
                continue;
            };
            length += said.len();
            if length > LONGEST_ANSWER {
                return Err(self.nonsense("it is longer than 4 MiB"));
            }
            if !hear(&said) {
                return Ok(());
            }
        }
        // Some services end without the last word; then the reason to finish must have been said.
        self.judge(finish.as_deref())
    }

    fn read(&self, data: &str) -> Result<Chunk, Error> {
        let chunk: Chunk =
            serde_json::from_str(data).map_err(|error| self.nonsense(&format!("{error}: {data}")))?;
        match &chunk.error {
            None | Some(Value::Null) => Ok(chunk),
            Some(error) => {
                let said = error
                    .get("message")
                    .and_then(Value::as_str)
                    .map_or_else(|| error.to_string(), str::to_owned);
                Err(unavailable(
                    format!("the model failed: {}", self.shown(said.as_bytes())),
                    "ask again, or look at the log of the service",
                ))
            }
        }
    }

    fn judge(&self, finish: Option<&str>) -> Result<(), Error> {
        match finish {
            None => Err(unavailable(
                format!("`{}` broke off in the middle of the answer", self.url),
                "ask again; what came is incomplete",
            )),
            Some("length") => Err(unavailable(
                "the model stopped at its longest answer, which is incomplete".to_owned(),
                "let the service write longer answers, or ask for less",
            )),
            Some("content_filter") => Err(unavailable(
                "the service held back a part of the answer".to_owned(),
                "its content filter did; ask in other words",
            )),
            Some(_) => Ok(()),
        }
    }

    fn refusal(&self, answer: &mut Response<Body>) -> Error {
        let status = answer.status().as_u16();
        let mut said = Vec::new();
        let _ = answer.body_mut().as_reader().take(LONGEST_REFUSAL).read_to_end(&mut said);
        let hint = match status {
            401 | 403 => "check the key in the environment variable that `ask.key_env` names",
            404 => "check `ask.url` and `ask.model`",
            413 => "lower `ask.budget`",
            429 => "the service has too much to do, or the account is spent; ask again later",
            300..=399 => "the service has moved; name its new address in `ask.url`",
            500.. => "look at the log of the service",
            _ => "check `ask.model`, and that `ask.budget` is no more than the model reads",
        };
        let said = if matches!(status, 401 | 403) { String::new() } else { self.shown(&said) };
        let said = if said.is_empty() { said } else { format!(": {said}") };
        unavailable(format!("`{}` answered {status}{said}", self.url), hint)
    }

    fn unreachable(&self, error: &ureq::Error) -> Error {
        let what = match error {
            ureq::Error::Timeout(_) => "it did not answer in time".to_owned(),
            other => self.shown(other.to_string().as_bytes()),
        };
        unavailable(
            format!("cannot reach `{}`: {what}", self.url),
            "check that the service runs, or raise `ask.timeout`",
        )
    }

    fn broken(&self, error: &ureq::Error) -> Error {
        let what = match error {
            ureq::Error::Timeout(_) => "fell silent in the middle of the answer".to_owned(),
            other => {
                format!("broke off in the middle of the answer: {}", self.shown(other.to_string().as_bytes()))
            }
        };
        unavailable(format!("`{}` {what}", self.url), "ask again; what came is incomplete")
    }

    fn nonsense(&self, what: &str) -> Error {
        let what = self.shown(what.as_bytes());
        let hint = "check that `ask.url` is a service with the interface of OpenAI";
        unavailable(format!("`{}` gave an answer that cannot be used: {what}", self.url), hint)
    }

    /// What the service said, short, on one line and without the key.
    fn shown(&self, said: &[u8]) -> String {
        // The key goes before anything is cut, so that no part of it stays.
        let said = String::from_utf8_lossy(said);
        let said = match &self.key {
            Some(key) => said.replace(key, "…"),
            None => said.into_owned(),
        };
        let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
        said.chars().filter(|char| !char.is_control()).take(LONGEST_REASON).collect()
    }
}

fn unavailable(what: String, hint: &str) -> Error {
    Error::Unavailable { what, hint: hint.to_owned() }
}

/// The whole URL: people give the base with the version or without.
fn completions(base: &str) -> String {
    let base = base.trim_end_matches('/');
    if base.ends_with("/chat/completions") {
        return base.to_owned();
    }
    let base = base.strip_suffix("/v1").unwrap_or(base).trim_end_matches('/');
    format!("{base}/v1/chat/completions")
}

fn key(variable: &str) -> Result<String, Error> {
    let key = std::env::var(variable).ok().map(|key| key.trim().to_owned()).filter(|key| !key.is_empty());
    key.ok_or_else(|| {
        let message = format!("expected a key in the environment variable `{variable}`, found none");
        Error::input(message, format!("set `{variable}`, or leave `ask.key_env` out"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_base_url_may_have_the_version() {
        for base in
            ["http://a:1", "http://a:1/", "http://a:1/v1", "http://a:1/v1/", "http://a:1/v1/chat/completions"]
        {
            assert_eq!(completions(base), "http://a:1/v1/chat/completions");
        }
    }
}
