//! Tries to see, count, infer, start or take back links that are others'.

use std::time::Duration;

use mainstem_core::link::{
    DocumentName, Edge, EdgeStore as _, Evidence, FoundBy, Judge, LinkRun, LinkSettings, Way,
};
use mainstem_core::time::Moment;
use serde_json::{Value, json};

use crate::table::{Try, check_all, plain, post, request, shared, tool, with};
use crate::world::{Holds, Server, Who, World, grant, make_key};

use Who::{Admin, Ann, Nobody, Notes, NotesWrites, Reads, Writes};

fn edge(a: &str, b: &str, score: f64) -> Edge {
    let name = |name: &str| {
        let (source, id) = name.split_once('/').unwrap();
        DocumentName { source: source.to_owned(), id: id.to_owned() }
    };
    let found = vec![FoundBy { way: Way::Dense, from_a: true, rank: 3, score: 0.5 }];
    let evidence = Evidence {
        judge: Judge::Cosine,
        a_chunk: 0,
        b_chunk: 0,
        fused: 0.5,
        words: 0.5,
        common: vec!["roll".into()],
        found,
    };
    Edge { a: name(a), b: name(b), score, evidence }
}

fn run(id: &str, sources: &[&str], documents: u64) -> LinkRun {
    LinkRun {
        id: id.to_owned(),
        made_at: Moment::parse("2026-01-31T09:00:00Z").unwrap(),
        settings: LinkSettings::default(),
        model: None,
        sources: sources.iter().map(|source| (*source).to_owned()).collect(),
        reader: None,
        restricted: true,
        documents,
        edges: 0,
        undone_at: None,
    }
}

/// The same links among what everybody may see, in every world; and those to what is hidden, where it is there.
///
/// The run of everything looked at a source that no key but one sees: the hidden one where it is there, another one where not.
pub(crate) fn record(server: &Server, holds: Holds) {
    let store = &server.running.app.store;
    let keep = |run: &LinkRun, edges: &[Edge]| store.record(run, edges).unwrap();
    keep(&run("of-notes", &["notes"], 2), &[edge("notes/note-1", "notes/note-2", 0.7)]);
    if holds == Holds::Notes {
        return;
    }
    let more = if holds == Holds::All { "vault" } else { "notes" };
    let mut everything =
        vec![edge("open/page-1", "open/page-2", 0.9), edge("open/page-3", "open/page-9", 0.6)];
    let mut inside = vec![edge("open/page-3", "open/page-4", 0.8), edge("open/page-4", "open/page-9", 0.7)];
    let mut both = vec![edge("open/for-ann", "team/for-ann", 0.95)];
    if holds == Holds::All {
        // One that was told to look at the hidden source when nothing was in it.
        let mut early = run("of-open-early", &["open"], 28);
        early.settings.sources = Some(vec!["open".to_owned(), "vault".to_owned()]);
        keep(&early, &[]);
        everything.extend([
            edge("open/page-3", "vault/plan-9x", 0.99),
            edge("open/page-4", "vault/plan-9x", 0.98),
            edge("vault/merger-z7-1", "vault/plan-9x", 0.97),
        ]);
    }
    if holds != Holds::WithoutUnreadable {
        inside.extend([
            edge("open/bob-only-4k-1", "open/page-3", 0.99),
            edge("open/bob-only-4k-1", "open/bob-only-4k-2", 0.98),
        ]);
        both.push(edge("open/page-3", "team/bob-only-4k-1", 0.96));
    }
    // What one for ann said stands, whatever those that she may not see said later.
    let for_ann = LinkRun { reader: Some("ann".to_owned()), ..run("for-ann", &["open"], 20) };
    keep(&for_ann, &[edge("open/page-3", "open/page-4", 0.5)]);
    // One that looked when nothing was there but what everybody may read.
    let public = LinkRun { restricted: false, ..run("of-public", &["open"], 20) };
    keep(&public, &[edge("open/page-4", "open/page-9", 0.4)]);
    keep(&run("of-everything", &[more, "open"], 60), &everything);
    keep(&run("of-open", &["open"], 28), &inside);
    keep(&run("of-both", &["open", "team"], 36), &both);
}

#[test]
fn links_to_what_is_hidden_are_not_there() {
    let world = shared();
    check_all(
        world,
        &[
            plain("of one with a hidden end", Reads, 200, "GET /v1/documents/open/page-3/related?k=1000"),
            plain(
                "with what is between them",
                Reads,
                200,
                "GET /v1/documents/open/page-3/related?k=1000&among=true",
            ),
            plain("one of them, the best", Reads, 200, "GET /v1/documents/open/page-3/related?k=1"),
            plain("of the hidden end", Reads, 404, "GET /v1/documents/vault/plan-9x/related"),
            plain("to the hidden source", Reads, 400, "GET /v1/documents/open/page-3/related?sources=vault"),
            plain(
                "of one with an unreadable end",
                Ann,
                200,
                "GET /v1/documents/open/page-3/related?k=1000&among=true",
            ),
            plain("of an unreadable end", Ann, 404, "GET /v1/documents/open/bob-only-4k-1/related"),
            plain("as another reader", Ann, 403, "GET /v1/documents/open/page-3/related?reader=bob"),
            plain("between two sources", Ann, 200, "GET /v1/documents/open/for-ann/related"),
            plain("of a source without vectors", Notes, 200, "GET /v1/documents/notes/note-1/related"),
            tool("by a tool", Reads, 200, "related", &json!({"id": "open/page-3", "k": 50})),
            tool("by a tool of a reader", Ann, 200, "related", &json!({"id": "open/page-3", "k": 50})),
        ],
    );
    // The tools tell what may be told.
    let told = tool("by a tool", Reads, 200, "related", &json!({"id": "open/page-4"})).check(world);
    assert!(told.contains("linked with open/page-4") && told.contains("said by run of-open, "), "{told}");
    // What a run said that looked at more is not there, not even between documents that may be seen: a score tells how rare words are.
    let links = |who: Who, path: &str| {
        let answer = plain("links", who, 200, &format!("GET {path}")).check(world);
        let body: Value = serde_json::from_str(answer.split("\r\n\r\n").nth(1).unwrap()).unwrap();
        let told = |link: &Value| (link["document"].clone(), link["run"].clone(), link["score"].clone());
        body["links"].as_array().unwrap().iter().map(told).collect::<Vec<_>>()
    };
    let link = |document: &str, run: &str, score: f64| (json!(document), json!(run), json!(score));
    assert_eq!(links(Reads, "/v1/documents/open/page-1/related"), []);
    let inside = [link("page-3", "of-open", 0.8), link("page-9", "of-open", 0.7)];
    assert_eq!(links(Reads, "/v1/documents/open/page-4/related"), inside);
    let readable = [link("page-3", "for-ann", 0.5), link("page-9", "of-public", 0.4)];
    assert_eq!(links(Ann, "/v1/documents/open/page-4/related"), readable);
    assert_eq!(links(Ann, "/v1/documents/open/for-ann/related"), []);
}

#[test]
fn runs_of_others_are_not_there() {
    let world = shared();
    check_all(
        world,
        &[
            plain("all runs", Reads, 200, "GET /v1/links/runs"),
            plain("all runs, to a writer", Writes, 200, "GET /v1/links/runs"),
            plain("all runs, to a reader", Ann, 200, "GET /v1/links/runs"),
            plain("all runs, of another source", Notes, 200, "GET /v1/links/runs"),
            plain("all runs, to nobody", Nobody, 401, "GET /v1/links/runs"),
            plain("by its name", Reads, 404, "GET /v1/links/runs/of-everything"),
            plain("by its name, to a reader", Ann, 404, "GET /v1/links/runs/of-everything"),
            plain("by its name, from another source", Notes, 404, "GET /v1/links/runs/of-open"),
            plain("by its name, to nobody", Nobody, 401, "GET /v1/links/runs/of-open"),
            plain("only the head", Reads, 404, "HEAD /v1/links/runs/of-everything"),
            plain("one whose settings name it", Reads, 404, "GET /v1/links/runs/of-open-early"),
            plain("in percents", Reads, 404, "GET /v1/links/runs/of%2Deverything"),
            plain("in capitals", Reads, 404, "GET /v1/links/runs/OF-EVERYTHING"),
            plain("a step up", Reads, 404, "GET /v1/links/runs/of-open/../of-everything"),
            plain("a step up in percents", Reads, 404, "GET /v1/links/runs/of-open%2F..%2Fof-everything"),
            plain("a wildcard", Reads, 404, "GET /v1/links/runs/%25"),
            plain("a quote of SQL", Reads, 404, "GET /v1/links/runs/x'%20OR%20'1'='1"),
            plain("a zero byte", Reads, 404, "GET /v1/links/runs/of-everything%00"),
            plain("a guessed name", Reads, 404, "GET /v1/links/runs/run-4f2a1"),
            plain("as another reader", Ann, 403, "GET /v1/links/runs/of-open?reader=bob"),
            plain("as itself", Ann, 200, "GET /v1/links/runs/for-ann?reader=ann"),
            plain("one of what everybody may read", Ann, 200, "GET /v1/links/runs/of-public?k=1000"),
            plain("the same, from another source", Notes, 404, "GET /v1/links/runs/of-public"),
            plain("its own", Reads, 200, "GET /v1/links/runs/of-open?k=1000"),
            plain("a page behind the last", Reads, 200, "GET /v1/links/runs/of-open?k=10&offset=9000"),
            plain("one with unreadable ends", Ann, 404, "GET /v1/links/runs/of-open?k=1000"),
            plain("one of two sources", Ann, 404, "GET /v1/links/runs/of-both?k=1000"),
            plain("one of a source that it does not see", Reads, 404, "GET /v1/links/runs/of-both"),
            plain("a page, to count what is unreadable", Ann, 404, "GET /v1/links/runs/of-open?k=1"),
            plain("the page behind it", Ann, 404, "GET /v1/links/runs/of-open?k=1&offset=1"),
        ],
    );
    let absent = |id: &str| plain("absent", Reads, 404, &format!("GET /v1/links/runs/{id}")).check(world);
    assert_eq!(absent("of-everything").replace("of-everything", "of-nothing-xx"), absent("of-nothing-xx"));
    let listed = plain("all runs", Ann, 200, "GET /v1/links/runs").check(world);
    assert!(
        ["for-ann", "of-public"].iter().all(|run| listed.contains(run))
            && !["of-open", "of-both"].iter().any(|run| listed.contains(run)),
        "{listed}"
    );
    for count in ["\"documents\"", "\"edges\"", "\"done\"", "\"of\""] {
        assert!(!listed.contains(count), "{count}: {listed}");
    }
    assert!(plain("all runs", Reads, 200, "GET /v1/links/runs").check(world).contains("\"documents\":28"));
}

fn start(name: &'static str, who: Who, expected: u16, body: &Value) -> Try {
    post(name, who, expected, "/v1/links/runs", body.to_string().as_bytes())
}

#[test]
fn a_run_looks_at_nothing_but_what_its_key_may_see() {
    // Its own, since a run leaves its end behind.
    let world = &World::new();
    let dry = |name: &'static str, more: Value| {
        let mut body = json!({"dry_run": true, "least": 0.0, "k": 1000});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        start(name, Writes, 200, &body)
    };
    check_all(
        world,
        &[
            start("another source", Writes, 400, &json!({"sources": ["vault"], "dry_run": true})),
            start("both sources", Writes, 400, &json!({"sources": ["open", "vault"], "dry_run": true})),
            start("nearly its source", Writes, 400, &json!({"sources": ["vaul"], "dry_run": true})),
            start("another scope", Writes, 400, &json!({"scope": ["vault"], "dry_run": true})),
            start("a filter of its own", Writes, 400, &json!({"filter": {"scope": null}})),
            start("as another reader", Writes, 400, &json!({"reader": "bob", "dry_run": true})),
            start("by one that reads", Reads, 403, &json!({"dry_run": true})),
            start("by a reader", Ann, 403, &json!({"dry_run": true})),
            start("by nobody", Nobody, 401, &json!({"dry_run": true})),
            start(
                "by cosines, where there are none",
                NotesWrites,
                400,
                &json!({"judge": "cosine", "dry_run": true}),
            ),
            start("without vectors", NotesWrites, 200, &json!({"dry_run": true, "least": 0.0})),
        ],
    );
    // One after the other: there is one at a time. Scores and places are the same whether something is hidden or not.
    for one in [
        dry("everything it sees", json!({})),
        dry("by words", json!({"ways": ["lexical"]})),
        dry("by title", json!({"ways": ["title"]})),
        dry("by meaning", json!({"ways": ["dense"], "candidates": 3})),
        dry("its source", json!({"sources": ["open"], "per_document": 1})),
    ] {
        let answer = one.check(world);
        assert!(answer.contains("\"sources\":[\"open\"]") && answer.contains("\"rank\":1"), "{answer}");
    }
}

/// The answer of one server.
fn asked(server: &Server, key: &str, line: &str, body: &str) -> String {
    let key = format!("authorization: Bearer {key}\r\ncontent-type: application/json\r\n");
    server.raw(&request(line, &key, body.as_bytes()))
}

#[track_caller]
fn told(answer: &str, status: u16) -> Value {
    assert!(answer.starts_with(&format!("HTTP/1.1 {status}")), "{answer}");
    serde_json::from_str(answer.split("\r\n\r\n").nth(1).unwrap()).unwrap()
}

#[test]
fn what_the_operator_did_not_look_at_shows_in_no_score() {
    // Of the hidden source, `open` is a copy, and has the same words; `notes` has no vectors.
    let world = World::new();
    let said = |server: &Server, who: Who, source: &str| {
        let ask =
            |who: Who, line: &str, body: &str| asked(server, world.secrets.of(who).unwrap(), line, body);
        let settings = json!({"sources": [source], "least": 0.0, "words": 0.0, "per_document": 9});
        let made = told(&ask(Admin, "POST /v1/links/runs", &settings.to_string()), 201);
        let id = made["run"]["id"].as_str().unwrap();
        let path = format!("GET /v1/links/runs/{id}?k=1000");
        assert!(ask(Ann, &path, "").starts_with("HTTP/1.1 404"), "she may not read all that it looked at");
        let said = ask(who, &path, "").replace(id, "run");
        let when = made["run"]["made_at"].as_str().unwrap();
        told(&said.replace(when, "when"), 200)
    };
    for who in [Reads, Notes] {
        let source = if who == Reads { "open" } else { "notes" };
        let [full, other] = world.twins(who).map(|server| said(server, who, source));
        assert!(!full["links"].as_array().unwrap().is_empty(), "{full}");
        assert_eq!(full, other);
    }
}

#[test]
fn a_run_is_for_readers_as_long_as_all_it_looked_at_is() {
    let keys = tempfile::tempdir().unwrap();
    let admin = make_key(keys.path(), "admin", grant(&[], true, None));
    let ann = make_key(keys.path(), "ann", grant(&["pages"], false, Some("ann")));
    let server = Server::new(Some(keys.path()), |_| ());
    let put = |lines: &str| {
        let headers = format!("authorization: Bearer {admin}\r\ncontent-type: application/x-ndjson\r\n");
        let answer = server.raw(&request(
            "PUT /v1/sources/pages/documents",
            &headers,
            (lines.to_owned() + "\n").as_bytes(),
        ));
        assert!(answer.contains("\"done\":true,\"stored\":1"), "{answer}");
    };
    let run = || {
        let settings = "{\"least\": 0.0, \"words\": 0.0}";
        let made = told(&asked(&server, &admin, "POST /v1/links/runs", settings), 201);
        made["run"]["id"].as_str().unwrap().to_owned()
    };
    let seen = || {
        let runs = told(&asked(&server, &ann, "GET /v1/links/runs", ""), 200)["runs"].take();
        let runs: Vec<Value> = runs.as_array().unwrap().iter().map(|run| run["id"].clone()).collect();
        let related = told(&asked(&server, &ann, "GET /v1/documents/pages/a/related", ""), 200);
        (
            runs,
            related["links"].as_array().unwrap().iter().map(|link| link["run"].clone()).collect::<Vec<_>>(),
        )
    };
    put(r#"{"id": "a", "text": "the rollback of a release"}"#);
    put(r#"{"id": "b", "text": "a release and its rollback"}"#);
    let first = run();
    let public = (vec![json!(first)], vec![json!(first)]);
    assert_eq!(seen(), public);
    put(r#"{"id": "bob-only-4k", "text": "a rollback for bob", "readers": ["bob"]}"#);
    let second = run();
    assert_eq!(seen(), public, "the second one looked at what she may not read");
    assert!(asked(&server, &ann, &format!("GET /v1/links/runs/{second}"), "").starts_with("HTTP/1.1 404"));
    assert_eq!(told(&asked(&server, &admin, &format!("DELETE /v1/links/runs/{first}"), ""), 200)["kept"], 1);
    let (_, left) = seen();
    assert!(left.is_empty(), "what the second said does not stand in for it: {left:?}");
}

#[test]
fn the_end_of_a_run_is_told_to_those_who_see_what_it_looked_at() {
    let world = World::new();
    let as_admin = |line: &str, body: &str| asked(&world.full, world.secrets.of(Admin).unwrap(), line, body);
    let done = as_admin("POST /v1/links/runs", "{\"least\": 0.0}");
    assert!(done.starts_with("HTTP/1.1 201") && done.contains("okapi.example"), "{done}");
    let told = as_admin("GET /v1/links/runs", "");
    assert!(told.contains("\"state\":\"done\""), "{told}");
    // The other world has had no such run.
    let listed = plain("others' runs and their end", Reads, 200, "GET /v1/links/runs").check(&world);
    assert!(listed.contains("\"running\":null,\"ended\":null"), "{listed}");
    check_all(
        &world,
        &[
            plain("to a reader", Ann, 200, "GET /v1/links/runs"),
            plain("to a writer", Writes, 200, "GET /v1/links/runs"),
            plain("to another source", Notes, 200, "GET /v1/links/runs"),
            plain("in the metrics", Writes, 403, "GET /metrics"),
        ],
    );
    // While one is under way, others are told that there is one, and nothing of it.
    let begun = as_admin("POST /v1/links/runs", "{\"wait\": false, \"dry_run\": true}");
    assert!(begun.starts_with("HTTP/1.1 202"), "{begun}");
    let seen = plain("a run of others under way", Reads, 200, "GET /v1/links/runs").check(&world);
    assert!(seen.contains("\"running\":null"), "{seen}");
    while world.full.running.app.link_runs.is_running() {
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// All runs and all links, as the owner sees them.
fn everything(world: &World) -> String {
    let get = |path: &str| {
        let answer = asked(&world.full, world.secrets.of(Admin).unwrap(), &format!("GET {path}"), "");
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        answer.split("\r\n\r\n").nth(1).unwrap().to_owned()
    };
    ["of-everything", "of-open", "of-both", "of-notes"]
        .iter()
        .map(|run| get(&format!("/v1/links/runs/{run}?k=1000")))
        .collect::<String>()
        + &get("/v1/links/runs")
}

#[test]
fn nothing_of_others_is_taken_back() {
    let world = World::new();
    let before = everything(&world);
    assert!(before.contains("plan-9x") && before.contains("bob-only-4k"), "{before}");
    check_all(
        &world,
        &[
            plain("of more sources", Writes, 404, "DELETE /v1/links/runs/of-everything"),
            plain("of two sources", Writes, 404, "DELETE /v1/links/runs/of-both"),
            plain("whose settings name another", Writes, 404, "DELETE /v1/links/runs/of-open-early"),
            plain("of another source", Writes, 404, "DELETE /v1/links/runs/of-notes"),
            plain("in percents", Writes, 404, "DELETE /v1/links/runs/of%2Deverything"),
            plain("a step up", Writes, 404, "DELETE /v1/links/runs/of-open%2F..%2Fof-everything"),
            plain("a wildcard", Writes, 404, "DELETE /v1/links/runs/%25"),
            plain("a guessed name", Writes, 404, "DELETE /v1/links/runs/run-4f2a1"),
            plain("by one that reads", Reads, 403, "DELETE /v1/links/runs/of-open"),
            plain("by one that reads, unseen", Reads, 403, "DELETE /v1/links/runs/of-everything"),
            plain("by a reader", Ann, 403, "DELETE /v1/links/runs/of-open"),
            plain("by nobody", Nobody, 401, "DELETE /v1/links/runs/of-open"),
            plain("all of them", Writes, 405, "DELETE /v1/links/runs"),
            with(
                "another method in a header",
                Writes,
                404,
                "GET /v1/links/runs/of-everything",
                "KEYx-http-method-override: DELETE\r\n",
            ),
        ],
    );
    let removed = |id: &str| plain("undo", Writes, 404, &format!("DELETE /v1/links/runs/{id}")).check(&world);
    assert_eq!(removed("of-everything").replace("of-everything", "of-nothing-xx"), removed("of-nothing-xx"));
    assert_eq!(everything(&world), before);
    // Its own is.
    let own = plain("its own", Writes, 200, "DELETE /v1/links/runs/of-open").check(&world);
    assert!(own.ends_with("{}"), "what other runs say is not told: {own}");
    assert!(plain("again", Writes, 404, "DELETE /v1/links/runs/of-open").check(&world).contains("E0401"));
}
