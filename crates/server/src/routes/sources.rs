//! `GET /v1/sources`.

use std::sync::Arc;

use axum::extract::State;
use axum::http::Method;
use axum::response::Response;
use mainstem_core::contract::SourceStats;
use serde::Serialize;

use super::shapes::{SourcesShape, json};
use crate::access::Access;
use crate::api::{Api, Operation};
use crate::app::App;
use crate::error::ApiError;

#[derive(Serialize)]
struct Listed {
    sources: Vec<ListedSource>,
}

/// A source as a caller may see it.
#[derive(Serialize)]
#[serde(untagged)]
enum ListedSource {
    /// With what it holds.
    Counted(SourceStats),
    /// To a reader, who may not read all of it: what it holds in all would tell of what the reader may not know about.
    Named { name: String, kind: String },
}

/// Puts the routes on the API.
pub fn routes(api: Api) -> Api {
    let list = Operation::new("sources", "sources", "What each source holds")
        .gives::<SourcesShape>("The sources, by name");
    api.route(&Method::GET, "/v1/sources", sources, list)
}

async fn sources(State(app): State<Arc<App>>, Access(scope): Access) -> Result<Response, ApiError> {
    let mut sources = app.work(None, |app| Ok(app.store.sources()?)).await?;
    sources.retain(|source| scope.sees(&source.name));
    let listed = |source: SourceStats| match scope.reader {
        None => ListedSource::Counted(source),
        Some(_) => ListedSource::Named { name: source.name, kind: source.kind },
    };
    json(&Listed { sources: sources.into_iter().map(listed).collect() })
}
