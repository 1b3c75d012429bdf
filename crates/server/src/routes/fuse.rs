//! `POST /v1/fuse`: ranked lists in, one explained list out. The same JSON as `mainstem fuse`, both ways.

use std::sync::Arc;

use axum::extract::State;
use axum::http::Method;
use axum::response::Response;
use mainstem_core::Replay;
use mainstem_core::time::Moment;

use super::shapes::{FuseAnswerShape, FuseShape, json_bytes};
use crate::access::Access;
use crate::api::{Api, Operation};
use crate::app::App;
use crate::body::JsonBytes;
use crate::error::ApiError;

/// Puts the routes on the API.
pub fn routes(api: Api) -> Api {
    let fuse =
        Operation::new("search", "fuse", "Fuse ranked lists into one, and say why each hit is where it is")
            .takes::<FuseShape>()
            .gives::<FuseAnswerShape>("The fused list");
    api.route(&Method::POST, "/v1/fuse", fuse_lists, fuse)
}

async fn fuse_lists(
    State(app): State<Arc<App>>,
    _: Access,
    JsonBytes(body): JsonBytes,
) -> Result<Response, ApiError> {
    let slot = app.search_slot()?;
    let fused = move |_: &App| {
        let mut replay = Replay::from_json(&body)?;
        if !replay.pipeline.recency.is_empty() && replay.search.now.is_none() {
            replay.search.now = Some(Moment::now());
        }
        serde_json::to_vec(&replay.run()?).map_err(|_| ApiError::internal())
    };
    Ok(json_bytes(app.work(Some(slot), fused).await?))
}
