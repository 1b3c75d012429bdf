//! `POST /v1/record`: what the legs of a search bring, before anything is ranked.
//!
//! The answer is what `POST /v1/fuse` reads: the same lists can be ranked again with other settings, as often as one likes, without another
//! search.

use std::sync::Arc;

use axum::extract::State;
use axum::http::Method;
use axum::response::Response;
use mainstem_core::Code;

use super::search::Ask;
use super::shapes::{FuseShape, json_bytes};
use crate::access::Access;
use crate::api::{Api, Operation};
use crate::app::App;
use crate::body::Json;
use crate::error::ApiError;

/// Puts the routes on the API.
pub fn routes(api: Api) -> Api {
    let record =
        Operation::new("search", "record", "The lists of a search before they are fused, for `/v1/fuse`")
            .takes::<Ask>()
            .gives::<FuseShape>("The lists, the settings and the clock of the search");
    api.route(&Method::POST, "/v1/record", record_search, record)
}

async fn record_search(
    State(app): State<Arc<App>>,
    Access(scope): Access,
    Json(ask): Json<Ask>,
) -> Result<Response, ApiError> {
    if ask.explain || ask.why_not.is_some() {
        let message = "`explain` and `why_not` are about a ranking, and a recording has none yet";
        return Err(ApiError::new(Code::Conflict, message, "leave them out, or ask `/v1/search`"));
    }
    let request = ask.request(&app, &scope)?;
    let slot = app.search_slot()?;
    let recorded = move |app: &App| {
        let replay = app.engine().record(&request)?;
        replay.to_line().map(String::into_bytes).map_err(|_| ApiError::internal())
    };
    Ok(json_bytes(app.work(Some(slot), recorded).await?))
}
