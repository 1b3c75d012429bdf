//! Tries to see, count, infer, start or take back links that are others'.

use std::time::Duration;

use mainstem_core::link::{
    DocumentName, Edge, EdgeStore as _, Evidence, FoundBy, Judge, LinkRun, LinkSettings, Way,
};
use mainstem_core::time::Moment;
use serde_json::{Value, json};

use crate::table::{Try, check_all, plain, post, request, shared, tool, with};
use crate::world::{Holds, Server, Who, World};

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
    // What a run found where, among documents that are hidden, is told to nobody who may not see these.
    let links = |who: Who, path: &str| {
        let answer = plain("links", who, 200, &format!("GET {path}")).check(world);
        let body: Value = serde_json::from_str(answer.split("\r\n\r\n").nth(1).unwrap()).unwrap();
        body["links"].as_array().unwrap().clone()
    };
    let seen = links(Reads, "/v1/documents/open/page-1/related");
    assert_eq!((&seen[0]["document"], &seen[0]["evidence"]["found"]), (&json!("page-2"), &json!([])));
    assert!(
        seen[0]["evidence"].get("fused").is_none() && !seen[0]["reason"].as_str().unwrap().contains("rank")
    );
    assert_eq!(seen[0]["evidence"]["common"], json!([]));
    let own = links(Reads, "/v1/documents/open/page-4/related");
    assert_eq!((&own[0]["document"], &own[0]["evidence"]["found"][0]["rank"]), (&json!("page-3"), &json!(3)));
    let reader = links(Ann, "/v1/documents/open/page-4/related");
    assert_eq!((&reader[0]["document"], &reader[0]["evidence"]["found"]), (&json!("page-3"), &json!([])));
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
            plain("a guessed name", Reads, 404, "GET /v1/links/runs/2026-01-31T09-00-00Z-4f2a10"),
            plain("as another reader", Ann, 403, "GET /v1/links/runs/of-open?reader=bob"),
            plain("as itself", Ann, 200, "GET /v1/links/runs/of-open?reader=ann"),
            plain("its own", Reads, 200, "GET /v1/links/runs/of-open?k=1000"),
            plain("a page behind the last", Reads, 200, "GET /v1/links/runs/of-open?k=10&offset=9000"),
            plain("one with unreadable ends", Ann, 200, "GET /v1/links/runs/of-open?k=1000"),
            plain("one of two sources", Ann, 200, "GET /v1/links/runs/of-both?k=1000"),
            plain("one of a source that it does not see", Reads, 404, "GET /v1/links/runs/of-both"),
            plain("a page, to count what is unreadable", Ann, 200, "GET /v1/links/runs/of-open?k=1"),
            plain("the page behind it", Ann, 200, "GET /v1/links/runs/of-open?k=1&offset=1"),
        ],
    );
    let absent = |id: &str| plain("absent", Reads, 404, &format!("GET /v1/links/runs/{id}")).check(world);
    assert_eq!(absent("of-everything").replace("of-everything", "of-nothing-xx"), absent("of-nothing-xx"));
    let listed = plain("all runs", Ann, 200, "GET /v1/links/runs").check(world);
    assert!(listed.contains("of-open") && listed.contains("of-both"), "{listed}");
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

#[test]
fn the_end_of_a_run_is_told_to_those_who_see_what_it_looked_at() {
    let world = World::new();
    let as_admin = |line: &str, body: &str| {
        let key = format!(
            "authorization: Bearer {}\r\ncontent-type: application/json\r\n",
            world.secrets.of(Admin).unwrap()
        );
        world.full.raw(&request(line, &key, body.as_bytes()))
    };
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
        let key = format!("authorization: Bearer {}\r\n", world.secrets.of(Admin).unwrap());
        let answer = world.full.raw(&request(&format!("GET {path}"), &key, b""));
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
            plain("a guessed name", Writes, 404, "DELETE /v1/links/runs/2026-01-31T09-00-00Z-4f2a10"),
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
    assert!(own.ends_with("{\"removed\":4,\"kept\":0}"), "{own}");
    assert!(plain("again", Writes, 404, "DELETE /v1/links/runs/of-open").check(&world).contains("E0401"));
}
