//! `POST /v1/rerank`: the reranker of the server for texts that a caller brings, so that the key of a service stays here.

use std::sync::Arc;

use axum::extract::State;
use axum::http::Method;
use axum::response::Response;
use mainstem::rerank::proxy::{self, ProxyDocument, ProxyRequest};
use mainstem_core::time::Moment;
use schemars::JsonSchema;
use serde::Deserialize;

use super::shapes::json_bytes;
use crate::access::Access;
use crate::api::{Api, Operation};
use crate::app::App;
use crate::body::Json;
use crate::error::ApiError;

/// What to rerank.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "Rerank")]
pub struct Rerank {
    /// What is looked for.
    #[schemars(length(min = 1, max = proxy::LONGEST_TEXT), regex(pattern = r"\S"))]
    query: String,
    /// The texts.
    #[schemars(length(max = proxy::MOST_DOCUMENTS))]
    documents: Vec<Text>,
    /// How many results are wanted; all when left out.
    #[serde(default)]
    top_n: Option<usize>,
}

/// A text with a name.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "RerankDocument")]
struct Text {
    /// The name, which comes back.
    id: String,
    /// The text.
    #[schemars(length(max = proxy::LONGEST_TEXT))]
    text: String,
}

/// The documents, best first.
#[derive(JsonSchema)]
#[schemars(rename = "Reranked")]
#[expect(dead_code, reason = "described, not made: the library writes it")]
struct RerankedShape {
    /// The results.
    results: Vec<RerankedDocument>,
}

/// A document and how well it answers.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
#[expect(dead_code, reason = "described, not made: the library writes it")]
struct RerankedDocument {
    /// The name that the caller gave it.
    id: String,
    /// The score: larger is better.
    relevance_score: f64,
    /// Its place in the request, from 0.
    index: usize,
}

/// Puts the routes on the API.
pub fn routes(api: Api) -> Api {
    let rerank = Operation::new("search", "rerank", "Have the server's reranker score texts")
        .takes::<Rerank>()
        .gives::<RerankedShape>("The texts, best first")
        .refuses(404, "This server has no reranker");
    api.route(&Method::POST, "/v1/rerank", rerank_texts, rerank)
}

async fn rerank_texts(
    State(app): State<Arc<App>>,
    _: Access,
    Json(asked): Json<Rerank>,
) -> Result<Response, ApiError> {
    let Some(reranking) = app.engine().reranker().cloned() else {
        let hint = "let the operator name one in `[rerank]` of `mainstem.toml`";
        return Err(ApiError::not_found("this server has no reranker", hint));
    };
    let slot = app.search_slot()?;
    let documents = asked.documents.into_iter().map(|text| ProxyDocument { id: text.id, text: text.text });
    let request = ProxyRequest { query: asked.query, documents: documents.collect(), top_n: asked.top_n };
    let reranked = move |_: &App| {
        let response = proxy::rerank(&reranking, &request, &Moment::now())?;
        serde_json::to_vec(&response).map_err(|_| ApiError::internal())
    };
    Ok(json_bytes(app.work(Some(slot), reranked).await?))
}
