//! The routes, one file for each resource. A new one gets its own file and a line in [`router`].

pub mod ask;
pub mod bulk;
pub mod documents;
pub mod fuse;
pub mod health;
pub mod links;
pub mod pages;
pub mod record;
pub mod reports;
pub mod rerank;
pub mod search;
pub mod shapes;
pub mod sources;

use std::sync::Arc;

use axum::Router;
use serde_json::Value;

use crate::api::Api;
use crate::app::App;

/// All routes with their descriptions.
fn api() -> Api {
    [
        search::routes,
        record::routes,
        ask::routes,
        fuse::routes,
        rerank::routes,
        sources::routes,
        bulk::routes,
        documents::routes,
        links::routes,
        reports::routes,
        health::routes,
    ]
    .into_iter()
    .fold(Api::default(), |api, routes| routes(api))
}

/// The description of everything, as `/openapi.json` gives it.
pub fn openapi() -> Value {
    api().finish().1
}

/// All routes.
pub fn router() -> Router<Arc<App>> {
    let (router, description) = api().finish();
    let tools = crate::mcp::http::routes(router.clone());
    router.merge(pages::routes(&description)).merge(crate::web::routes()).merge(tools)
}
