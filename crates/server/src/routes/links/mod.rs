//! Links between documents: what runs said, starting one, and taking it back.
//!
//! A key sees runs that looked at nothing but what it may see, and of these the links. What looked at more is not there for it, and neither
//! is what that said: be it by how rare a word is, all that a run looked at has a part in every score. What a run changed is told to those who
//! see all runs, and counts to keys that are bound to no reader.

pub mod shapes;
mod start;
mod under_way;

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::Method;
use axum::response::Response;
use mainstem::linked::Links;
use mainstem_core::contract::Filter;
use mainstem_core::link::{EdgeStore as _, Edges as _, LinkRun, looked_within};
use mainstem_core::linked::{RunWithLinks, Runs, ShownRun, UndoneRun};
use mainstem_core::time::Moment;
use serde::Deserialize;
use serde_json::json;

use self::shapes::{OutcomeShape, RunWithLinksShape, RunsShape, StartRun, UnderWayShape, UndoneShape};
use super::shapes::json as answer;
use crate::access::{Access, Scope};
use crate::api::{Api, Operation};
use crate::app::App;
use crate::body::{Params, not_empty};
use crate::error::ApiError;

pub use self::under_way::LinkRuns;

/// How many links a page has, unless told otherwise.
const PAGE: usize = 20;

/// How many links are gone through to get to a page, at most.
const DEEPEST: usize = 100_000;

/// Puts the routes on the API.
pub fn routes(api: Api) -> Api {
    let start =
        Operation::new("links", "link", "Look for documents that belong together, and keep what is found")
            .takes::<StartRun>()
            .such_as(json!({ "sources": ["wiki", "chat"], "least": 0.7, "per_document": 3 }))
            .gives_as::<OutcomeShape>(201, "application/json", "What the run came to")
            .showing(shapes::outcome())
            .gives_as::<OutcomeShape>(200, "application/json", "What it would come to; nothing is kept")
            .gives_as::<UnderWayShape>(202, "application/json", "It has begun, and goes on by itself")
            .refuses(409, "A run is under way");
    let list = Operation::new("links", "linkRuns", "All runs, and the one that is under way")
        .gives::<RunsShape>("The runs, newest first")
        .showing(json!({ "runs": [shapes::run()], "running": null, "ended": null, "startable": true }));
    let named = |operation: Operation| {
        operation.in_path("id", "The name of the run").refuses(404, "There is no such run, or it was undone")
    };
    let page = |most: usize| json!({ "type": "integer", "minimum": 1, "maximum": most });
    let one = named(Operation::new("links", "linkRun", "A run with what it says, page by page"))
        .in_query("k", "How many links: 20", page(1000))
        .in_query(
            "offset",
            "How many to pass over",
            json!({ "type": "integer", "minimum": 0, "maximum": DEEPEST }),
        )
        .in_query("reader", "Only what this person may read", json!({ "type": "string", "pattern": r"\S" }))
        .gives::<RunWithLinksShape>("The run and its links, best first")
        .showing(shapes::run_with_links());
    let undo = named(Operation::new("links", "undoLinks", "Take back what a run said"))
        .gives::<UndoneShape>("What other runs say stays")
        .showing(json!({ "removed": 12, "kept": 3 }));
    api.route(&Method::POST, "/v1/links/runs", start::start, start)
        .route(&Method::GET, "/v1/links/runs", runs, list)
        .route(&Method::GET, "/v1/links/runs/{id}", run, one)
        .route(&Method::DELETE, "/v1/links/runs/{id}", undo_run, undo)
}

/// Whether a caller may know of a run that looks at these sources, for this reader: whether it looks at nothing but what everybody may read
/// is known when it has looked.
fn is_within(sources: &[String], reader: Option<&str>, scope: &Scope) -> bool {
    seen(scope).is_ok_and(|filter| looked_within(sources, reader, &filter))
}

/// Whether a caller may know of a run.
fn is_seen(run: &LinkRun, scope: &Scope) -> bool {
    seen(scope).is_ok_and(|filter| run.is_within(&filter))
}

/// A run as a caller sees it.
fn shown(run: LinkRun, scope: &Scope) -> ShownRun {
    ShownRun::new(run, scope.reader.is_none(), scope.write)
}

fn missing(id: &str) -> ApiError {
    ApiError::not_found(format!("there is no link run `{id}`"), "`/v1/links/runs` lists those that there are")
}

/// What the caller may see at all.
fn seen(scope: &Scope) -> Result<Filter, ApiError> {
    let mut filter = Filter::default();
    scope.narrow(&mut filter)?;
    Ok(filter)
}

async fn runs(State(app): State<Arc<App>>, Access(scope): Access) -> Result<Response, ApiError> {
    // Before the runs are read: one that ends in between is then in one of the two, or in both.
    let (running, ended) = app.link_runs.told(&scope);
    let all = app.work(None, |app| Ok(app.store.runs()?)).await?;
    let seen = all.into_iter().filter(|run| is_seen(run, &scope));
    answer(&Runs {
        runs: seen.map(|run| shown(run, &scope)).collect(),
        running,
        ended,
        startable: scope.write,
    })
}

/// What stands behind the `?`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Page {
    k: Option<usize>,
    offset: Option<usize>,
    #[serde(deserialize_with = "not_empty")]
    reader: Option<String>,
}

impl Page {
    fn checked(&self, app: &App) -> Result<(usize, usize), ApiError> {
        let (k, offset, most) = (self.k.unwrap_or(PAGE), self.offset.unwrap_or(0), app.config.most_hits);
        if k == 0 || k > most {
            return Err(ApiError::value(format!("`k` is {k}, expected 1 to {most}"), "ask for less at once"));
        }
        if offset > DEEPEST {
            let message = format!("`offset` is {offset}, expected at most {DEEPEST}");
            return Err(ApiError::value(message, "a larger `least` gives fewer links"));
        }
        Ok((offset, k))
    }
}

async fn run(
    State(app): State<Arc<App>>,
    Access(scope): Access,
    Path(id): Path<String>,
    Params(page): Params<Page>,
) -> Result<Response, ApiError> {
    let (offset, k) = page.checked(&app)?;
    let mut filter = Filter { reader: page.reader, ..Filter::default() };
    scope.narrow(&mut filter)?;
    // Who asks for a reader is told what that reader is told.
    let scope = Scope { reader: filter.reader.clone(), ..scope };
    let slot = app.search_slot()?;
    let found = app.work(Some(slot), move |app| {
        let run = find(app, &id, &scope)?;
        let (links, more) = Links::new(&app.store, &filter)?.of_run(&id, offset, k)?;
        Ok(RunWithLinks { run: shown(run, &scope), links, more })
    });
    answer(&found.await?)
}

/// A run that the caller may know of, and that was not undone: of one that was, the list has all that there is.
fn find(app: &App, id: &str, scope: &Scope) -> Result<LinkRun, ApiError> {
    let run = app.store.runs()?.into_iter().find(|run| run.id == id);
    let run = run.filter(|run| is_seen(run, scope)).ok_or_else(|| missing(id))?;
    if run.undone_at.is_some() {
        let hint = "`/v1/links/runs` says when";
        return Err(ApiError::not_found(format!("the link run `{id}` was undone"), hint));
    }
    Ok(run)
}

async fn undo_run(
    State(app): State<Arc<App>>,
    Access(scope): Access,
    Path(id): Path<String>,
) -> Result<Response, ApiError> {
    scope.must_write()?;
    let slot = app.write_slot()?;
    let undone = app.work(Some(slot), move |app| {
        find(app, &id, &scope)?;
        let undone = app.store.undo(&id, &Moment::now())?;
        let undone = undone.ok_or_else(|| missing(&id))?;
        tracing::info!(run = id, removed = undone.removed, kept = undone.kept, "link run undone");
        app.metrics.links_undone();
        // It tells of other runs.
        Ok(if scope.sees_all() { undone.into() } else { UndoneRun::default() })
    });
    answer(&undone.await?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::Sources;

    #[test]
    fn a_run_is_seen_by_those_who_see_all_that_it_looked_at() {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let scope = |reader: Option<&str>| Scope {
            sources: Sources::Only(names(&["wiki", "chat"]).into_iter().collect()),
            reader: reader.map(str::to_owned),
            write: true,
        };
        let only = scope(None);
        let within = |all: &[&str], scope: &Scope| is_within(&names(all), Some("ann"), scope);
        assert!(within(&["wiki"], &only) && within(&["chat", "wiki"], &only));
        assert!(!within(&["wiki", "hr"], &only) && !within(&[], &only));
        assert!(within(&[], &Scope::everything()) && within(&["hr"], &Scope::everything()));
        assert!(within(&["wiki"], &scope(Some("ann"))) && !within(&["wiki"], &scope(Some("bob"))));
        assert!(!is_within(&names(&["wiki"]), None, &scope(Some("ann"))), "it looks at what others may read");
    }
}
