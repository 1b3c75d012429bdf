//! A question, and its answer as it comes.

use std::io::BufRead;

use mainstem_core::status::Status;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Error, Search};

/// A question. What is left out is as the server is configured.
#[derive(Clone, Debug, Serialize)]
pub struct Question {
    /// The search for what the model reads.
    #[serde(flatten)]
    pub search: Search,
    /// How many tokens the context has at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget: Option<usize>,
    /// In how many passes the answer is written: 1 or 3.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stages: Option<u8>,
    /// Whether a model is asked; the context comes in any case.
    pub answer: bool,
}

impl Question {
    /// A question with nothing else said.
    pub fn new(query: impl Into<String>) -> Self {
        Self { search: Search::new(query), budget: None, stages: None, answer: true }
    }

    pub(crate) fn body(&self, stream: bool) -> Result<Value, Error> {
        let mut body = serde_json::to_value(self).map_err(|error| Error::unreadable(&error))?;
        body["stream"] = stream.into();
        Ok(body)
    }
}

/// What a model gets to read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Context {
    /// The passages, in the order of their numbers.
    pub passages: Vec<Passage>,
    /// The hits that are no passages, best first.
    pub left_out: Vec<LeftOut>,
    /// How many tokens the text has.
    pub tokens: usize,
    /// How many it may have.
    pub budget: usize,
    /// How evenly the passages are spread over sources, from 0 to 1.
    pub diversity: f64,
    /// The text.
    pub text: String,
}

/// A passage of a context.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Passage {
    /// Its number, by which it is cited.
    pub n: usize,
    /// The hit that brought it in.
    pub id: String,
    /// The source.
    pub source: String,
    /// The kind of the source.
    pub kind: String,
    /// The title of the document.
    pub title: Option<String>,
    /// Where a person can see it.
    pub url: Option<String>,
    /// How many tokens it has.
    pub tokens: usize,
    /// Why it is in.
    pub why: String,
    /// Whether its end was cut off.
    pub cut: bool,
    /// All hits that it is made of.
    pub parts: Vec<String>,
}

/// A hit that is no passage.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    /// The hit.
    pub id: String,
    /// Why.
    pub why: String,
}

/// What an answer cites.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Citations {
    /// Numbers of passages.
    pub cited: Vec<usize>,
    /// Numbers that are no passages.
    pub unknown: Vec<usize>,
}

/// A part of an answer, in the order in which they come.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// What the model gets to read.
    Context(Context),
    /// What the search did.
    Status(Status),
    /// What a model would be sent; only where the server has none.
    Prompt(String),
    /// Some words of the answer.
    Token(String),
    /// What the answer cites.
    Citations(Citations),
    /// The model failed; what came stays.
    Failed(Error),
    /// The end, and whether there is a whole answer.
    Done(bool),
}

#[derive(Deserialize)]
struct Text {
    text: String,
}

impl Event {
    /// An event of the server; nothing for one that later versions may have.
    fn read(name: &str, data: &str) -> Result<Option<Self>, Error> {
        Ok(Some(match name {
            "context" => Self::Context(typed(data)?),
            "status" => Self::Status(typed(data)?),
            "prompt" => Self::Prompt(typed::<Text>(data)?.text),
            "token" => Self::Token(typed::<Text>(data)?.text),
            "citations" => Self::Citations(typed(data)?),
            "error" => Self::Failed(Error::refused(200, data.as_bytes())),
            "done" => Self::Done(typed::<Value>(data)?["answered"] == true),
            _ => return Ok(None),
        }))
    }
}

fn typed<T: DeserializeOwned>(data: &str) -> Result<T, Error> {
    serde_json::from_str(data).map_err(|error| Error::unreadable(&error))
}

/// Hands on the events of a stream until `hear` has heard enough. One that ends without `done` broke off.
pub(crate) fn read(stream: impl BufRead, hear: &mut dyn FnMut(Event) -> bool) -> Result<(), Error> {
    let (mut name, mut data) = (String::new(), String::new());
    for line in stream.lines() {
        let line = line.map_err(|_| Error::cut_short())?;
        match line.split_once(": ") {
            Some(("event", value)) => value.clone_into(&mut name),
            Some(("data", value)) => data.push_str(value),
            _ if line.is_empty() && !name.is_empty() => {
                let event = Event::read(&std::mem::take(&mut name), &std::mem::take(&mut data))?;
                let done = matches!(event, Some(Event::Done(_)));
                if event.is_some_and(|event| !hear(event)) || done {
                    return Ok(());
                }
            }
            // A comment: the server says that it is still there.
            _ => {}
        }
    }
    Err(Error::cut_short())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heard(text: &str) -> (Vec<Event>, Result<(), Error>) {
        let mut events = Vec::new();
        let ended = read(text.as_bytes(), &mut |event| {
            events.push(event);
            true
        });
        (events, ended)
    }

    #[test]
    fn events_come_in_order_and_comments_do_not() {
        let text = ": at work\n\nevent: token\ndata: {\"text\":\"a: b\"}\n\n: at work\n\nevent: later\ndata: 5\n\n\
                    event: citations\ndata: {\"cited\":[1],\"unknown\":[]}\n\n\
                    event: error\ndata: {\"error\":{\"code\":\"E0305\",\"message\":\"m\",\"hint\":\"h\"}}\n\n\
                    event: done\ndata: {\"answered\":false}\n\nevent: token\ndata: {\"text\":\"x\"}\n\n";
        let (events, ended) = heard(text);
        assert!(ended.is_ok());
        let [Event::Token(said), Event::Citations(cited), Event::Failed(error), Event::Done(false)] =
            &events[..]
        else {
            panic!("{events:?}")
        };
        assert_eq!((said.as_str(), &cited.cited[..], error.message.as_str()), ("a: b", &[1][..], "m"));
    }

    #[test]
    fn an_answer_without_its_end_broke_off() {
        for text in ["", "event: token\ndata: {\"text\":\"a\"}\n\n", "event: done\ndata: {}"] {
            assert_eq!(heard(text).1, Err(Error::cut_short()), "{text}");
        }
        assert!(heard("event: token\ndata: {}\n\n").1.is_err());
    }
}
