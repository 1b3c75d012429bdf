//! `POST /v1/ask`: a context of the best hits, and what a language model makes of it, as it comes.
//!
//! The search runs before the answer begins, so that what is wrong with a request has its status. From then on there are events: `context` and
//! `status`, any number of `token`, `citations`, and `done`; where the model fails, `error` comes behind the citations of what it has written.
//! Without a model there is a `prompt` instead. A client that leaves ends the call to the model.

mod request;
mod stream;

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderValue, Method, header};
use axum::response::Response;
use mainstem::ask::{Answer, Chat, PATIENCE, Reply, Stages, StopOnDrop};
use mainstem_core::deadline::Deadline;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::json;

use super::shapes::{self, StatusShape};
use crate::access::Access;
use crate::api::{Api, Operation};
use crate::app::{App, Slot};
use crate::body::Json;
use crate::error::{ApiError, ErrorBody};
use stream::{Events, Sender};

pub use request::AskRequest;

const EVENTS: &str = "text/event-stream";
/// After so long without an event there is a comment, so that nobody between us and the client takes the silence of a model for the end.
const SILENCE: Duration = Duration::from_secs(15);

/// One event of an answer.
#[derive(JsonSchema)]
#[schemars(rename = "AskEvent")]
pub struct EventShape {
    /// `context` first: what the model gets to read; `status`: what the search did; then `token`, a part of the answer, or `prompt` where no
    /// model is configured; `citations` of what came; `error`, after that; `done` last.
    #[schemars(extend("enum" = ["context", "status", "prompt", "token", "citations", "error", "done"]))]
    pub event: String,
    /// What the event says.
    #[schemars(schema_with = "data")]
    pub data: String,
}

/// JSON, of the shape that belongs to the name of the event.
fn data(generator: &mut SchemaGenerator) -> Schema {
    let shapes = [
        generator.subschema_for::<ContextShape>(),
        generator.subschema_for::<StatusShape>(),
        generator.subschema_for::<TokenShape>(),
        generator.subschema_for::<CitationsShape>(),
        generator.subschema_for::<ErrorBody>(),
        generator.subschema_for::<DoneShape>(),
    ];
    json_schema!({
        "type": "string",
        "contentMediaType": "application/json",
        "contentSchema": { "anyOf": shapes },
    })
}

/// A part of the answer, or a whole prompt.
#[derive(Default, JsonSchema, serde::Serialize)]
#[schemars(rename = "AskToken")]
pub struct TokenShape {
    /// The text, to be put behind what came before.
    pub text: String,
}

/// The end.
#[derive(JsonSchema)]
#[schemars(rename = "AskDone")]
pub struct DoneShape {
    /// Whether a model has answered.
    pub answered: bool,
}

/// What an answer cites.
#[derive(Default, JsonSchema, serde::Serialize)]
#[schemars(rename = "AskCitations")]
pub struct CitationsShape {
    /// Numbers of passages.
    pub cited: Vec<u64>,
    /// Numbers that are no passages.
    pub unknown: Vec<u64>,
}

/// What the model gets to read.
#[derive(JsonSchema)]
#[schemars(rename = "AskContext")]
pub struct ContextShape {
    /// The passages, in the order of their numbers.
    pub passages: Vec<PassageShape>,
    /// The hits that are no passages, best first.
    pub left_out: Vec<LeftOutShape>,
    /// How many tokens the text has.
    pub tokens: u64,
    /// How many it may have.
    pub budget: u64,
    /// How evenly the passages are spread over the sources that found anything, from 0 to 1.
    pub diversity: f64,
    /// The text.
    pub text: String,
}

/// A passage.
#[derive(JsonSchema)]
#[schemars(rename = "AskPassage")]
pub struct PassageShape {
    /// Its number, by which it is cited.
    pub n: u64,
    /// The hit that brought it in, `source/document#order`.
    pub id: String,
    /// The source.
    pub source: String,
    /// The kind of the source.
    pub kind: String,
    /// The title of the document.
    pub title: Option<String>,
    /// Where a person can see it.
    pub url: Option<String>,
    /// How many tokens it has, its heading and fence included.
    pub tokens: u64,
    /// Why it is in.
    pub why: String,
    /// Whether its end was cut off.
    pub cut: bool,
    /// All hits that it is made of, in the order of the document.
    pub parts: Vec<String>,
}

/// A hit that is no passage.
#[derive(JsonSchema)]
#[schemars(rename = "AskLeftOut")]
pub struct LeftOutShape {
    /// The hit.
    pub id: String,
    /// Why.
    pub why: String,
}

/// With `"stream": false`, everything at once.
#[derive(JsonSchema)]
#[schemars(rename = "AskAnswer")]
pub struct ReplyShape {
    /// What the model got to read.
    pub context: ContextShape,
    /// What the search did.
    pub status: StatusShape,
    /// What a model would be sent, ready to paste; `null` where one is configured, none is wanted, or nothing was found.
    pub prompt: Option<String>,
    /// What it wrote; `null` where no model is configured, or nothing was found.
    pub answer: Option<String>,
    /// What that cites.
    pub citations: Option<CitationsShape>,
}

/// Puts the routes on the API.
pub fn routes(api: Api) -> Api {
    let ask = Operation::new("search", "ask", "Pack the best hits for a language model, and have it answer")
        .takes::<AskRequest>()
        .gives_as::<EventShape>(200, EVENTS, "The answer as it comes; one object with `\"stream\": false`")
        .or_gives::<ReplyShape>("application/json");
    api.route(&Method::POST, "/v1/ask", ask_sources, ask)
}

async fn ask_sources(
    State(app): State<Arc<App>>,
    Access(scope): Access,
    Json(ask): Json<AskRequest>,
) -> Result<Response, ApiError> {
    if app.config.log_queries {
        tracing::info!(query = ask.query, "ask");
    }
    let (stages, budget) = (ask.stages()?, ask.budget(&app)?);
    let mut request = ask.search().request(&app, &scope)?;
    // What the operator has configured counts; what is only usual for a search does not.
    let usual = app.engine().settings().deadline == Deadline::default();
    request.deadline = request.deadline.or(usual.then_some(PATIENCE));
    let slots = (app.ask_slot()?, app.search_slot()?);
    let found = move |app: &App| {
        let response = app.engine().search(&request)?;
        app.metrics.searched(&response);
        let context = app.asker.context(&response, budget)?;
        Ok(Reply::new(context, response.status))
    };
    let mut reply = app.work(Some(slots.1), found).await?;
    let wanted = ask.answer && !reply.context.passages.is_empty();
    let chat = if wanted { app.asker.chat()? } else { None };
    if wanted && chat.is_none() {
        reply.prompt = Some(app.asker.prompt(&ask.query, &reply.context)?);
    }
    let conversation = Conversation { app, query: ask.query, reply, stages };
    if ask.stream { Ok(conversation.stream(chat, slots.0)) } else { conversation.whole(chat, slots.0).await }
}

/// A question with its context.
struct Conversation {
    app: Arc<App>,
    query: String,
    reply: Reply,
    stages: Option<Stages>,
}

impl Conversation {
    fn answer(&self, chat: &Chat, hear: &mut dyn FnMut(&str) -> bool) -> (Answer, Result<(), ApiError>) {
        let asked = (self.query.as_str(), &self.reply.context);
        let (answer, ended) = self.app.asker.answer(chat, asked, self.stages, hear);
        let ended = ended.map_err(|error| {
            tracing::warn!(%error, "the model did not answer");
            ApiError::from(error)
        });
        (answer, ended)
    }

    /// Events as they come. When the client leaves, the body is dropped, and the call to the model with it.
    fn stream(self, chat: Option<Chat>, slot: Slot) -> Response {
        let stop = chat.as_ref().map(|chat| StopOnDrop(chat.stop()));
        let (sender, events) = Events::channel(stop, SILENCE);
        tokio::task::spawn_blocking(move || {
            let _slot = slot;
            self.tell(chat.as_ref(), &sender);
        });
        let mut response = Response::new(Body::new(events));
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(EVENTS));
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        response
    }

    fn tell(&self, chat: Option<&Chat>, sender: &Sender) {
        sender.send("context", &self.reply.context);
        sender.send("status", &self.reply.status);
        if let Some(prompt) = &self.reply.prompt {
            sender.send("prompt", &TokenShape { text: prompt.clone() });
        }
        let mut whole = false;
        if let Some(chat) = chat {
            let mut hear = |said: &str| sender.send("token", &TokenShape { text: said.to_owned() });
            let (answer, ended) = self.answer(chat, &mut hear);
            whole = ended.is_ok();
            if whole || !answer.text.is_empty() {
                sender.send("citations", &answer.citations);
            }
            if let Err(error) = ended {
                sender.send("error", &error.body());
            }
        }
        sender.send("done", &json!({ "answered": whole }));
    }

    /// One object, or an error.
    async fn whole(self, chat: Option<Chat>, slot: Slot) -> Result<Response, ApiError> {
        let Some(chat) = chat else { return shapes::json(&self.reply) };
        // When the client leaves, this future is dropped.
        let _stop = StopOnDrop(chat.stop());
        let task = tokio::task::spawn_blocking(move || {
            let _slot = slot;
            let (answer, ended) = self.answer(&chat, &mut |_| true);
            ended.map(|()| self.reply.answered(answer))
        });
        let reply: Result<Reply, ApiError> = task.await.map_err(|panic| {
            tracing::error!(%panic, "work panicked");
            ApiError::internal()
        })?;
        shapes::json(&reply?)
    }
}
