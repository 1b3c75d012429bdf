//! `/v1/search` and `/v1/fuse`.

use mainstem::query::{Engine, Request, Settings};
use mainstem_core::time::Moment;
use serde_json::{Map, Value, json};

use crate::client::{Server, ids};

const NOW: &str = "2026-02-01T00:00:00Z";

#[test]
fn the_answer_is_that_of_the_library_to_the_byte() {
    let server = Server::filled();
    let store = server.running.app.store.clone();
    let engine = Engine::new(store, None, Settings::default());
    let mut request = Request::new("rollback job");
    request.now = Some(Moment::parse(NOW).unwrap());
    let expected = serde_json::to_string(&engine.search(&request).unwrap()).unwrap();
    let answer = server.post("/v1/search", &json!({"query": "rollback job", "now": NOW}));
    assert_eq!(answer.text, expected);
    assert_eq!(ids(&answer.json()).len(), 2);
}

#[test]
fn every_field_of_a_request_counts() {
    let server = Server::filled();
    let found = |ask: Value| ids(&server.search(&ask)).into_iter().map(str::to_owned).collect::<Vec<_>>();
    let both = found(json!({"query": "rollback job", "now": NOW}));
    assert_eq!(both.len(), 2);
    assert_eq!(found(json!({"query": "rollback", "sources": ["chat"], "now": NOW})), ["chat/1#0"]);
    assert_eq!(found(json!({"query": "rollback", "kinds": ["slack"], "now": NOW})), ["chat/1#0"]);
    assert_eq!(found(json!({"query": "rollback", "since": "10d", "now": NOW})), ["chat/1#0"]);
    assert_eq!(found(json!({"query": "rollback", "until": "2026-01-15", "now": NOW})), ["wiki/release#0"]);
    assert_eq!(
        found(json!({"query": "rollback", "where": {"status": "open"}, "now": NOW})),
        ["wiki/release#0"]
    );
    assert_eq!(found(json!({"query": "zebra", "variants": ["lunch"], "now": NOW})), ["chat/2#0"]);
    assert_eq!(found(json!({"query": "rollback job", "k": 1, "page": 2, "now": NOW})), both[1..]);
    assert_eq!(found(json!({"query": "rollback job", "k": 1, "offset": 1, "now": NOW})), both[1..]);
    assert!(found(json!({"query": "salaries", "reader": "bob"})).is_empty());
    assert_eq!(found(json!({"query": "salaries", "reader": "ann"})), ["wiki/pay#0"]);
    let rrf = server.search(
        &json!({"query": "rollback", "pipeline": {"fuse": {"method": "rrf"}}, "channels": ["lexical"]}),
    );
    assert!(rrf["status"]["formula"].as_str().unwrap().contains("60 + rank"), "{}", rrf["status"]);
    let explained = server.search(&json!({"query": "rollback", "explain": true, "why_not": "wiki/pay#0",
        "deadline": {"soft_ms": 1000, "hard_ms": 5000}}));
    assert!(explained["alternatives"].is_array());
    assert_eq!(explained["why_not"]["fate"], "unknown");
}

/// The description says between which numbers a time lies.
#[test]
fn a_clock_may_stand_at_any_time_that_the_description_allows() {
    let server = Server::filled();
    let schema =
        server.get("/openapi.json").json()["components"]["schemas"]["Ask"]["properties"]["now"].clone();
    let numbers = schema["anyOf"].as_array().unwrap().iter().find(|one| one["type"] == "number").unwrap();
    let (first, last) = (numbers["minimum"].as_i64().unwrap(), numbers["maximum"].as_i64().unwrap());
    let status = |now: i64| server.post("/v1/search", &json!({"query": "rollback", "now": now})).status;
    assert_eq!([first, -1, 0, last].map(status), [200; 4]);
    assert_eq!([first - 1, last + 1].map(status), [400; 2]);
}

#[test]
fn hits_are_counted_by_source_on_every_page() {
    let server = Server::filled();
    server.ingest("wiki%2Fold", &[json!({"id": "release", "text": "The old rollback job."})]);
    let all = json!({"chat": 1, "wiki": 1, "wiki/old": 1});
    for page in
        [json!({"k": 10}), json!({"k": 1}), json!({"k": 1, "offset": 2}), json!({"k": 1, "offset": 9})]
    {
        let mut ask = json!({"query": "rollback job", "now": NOW});
        ask.as_object_mut().unwrap().extend(page.as_object().unwrap().clone());
        let answer = server.search(&ask);
        assert_eq!((&answer["by_source"], &answer["total"]), (&all, &json!(3)), "{page}");
    }
    let some = server.search(&json!({"query": "rollback job", "sources": ["chat"]}));
    assert_eq!(some["by_source"], json!({"chat": 1}));
    let hidden = server.search(&json!({"query": "salaries", "reader": "bob"}));
    assert_eq!(hidden["by_source"], json!({}), "what may not be read is not counted");
    assert_eq!(server.search(&json!({"query": "zebra"}))["by_source"], json!({}));
}

#[test]
fn a_vector_of_the_query_searches_by_meaning() {
    let server = Server::new();
    let documents = [
        json!({"id": "a", "text": "first", "vector": [1.0, 0.0]}),
        json!({"id": "b", "text": "second", "vector": [0.0, 1.0]}),
    ];
    server.ingest("v?vectors_model=mine", &documents);
    let answer = server.search(&json!({"vector": [0.1, 1.0], "k": 1}));
    assert_eq!(ids(&answer), ["v/b#0"]);
    let wrong = server.post("/v1/search", &json!({"vector": [1.0], "channels": ["dense"]}));
    assert_eq!(wrong.status, 400, "{}", wrong.text);
    assert!(wrong.text.contains("has 1 dimensions, expected 2"), "{}", wrong.text);
    let words =
        server.post("/v1/search", &json!({"query": "first", "vector": [1.0], "channels": ["lexical"]}));
    assert_eq!(words.status, 200, "what is not searched by meaning needs no vector: {}", words.text);
}

#[test]
fn the_configured_pipeline_applies_unless_the_request_says_otherwise() {
    let pipeline: Map<String, Value> =
        serde_json::from_value(json!({"limit": 1, "fuse": {"method": "rrf"}, "across": "rank"})).unwrap();
    let server = Server::with_pipeline(pipeline, |_| ());
    server.fill();
    let answer = server.search(&json!({"query": "rollback job"}));
    assert_eq!(ids(&answer).len(), 1);
    assert!(answer["status"]["formula"].as_str().unwrap().contains("60 + rank"));
    let other =
        server.search(&json!({"query": "rollback job", "k": 5, "pipeline": {"fuse": {"method": "rsf"}}}));
    assert_eq!(ids(&other).len(), 2);
    assert!(!other["status"]["formula"].as_str().unwrap().contains("60 + rank"));
}

#[test]
fn fuse_is_the_command_over_http() {
    let server = Server::new();
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../recipes/first-look/search.json");
    let input = std::fs::read(path).unwrap();
    let expected = mainstem_core::Replay::from_json(&input).unwrap().run().unwrap();
    let answer = server.post_text("/v1/fuse", input);
    assert_eq!((answer.status, answer.text), (200, serde_json::to_string(&expected).unwrap()));
    let refused = server.post_text("/v1/fuse", "{\"lists\":[\n{\"name\":\"a\",\"weight\":-1,\"items\":[]}]}");
    assert_eq!(refused.error(), (400, "E0201".to_owned()));
    assert!(refused.text.contains("line 2"), "{}", refused.text);
}
