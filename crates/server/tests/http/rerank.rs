//! `/v1/rerank`, and a reranker in searches.

use std::sync::Arc;
use std::time::Duration;

use mainstem::rerank::Reranking;
use mainstem_core::Failure;
use mainstem_core::contract::{Ctx, Reranker};
use serde_json::{Map, json};

use crate::client::Server;

/// The longer, the better; a text of none breaks it.
struct Longest;

impl Reranker for Longest {
    fn name(&self) -> &'static str {
        "longest"
    }

    fn rerank(&self, _: &str, texts: &[&str], _: &Ctx) -> Result<Vec<f64>, Failure> {
        Ok(texts.iter().map(|text| if text.is_empty() { f64::NAN } else { text.len() as f64 }).collect())
    }
}

fn server() -> Server {
    let pipeline = Map::from_iter([("rerank".to_owned(), json!({"replace": true}))]);
    Server::with_reranker(pipeline, Reranking::new(Arc::new(Longest), Duration::from_secs(10)))
}

#[test]
fn texts_come_back_best_first() {
    let server = server();
    let documents =
        json!([{"id": "a", "text": "one"}, {"id": "b", "text": "three"}, {"id": "c", "text": "four"}]);
    let answer = server.post("/v1/rerank", &json!({"query": "x", "documents": documents, "topN": 2}));
    assert_eq!(
        answer.json(),
        json!({"results": [
            {"id": "b", "relevanceScore": 5.0, "index": 1}, {"id": "c", "relevanceScore": 4.0, "index": 2},
        ]})
    );
    let none = server.post("/v1/rerank", &json!({"query": "x", "documents": []}));
    assert_eq!(none.json(), json!({"results": []}));
}

#[test]
fn what_cannot_be_reranked_is_refused() {
    let server = server();
    let nonsense = server.post("/v1/rerank", &json!({"query": "x", "documents": [{"id": "a", "text": ""}]}));
    assert_eq!(nonsense.status, 503, "{}", nonsense.text);
    let misspelt = server.post("/v1/rerank", &json!({"query": "x", "documents": [], "top_n": 2}));
    assert_eq!(misspelt.status, 400, "{}", misspelt.text);
    let without = Server::new().post("/v1/rerank", &json!({"query": "x", "documents": []}));
    assert_eq!(without.status, 404);
}

#[test]
fn a_search_is_reranked_unless_it_says_otherwise() {
    let server = server();
    server.fill();
    let first = |more: serde_json::Value| {
        let mut body = json!({"query": "rollback job", "now": "2026-02-01"});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        server.post("/v1/search", &body).json()["hits"][0]["id"].clone()
    };
    assert_eq!(first(json!({"pipeline": {"recency": false}})), "wiki/release#0");
    assert_eq!(first(json!({"pipeline": {"recency": false, "rerank": null}})), "chat/1#0");
}
