//! Whatever a reranker does, the answer is there in time: reranked, or as it was before, and the status says which.

use std::sync::Arc;
use std::time::{Duration, Instant};

use mainstem::query::{Engine, Request, Response, Settings};
use mainstem::rerank::http::Shape;
use mainstem::rerank::{HttpReranker, Reranking, ServiceSettings};
use mainstem::store::EmbeddedStore;
use mainstem_core::contract::Change;
use mainstem_core::deadline::Deadline;
use mainstem_core::status::{StageState, StageStatus};
use mainstem_core::{Chunk, Document};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::server::{Reply, Server};

/// Much longer than any time that a reranker has here, so that a test that waits for it fails clearly.
const FOREVER: Duration = Duration::from_secs(60);

const TEXTS: [&str; 5] = [
    "a fork attacks two pieces at once with one piece",
    "fork fork fork and again a fork",
    "the king walked into a fork",
    "castling moves the king and a rook",
    "a long text about rooks, bishops, pawns and once about a fork, among much else that is of no use",
];

/// A store with a few documents, searched by words, in which five texts speak of forks or kings.
pub(crate) fn store() -> (TempDir, Engine) {
    let folder = tempfile::tempdir().unwrap();
    let store = EmbeddedStore::init(folder.path()).unwrap();
    let document = |(at, text): (usize, &&str)| {
        let chunk = Chunk { text: (*text).to_owned(), ..Chunk::default() };
        Change::Put(Document {
            source: "wiki".into(),
            id: at.to_string(),
            chunks: vec![chunk],
            ..Document::default()
        })
    };
    let changes: Vec<_> = TEXTS.iter().enumerate().map(document).collect();
    store.write(&changes).unwrap();
    (folder, Engine::new(Arc::new(store), None, Settings::default()))
}

pub(crate) fn settings(shape: Shape, url: &str) -> ServiceSettings {
    ServiceSettings::new(shape, url, "judge")
}

/// A search for forks and kings. The legs may take as long as they need.
fn request(pipeline: Value) -> Request {
    let deadline = Some(Deadline { soft: FOREVER, hard: FOREVER });
    Request { pipeline, deadline, ..Request::new("king fork") }
}

fn reranked(engine: Engine, settings: &ServiceSettings, timeout: Duration) -> Engine {
    let reranker = HttpReranker::new(settings).unwrap();
    engine.with_reranker(Some(Reranking::new(Arc::new(reranker), timeout)))
}

fn scores(response: &Response) -> Vec<(&str, u64)> {
    response.hits.iter().map(|hit| (hit.id.as_str(), hit.score.to_bits())).collect()
}

fn stage(response: &Response) -> &StageStatus {
    response.status.stages.iter().find(|stage| stage.stage == "rerank").unwrap()
}

/// Makes an answer from the body of a request.
type Answer = fn(&Value) -> String;

/// The texts of a question, whatever the interface calls them.
fn texts(asked: &Value) -> Vec<&str> {
    let all = asked.get("documents").unwrap_or(&asked["texts"]).as_array().unwrap();
    all.iter().map(|text| text.as_str().unwrap()).collect()
}

/// A good answer: the longer the better, in no order.
fn by_length(asked: &Value) -> Vec<(usize, f64)> {
    texts(asked).iter().enumerate().rev().map(|(at, text)| (at, text.len() as f64 / 1000.0)).collect()
}

fn results(scored: &[(usize, f64)]) -> String {
    let one = |(index, score): &(usize, f64)| json!({"index": index, "relevance_score": score});
    json!({"id": "1", "results": scored.iter().map(one).collect::<Vec<_>>()}).to_string()
}

fn list(scored: &[(usize, f64)]) -> String {
    let one = |(index, score): &(usize, f64)| json!({"index": index, "score": score});
    Value::from(scored.iter().map(one).collect::<Vec<_>>()).to_string()
}

pub(crate) fn good(asked: &Value) -> String {
    results(&by_length(asked))
}

#[test]
fn a_good_answer_reorders_and_the_ledger_gives_the_score() {
    let shapes: [(Shape, &str, Answer); 3] = [
        (Shape::Cohere, "POST /v2/rerank ", good),
        (Shape::Jina, "POST /v1/rerank ", good),
        (Shape::Tei, "POST /rerank ", |asked| list(&by_length(asked))),
    ];
    for (shape, path, answer) in shapes {
        let server = Server::new(vec![Reply::Answer(answer)]);
        let (_folder, engine) = store();
        let engine = reranked(engine, &settings(shape, &server.url), FOREVER);
        let response = engine.search(&request(json!({"rerank": {"replace": true}}))).unwrap();
        let asked = server.asked().remove(0);
        assert!(asked.head.starts_with(path), "{}", asked.head);
        assert_eq!(asked.body["query"], "king fork");
        assert_eq!(texts(&asked.body).len(), 5);
        assert_eq!((stage(&response).state, &stage(&response).reason), (StageState::Ok, &None));
        let lengths: Vec<_> = response.hits.iter().map(|hit| hit.text.len()).collect();
        assert!(lengths.is_sorted_by(|a, b| a >= b) && lengths.len() == 5, "{lengths:?}");
        for hit in &response.hits {
            assert_eq!(hit.ledger.replay().to_bits(), hit.score.to_bits());
        }
    }
}

#[test]
fn only_the_top_is_read_and_only_as_much_as_allowed() {
    let server = Server::new(vec![Reply::Answer(good)]);
    let (_folder, engine) = store();
    let engine = reranked(engine, &settings(Shape::Jina, &server.url), FOREVER);
    let fused = engine.search(&request(Value::Null)).unwrap();
    assert!(server.asked().is_empty(), "without the stage nobody is asked");
    let response = engine.search(&request(json!({"rerank": {"top": 2, "chars": 6, "blend": 0.5}}))).unwrap();
    let asked = server.asked().remove(0);
    assert!(texts(&asked.body).iter().all(|text| text.chars().count() <= 6));
    assert_eq!(texts(&asked.body).len(), 2);
    let order = |response: &Response| response.hits.iter().map(|hit| hit.id.clone()).collect::<Vec<_>>();
    assert_eq!(order(&response)[2..], order(&fused)[2..], "the others keep their order below");
}

/// What a service does, and words of the reason that the status gives.
fn faults() -> Vec<(&'static str, Reply, &'static str)> {
    vec![
        ("500", Reply::Status(500, "out of memory"), "it answered 500: out of memory"),
        ("429", Reply::Status(429, ""), "it answered 429"),
        ("503, come back in an hour", Reply::Header(503, "retry-after: 3600"), "it answered 503"),
        ("wrong key", Reply::Status(401, "no"), "check the key"),
        ("unknown path", Reply::Status(404, "nothing here"), "it answered 404"),
        ("silence", Reply::Silence, ""),
        ("slow trickle", Reply::Trickle, ""),
        ("reset", Reply::HangUp, ""),
        ("breaks off", Reply::BreakOff, ""),
        ("no JSON", Reply::Status(200, "<html>busy</html>"), "not as expected"),
        ("no results", Reply::Status(200, "{}"), "not as expected"),
        ("empty", Reply::Status(200, ""), "not as expected"),
        ("NaN", Reply::Answer(|asked| good(asked).replacen("0.0", "NaN", 1)), "not as expected"),
        ("infinite", Reply::Answer(|asked| good(asked).replacen("0.0", "1e999", 1)), "cannot be used"),
        (
            "null",
            Reply::Answer(|asked| good(asked).replacen("0.0", "null, \"x\": 0.0", 1)),
            "not as expected",
        ),
        ("too few", Reply::Answer(|asked| results(&by_length(asked)[1..])), "expected 5 scores, received 4"),
        ("none", Reply::Answer(|_| results(&[])), "expected 5 scores, received 0"),
        (
            "too many",
            Reply::Answer(|asked| results(&[by_length(asked), vec![(5, 0.1)]].concat())),
            "received 6",
        ),
        (
            "wrong index",
            Reply::Answer(|asked| results(&[&by_length(asked)[1..], &[(7, 0.1)]].concat())),
            "one for 7",
        ),
        (
            "twice",
            Reply::Answer(|asked| results(&[&by_length(asked)[1..], &[(0, 0.1)]].concat())),
            "received two",
        ),
        ("negative index", Reply::Answer(|asked| good(asked).replacen("\"index\":4", "\"index\":-4", 1)), ""),
        ("huge", Reply::Huge(3 << 20), "at most 1024 KiB"),
        ("unpacks to a gigabyte", Reply::Bomb(1024), "at most 1024 KiB"),
    ]
}

#[test]
fn faults_leave_the_fused_answer_as_it_is() {
    let (_folder, engine) = store();
    let fused = engine.search(&request(Value::Null)).unwrap();
    let lowest = fused.hits.last().unwrap().score;
    for (name, reply, reason) in faults() {
        let patience = match reply {
            Reply::Silence | Reply::Trickle | Reply::HangUp | Reply::BreakOff => Duration::from_millis(200),
            _ => FOREVER / 4,
        };
        let server = Server::new(vec![reply]);
        let service = ServiceSettings { timeout: 10.0, ..settings(Shape::Cohere, &server.url) };
        let engine = reranked(engine.clone(), &service, patience);
        let started = Instant::now();
        // A least score on the fused scale: a fallback on another one would fall under it.
        let stages = json!({"rerank": {}, "min_score": lowest});
        let response = engine.search(&request(stages)).unwrap();
        assert!(started.elapsed() < FOREVER / 2, "{name}: the search waited");
        assert_eq!(scores(&response), scores(&fused), "{name}");
        let stage = stage(&response);
        assert_eq!(stage.state, StageState::Failed, "{name}");
        let said = stage.reason.as_deref().unwrap();
        assert!(said.contains("`judge`: ") && said.contains(reason), "{name}: {said}");
        assert!(!said.contains("127.0.0.1"), "{name}: {said}");
    }
}

#[test]
fn a_service_that_is_not_there_leaves_the_fused_answer_as_it_is() {
    let (_folder, engine) = store();
    let fused = engine.search(&request(Value::Null)).unwrap();
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let service = ServiceSettings { retries: 0, ..settings(Shape::Tei, &format!("http://{free}")) };
    let engine = reranked(engine, &service, FOREVER / 4);
    let response = engine.search(&request(json!({"rerank": {}}))).unwrap();
    assert_eq!(scores(&response), scores(&fused));
    assert_eq!(stage(&response).reason.as_deref(), Some("`judge`: it cannot be reached"));
}

#[test]
fn only_what_was_surely_not_worked_on_is_asked_again() {
    let again = [Reply::Status(429, ""), Reply::Header(503, "retry-after: 0"), Reply::HangUp];
    let once = [Reply::Status(500, ""), Reply::Status(502, ""), Reply::BreakOff, Reply::Status(200, "{}")];
    let ask = |first: Reply| {
        let server = Server::new(vec![first, Reply::Answer(good)]);
        let (_folder, engine) = store();
        let engine = reranked(engine, &settings(Shape::Jina, &server.url), FOREVER / 4);
        let response = engine.search(&request(json!({"rerank": {}}))).unwrap();
        (server.asked().len(), stage(&response).state)
    };
    for first in again {
        assert_eq!(ask(first), (2, StageState::Ok));
    }
    for first in once {
        assert_eq!(ask(first), (1, StageState::Failed));
    }
}

#[test]
fn nothing_found_is_nothing_to_rerank() {
    let server = Server::new(vec![Reply::Answer(good)]);
    let (_folder, engine) = store();
    let engine = reranked(engine, &settings(Shape::Jina, &server.url), FOREVER / 4);
    let asked = Request { query: "zeppelin".into(), ..request(json!({"rerank": {}})) };
    let response = engine.search(&asked).unwrap();
    assert!(response.hits.is_empty() && server.asked().is_empty());
    assert!(response.status.stages.iter().all(|stage| stage.state == StageState::Ok));
}

#[test]
fn explanations_say_what_would_have_been_first_without_it() {
    let server = Server::new(vec![Reply::Answer(good)]);
    let (_folder, engine) = store();
    let engine = reranked(engine, &settings(Shape::Jina, &server.url), FOREVER / 4);
    let fused = engine.search(&request(Value::Null)).unwrap();
    let stages = json!({"rerank": {"replace": true}});
    let response = engine.search(&Request { alternatives: true, ..request(stages) }).unwrap();
    assert_ne!(response.hits[0].id, fused.hits[0].id);
    let others = response.alternatives.unwrap();
    let without = others.iter().find(|other| other.name == "without the reranker").unwrap();
    assert_eq!(without.first.as_ref(), Some(&fused.hits[0].id));
}
