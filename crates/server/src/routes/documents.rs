//! One document: what it is, what is like it, and how it goes.
//!
//! A document is named `source/id`, or `id` with `?source=` behind it. Ids may contain slashes. `/related` at the end of the path asks for
//! what is like the document; an id that itself ends so is written with `%2Frelated`.

use std::collections::BTreeSet;
use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::{Method, Uri};
use axum::response::Response;
use mainstem::linked::{LinkedDocument, Links, Tie};
use mainstem::related::{Related, related};
use mainstem_core::contract::{Change, Ctx, Filter, Store as _};
use mainstem_core::link::DocumentName;
use mainstem_core::time::Moment;
use mainstem_core::{Document, Failure};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::links::shapes::{LinkedShape, TieShape};
use super::shapes;
use crate::access::{Access, Scope};
use crate::api::{Api, Operation};
use crate::app::App;
use crate::body::{Params, not_empty};
use crate::error::ApiError;

/// How many related documents are given, unless told otherwise.
const RELATED: usize = 10;

const PREFIX: &str = "/v1/documents/";
const SUFFIX: &str = "/related";

/// What stands behind the `?`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Which {
    #[serde(deserialize_with = "not_empty")]
    source: Option<String>,
    k: Option<usize>,
    #[serde(deserialize_with = "not_empty")]
    sources: Option<String>,
    #[serde(deserialize_with = "not_empty")]
    reader: Option<String>,
    among: Option<bool>,
}

/// A document, without its vectors.
#[derive(JsonSchema)]
#[schemars(rename = "Document")]
pub struct DocumentShape {
    /// The source.
    pub source: String,
    /// Its id within the source.
    pub id: String,
    /// The title.
    pub title: Option<String>,
    /// The whole text.
    pub text: String,
    /// Where a person can see it.
    pub url: Option<String>,
    /// How an answer names it.
    pub label: Option<String>,
    /// When it was written.
    pub created_at: Value,
    /// When it was last changed.
    pub updated_at: Value,
    /// Who may read it; everyone when `null`.
    pub readers: Option<Vec<String>>,
    /// An exact key: documents with equal keys are the same thing.
    pub key: Option<String>,
    /// Anything else that is known about it.
    pub metadata: Map<String, Value>,
    /// Its parts, in order.
    pub chunks: Vec<Map<String, Value>>,
}

/// Documents that are about the same.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "RelatedDocuments")]
pub struct RelatedAnswer {
    /// The document that was asked about, `source/id`.
    pub document: String,
    /// The documents, best first, each with its reason.
    #[schemars(with = "Vec<Map<String, Value>>")]
    pub related: Vec<Related>,
    /// The documents that it is linked with, as the last run says that was not undone.
    #[schemars(with = "Vec<LinkedShape>")]
    pub links: Vec<LinkedDocument>,
    /// The links between any two of these documents, where `among` was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Vec<TieShape>", default)]
    pub among: Option<Vec<Tie>>,
}

/// What a deletion did.
#[derive(Serialize, JsonSchema)]
pub struct Deleted {
    /// How many documents were removed: 1.
    pub removed: usize,
}

/// Puts the routes on the API.
pub fn routes(api: Api) -> Api {
    let text = || json!({ "type": "string", "pattern": r"\S" });
    let named = |operation: Operation| {
        let meaning = "`source/id`, or `id` where `source` is given";
        operation
            .in_path("document", meaning)
            .in_query("source", "The source, where the path does not begin with it", text())
            .in_query("reader", "Only what this person may read", text())
            .refuses(404, "There is no such document")
    };
    let get = named(Operation::new("documents", "document", "A document with its text and its parts"))
        .at("/v1/documents/{document}")
        .gives::<DocumentShape>("The document");
    let like = named(Operation::new(
        "documents",
        "related",
        "What else is about the same, and what it is linked with, across sources, with reasons",
    ))
    .at("/v1/documents/{document}/related")
    .in_query("k", "How many: 10", json!({ "type": "integer", "minimum": 1, "maximum": 1000 }))
    .in_query("sources", "Of these sources only, with commas between", text())
    .in_query(
        "among",
        "Give the links between the documents of the answer, too",
        json!({ "type": "boolean" }),
    )
    .gives::<RelatedAnswer>("The documents, best first");
    let delete = Operation::new("documents", "delete", "Remove a document")
        .at("/v1/sources/{source}/documents/{id}")
        .in_path("source", "The source")
        .in_path("id", "The id; it may contain slashes")
        .gives::<Deleted>("It is gone, and stays so")
        .refuses(404, "There is no such document");
    api.route(&Method::GET, "/v1/documents/{*document}", document, get)
        .also(&Method::GET, "/v1/documents/{document}/related", like)
        .route(&Method::DELETE, "/v1/sources/{source}/documents/{*id}", remove, delete)
}

async fn document(
    State(app): State<Arc<App>>,
    Access(scope): Access,
    Path(decoded): Path<String>,
    Params(which): Params<Which>,
    uri: Uri,
) -> Result<Response, ApiError> {
    // Only a slash that was written as one ends the name.
    let about_related = uri.path().strip_prefix(PREFIX).is_some_and(|raw| raw.ends_with(SUFFIX));
    let name = if about_related { decoded.strip_suffix(SUFFIX).unwrap_or(&decoded) } else { &decoded };
    let (source, id) = split(name, which.source.as_deref())?;
    let mut filter = Filter { reader: which.reader.clone(), ..Filter::default() };
    if about_related {
        filter.sources =
            which.sources.as_ref().map(|names| names.split(',').map(|name| name.trim().to_owned()).collect());
    } else if which.k.is_some() || which.sources.is_some() || which.among.is_some() {
        return Err(ApiError::value("`k`, `sources` and `among` are for `/related`", "leave them out"));
    }
    if filter.sources.is_some() {
        check_sources(&app, &scope, filter.sources.as_deref().unwrap_or_default()).await?;
    }
    scope.narrow(&mut filter)?;
    let limit = which.k.unwrap_or(RELATED);
    if limit == 0 || limit > app.config.most_hits {
        let message = format!("`k` is {limit}, expected 1 to {}", app.config.most_hits);
        return Err(ApiError::value(message, "ask for less at once"));
    }
    let found = find(&app, scope, (source, id), filter.reader.clone()).await?;
    if !about_related {
        return shapes::json(&shown(found)?);
    }
    let slot = app.search_slot()?;
    let among = which.among.unwrap_or(false);
    let answer = app.work(Some(slot), move |app| alike(app, &found, &filter, limit, among)).await?;
    shapes::json(&answer)
}

/// A name of a source that is not there is a slip.
async fn check_sources(app: &Arc<App>, scope: &Scope, asked: &[String]) -> Result<(), ApiError> {
    let known = app.work(None, |app| Ok(app.store.sources()?)).await?;
    let known: Vec<&str> =
        known.iter().map(|source| source.name.as_str()).filter(|name| scope.sees(name)).collect();
    match asked.iter().find(|name| !known.contains(&name.as_str())) {
        Some(name) => Err(mainstem_core::Error::unknown("source", name, known).into()),
        None => Ok(()),
    }
}

fn split(name: &str, source: Option<&str>) -> Result<(String, String), ApiError> {
    let parts = match source {
        Some(source) => Some((source, name)),
        None => name.split_once('/'),
    };
    parts.map(|(source, id)| (source.to_owned(), id.to_owned())).ok_or_else(|| {
        let message = format!("there is no document `{name}`, expected `source/id`");
        ApiError::not_found(message, "put the source in front, or give it as `?source=`")
    })
}

async fn find(
    app: &Arc<App>,
    scope: Scope,
    (source, id): (String, String),
    reader: Option<String>,
) -> Result<Document, ApiError> {
    let scope = Scope { reader, ..scope };
    app.work(None, move |app| {
        let found = if scope.sees(&source) { app.store.document(&source, &id)? } else { None };
        let found = found.filter(|document| scope.reads(&source, document.readers.as_deref()));
        found.ok_or_else(|| missing(&source, &id))
    })
    .await
}

fn missing(source: &str, id: &str) -> ApiError {
    ApiError::not_found(format!("there is no document `{source}/{id}`"), "`/v1/search` finds what there is")
}

/// The document without its vectors: they mean nothing to a reader.
fn shown(mut document: Document) -> Result<Value, ApiError> {
    for chunk in &mut document.chunks {
        chunk.vector = None;
    }
    let mut value = serde_json::to_value(document).map_err(|_| ApiError::internal())?;
    for chunk in value["chunks"].as_array_mut().into_iter().flatten() {
        if let Some(fields) = chunk.as_object_mut() {
            fields.remove("vector");
        }
    }
    Ok(value)
}

fn alike(
    app: &App,
    document: &Document,
    filter: &Filter,
    limit: usize,
    among: bool,
) -> Result<RelatedAnswer, ApiError> {
    let view = app.store.view()?;
    let found: Result<Vec<Related>, Failure> =
        related(view.as_ref(), document, filter, limit, &Ctx::unhurried(Moment::now()));
    let related = found?;
    let name = DocumentName { source: document.source.clone(), id: document.id.clone() };
    let mut known = Links::new(&app.store, filter)?;
    let links = known.of_document(&name, filter.sources.as_deref(), limit)?;
    let others = || {
        let alike = related.iter().map(|one| (&one.source, &one.document));
        let linked = links.iter().map(|link| (&link.end.source, &link.end.document));
        let names: BTreeSet<_> = alike.chain(linked).collect();
        names
            .into_iter()
            .map(|(source, id)| DocumentName { source: source.clone(), id: id.clone() })
            .collect::<Vec<_>>()
    };
    let among = among.then(|| known.among(&others())).transpose()?;
    Ok(RelatedAnswer { document: name.to_string(), related, links, among })
}

async fn remove(
    State(app): State<Arc<App>>,
    Access(scope): Access,
    Path((source, id)): Path<(String, String)>,
) -> Result<Response, ApiError> {
    scope.must_write()?;
    if !scope.sees(&source) {
        return Err(missing(&source, &id));
    }
    let slot = app.write_slot()?;
    let removed = app
        .work(Some(slot), move |app| {
            let applied = app.store.apply(vec![Change::Delete { source: source.clone(), id: id.clone() }])?;
            if applied.removed == 0 { Err(missing(&source, &id)) } else { Ok(applied.removed) }
        })
        .await?;
    shapes::json(&Deleted { removed })
}
