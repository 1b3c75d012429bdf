//! Reranking for callers who bring their own texts.

use std::sync::Arc;
use std::time::Duration;

use mainstem::rerank::http::Shape;
use mainstem::rerank::proxy::{MOST_DOCUMENTS, ProxyDocument, ProxyRequest, rerank};
use mainstem::rerank::{HttpReranker, Reranking, ServiceSettings};
use mainstem_core::Code;
use mainstem_core::time::Moment;
use serde_json::{Value, json};

use super::faults::{good, settings};
use super::server::{Reply, Server};

fn reranking(service: &ServiceSettings) -> Reranking {
    Reranking::new(Arc::new(HttpReranker::new(service).unwrap()), Duration::from_secs(60))
}

#[test]
fn the_answer_has_the_ids_of_the_caller_best_first() {
    let server = Server::new(vec![Reply::Answer(good)]);
    let reranking = reranking(&settings(Shape::Cohere, &server.url));
    let ask = |top: Value| {
        let documents =
            json!([{"id": "x", "text": "bb"}, {"id": "y", "text": "a"}, {"id": "z", "text": "cc"}]);
        let request = json!({"query": "q", "documents": documents, "topN": top});
        let request = serde_json::from_value(request).unwrap();
        serde_json::to_value(rerank(&reranking, &request, &Moment::now()).unwrap()).unwrap()
    };
    let all = json!([
        {"id": "x", "relevanceScore": 0.002, "index": 0},
        {"id": "z", "relevanceScore": 0.002, "index": 2},
        {"id": "y", "relevanceScore": 0.001, "index": 1},
    ]);
    assert_eq!(ask(Value::Null)["results"], all);
    assert_eq!(ask(json!(1))["results"].as_array().unwrap()[..], all.as_array().unwrap()[..1]);
}

#[test]
fn large_calls_go_in_parts() {
    let server = Server::new(vec![Reply::Answer(good)]);
    let service = ServiceSettings { batch: Some(2), ..settings(Shape::Cohere, &server.url) };
    let documents = (1..=5).map(|n| ProxyDocument { id: n.to_string(), text: "a".repeat(n) }).collect();
    let request = ProxyRequest { query: "q".into(), documents, top_n: None };
    let ids: Vec<_> = rerank(&reranking(&service), &request, &Moment::now()).unwrap().results;
    assert_eq!(ids.iter().map(|one| one.id.as_str()).collect::<Vec<_>>(), ["5", "4", "3", "2", "1"]);
    assert_eq!(server.asked().len(), 3);
}

#[test]
fn what_cannot_be_reranked_is_refused_before_anyone_is_asked() {
    let server = Server::new(vec![Reply::Answer(good)]);
    let reranking = reranking(&settings(Shape::Jina, &server.url));
    let one = ProxyDocument { id: "x".into(), text: "a".into() };
    let base = ProxyRequest { query: "q".into(), documents: vec![one.clone()], top_n: None };
    let refused = |request: ProxyRequest| rerank(&reranking, &request, &Moment::now()).err().unwrap().code();
    assert_eq!(refused(ProxyRequest { query: " ".into(), ..base.clone() }), Code::Value);
    assert_eq!(refused(ProxyRequest { top_n: Some(0), ..base.clone() }), Code::Value);
    let many = vec![one; MOST_DOCUMENTS + 1];
    assert_eq!(refused(ProxyRequest { documents: many, ..base.clone() }), Code::TooLarge);
    assert_eq!(refused(ProxyRequest { query: "q".repeat(100_001), ..base.clone() }), Code::TooLarge);
    let none = ProxyRequest { documents: Vec::new(), ..base };
    assert!(rerank(&reranking, &none, &Moment::now()).unwrap().results.is_empty());
    assert!(server.asked().is_empty());
}

#[test]
fn a_service_that_fails_is_an_error_without_its_address() {
    let server = Server::new(vec![Reply::Status(500, "")]);
    let reranking = reranking(&settings(Shape::Jina, &server.url));
    let document = ProxyDocument { id: "x".into(), text: "a".into() };
    let request = ProxyRequest { query: "q".into(), documents: vec![document], top_n: None };
    let failure = rerank(&reranking, &request, &Moment::now()).err().unwrap();
    assert_eq!(
        (failure.code(), failure.to_string()),
        (Code::Unavailable, "`judge`: it answered 500".to_owned())
    );
}
