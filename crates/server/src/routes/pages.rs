//! The description of the API, for programs and for people. The page asks nobody but this server.

use std::sync::Arc;

use axum::Router;
use axum::http::header;
use axum::response::IntoResponse;
use axum::routing::get;
use serde_json::Value;

use crate::app::App;

const PAGE: &str = include_str!("docs.html");

/// Nothing is loaded from anywhere else, whatever a page says.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'; \
                      base-uri 'none'; frame-ancestors 'none'";

/// The routes.
pub fn routes(description: &Value) -> Router<Arc<App>> {
    let text: Arc<str> = description.to_string().into();
    let openapi = move || async move { ([(header::CONTENT_TYPE, "application/json")], text.to_string()) };
    Router::new().route("/openapi.json", get(openapi)).route("/docs", get(docs))
}

async fn docs() -> impl IntoResponse {
    let headers =
        [(header::CONTENT_TYPE, "text/html; charset=utf-8"), (header::CONTENT_SECURITY_POLICY, POLICY)];
    (headers, PAGE)
}
