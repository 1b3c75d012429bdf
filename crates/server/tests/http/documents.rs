//! Sources and single documents.

use serde_json::json;

use crate::client::Server;

#[test]
fn sources_say_what_they_hold() {
    let server = Server::filled();
    let sources = server.get("/v1/sources").json();
    let rows: Vec<_> = sources["sources"]
        .as_array()
        .unwrap()
        .iter()
        .map(|source| {
            (
                source["name"].as_str().unwrap(),
                source["kind"].as_str().unwrap(),
                source["documents"].as_u64().unwrap(),
            )
        })
        .collect();
    assert_eq!(rows, [("chat", "slack", 2), ("wiki", "documents", 3)]);
}

#[test]
fn a_document_is_found_by_its_name_whatever_is_in_it() {
    let server = Server::filled();
    for path in [
        "/v1/documents/wiki/guides/a%20b",
        "/v1/documents/wiki%2Fguides%2Fa%20b",
        "/v1/documents/guides/a%20b?source=wiki",
        "/v1/documents/guides%2Fa%20b?source=wiki",
    ] {
        let answer = server.get(path);
        assert_eq!((answer.status, &answer.json()["id"]), (200, &json!("guides/a b")), "{path}");
        assert!(!answer.text.contains("vector"));
    }
    assert_eq!(server.get("/v1/documents/wiki/nothing").error(), (404, "E0401".to_owned()));
    assert_eq!(server.get("/v1/documents/release").error(), (404, "E0401".to_owned()));
    assert_eq!(server.get("/v1/documents/wiki/release?sauce=x").error(), (400, "E0101".to_owned()));
    assert_eq!(server.get("/v1/documents/wiki/pay?reader=bob").status, 404);
    assert_eq!(server.get("/v1/documents/wiki/pay?reader=ann").status, 200);
}

#[test]
fn what_is_like_a_document_comes_with_its_reason() {
    let server = Server::filled();
    let answer = server.get("/v1/documents/chat/1/related?k=3").json();
    let first = &answer["related"][0];
    assert_eq!(
        (&answer["document"], &first["source"], &first["document"]),
        (&json!("chat/1"), &json!("wiki"), &json!("release"))
    );
    assert_eq!(first["reason"]["channel"], "lexical");
    assert_eq!(
        (&first["reason"]["from"], &first["reason"]["to"]),
        (&json!("chat/1#0"), &json!("wiki/release#0"))
    );
    assert!(
        answer["related"].as_array().unwrap().iter().all(|other| other["document"] != "1"),
        "never itself"
    );
    let narrow = server.get("/v1/documents/chat/1/related?sources=chat").json();
    assert!(narrow["related"].as_array().unwrap().iter().all(|other| other["source"] == "chat"));
    assert_eq!(server.get("/v1/documents/chat/1/related?sources=nope").error().1, "E0204");
    assert_eq!(server.get("/v1/documents/chat/1/related?k=0").error().0, 400);
}

#[test]
fn documents_with_vectors_are_compared_by_meaning() {
    let server = Server::new();
    let documents = [
        json!({"id": "a", "text": "alpha", "vector": [1.0, 0.0, 0.0]}),
        json!({"id": "b", "text": "alpha", "vector": [0.0, 1.0, 0.0]}),
        json!({"id": "c/related", "text": "gamma", "vector": [0.9, 0.1, 0.0]}),
    ];
    server.ingest("v", &documents);
    let answer = server.get("/v1/documents/v/a/related").json();
    let order: Vec<_> =
        answer["related"].as_array().unwrap().iter().map(|one| one["document"].as_str().unwrap()).collect();
    assert_eq!(order, ["c/related", "b"]);
    assert_eq!(answer["related"][0]["reason"]["channel"], "dense");
    assert_eq!(
        server.get("/v1/documents/v/c%2Frelated").json()["text"],
        "gamma",
        "an encoded slash is part of the id"
    );
}

#[test]
fn a_deleted_document_is_gone_at_once() {
    let server = Server::filled();
    let path = "/v1/sources/wiki/documents/guides/a%20b";
    let answer = server.delete(path);
    assert_eq!((answer.status, answer.json()), (200, json!({"removed": 1})));
    assert_eq!(server.delete(path).error(), (404, "E0401".to_owned()));
    assert_eq!(server.get("/v1/documents/wiki/guides/a%20b").status, 404);
    assert_eq!(server.search(&json!({"query": "slash"}))["total"], 0);
}
