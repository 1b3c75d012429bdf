//! `PUT /v1/sources/{source}/documents`: documents as lines of JSON, many or few.
//!
//! Lines are taken as they arrive and written in batches. The result of a line is sent when its document is on disk, not before: what was
//! acknowledged survives the death of the process. Results come in the order of the lines; the last line of the answer sums up.

mod batch;
mod lines;
mod report;
mod stream;

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{Path, Request, State};
use axum::http::{HeaderValue, Method, header};
use axum::response::{IntoResponse as _, Response};
use http_body_util::BodyExt as _;
use mainstem_core::Code;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::access::{Access, Scope};
use crate::api::{Api, Operation};
use crate::app::{App, Slot};
use crate::body::{Params, broken, is_of, not_empty, slow, too_large};
use crate::error::{ApiError, ErrorDetails};
use batch::{Batch, Target};
use lines::Lines;
use report::Account;
use stream::Results;

pub use report::Runs;

const NDJSON: &str = "application/x-ndjson";
/// What is described, and last what many clients call any JSON.
const TYPES: [&str; 4] = [NDJSON, "application/jsonl", "application/json-lines", "application/json"];

/// How long a batch that is not full waits for more.
const LINGER: Duration = Duration::from_millis(20);

/// What stands behind the `?`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct How {
    #[serde(deserialize_with = "not_empty")]
    kind: Option<String>,
    #[serde(deserialize_with = "not_empty")]
    vectors_model: Option<String>,
    #[serde(deserialize_with = "not_empty")]
    run: Option<String>,
}

/// What became of a line, or of all of them.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
pub enum BulkResult {
    /// One line.
    Line(LineResult),
    /// All lines: the last line of the answer.
    Done(BulkSummary),
}

/// What became of a line.
#[derive(Serialize, JsonSchema)]
pub struct LineResult {
    /// The line, from 1.
    pub line: u64,
    /// The id of its document, where it has one.
    pub id: Option<String>,
    /// `stored`, or `refused`.
    pub status: &'static str,
    /// Why it was refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorDetails>,
}

/// What became of all lines.
#[derive(Default, Serialize, JsonSchema)]
pub struct BulkSummary {
    /// Whether all lines were looked at. If not, what has no result may or may not be stored.
    pub done: bool,
    /// Lines whose documents are stored.
    pub stored: usize,
    /// Lines that were refused.
    pub refused: usize,
    /// Documents that are new.
    pub added: usize,
    /// Documents that replaced others.
    pub changed: usize,
    /// Documents that were there already.
    pub unchanged: usize,
    /// Why it ended early.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorDetails>,
}

/// Puts the routes on the API.
pub fn routes(api: Api) -> Api {
    let text = || json!({ "type": "string", "pattern": r"\S" });
    let put = Operation::new("documents", "ingest", "Put documents into a source, one JSON object a line")
        .in_path("source", "The source; it is made when it is not there")
        .in_query("kind", "The kind of the source, such as `slack`", text())
        .in_query("vectors_model", "The model of the vectors that documents bring", text())
        .in_query("run", "A name for several requests that are one run; their reports add up", text())
        .takes_as::<String>(&TYPES[..3])
        .or_nothing()
        .gives_as::<BulkResult>(200, NDJSON, "A line for each line, and one that sums up");
    api.route(&Method::PUT, "/v1/sources/{source}/documents", ingest, put)
}

async fn ingest(
    State(app): State<Arc<App>>,
    Access(scope): Access,
    Path(source): Path<String>,
    Params(how): Params<How>,
    request: Request,
) -> Response {
    begin(app, &scope, source, how, request).unwrap_or_else(|error| {
        // Nobody reads the body, and what is still on its way would be taken for the next request.
        let mut refused = error.into_response();
        refused.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
        refused
    })
}

fn begin(
    app: Arc<App>,
    scope: &Scope,
    source: String,
    how: How,
    request: Request,
) -> Result<Response, ApiError> {
    if source.trim().is_empty() {
        return Err(ApiError::value(
            "the source has no name, expected one",
            "such as `/v1/sources/wiki/documents`",
        ));
    }
    scope.may_write(&source)?;
    if !is_of(request.headers(), &TYPES) {
        let hint = "send one JSON object a line with `Content-Type: application/x-ndjson`";
        return Err(ApiError::new(Code::MediaType, "expected a body of lines of JSON", hint));
    }
    let slot = app.write_slot()?;
    let How { kind, vectors_model, run } = how;
    let target = Target { source, kind, vectors_model, run };
    let (results, answer) = stream::channel(app.config.body_timeout.0);
    let intake = Intake {
        lines: Lines::new(app.config.line_limit.0),
        results,
        summary: BulkSummary::default(),
        report: Account::new(),
        target,
        app,
    };
    tokio::spawn(intake.run(request.into_body(), slot));
    let mut response = Response::new(Body::new(answer));
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(NDJSON));
    Ok(response)
}

/// A bulk ingest under way.
struct Intake {
    app: Arc<App>,
    target: Target,
    lines: Lines,
    results: Results,
    summary: BulkSummary,
    report: Account,
}

impl Intake {
    async fn run(mut self, body: Body, slot: Slot) {
        match self.take_all(body).await {
            Ok(()) => self.summary.done = true,
            Err(error) => self.summary.error = Some(error.body().error),
        }
        let Self { mut results, summary, app, report, target, .. } = self;
        app.metrics.ingested(summary.stored, summary.refused);
        let (done, keeper) = (summary.done, Arc::clone(&app));
        // Before the last line: who has read that finds the report.
        let _ = tokio::task::spawn_blocking(move || report.keep(&keeper, &target, done)).await;
        // Who is gone does not need to know.
        let _ = results.send(&[BulkResult::Done(summary)]).await;
        drop(slot);
    }

    async fn take_all(&mut self, mut body: Body) -> Result<(), ApiError> {
        let limits = self.app.config.clone();
        let (mut batch, mut seen) = (self.batch(), 0_u64);
        loop {
            let patience = if batch.is_empty() { limits.body_timeout.0 } else { LINGER };
            let Ok(frame) = tokio::time::timeout(patience, body.frame()).await else {
                if batch.is_empty() {
                    return Err(slow());
                }
                self.write(&mut batch).await?;
                continue;
            };
            let Some(frame) = frame else { break };
            let Ok(data) = frame.map_err(|_| broken())?.into_data() else { continue };
            seen += data.len() as u64;
            if seen > limits.bulk_limit.0 {
                self.write(&mut batch).await?;
                return Err(too_large("the body", limits.bulk_limit.0));
            }
            self.lines.feed(&data);
            self.drain(&mut batch).await?;
        }
        self.lines.end();
        self.drain(&mut batch).await?;
        self.write(&mut batch).await
    }

    fn batch(&self) -> Batch {
        Batch::new(self.app.documents_model().is_some())
    }

    /// Puts all whole lines into batches, and writes those that are full.
    async fn drain(&mut self, batch: &mut Batch) -> Result<(), ApiError> {
        while let Some(line) = self.lines.next() {
            batch.push(line);
            if batch.is_full() {
                self.write(batch).await?;
            }
        }
        Ok(())
    }

    async fn write(&mut self, batch: &mut Batch) -> Result<(), ApiError> {
        if batch.is_empty() {
            return Ok(());
        }
        let batch = std::mem::replace(batch, self.batch());
        let (target, app) = (self.target.clone(), Arc::clone(&self.app));
        // However long the model takes: this is no answer that somebody waits for.
        let task = tokio::task::spawn_blocking(move || batch.write(&app, &target));
        let (results, written) = task.await.map_err(|_| ApiError::internal())??;
        let stored = results.iter().filter(|result| result.error.is_none()).count();
        self.summary.stored += stored;
        self.summary.refused += results.len() - stored;
        self.summary.added += written.applied.added;
        self.summary.changed += written.applied.changed;
        self.summary.unchanged += written.applied.unchanged;
        self.report.count(written, &results);
        let results: Vec<BulkResult> = results.into_iter().map(BulkResult::Line).collect();
        self.results.send(&results).await
    }
}
