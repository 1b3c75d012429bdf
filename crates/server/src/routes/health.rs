//! Whether the server lives, whether it is ready, and what it measures.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{Method, header};
use axum::response::{IntoResponse, Response};
use mainstem_core::contract::Store as _;
use schemars::JsonSchema;
use serde::Serialize;

use super::shapes;
use crate::access::Access;
use crate::api::{Api, Operation};
use crate::app::App;
use crate::error::ApiError;

/// How the server is.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Health {
    /// `ok`.
    pub status: &'static str,
    /// The version of the server.
    pub version: &'static str,
}

const OK: Health = Health { status: "ok", version: env!("CARGO_PKG_VERSION") };

/// Puts the routes on the API.
pub fn routes(api: Api) -> Api {
    let live =
        Operation::new("operation", "health", "Whether the process answers").gives::<Health>("It does");
    let ready =
        Operation::new("operation", "ready", "Whether searches can be answered").gives::<Health>("They can");
    let metrics = Operation::new("operation", "metrics", "Counts and times for Prometheus")
        .gives_as::<String>(200, METRICS, "In the text format of OpenMetrics");
    api.route(&Method::GET, "/healthz", healthz, live).route(&Method::GET, "/readyz", readyz, ready).route(
        &Method::GET,
        "/metrics",
        render,
        metrics,
    )
}

const METRICS: &str = "application/openmetrics-text";

async fn healthz() -> Result<Response, ApiError> {
    shapes::json(&OK)
}

async fn readyz(State(app): State<Arc<App>>) -> Result<Response, ApiError> {
    let look = |app: &App| app.store.view().map(drop).map_err(ApiError::from);
    app.work(None, look).await?;
    shapes::json(&OK)
}

async fn render(State(app): State<Arc<App>>, Access(scope): Access) -> Result<impl IntoResponse, ApiError> {
    // Counts are over all sources.
    scope.must_see_all()?;
    let kind = format!("{METRICS}; version=1.0.0; charset=utf-8");
    Ok(([(header::CONTENT_TYPE, kind)], app.metrics.render(app.running())))
}
