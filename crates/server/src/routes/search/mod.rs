//! `POST /v1/search`: one query, all sources, one list.

mod ask;

use std::sync::Arc;

use axum::extract::State;
use axum::http::Method;
use axum::response::Response;

use super::shapes::{SearchAnswerShape, json_bytes};
use crate::access::Access;
use crate::api::{Api, Operation};
use crate::app::{App, Room};
use crate::body::Json;
use crate::error::ApiError;

pub use ask::{Ask, ChannelName, Patience};

/// Puts the routes on the API.
pub fn routes(api: Api) -> Api {
    let search = Operation::new("search", "search", "Search all sources at once")
        .takes::<Ask>()
        .gives::<SearchAnswerShape>(
        "The hits, best first, each with its reasons, and what each leg and stage did",
    );
    api.route(&Method::POST, "/v1/search", search_sources, search)
}

async fn search_sources(
    State(app): State<Arc<App>>,
    Access(scope): Access,
    _: Room,
    Json(ask): Json<Ask>,
) -> Result<Response, ApiError> {
    if app.config.log_queries {
        tracing::info!(query = ask.query, "search");
    }
    let request = ask.request(&app, &scope)?;
    let slot = app.search_slot()?;
    let searched = move |app: &App| {
        let response = app.engine().search(&request)?;
        app.metrics.searched(&response);
        serde_json::to_vec(&response).map_err(|_| ApiError::internal())
    };
    Ok(json_bytes(app.work(Some(slot), searched).await?))
}
