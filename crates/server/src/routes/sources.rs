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
    sources: Vec<SourceStats>,
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
    json(&Listed { sources })
}
