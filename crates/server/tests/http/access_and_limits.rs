//! Capacity, slow clients, CORS, compression, ids of requests, metrics.

use std::io::{Read as _, Write as _};
use std::sync::Arc;

use mainstem_server::config::{Origins, Seconds};
use mainstem_server::run::start;
use mainstem_server::{ServerConfig, Setup};
use serde_json::json;

use crate::client::Server;

#[test]
fn over_capacity_is_refused_at_once() {
    let server = Server::with(|config| (config.searches, config.writes) = (2, 1));
    let app = &server.running.app;
    let slots = [app.search_slot().unwrap(), app.search_slot().unwrap()];
    let refused = server.post("/v1/search", &json!({"query": "x"}));
    assert_eq!(
        (refused.error(), &refused.headers["retry-after"]),
        ((503, "E0407".to_owned()), &"1".parse().unwrap())
    );
    assert_eq!(server.get("/healthz").status, 200, "the rest goes on");
    drop(slots);
    assert_eq!(server.post("/v1/search", &json!({"query": "x"})).status, 200);
    let slot = app.write_slot().unwrap();
    assert_eq!(server.put("/v1/sources/a/documents", "{}").error(), (503, "E0407".to_owned()));
    assert_eq!(server.delete("/v1/sources/a/documents/b").error(), (503, "E0407".to_owned()));
    drop(slot);
    let metrics = server.get("/metrics").text;
    assert!(metrics.contains("mainstem_refused_total{limit=\"searches\"} 1"), "{metrics}");
    assert!(metrics.contains("mainstem_refused_total{limit=\"writes\"} 2"), "{metrics}");
    assert_eq!(app.running(), (0, 0));
}

#[test]
fn a_connection_that_is_refused_again_and_again_stays_open() {
    let server = Server::with(|config| config.searches = 1);
    let slot = server.running.app.search_slot().unwrap();
    let mut stream = server.connect();
    let mut ask = || {
        let body = r#"{"query":"x"}"#;
        let head = "POST /v1/search HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length:";
        stream.write_all(format!("{head} {}\r\n\r\n{body}", body.len()).as_bytes()).unwrap();
        let (mut answer, mut part) = (String::new(), [0; 4096]);
        // The body of either answer ends with an object in an object.
        while !answer.ends_with("}}") {
            let read = stream.read(&mut part).unwrap();
            assert!(read > 0, "the server hung up after {answer}");
            answer.push_str(std::str::from_utf8(&part[..read]).unwrap());
        }
        answer["HTTP/1.1 ".len()..][..3].to_owned()
    };
    assert_eq!([ask(), ask(), ask(), ask(), ask(), ask()], ["503"; 6]);
    drop(slot);
    assert_eq!([ask(), ask()], ["200"; 2]);
}

#[test]
fn more_connections_than_allowed_are_told_so() {
    let server = Server::with(|config| config.connections = 1);
    let mut first = server.connect();
    first.write_all(b"GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n").unwrap();
    let mut seen = [0; 12];
    first.read_exact(&mut seen).unwrap();
    assert_eq!(&seen, b"HTTP/1.1 200");
    let mut second = String::new();
    // The refusal comes without being asked.
    server.connect().read_to_string(&mut second).unwrap();
    assert!(
        second.starts_with("HTTP/1.1 503") && second.contains("retry-after: 1") && second.contains("E0407"),
        "{second}"
    );
}

#[test]
fn slow_clients_are_given_up() {
    let server = Server::with(|config| {
        config.header_timeout = Seconds(std::time::Duration::from_millis(200));
        config.body_timeout = Seconds(std::time::Duration::from_millis(200));
    });
    let head = server.raw(b"POST /v1/search HTTP/1.1\r\nhost: x\r\n");
    assert!(head.is_empty() || head.starts_with(b"HTTP/1.1 408"), "{}", String::from_utf8_lossy(&head));
    let body = server.raw(b"POST /v1/search HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 10\r\n\r\n{");
    let body = String::from_utf8(body).unwrap();
    assert!(body.starts_with("HTTP/1.1 408") && body.contains("E0403"), "{body}");
    let bulk = server.raw(
        b"PUT /v1/sources/s/documents HTTP/1.1\r\nhost: x\r\ncontent-type: application/x-ndjson\r\ncontent-length: 100\r\n\r\n{\"id\":",
    );
    let bulk = String::from_utf8(bulk).unwrap();
    assert!(bulk.contains("\"done\":false") && bulk.contains("E0403"), "{bulk}");
}

#[test]
fn a_client_that_does_not_read_loses_its_connection() {
    let server = Server::with(|config| {
        config.write_timeout = Seconds(std::time::Duration::from_millis(100));
        config.connections = 1;
    });
    let mut deaf = server.connect();
    deaf.set_write_timeout(Some(std::time::Duration::from_millis(500))).unwrap();
    // More answers than the buffers of both sides hold; the server stops taking requests when they are full.
    while deaf.write_all(b"GET /openapi.json HTTP/1.1\r\nhost: x\r\n\r\n").is_ok() {}
    let let_in = || {
        let mut stream = server.connect();
        let _ = stream.write_all(b"GET /healthz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).is_ok() && answer.starts_with("HTTP/1.1 200")
    };
    let tries = std::iter::repeat_with(|| {
        std::thread::sleep(std::time::Duration::from_millis(20));
        let_in()
    });
    assert!(tries.take(1000).any(|in_time| in_time), "the place was never free again");
    drop(deaf);
}

#[test]
fn other_origins_are_let_in_by_configuration_only() {
    let ask = |server: &Server, method: &str| {
        let request = format!(
            "{method} /v1/sources HTTP/1.1\r\nhost: x\r\nconnection: close\r\norigin: https://app.example\r\n\
             access-control-request-method: GET\r\n\r\n"
        );
        String::from_utf8(server.raw(request.as_bytes())).unwrap()
    };
    let closed = Server::new();
    assert!(!ask(&closed, "GET").contains("access-control-allow-origin"));
    let open = Server::with(|config| config.cors_origins = Origins(vec!["https://app.example".to_owned()]));
    for method in ["GET", "OPTIONS"] {
        let answer = ask(&open, method);
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        assert!(answer.contains("access-control-allow-origin: https://app.example"), "{answer}");
    }
    let other =
        Server::with(|config| config.cors_origins = Origins(vec!["https://other.example".to_owned()]));
    assert!(!ask(&other, "GET").contains("access-control-allow-origin"));
}

#[test]
fn answers_are_packed_for_those_who_ask() {
    let get = |server: &Server, headers: &str| {
        let request = format!("GET /openapi.json HTTP/1.1\r\nhost: x\r\nconnection: close\r\n{headers}\r\n");
        server.raw(request.as_bytes())
    };
    let server = Server::new();
    let (plain, packed) = (get(&server, ""), get(&server, "accept-encoding: gzip\r\n"));
    assert!(String::from_utf8_lossy(&packed).contains("content-encoding: gzip"));
    assert!(packed.len() * 2 < plain.len(), "{} of {}", packed.len(), plain.len());
    let off = Server::with(|config| config.compression = false);
    assert!(!String::from_utf8_lossy(&get(&off, "accept-encoding: gzip\r\n")).contains("content-encoding"));
}

#[test]
fn every_answer_has_the_id_of_its_request() {
    let server = Server::new();
    let made = server.get("/nothing").headers["x-request-id"].clone();
    assert!(!made.is_empty() && made != server.get("/nothing").headers["x-request-id"]);
    let given =
        server.raw(b"GET /healthz HTTP/1.1\r\nhost: x\r\nx-request-id: my-id.1\r\nconnection: close\r\n\r\n");
    assert!(String::from_utf8_lossy(&given).contains("x-request-id: my-id.1"));
    let evil =
        server.raw(b"GET /healthz HTTP/1.1\r\nhost: x\r\nx-request-id: a{b}\r\nconnection: close\r\n\r\n");
    assert!(!String::from_utf8_lossy(&evil).contains("a{b}"));
}

#[test]
fn searches_are_measured() {
    let server = Server::filled();
    server.search(&json!({"query": "rollback"}));
    let metrics = server.get("/metrics");
    assert!(metrics.headers["content-type"].to_str().unwrap().starts_with("application/openmetrics-text"));
    for expected in [
        "mainstem_search_seconds_count 1",
        "mainstem_search_stage_seconds_count{stage=\"retrieve\"} 1",
        "mainstem_search_stage_seconds_count{stage=\"rank\"} 1",
        "mainstem_search_leg_seconds_count{channel=\"lexical\"} 1",
        "mainstem_http_requests_total{route=\"/v1/search\",method=\"POST\",status=\"200\"} 1",
        "mainstem_documents_written_total 5",
        "mainstem_searches_running 0",
        "mainstem_searches_partial_total 0",
    ] {
        assert!(metrics.text.contains(expected), "{expected} is not in\n{}", metrics.text);
    }
}

#[test]
fn an_address_that_others_reach_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let store = Arc::new(mainstem::store::EmbeddedStore::init(folder.path()).unwrap());
    let config = ServerConfig { address: "0.0.0.0:0".parse().unwrap(), ..ServerConfig::default() };
    let setup = Setup {
        store,
        settings: mainstem::query::Settings::default(),
        pipeline: serde_json::Map::new(),
        reranking: None,
        config,
        keys: false,
        asker: None,
        link: mainstem_core::link::LinkSettings::default(),
    };
    let error = start(setup).err().unwrap();
    assert_eq!(error.code.as_str(), "E0205");
}
