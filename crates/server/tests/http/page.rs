//! The web page and what it is made from: its files, recordings and reports.

use mainstem::reports::Report;
use serde_json::{Value, json};

use crate::client::Server;

/// The addresses that a file of the page names.
fn named(text: &str) -> Vec<String> {
    let quoted = text.split('"').skip(1).step_by(2);
    let address = |part: &str| match part.strip_prefix("./") {
        Some(module) => Some(format!("/web/{module}")),
        None => part.starts_with("/web/").then(|| part.to_owned()),
    };
    quoted.filter_map(address).collect()
}

#[test]
fn every_file_of_the_page_is_there_and_may_do_nothing_else() {
    let server = Server::new();
    let mut waiting = vec!["/".to_owned()];
    let mut seen = Vec::new();
    while let Some(path) = waiting.pop() {
        if seen.contains(&path) {
            continue;
        }
        let file = server.get(&path);
        assert_eq!(file.status, 200, "{path}");
        let header = |name: &str| file.headers[name].to_str().unwrap().to_owned();
        let policy = header("content-security-policy");
        assert!(policy.starts_with("default-src 'none'; script-src 'self';"), "{policy}");
        assert!(
            !policy.contains("unsafe") && policy.contains("require-trusted-types-for 'script'"),
            "{policy}"
        );
        assert_eq!(
            (header("x-content-type-options"), header("referrer-policy")),
            ("nosniff".into(), "no-referrer".into())
        );
        // The namespace of drawings is a name, not an address that is asked.
        let text = file.text.replace("http://www.w3.org/2000/svg", "");
        for outside in [
            "http://",
            "https://",
            "innerHTML",
            "insertAdjacentHTML",
            "eval(",
            "style=\"",
            "onclick=\"",
            "@import",
        ] {
            assert!(!text.contains(outside), "{path} has `{outside}`");
        }
        waiting.extend(named(&file.text));
        seen.push(path);
    }
    assert!(seen.len() >= 20, "{seen:?}");
}

#[test]
fn a_page_that_has_not_changed_is_not_sent_again() {
    let server = Server::new();
    let first = server.get("/web/app.js");
    let mark = first.headers["etag"].to_str().unwrap().to_owned();
    let agent: ureq::Agent = ureq::Agent::config_builder().http_status_as_error(false).build().into();
    let again = agent.get(server.url("/web/app.js")).header("if-none-match", &mark).call().unwrap();
    assert_eq!(again.status().as_u16(), 304);
    assert_ne!(server.get("/web/api.js").headers["etag"].to_str().unwrap(), mark);
}

fn ids(answer: &Value) -> Vec<(String, f64)> {
    let pair = |hit: &Value| (hit["id"].as_str().unwrap().to_owned(), hit["score"].as_f64().unwrap());
    answer["hits"].as_array().unwrap().iter().map(pair).collect()
}

#[test]
fn a_recording_fuses_to_what_the_search_gives() {
    let server = Server::filled();
    let ask = json!({"query": "rollback job", "now": "2026-02-01"});
    let recorded = server.post("/v1/record", &ask).json();
    assert_eq!(recorded["query"], "rollback job");
    let fused = server.post("/v1/fuse", &recorded).json();
    let searched = server.search(&ask);
    assert!(ids(&searched).len() >= 2);
    assert_eq!(ids(&fused), ids(&searched));
    let mut other = recorded.clone();
    other["lists"].as_array_mut().unwrap().retain(|list| list["source"] != "wiki");
    let found = ids(&server.post("/v1/fuse", &other).json());
    assert!(!found.is_empty() && found.iter().all(|(id, _)| id.starts_with("chat/")), "{found:?}");
}

#[test]
fn a_recording_holds_nothing_that_the_search_may_not_show() {
    let server = Server::filled();
    let open = server.post("/v1/record", &json!({"query": "salaries", "reader": "bob"})).text;
    assert!(!open.contains("Salaries"), "{open}");
    assert!(
        server.post("/v1/record", &json!({"query": "salaries", "reader": "ann"})).text.contains("Salaries")
    );
    let chat = server.post("/v1/record", &json!({"query": "rollback", "sources": ["chat"]})).json();
    assert!(chat["lists"].as_array().unwrap().iter().all(|list| list["source"] == "chat"));
    let refused = server.post("/v1/record", &json!({"query": "x", "explain": true}));
    assert_eq!(refused.error(), (400, "E0205".to_owned()));
    assert_eq!(server.post("/v1/record", &json!({"query": "x", "sources": ["hr"]})).error().1, "E0204");
}

#[test]
fn reports_are_served_as_they_were_kept() {
    let server = Server::new();
    assert_eq!(server.get("/v1/reports").json(), json!({"reports": []}));
    let store = server.folder.path().join("store");
    let kept = Report::new("eval", &json!({"measures": {"MRR": 0.5}})).unwrap();
    kept.save(&store).unwrap();
    let answer = server.get("/v1/reports").json();
    assert_eq!(answer["reports"][0], serde_json::to_value(&kept).unwrap());
}
