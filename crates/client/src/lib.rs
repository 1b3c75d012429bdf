//! # A client for a Mainstem server
//!
//! Blocking, and small: a [`Client`] knows where the server is and which key to show; each route is a method. What the server refuses comes
//! back as an [`Error`] with the server's own code, sentence and hint.
//!
//! ```no_run
//! use mainstem_client::{Client, Search};
//!
//! let client = Client::new("http://127.0.0.1:7700", None)?;
//! for hit in client.search(&Search::new("how do we roll back a release"))?.hits {
//!     println!("{}. {} {:.3}", hit.rank, hit.id, hit.score);
//! }
//! # Ok::<(), mainstem_client::Error>(())
//! ```
//!
//! Useful for: programs in Rust, and the `mainstem` command with `--server`. Not for: asynchronous programs; they have an HTTP client already,
//! and `/openapi.json`.
#![forbid(unsafe_code)]

mod address;
mod answers;
pub mod ask;
mod error;
mod ingest;
mod links;
mod search;

use std::io::BufReader;
use std::time::Duration;

use mainstem_core::contract::SourceStats;
use serde::de::DeserializeOwned;
use serde_json::Value;
use ureq::http::{Method, Request, Response};
use ureq::{Agent, AsSendBody, Body};

pub use address::encoded;
pub use answers::{
    Alternative, Document, Hit, Reason, Related, RelatedDocument, SearchAnswer, Sources, WhyNot,
};
pub use error::Error;
pub use ingest::{Ingested, LineError, Target};
pub use links::{
    EndedRun, FoundFrom, Grounds, LinkEnd, LinkRequest, LinkedDocument, RunEnd, RunOutcome, RunUnderWay,
    RunWithLinks, Runs, Said, ShownLink, ShownRun, UndoneRun,
};
pub use search::{Patience, Search};

/// No answer is longer.
const LONGEST_ANSWER: u64 = 1 << 30;

/// How long a connection may take.
const CONNECT: Duration = Duration::from_secs(10);

/// How long an answer may take; a server gives up long before.
const PATIENCE: Duration = Duration::from_secs(300);

/// A server, and how to speak to it.
#[derive(Clone, Debug)]
pub struct Client {
    agent: Agent,
    base: String,
    key: Option<String>,
}

impl Client {
    /// A client for the server at this URL, with an access key where the server asks for one.
    ///
    /// # Errors
    /// When it is no URL of HTTP, or the key cannot be one.
    pub fn new(url: &str, key: Option<String>) -> Result<Self, Error> {
        let base = address::base(url)?;
        if key.as_ref().is_some_and(|key| key.is_empty() || !key.bytes().all(|byte| byte.is_ascii_graphic()))
        {
            return Err(Error::key());
        }
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .timeout_connect(Some(CONNECT))
            .timeout_recv_response(Some(PATIENCE))
            .max_redirects(0)
            .build();
        Ok(Self { agent: config.into(), base, key })
    }

    /// Where the server is.
    pub fn url(&self) -> &str {
        &self.base
    }

    /// Searches all sources at once.
    ///
    /// # Errors
    /// When the server cannot be reached, or refuses.
    pub fn search(&self, search: &Search) -> Result<SearchAnswer, Error> {
        typed(self.search_json(search)?)
    }

    /// The same as the server writes it, with every field.
    ///
    /// # Errors
    /// As [`Self::search`].
    pub fn search_json(&self, search: &Search) -> Result<Value, Error> {
        let body = serde_json::to_value(search).map_err(|error| Error::unreadable(&error))?;
        self.call("POST", "/v1/search", Some(&body))
    }

    /// Asks a question, and hands on the answer as it comes, until `hear` has heard enough. A model that fails is an event; what came stays.
    ///
    /// # Errors
    /// As [`Self::search`], and when the answer breaks off.
    pub fn ask(
        &self,
        question: &ask::Question,
        hear: &mut dyn FnMut(ask::Event) -> bool,
    ) -> Result<(), Error> {
        let request = self.request(Method::POST, "/v1/ask").header("content-type", "application/json");
        let body = question.body(true)?.to_string();
        let request = request.body(body).map_err(|_| Error::address(&self.base))?;
        let mut answer = self.agent.run(request).map_err(|error| Error::unreachable(&self.base, &error))?;
        let status = answer.status().as_u16();
        if status != 200 {
            let body = answer.body_mut().with_config().limit(LONGEST_ANSWER).read_to_vec();
            return Err(Error::refused(status, &body.unwrap_or_default()));
        }
        ask::read(BufReader::new(answer.body_mut().as_reader()), hear)
    }

    /// The same at once, as the server writes it. There is no answer where the model fails.
    ///
    /// # Errors
    /// As [`Self::ask`], and when the model fails.
    pub fn ask_json(&self, question: &ask::Question) -> Result<Value, Error> {
        self.call("POST", "/v1/ask", Some(&question.body(false)?))
    }

    /// What each source holds.
    ///
    /// # Errors
    /// As [`Self::search`].
    pub fn sources(&self) -> Result<Vec<SourceStats>, Error> {
        let Sources { sources } = typed(self.call("GET", "/v1/sources", None)?)?;
        Ok(sources)
    }

    /// A document, `source/id`, with its text and its parts.
    ///
    /// # Errors
    /// As [`Self::search`], and when there is none.
    pub fn document(&self, name: &str) -> Result<Document, Error> {
        typed(self.call("GET", &format!("/v1/documents/{}", encoded(name)), None)?)
    }

    /// What else is about the same as a document, `source/id`: so many, of these sources or of all.
    ///
    /// # Errors
    /// As [`Self::document`].
    pub fn related(&self, name: &str, k: usize, sources: &[String]) -> Result<Related, Error> {
        let named = if sources.is_empty() {
            String::new()
        } else {
            format!("&sources={}", encoded(&sources.join(",")))
        };
        let path = format!("/v1/documents/{}/related?k={k}{named}", encoded(name));
        typed(self.call("GET", &path, None)?)
    }

    /// Removes a document.
    ///
    /// # Errors
    /// As [`Self::document`], and when the key does not allow it.
    pub fn delete(&self, source: &str, id: &str) -> Result<(), Error> {
        let path = format!("/v1/sources/{}/documents/{}", encoded(source), encoded(id));
        self.call("DELETE", &path, None).map(drop)
    }

    /// Puts documents into a source, one JSON object each, as `docs/http.md` describes a line.
    ///
    /// # Errors
    /// As [`Self::search`]. Lines that are refused are no error; the answer names them.
    pub fn ingest(&self, target: &Target, lines: impl IntoIterator<Item = Value>) -> Result<Ingested, Error> {
        let body: String = lines.into_iter().map(|line| line.to_string() + "\n").collect();
        let request =
            self.request(Method::PUT, &target.path()).header("content-type", "application/x-ndjson");
        let request = request.body(body).map_err(|_| Error::address(&self.base))?;
        ingest::read(&self.send(request, None)?)
    }

    /// Any route of the server: what it answers, as JSON.
    ///
    /// # Errors
    /// As [`Self::search`].
    pub fn call(&self, method: &str, path: &str, body: Option<&Value>) -> Result<Value, Error> {
        self.call_within(method, path, body, None)
    }

    /// The same, with another time in which the answer must begin.
    fn call_within(
        &self,
        method: &str,
        path: &str,
        body: Option<&Value>,
        patience: Option<Duration>,
    ) -> Result<Value, Error> {
        let method: Method = method.parse().map_err(|_| Error::address(method))?;
        let request = self.request(method, path);
        let misnamed = |_| Error::address(&self.base);
        let text = match body {
            None => self.send(request.body(()).map_err(misnamed)?, patience)?,
            Some(body) => {
                let request = request.header("content-type", "application/json");
                self.send(request.body(body.to_string()).map_err(misnamed)?, patience)?
            }
        };
        serde_json::from_slice(&text).map_err(|error| Error::unreadable(&error))
    }

    fn request(&self, method: Method, path: &str) -> ureq::http::request::Builder {
        let request = Request::builder().method(method).uri(format!("{}{path}", self.base));
        match &self.key {
            Some(key) => request.header("authorization", format!("Bearer {key}")),
            None => request,
        }
    }

    fn send(&self, request: Request<impl AsSendBody>, patience: Option<Duration>) -> Result<Vec<u8>, Error> {
        let patience = patience.unwrap_or(PATIENCE);
        let request = self.agent.configure_request(request).timeout_recv_response(Some(patience)).build();
        let read = |mut answer: Response<Body>| {
            let body = answer.body_mut().with_config().limit(LONGEST_ANSWER).read_to_vec();
            body.map(|body| (answer.status().as_u16(), body))
        };
        match self.agent.run(request).and_then(read) {
            Ok((200..=299, body)) => Ok(body),
            Ok((status, body)) => Err(Error::refused(status, &body)),
            Err(error) => Err(Error::unreachable(&self.base, &error)),
        }
    }
}

fn typed<T: DeserializeOwned>(value: Value) -> Result<T, Error> {
    serde_json::from_value(value).map_err(|error| Error::unreadable(&error))
}
