//! `GET /v1/reports`: what was last measured on this store, and what was last read into it.

use std::sync::Arc;

use axum::extract::State;
use axum::http::Method;
use axum::response::Response;
use mainstem::reports::{self, Report};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use super::shapes::json;
use crate::access::{Access, Scope, Sources};
use crate::api::{Api, Operation};
use crate::app::App;
use crate::error::ApiError;

/// The reports.
#[derive(Serialize)]
struct Kept {
    reports: Vec<Report>,
}

/// The reports of a store.
#[derive(JsonSchema)]
#[schemars(rename = "Reports")]
pub struct ReportsShape {
    /// The last one of each kind.
    pub reports: Vec<ReportShape>,
}

/// A report.
#[derive(JsonSchema)]
#[schemars(rename = "Report")]
pub struct ReportShape {
    /// What it is of: `eval`, `sources`, `tune`, `ingest`, `examples`.
    pub kind: String,
    /// The source that it is about, where it is about one.
    #[schemars(default)]
    pub source: Option<String>,
    /// When it was made: a time.
    pub at: Value,
    /// What the command gives with `--json`.
    pub report: Map<String, Value>,
}

/// Puts the routes on the API.
pub fn routes(api: Api) -> Api {
    let list = Operation::new("operation", "reports", "What was last measured on this store")
        .gives::<ReportsShape>("The last report of each kind");
    api.route(&Method::GET, "/v1/reports", list_reports, list)
}

async fn list_reports(State(app): State<Arc<App>>, Access(scope): Access) -> Result<Response, ApiError> {
    let mut reports = app.work(None, |app| Ok(reports::all(app.store.dir())?)).await?;
    reports.retain(|report| visible(report, &scope));
    json(&Kept { reports })
}

/// Measurements are of all sources and all readers together: whoever may not see those does not see these.
fn visible(report: &Report, scope: &Scope) -> bool {
    match &report.source {
        Some(source) => scope.sees(source) && scope.reader.is_none(),
        None => scope.sources == Sources::All && scope.reader.is_none(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_is_seen_by_those_who_see_what_it_is_about() {
        let whole = Report::new("eval", &Map::<String, Value>::new()).unwrap();
        let wiki = whole.clone().of_source("wiki");
        let only = |reader: Option<&str>| Scope {
            sources: Sources::Only(["wiki".to_owned()].into()),
            reader: reader.map(str::to_owned),
            write: false,
        };
        assert!(visible(&whole, &Scope::everything()) && visible(&wiki, &Scope::everything()));
        assert!(!visible(&whole, &only(None)) && visible(&wiki, &only(None)));
        assert!(!visible(&wiki, &only(Some("ann"))));
    }
}
