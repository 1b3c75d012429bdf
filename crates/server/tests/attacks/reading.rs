//! Tries to read, count or infer.

use serde_json::{Value, json};

use crate::table::{Try, ask, check_all, plain, post, search, shared, tool};
use crate::world::{TRACES, Who};

use Who::{Admin, Ann, Nobody, Notes, Reads, Writes};

/// The lists of a search that waits for all of its legs.
fn lists(name: &'static str, who: Who, mut ask: Value) -> Try {
    ask["now"] = "2026-02-01".into();
    ask["deadline"] = json!({"soft_ms": 20000, "hard_ms": 20000});
    post(name, who, 200, "/v1/record", ask.to_string().as_bytes())
}

#[test]
fn documents_of_another_source_are_not_there() {
    check_all(
        shared(),
        &[
            plain("its id", Reads, 404, "GET /v1/documents/vault/plan-9x"),
            plain("with the source behind", Reads, 404, "GET /v1/documents/plan-9x?source=vault"),
            plain("a letter in percents", Reads, 404, "GET /v1/documents/v%61ult/plan-9x"),
            plain("a slash in percents", Reads, 404, "GET /v1/documents/vault%2Fplan-9x"),
            plain("in capitals", Reads, 404, "GET /v1/documents/VAULT/plan-9x"),
            plain("a step up", Reads, 404, "GET /v1/documents/open/../vault/plan-9x"),
            plain("a step up in percents", Reads, 404, "GET /v1/documents/open%2F..%2Fvault%2Fplan-9x"),
            plain("a zero byte", Reads, 404, "GET /v1/documents/vault%00/plan-9x"),
            plain("a zero byte behind", Reads, 404, "GET /v1/documents/open%00%2Fvault/plan-9x"),
            plain("two sources", Reads, 400, "GET /v1/documents/plan-9x?source=open&source=vault"),
            plain("bytes that are no text", Reads, 400, "GET /v1/documents/%ff%fe/plan-9x"),
            plain("a quote of SQL", Reads, 404, "GET /v1/documents/open/page-1'%20OR%20'1'='1"),
            plain("a wildcard", Reads, 404, "GET /v1/documents/%25/plan-9x"),
            plain("only the head", Reads, 404, "HEAD /v1/documents/vault/plan-9x"),
            plain("what is like it", Reads, 404, "GET /v1/documents/vault/plan-9x/related"),
            plain(
                "what is like it, there",
                Reads,
                400,
                "GET /v1/documents/open/page-3/related?sources=vault",
            ),
            plain(
                "what is like it, here and there",
                Reads,
                400,
                "GET /v1/documents/open/page-3/related?sources=open,vault",
            ),
            plain(
                "what is like one with copies there",
                Reads,
                200,
                "GET /v1/documents/open/page-3/related?k=1000",
            ),
            plain("what is like one by words", Reads, 200, "GET /v1/documents/open/for-ann/related?k=1000"),
            plain("of a copy", Reads, 200, "GET /v1/documents/open/page-3"),
        ],
    );
}

#[test]
fn files_of_the_store_are_no_documents() {
    check_all(
        shared(),
        &[
            plain("the keys", Reads, 404, "GET /keys.json"),
            plain("the keys, from above", Reads, 404, "GET /../keys.json"),
            plain("the keys, below a page", Reads, 404, "GET /docs/../keys.json"),
            plain("the keys, in percents", Reads, 404, "GET /%2e%2e/%2e%2e/store/keys.json"),
            plain("the keys as a document", Reads, 404, "GET /v1/documents/open/../../keys.json"),
            plain(
                "the keys as a document, in percents",
                Reads,
                404,
                "GET /v1/documents/open/%2e%2e%2f%2e%2e%2fkeys.json",
            ),
            plain("the keys of the folder", Reads, 404, "GET /v1/documents/./keys.json"),
            plain("the keys with a backslash", Reads, 404, "GET /v1/documents/open/..%5C..%5Ckeys.json"),
            plain("the truth", Reads, 404, "GET /truth.sqlite"),
        ],
    );
}

#[test]
fn contexts_hold_nothing_of_another_source() {
    let vector = json!([1.0, 0.0, 0.0, 1.0]);
    check_all(
        shared(),
        &[
            ask("its words", Reads, 200, &json!({"query": "quokkamarker"})),
            ask("words of both", Reads, 200, &json!({})),
            ask("a vector of it", Reads, 200, &json!({"vector": vector})),
            ask("as events", Reads, 200, &json!({"stream": true})),
            ask("the source itself", Reads, 400, &json!({"sources": ["vault"]})),
            ask("what another reader may read", Ann, 200, &json!({"query": "salaries bobmarker"})),
            ask("as another reader", Ann, 403, &json!({"reader": "bob"})),
            ask("without a key", Nobody, 401, &json!({})),
            post("its words, reranked", Nobody, 401, "/v1/rerank", b"{\"query\": \"x\", \"documents\": []}"),
        ],
    );
}

#[test]
fn tools_tell_nothing_of_another_source() {
    check_all(
        shared(),
        &[
            tool("a search", Reads, 200, "search", &json!({"query": "rollback salaries"})),
            tool("its words", Reads, 200, "search", &json!({"query": "quokkamarker"})),
            tool(
                "the source itself",
                Reads,
                200,
                "search",
                &json!({"query": "rollback", "sources": ["vault"]}),
            ),
            tool("a document", Reads, 200, "fetch", &json!({"id": "vault/plan-9x"})),
            tool("what is like a copy", Reads, 200, "related", &json!({"id": "open/page-3"})),
            tool("what is like it", Reads, 200, "related", &json!({"id": "vault/plan-9x"})),
            tool("the sources", Reads, 200, "sources", &json!({})),
            tool("why not", Reads, 200, "explain", &json!({"query": "rollback", "id": "vault/plan-9x#0"})),
            tool("what another reader may read", Ann, 200, "search", &json!({"query": "salaries bobmarker"})),
            tool("the sources of a reader", Ann, 200, "sources", &json!({})),
            tool("without a key", Nobody, 401, "search", &json!({"query": "rollback"})),
        ],
    );
}

#[test]
fn searches_find_nothing_of_another_source() {
    let vector = json!([1.0, 0.0, 0.0, 1.0]);
    check_all(
        shared(),
        &[
            search("its words", Reads, 200, json!({"query": "quokkamarker"})),
            lists("the lists of its words", Reads, json!({"query": "quokkamarker rollback"})),
            lists("the lists by meaning", Reads, json!({"query": "rollback", "vector": vector})),
            lists(
                "the lists of another reader",
                Ann,
                json!({"query": "rollback salaries", "vector": vector}),
            ),
            plain("what was measured", Reads, 200, "GET /v1/reports"),
            search("its title", Reads, 200, json!({"query": "\"Okapi takeover\""})),
            search("words of both", Reads, 200, json!({})),
            search("words of both, explained", Reads, 200, json!({"explain": true})),
            search(
                "words of a copy",
                Reads,
                200,
                json!({"query": "page 3 about the salaries of juniors and how to roll it out again"}),
            ),
            search("a vector of it", Reads, 200, json!({"query": "nowhere", "vector": vector})),
            search("a vector and words", Reads, 200, json!({"vector": vector, "explain": true})),
            search("by meaning", Reads, 200, json!({"vector": vector, "channels": ["dense"]})),
            search(
                "its words as variants",
                Reads,
                200,
                json!({"variants": ["quokkamarker", "Okapi takeover", "payroll"]}),
            ),
            search(
                "all that there is",
                Reads,
                200,
                json!({"query": "page rollback salaries budget the", "k": 1000}),
            ),
            search("a page far behind", Reads, 200, json!({"k": 10, "offset": 9000})),
            search("nothing but the count", Reads, 400, json!({"k": 0})),
            search("its source", Reads, 400, json!({"sources": ["vault"]})),
            search("both sources", Reads, 400, json!({"sources": ["open", "vault"]})),
            search("nearly its source", Reads, 400, json!({"sources": ["vaul"]})),
            search("its kind", Reads, 400, json!({"kinds": ["payroll"]})),
            search("nearly its kind", Reads, 400, json!({"kinds": ["payrol"]})),
            search("no source at all", Reads, 200, json!({"sources": []})),
            search("its metadata", Reads, 200, json!({"where": {"team": "quokkamarker"}})),
            search("the source as metadata", Reads, 200, json!({"where": {"source": "vault"}})),
            search(
                "SQL as metadata",
                Reads,
                200,
                json!({"where": {"x') OR ('1'='1": "1", "team' OR 1=1 --": "x"}}),
            ),
            search("its time", Reads, 200, json!({"since": "2026-01-30"})),
            search("another scope", Reads, 400, json!({"scope": ["vault"]})),
            search("no scope", Reads, 400, json!({"scope": null})),
            search("a filter of its own", Reads, 400, json!({"filter": {"scope": null}})),
            post(
                "the scope twice",
                Reads,
                400,
                "/v1/search",
                br#"{"query":"x","sources":["open"],"sources":["vault"]}"#,
            ),
        ],
    );
}

#[test]
fn explanations_tell_nothing_of_another_source() {
    check_all(
        shared(),
        &[
            search("what became of its chunk", Reads, 200, json!({"why_not": "vault/plan-9x#0"})),
            search("what became of its document", Reads, 200, json!({"why_not": "vault/plan-9x"})),
            search(
                "what became of a copy",
                Reads,
                200,
                json!({"why_not": "vault/page-3#0", "query": "page 3 about the salaries"}),
            ),
            search(
                "with documents joined",
                Reads,
                200,
                json!({"why_not": "vault/page-3", "pipeline": {"aggregate": "max"}}),
            ),
        ],
    );
    let fate = |id: &str| {
        let answer = search("why not", Reads, 200, json!({"why_not": id})).check(shared());
        let body: Value = serde_json::from_str(answer.split("\r\n\r\n").nth(1).unwrap()).unwrap();
        (body["why_not"]["fate"].clone(), body["why_not"]["why"].clone())
    };
    assert_eq!(fate("vault/plan-9x#0"), fate("nothing/nowhere#0"));
}

#[test]
fn patches_to_the_pipeline_reach_no_other_source() {
    let patch = |name: &'static str, expected: u16, patch: Value| {
        search(name, Reads, expected, json!({"pipeline": patch}))
    };
    check_all(
        shared(),
        &[
            patch("a guarantee", 200, json!({"guarantee": {"vault": {"min": 3}}})),
            patch(
                "a guarantee for all",
                200,
                json!({"guarantee": {"*": {"min": 1}, "vault": {"max": 1, "top": 4}}}),
            ),
            patch("freshness", 200, json!({"recency": {"vault": {"half_life": "1d", "weight": 0.9}}})),
            patch("freshness of all", 200, json!({"recency": {"*": {"half_life": "1d", "weight": 0.9}}})),
            patch(
                "a route",
                200,
                json!({"route": [{"name": "r", "patterns": ["."], "weights": {"vault": 9.0}}]}),
            ),
            patch(
                "a route by both",
                200,
                json!({"route": [{"name": "r", "patterns": ["."], "weights": {"vault": 9.0, "open": 2.0}}]}),
            ),
            patch("weights", 400, json!({"weights": {"vault": 9.0}})),
            patch("one list for each source", 200, json!({"across": "rank"})),
            patch("one list for each channel", 200, json!({"across": "score"})),
            patch("no collapsing", 200, json!({"dedup": null})),
            patch("collapsing of everything", 200, json!({"dedup": {"within": 0.1, "across": 0.1}})),
            patch("no rules of the operator", 200, json!({"route": [], "guarantee": null, "recency": null})),
            patch("a source as a stage", 400, json!({"vault": true})),
            search("the rules of the operator", Reads, 200, json!({"query": "salaries"})),
            search("two rules of the operator", Reads, 200, json!({"query": "roll back salaries"})),
        ],
    );
}

#[test]
fn lists_and_counts_are_those_of_the_scope() {
    check_all(
        shared(),
        &[
            plain("the sources", Reads, 200, "GET /v1/sources"),
            plain("the sources, to a writer", Writes, 200, "GET /v1/sources"),
            plain("the sources, to a reader", Ann, 200, "GET /v1/sources"),
            plain("the metrics", Reads, 403, "GET /metrics"),
            plain("the metrics, to a writer", Writes, 403, "GET /metrics"),
            plain("the metrics, to a reader", Ann, 403, "GET /metrics"),
            plain("the description", Reads, 200, "GET /openapi.json"),
        ],
    );
    let listed = plain("the sources", Ann, 200, "GET /v1/sources").check(shared());
    let named = r#"{"sources":[{"name":"open","kind":"wiki"},{"name":"team","kind":"documents"}]}"#;
    assert!(listed.ends_with(named), "{listed}");
}

#[test]
fn a_reader_sees_nothing_that_others_read() {
    let vector = json!([1.0, 0.0, 0.0, 1.0]);
    check_all(
        shared(),
        &[
            plain("a document of another reader", Ann, 404, "GET /v1/documents/open/bob-only-4k-1"),
            plain("what is like it", Ann, 404, "GET /v1/documents/open/bob-only-4k-1/related"),
            plain("as another reader", Ann, 403, "GET /v1/documents/open/bob-only-4k-1?reader=bob"),
            plain("as two readers", Ann, 400, "GET /v1/documents/open/bob-only-4k-1?reader=ann&reader=bob"),
            plain(
                "what is like an open one, as another",
                Ann,
                403,
                "GET /v1/documents/open/page-1/related?reader=bob",
            ),
            plain("what is like an open one", Ann, 200, "GET /v1/documents/open/page-1/related?k=1000"),
            plain("a document of the other source", Ann, 404, "GET /v1/documents/vault/plan-9x"),
            search("words of another", Ann, 200, json!({"query": "bobmarker"})),
            search("words of both", Ann, 200, json!({"explain": true})),
            search("a vector", Ann, 200, json!({"vector": vector, "explain": true})),
            search("as another", Ann, 403, json!({"reader": "bob"})),
            search("as nobody", Ann, 200, json!({"reader": null})),
            search("as no one", Ann, 403, json!({"reader": ""})),
            search("as itself", Ann, 200, json!({"reader": "ann"})),
            search("what became of it", Ann, 200, json!({"why_not": "open/bob-only-4k-1#0"})),
            search("who may read as metadata", Ann, 200, json!({"where": {"readers": "bob"}})),
            post("two readers", Ann, 400, "/v1/search", br#"{"query":"x","reader":"ann","reader":"bob"}"#),
        ],
    );
}

/// Whether other sources have vectors, and of which model, is nobody's business.
#[test]
fn a_source_without_vectors_tells_nothing_of_those_with() {
    check_all(
        shared(),
        &[
            search("words", Notes, 200, json!({"explain": true})),
            search("a vector", Notes, 200, json!({"vector": [1.0, 0.0, 0.0, 1.0], "explain": true})),
            search("a vector of another length", Notes, 200, json!({"vector": [1.0]})),
            search("by meaning alone", Notes, 400, json!({"vector": [1.0], "channels": ["dense"]})),
            plain("what is like one", Notes, 200, "GET /v1/documents/notes/note-1/related"),
            plain("a document of another source", Notes, 404, "GET /v1/documents/open/page-1"),
            plain("the sources", Notes, 200, "GET /v1/sources"),
        ],
    );
}

/// These tries can fail: whoever may see everything finds the traces, and other scores.
#[test]
fn what_is_hidden_is_there() {
    let world = shared();
    let ask = |who: Who| {
        let Try { request, .. } =
            search("words of both", who, 200, json!({"query": "rollback salaries quokkamarker bobmarker"}));
        let text = String::from_utf8(request).unwrap();
        let key = format!("authorization: Bearer {}\r\n", world.secrets.of(who).unwrap());
        world.full.raw(text.replacen("KEY", &key, 1).as_bytes())
    };
    let seen = ask(Admin);
    for trace in TRACES.iter().filter(|trace| **trace != "payroll") {
        assert!(seen.contains(trace), "{trace}: {seen}");
    }
    let best = |answer: &str| -> Value {
        let body: Value = serde_json::from_str(answer.split("\r\n\r\n").nth(1).unwrap()).unwrap();
        let hits = body["hits"].as_array().unwrap();
        hits.iter().find(|hit| hit["source"] == "open").unwrap()["ledger"].clone()
    };
    assert_ne!(best(&seen), best(&ask(Reads)));
}
