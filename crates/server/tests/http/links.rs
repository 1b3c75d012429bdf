//! Links: looking for them, reading them, and taking them back.

use std::io::{Read as _, Write as _};
use std::sync::Arc;
use std::time::Duration;

use mainstem::store::EmbeddedStore;
use mainstem_client::{Client, LinkRequest, RunEnd};
use mainstem_core::link::Edges as _;
use serde_json::{Value, json};

use crate::client::Server;

/// Pages of two sources, of which each has its copy in the other.
fn twins(count: usize) -> Server {
    let server = Server::new();
    let topics = ["invoices", "rollbacks", "hiring", "holidays", "printers", "backups", "travel"];
    let page = |source: &str, at: usize| {
        let topic = topics[at % topics.len()];
        let text =
            format!("{topic} number{at}: how we handle {topic} of case{at} with form{at} and rule{at}");
        json!({"id": format!("{source}-{at}"), "title": format!("{topic} {at}"), "text": text, "url": format!("https://{source}.example/{at}")})
    };
    for source in ["docs", "wiki"] {
        let pages: Vec<Value> = (0..count).map(|at| page(source, at)).collect();
        server.ingest(source, &pages);
    }
    server
}

#[track_caller]
fn linked(server: &Server, body: &Value) -> Value {
    let answer = server.post("/v1/links/runs", body);
    assert_eq!(answer.status, 201, "{}", answer.text);
    answer.json()
}

#[test]
fn a_run_is_kept_read_and_taken_back() {
    let server = twins(12);
    let outcome = linked(&server, &json!({"per_document": 1, "within": false, "k": 3}));
    let (run, id) = (&outcome["run"], outcome["run"]["id"].as_str().unwrap());
    assert_eq!((&run["sources"], &run["documents"]), (&json!(["docs", "wiki"]), &json!(24)));
    assert_eq!((&run["undone_at"], &run["undoable"]), (&Value::Null, &json!(true)));
    assert_eq!((&outcome["dry_run"], outcome["links"].as_array().unwrap().len()), (&json!(false), 3));
    let edges = run["edges"].as_u64().unwrap();
    assert!(edges >= 12, "each has its copy: {outcome}");
    assert_eq!(outcome["changes"], json!({"added": edges, "kept": 0, "changed": 0, "missed": 0}));

    let runs = server.get("/v1/links/runs").json();
    assert_eq!((&runs["runs"][0]["id"], &runs["running"]), (&json!(id), &Value::Null));
    assert_eq!((&runs["ended"]["id"], &runs["ended"]["state"]), (&json!(id), &json!("done")));

    let page =
        |k: usize, offset: usize| server.get(&format!("/v1/links/runs/{id}?k={k}&offset={offset}")).json();
    let all = page(1000, 0);
    assert_eq!((all["links"].as_array().unwrap().len() as u64, &all["more"]), (edges, &json!(false)));
    assert_eq!((&all["links"][0], &all["links"][2]), (&outcome["links"][0], &outcome["links"][2]));
    let (first, second) = (page(5, 0), page(5, 5));
    assert_eq!((&first["more"], &first["links"][4]), (&json!(true), &all["links"][4]));
    assert_eq!(second["links"][0], all["links"][5]);
    let scores: Vec<f64> =
        all["links"].as_array().unwrap().iter().map(|link| link["score"].as_f64().unwrap()).collect();
    assert!(scores.is_sorted_by(|a, b| a >= b), "{scores:?}");

    let related = server.get("/v1/documents/wiki/wiki-3/related").json();
    let link = &related["links"][0];
    assert_eq!((&link["source"], &link["document"]), (&json!("docs"), &json!("docs-3")));
    assert_eq!((&link["title"], &link["url"]), (&json!("holidays 3"), &json!("https://docs.example/3")));
    assert_eq!((&link["run"], &link["stale"]), (&json!(id), &json!(false)));
    assert_eq!(
        link["evidence"]["from"], "wiki/wiki-3#0",
        "it is seen from the document that was asked about"
    );
    let reason = link["reason"].as_str().unwrap();
    assert!(reason.contains("chunk 0 of `wiki/wiki-3` and chunk 0 of `docs/docs-3`; found by "), "{reason}");

    let undone = server.delete(&format!("/v1/links/runs/{id}"));
    assert_eq!((undone.status, undone.json()), (200, json!({"removed": edges, "kept": 0})));
    assert_eq!(server.get("/v1/documents/wiki/wiki-3/related").json()["links"], json!([]));
    assert_eq!(server.delete(&format!("/v1/links/runs/{id}")).error(), (404, "E0401".to_owned()));
    let after = server.get(&format!("/v1/links/runs/{id}"));
    assert_eq!(after.error(), (404, "E0401".to_owned()));
    assert!(after.text.contains("was undone"), "{}", after.text);
    let listed = server.get("/v1/links/runs").json()["runs"][0].clone();
    assert!(listed["undone_at"].is_string() && listed["undoable"] == false, "{listed}");
    assert_eq!(server.delete("/v1/links/runs/nothing").error(), (404, "E0401".to_owned()));
    assert_eq!(server.get("/v1/links/runs/nothing").error(), (404, "E0401".to_owned()));
}

#[test]
fn links_are_of_the_sources_that_are_wanted() {
    let server = twins(8);
    linked(&server, &json!({"least": 0.0, "words": 0.0, "per_document": 12}));
    let links = |more: &str| server.get(&format!("/v1/documents/wiki/wiki-1/related?{more}")).json();
    let sources = |answer: &Value| -> Vec<String> {
        let all = answer["links"].as_array().unwrap();
        all.iter().map(|link| link["source"].as_str().unwrap().to_owned()).collect()
    };
    assert!(sources(&links("k=20")).contains(&"docs".to_owned()));
    let only = links("k=20&sources=wiki");
    assert!(!sources(&only).is_empty() && sources(&only).iter().all(|source| source == "wiki"), "{only}");
    assert_eq!(links("k=1")["links"].as_array().unwrap().len(), 1);
    assert_eq!(links("k=3").get("among"), None);
    let among = links("k=20&among=true");
    let names: Vec<String> = ["related", "links"]
        .iter()
        .flat_map(|list| among[list].as_array().unwrap())
        .map(|one| format!("{}/{}", one["source"].as_str().unwrap(), one["document"].as_str().unwrap()))
        .collect();
    let ties = among["among"].as_array().unwrap();
    assert!(!ties.is_empty(), "{among}");
    for tie in ties {
        assert!(["a", "b"].iter().all(|end| names.iter().any(|name| tie[end] == name.as_str())), "{tie}");
    }
    assert_eq!(server.get("/v1/documents/wiki/wiki-1?among=true").error().0, 400);
}

#[test]
fn a_dry_run_shows_what_it_would_keep() {
    let server = twins(6);
    let answer = server
        .post("/v1/links/runs", &json!({"dry_run": true, "sources": ["wiki"], "least": 0.0, "words": 0.0}));
    assert_eq!(answer.status, 200, "{}", answer.text);
    let outcome = answer.json();
    assert_eq!((&outcome["dry_run"], &outcome["run"]["sources"]), (&json!(true), &json!(["wiki"])));
    assert!(!outcome["links"].as_array().unwrap().is_empty());
    assert_eq!(outcome["changes"]["added"], outcome["run"]["edges"]);
    let runs = server.get("/v1/links/runs").json();
    assert_eq!((&runs["runs"], &runs["ended"]["state"]), (&json!([]), &json!("done")));
    assert_eq!(server.get("/v1/documents/wiki/wiki-1/related").json()["links"], json!([]));
}

#[test]
fn nonsense_is_refused_with_what_was_expected() {
    let server = twins(2);
    for (body, code, says) in [
        (r#"{"sauces": ["wiki"]}"#, "E0101", "unknown field `sauces`"),
        (r#"{"sources": ["wikki"]}"#, "E0204", "unknown source `wikki`"),
        (r#"{"sources": []}"#, "E0201", "`sources` is empty"),
        (r#"{"ways": []}"#, "E0201", "`ways`"),
        (r#"{"ways": ["smell"]}"#, "E0101", "smell"),
        (r#"{"least": 1.5}"#, "E0201", "`least`"),
        (r#"{"least": -0.1}"#, "E0201", "`least`"),
        (r#"{"candidates": 0}"#, "E0201", "`candidates`"),
        (r#"{"candidates": 100000}"#, "E0201", "`candidates`"),
        (r#"{"per_document": 0}"#, "E0201", "`per_document`"),
        (r#"{"judge": "cosine"}"#, "E0206", "needs vectors"),
        (r#"{"judge": "maxsim"}"#, "E0206", "needs the model"),
        (r#"{"judge": "me"}"#, "E0101", "me"),
        (r#"{"k": 100000}"#, "E0201", "`k`"),
        (r#"{"wait": "yes"}"#, "E0101", "expected a boolean"),
        ("[]", "E0101", "expected an object"),
    ] {
        let answer = server.post_text("/v1/links/runs", body);
        assert_eq!(answer.error(), (400, code.to_owned()), "{body}");
        assert!(answer.text.contains(says), "{body}: {}", answer.text);
    }
    let hint = server.post_text("/v1/links/runs", r#"{"sources": ["wikki"]}"#).text;
    assert!(hint.contains("wiki"), "{hint}");
    for path in [
        "/v1/links/runs/x?k=0",
        "/v1/links/runs/x?k=5000",
        "/v1/links/runs/x?offset=1000000",
        "/v1/links/runs/x?page=1",
    ] {
        assert_eq!(server.get(path).error().0, 400, "{path}");
    }
    assert_eq!(server.get("/v1/links/runs").json()["runs"], json!([]));
}

/// The state of the last run, once it has ended.
fn ended(server: &Server, id: &str) -> Value {
    loop {
        let runs = server.get("/v1/links/runs").json();
        if runs["running"].is_null() && runs["ended"]["id"] == id {
            return runs["ended"].clone();
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// So many documents that a run over them takes longer than the next request.
const LONG: usize = 1500;

#[test]
fn a_run_goes_on_by_itself_and_there_is_one_at_a_time() {
    let server = twins(LONG);
    let begun = server.post("/v1/links/runs", &json!({"wait": false}));
    assert_eq!(begun.status, 202, "{}", begun.text);
    let id = begun.json()["id"].as_str().unwrap().to_owned();
    let second = server.post("/v1/links/runs", &json!({"dry_run": true}));
    assert_eq!(second.error(), (409, "E0409".to_owned()), "{}", second.text);
    let running = server.get("/v1/links/runs").json()["running"].clone();
    assert_eq!((&running["id"], &running["sources"]), (&json!(id), &json!(["docs", "wiki"])));
    assert!(running["done"].is_u64() && running["of"].is_u64(), "{running}");
    assert_eq!(server.search(&json!({"query": "invoices", "k": 1}))["hits"].as_array().unwrap().len(), 1);
    let metrics = server.get("/metrics").text;
    assert!(metrics.contains("mainstem_link_runs_running 1"), "{metrics}");
    let ended = ended(&server, &id);
    assert_eq!(ended["state"], "done");
    assert!(ended["changes"]["added"].as_u64().unwrap() > LONG as u64 / 2, "{ended}");
    assert_eq!(server.get("/v1/links/runs").json()["runs"][0]["id"], json!(id));
    let metrics = server.get("/metrics").text;
    for line in [
        "mainstem_link_runs_running 0",
        "mainstem_link_runs_total{state=\"done\"} 1",
        "mainstem_link_run_seconds_count 1",
    ] {
        assert!(metrics.contains(line), "{line}: {metrics}");
    }
}

#[test]
fn a_caller_that_leaves_stops_its_run() {
    let server = twins(LONG);
    let mut stream = server.connect();
    let head = "POST /v1/links/runs HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}";
    stream.write_all(head.as_bytes()).unwrap();
    let id = loop {
        let running = server.get("/v1/links/runs").json()["running"].clone();
        if let Some(id) = running["id"].as_str() {
            break id.to_owned();
        }
    };
    drop(stream);
    assert_eq!(ended(&server, &id)["state"], "stopped");
    assert_eq!(server.get("/v1/links/runs").json()["runs"], json!([]));
}

#[test]
fn a_server_that_stops_keeps_nothing_of_a_run() {
    let server = twins(LONG);
    let mut waiting = server.connect();
    let head = "POST /v1/links/runs HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}";
    waiting.write_all(head.as_bytes()).unwrap();
    while server.get("/v1/links/runs").json()["running"].is_null() {
        std::thread::yield_now();
    }
    let Server { running, folder, .. } = server;
    running.stop().unwrap();
    let mut told = String::new();
    waiting.read_to_string(&mut told).unwrap();
    assert!(told.starts_with("HTTP/1.1 503") && told.contains("nothing of the run is kept"), "{told}");
    let store = EmbeddedStore::open_read_only(&folder.path().join("store")).unwrap();
    assert!(store.runs().unwrap().is_empty());
}

#[test]
fn the_client_does_all_of_it() {
    let server = twins(6);
    let client = Client::new(&server.url(""), None).unwrap();
    let request = LinkRequest { per_document: Some(1), k: Some(2), ..LinkRequest::default() };
    let dry = client.link(&LinkRequest { dry_run: true, ..request.clone() }).unwrap();
    assert!(dry.dry_run && client.link_runs().unwrap().runs.is_empty());
    let outcome = client.link(&request).unwrap();
    let run = client.link_run(&outcome.run.id, 2, 0).unwrap();
    assert_eq!((&run.run, &run.links), (&outcome.run, &outcome.links));
    let whole = server.get(&format!("/v1/links/runs/{}?k=2", run.run.id)).json();
    assert_eq!(serde_json::to_value(&run).unwrap(), whole, "nothing is lost on the way");
    let runs = client.link_runs().unwrap();
    assert_eq!(serde_json::to_value(&runs).unwrap(), server.get("/v1/links/runs").json());
    let related = client.related("wiki/wiki-2", 3, &[]).unwrap();
    assert_eq!(related.links[0].end.document, "docs-2");
    assert_eq!(Some(client.undo_links(&outcome.run.id).unwrap().removed), Some(outcome.run.edges));
    assert_eq!(client.undo_links(&outcome.run.id).unwrap_err().status, Some(404));
    let begun = client.start_linking(&request).unwrap();
    let ended = loop {
        match client.link_runs().unwrap() {
            runs if runs.running.is_none() => break runs.ended.unwrap(),
            _ => std::thread::yield_now(),
        }
    };
    assert_eq!((ended.id, ended.state), (begun.id, RunEnd::Done));
}

#[test]
fn writing_a_document_anew_shows_in_its_links() {
    let server = twins(4);
    let app = Arc::clone(&server.running.app);
    linked(&server, &json!({"per_document": 1}));
    server.ingest("docs", &[json!({"id": "docs-1", "title": "rollbacks 1", "text": "something else"})]);
    let links = server.get("/v1/documents/wiki/wiki-1/related").json()["links"].clone();
    assert_eq!((&links[0]["document"], &links[0]["stale"]), (&json!("docs-1"), &json!(true)), "{links}");
    assert_eq!(server.delete("/v1/sources/docs/documents/docs-1").status, 200);
    let left = server.get("/v1/documents/wiki/wiki-1/related").json()["links"].clone();
    assert!(left.as_array().unwrap().iter().all(|link| link["document"] != "docs-1"), "{left}");
    assert_eq!(app.store.runs().unwrap().len(), 1, "what the run said of others stays");
}
