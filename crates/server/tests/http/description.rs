//! `/openapi.json` and `/docs` describe what is there.

use std::collections::BTreeSet;

use mainstem_client::{Client, Patience, Search};
use mainstem_core::contract::Channel;
use serde_json::{Value, json};

use crate::client::Server;

#[test]
fn every_route_is_described_and_answers() {
    let server = Server::filled();
    let description = server.get("/openapi.json").json();
    assert_eq!(description, mainstem_server::routes::openapi());
    assert_eq!(description["openapi"], "3.1.0");
    let mut paths: Vec<_> = description["paths"].as_object().unwrap().keys().map(String::as_str).collect();
    paths.sort_unstable();
    assert_eq!(
        paths,
        [
            "/healthz",
            "/metrics",
            "/readyz",
            "/v1/ask",
            "/v1/documents/{document}",
            "/v1/documents/{document}/related",
            "/v1/fuse",
            "/v1/links/runs",
            "/v1/links/runs/{id}",
            "/v1/record",
            "/v1/reports",
            "/v1/rerank",
            "/v1/search",
            "/v1/sources",
            "/v1/sources/{source}/documents",
            "/v1/sources/{source}/documents/{id}",
        ]
    );
    for path in ["/healthz", "/readyz", "/metrics", "/v1/sources"] {
        assert_eq!(server.get(path).status, 200, "{path}");
    }
}

#[test]
fn every_reference_of_the_description_leads_somewhere() {
    fn references<'a>(value: &'a Value, found: &mut Vec<&'a str>) {
        match value {
            Value::Object(fields) => {
                found.extend(fields.get("$ref").and_then(Value::as_str));
                fields.values().for_each(|value| references(value, found));
            }
            Value::Array(list) => list.iter().for_each(|value| references(value, found)),
            _ => {}
        }
    }
    let description = mainstem_server::routes::openapi();
    let mut found = Vec::new();
    references(&description, &mut found);
    assert!(found.len() > 20);
    for reference in found {
        assert!(description.pointer(reference.strip_prefix('#').unwrap()).is_some(), "{reference}");
    }
}

/// The fields of a value are those of its schema: none that is not described, none left out that is required.
#[track_caller]
fn keeps_to(description: &Value, name: &str, value: &Value) {
    let schema = &description["components"]["schemas"][name];
    let described = schema["properties"].as_object().unwrap();
    for field in value.as_object().unwrap().keys() {
        assert!(described.contains_key(field), "`{field}` of {name} is not described");
    }
    for field in schema["required"].as_array().into_iter().flatten() {
        assert!(value.get(field.as_str().unwrap()).is_some(), "{field} of {name} is missing");
    }
}

#[test]
fn answers_are_as_described() {
    let server = Server::filled();
    let description = server.get("/openapi.json").json();
    let check = |name: &str, value: &Value| keeps_to(&description, name, value);
    let answer = server.search(&json!({"query": "rollback", "explain": true, "why_not": "wiki/pay#0"}));
    check("SearchAnswer", &answer);
    check("SearchHit", &answer["hits"][0]);
    check("Status", &answer["status"]);
    check("Fuse", &server.post("/v1/record", &json!({"query": "rollback"})).json());
    check("Reports", &server.get("/v1/reports").json());
    check("Source", &server.get("/v1/sources").json()["sources"][0]);
    check("Document", &server.get("/v1/documents/wiki/release").json());
    check("RelatedDocuments", &server.get("/v1/documents/wiki/release/related").json());
    let outcome = server.post("/v1/links/runs", &json!({"least": 0.0})).json();
    check("LinkRunOutcome", &outcome);
    check("LinkRun", &outcome["run"]);
    check("LinkSettings", &outcome["run"]["settings"]);
    check("LinkChanges", &outcome["changes"]);
    check("Link", &outcome["links"][0]);
    check("LinkEnd", &outcome["links"][0]["a"]);
    check("LinkEvidence", &outcome["links"][0]["evidence"]);
    check("LinkFound", &outcome["links"][0]["evidence"]["found"][0]);
    check("LinkRuns", &server.get("/v1/links/runs").json());
    check("EndedLinkRun", &server.get("/v1/links/runs").json()["ended"]);
    let run = format!("/v1/links/runs/{}", outcome["run"]["id"].as_str().unwrap());
    check("LinkRunWithLinks", &server.get(&run).json());
    let related = server.get("/v1/documents/wiki/release/related?among=true").json();
    check("RelatedDocuments", &related);
    check("LinkedDocument", &related["links"][0]);
    check("UndoneLinkRun", &server.delete(&run).json());
    check("ErrorBody", &server.get("/nothing").json());
    check("ErrorDetails", &server.get("/nothing").json()["error"]);
    let fused = server.post("/v1/fuse", &json!({"lists": [{"name": "a", "items": [{"id": "x"}]}]})).json();
    check("FuseAnswer", &fused);
    check("FusedHit", &fused["hits"][0]);
    let bulk = server.put("/v1/sources/wiki/documents", "{\"id\":\"x\",\"text\":\"y\"}\nno\n").lines();
    check("LineResult", &bulk[0]);
    check("LineResult", &bulk[1]);
    check("BulkSummary", &bulk[2]);
}

#[test]
fn the_client_knows_every_field_that_the_server_takes_and_gives() {
    let server = Server::filled();
    let client = Client::new(&server.url(""), None).unwrap();
    let search = Search {
        query: "rollback".into(),
        variants: vec!["release".into()],
        vector: Some(vec![1.0, 0.0]),
        sources: Some(vec!["wiki".into(), "chat".into()]),
        kinds: Some(vec!["slack".into(), "documents".into()]),
        channels: Some(vec![Channel::Lexical]),
        since: Some("2020-01-01".into()),
        until: Some("2030-01-01".into()),
        metadata: [("status".to_owned(), "open".to_owned())].into_iter().collect(),
        reader: Some("ann".into()),
        k: Some(3),
        offset: Some(0),
        pipeline: json!({"dedup": null}).as_object().unwrap().clone(),
        explain: true,
        why_not: Some("wiki/pay#0".into()),
        deadline: Some(Patience { soft_ms: 20_000, hard_ms: 20_000 }),
        now: Some(serde_json::from_value(json!("2026-02-01")).unwrap()),
    };
    let description = mainstem_server::routes::openapi();
    let taken = |name: &str| -> BTreeSet<String> {
        description["components"]["schemas"][name]["properties"]
            .as_object()
            .unwrap()
            .keys()
            .cloned()
            .collect()
    };
    let mut sent: BTreeSet<String> =
        serde_json::to_value(&search).unwrap().as_object().unwrap().keys().cloned().collect();
    // The client says `offset`, of which a page is another way to speak.
    sent.insert("page".into());
    assert_eq!(sent, taken("Ask"));
    let patience = serde_json::to_value(search.deadline).unwrap();
    assert_eq!(patience.as_object().unwrap().keys().cloned().collect::<BTreeSet<_>>(), taken("Patience"));

    // What comes back is the same after it went through the types of the client.
    let plain = Search {
        now: search.now.clone(),
        explain: true,
        why_not: search.why_not.clone(),
        ..Search::new("rollback")
    };
    for search in [search, plain] {
        let (typed, whole) = (client.search(&search).unwrap(), client.search_json(&search).unwrap());
        let mut again = serde_json::to_value(&typed).unwrap();
        // The server writes that no rule fired.
        again["status"].as_object_mut().unwrap().entry("route").or_insert(Value::Null);
        assert_eq!(again, whole);
    }
    let related = client.related("wiki/release", 3, &[]).unwrap();
    assert!(!related.related.is_empty());
    let whole = server.get("/v1/documents/wiki/release/related?k=3").json();
    assert_eq!(serde_json::to_value(&related).unwrap(), whole);
    let sources = server.get("/v1/sources").json()["sources"].clone();
    assert_eq!(serde_json::to_value(client.sources().unwrap()).unwrap(), sources);
    let document = client.document("wiki/release").unwrap();
    let again = serde_json::to_value(&document).unwrap();
    for (name, value) in server.get("/v1/documents/wiki/release").json().as_object().unwrap() {
        if name != "chunks" {
            assert_eq!(&again[name], value, "{name}");
        }
    }
}

#[test]
fn the_page_asks_nobody_else() {
    let server = Server::new();
    let page = server.get("/docs");
    assert_eq!(page.status, 200);
    assert!(page.headers["content-security-policy"].to_str().unwrap().contains("default-src 'none'"));
    for outside in ["http://", "https://", "src=", "@import", "url("] {
        assert!(!page.text.contains(outside), "the page has `{outside}`");
    }
}

/// The examples of the description are as it says itself.
#[test]
fn examples_keep_to_their_shapes() {
    let description = mainstem_server::routes::openapi();
    let mut checked = 0;
    for (path, operations) in description["paths"].as_object().unwrap() {
        for (method, operation) in operations.as_object().unwrap() {
            let answers = operation["responses"].as_object().unwrap().values();
            for content in answers.chain([&operation["requestBody"]]) {
                let content = &content["content"]["application/json"];
                let (Some(example), Some(name)) =
                    (content.get("example"), content["schema"]["$ref"].as_str())
                else {
                    continue;
                };
                keeps_to(&description, name.rsplit('/').next().unwrap(), example);
                assert!(!example.is_null(), "{method} {path}");
                checked += 1;
            }
        }
    }
    assert!(checked >= 5, "{checked}");
}
