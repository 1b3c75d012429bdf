//! Filters, one by one and together.

use mainstem_core::contract::{Filter, Retrieval, Store};
use mainstem_core::time::Moment;
use mainstem_core::{Document, StoredChunk};
use serde_json::{Value, json};

use super::Factory;
use super::help::{X, YX, answer, ask, document, filtered, now, put};

/// A document that every question of this file finds.
fn apple(source: &str, id: &str, change: impl FnOnce(&mut Document)) -> Document {
    let mut document = document(source, id, "apple", X);
    change(&mut document);
    document
}

fn found(store: &dyn Store, filter: &Filter) -> Vec<String> {
    filtered(store, "apple", X, filter)
}

fn texts(values: &[&str]) -> Vec<String> {
    values.iter().map(|value| (*value).to_owned()).collect()
}

pub(super) fn sources_and_kinds(fresh: Factory<'_>) {
    let store = fresh();
    put(&*store, ["mail", "slack", "wiki"].map(|source| apple(source, "a", |_| ())));
    let of =
        |sources: &[&str]| found(&*store, &Filter { sources: Some(texts(sources)), ..Filter::default() });
    assert_eq!(of(&["wiki", "mail"]), ["mail/a#0", "wiki/a#0"]);
    assert_eq!(of(&["wiki", "wiki", "nowhere"]), ["wiki/a#0"]);
    assert!(of(&["nowhere"]).is_empty());
    assert!(of(&[]).is_empty(), "none of no sources");
    let kind = now(&*store).sources().expect("sources")[0].kind.clone();
    let of = |kinds: &[&str]| found(&*store, &Filter { kinds: Some(texts(kinds)), ..Filter::default() });
    assert!(of(&[&kind, "no such kind"]).contains(&"mail/a#0".to_owned()));
    assert!(of(&["no such kind"]).is_empty());
}

pub(super) fn times(fresh: Factory<'_>) {
    let store = fresh();
    let times = ["2026-01-01", "2026-01-31T09:00:00+09:00", "2026-02-01T00:00:00.001Z"];
    let dated = times.iter().enumerate().map(|(n, time)| {
        apple("wiki", &n.to_string(), |document| document.created_at = Moment::parse(time).ok())
    });
    let undated = apple("wiki", "undated", |_| ());
    // A plain file has no other time than that of its last change; where both are known, the first counts.
    let file = apple("wiki", "file", |document| document.updated_at = Moment::parse("2025-01-15").ok());
    let both = apple("wiki", "both", |document| {
        document.created_at = Moment::parse("2024-01-01").ok();
        document.updated_at = Moment::parse("2026-03-01").ok();
    });
    put(&*store, dated.chain([undated, file, both]));
    let of = |since: Option<&str>, until: Option<&str>| {
        let moment = |text: &str| Moment::parse(text).expect("a time");
        let filter = Filter { since: since.map(moment), until: until.map(moment), ..Filter::default() };
        found(&*store, &filter)
    };
    assert_eq!(of(Some("2026-01-31"), None), ["wiki/1#0", "wiki/2#0"], "since is inclusive");
    assert_eq!(of(Some("2026-01-01"), Some("2026-01-31")), ["wiki/0#0"], "until is exclusive");
    assert_eq!(of(Some("2025-01-15"), Some("2025-01-16")), ["wiki/file#0"], "a file has a time");
    assert_eq!(of(None, Some("2025-01-01")), ["wiki/both#0"], "when it was written counts first");
    assert_eq!(of(Some("2026-01-01"), Some("2026-02-01T00:00:00.001Z")), ["wiki/0#0", "wiki/1#0"]);
    assert_eq!(of(Some("2026-02-01T00:00:00.001Z"), None), ["wiki/2#0"]);
    assert!(of(Some("2026-02-01"), Some("2026-01-01")).is_empty());
}

pub(super) fn metadata(fresh: Factory<'_>) {
    let store = fresh();
    let with = |id: &str, pairs: &[(&str, Value)]| {
        apple("wiki", id, |document| {
            document.metadata = pairs.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect();
        })
    };
    put(
        &*store,
        [
            with("a", &[("team", json!("search")), ("n", json!(7))]),
            with("b", &[("team", json!("Search")), ("open", json!(true))]),
            with("c", &[("team", json!(["search", "ops"])), ("it's \"odd\".$[0]", json!("예"))]),
            with("d", &[]),
        ],
    );
    let of = |pairs: &[(&str, &str)]| {
        let metadata = pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        found(&*store, &Filter { metadata, ..Filter::default() })
    };
    assert_eq!(of(&[("team", "search")]), ["wiki/a#0", "wiki/c#0"], "a list has each of its values");
    assert_eq!(of(&[("n", "7")]), ["wiki/a#0"]);
    assert_eq!(of(&[("open", "true")]), ["wiki/b#0"]);
    assert_eq!(of(&[("it's \"odd\".$[0]", "예")]), ["wiki/c#0"]);
    assert_eq!(of(&[("team", "search"), ("n", "7")]), ["wiki/a#0"], "all must hold");
    assert_eq!(of(&[("team", "search"), ("team", "ops")]), ["wiki/c#0"]);
    assert!(of(&[("team", "sear")]).is_empty());
    assert!(of(&[("nothing", "")]).is_empty());
}

pub(super) fn readers(fresh: Factory<'_>) {
    let store = fresh();
    let for_readers = |id: &str, readers: Option<&[&str]>| {
        apple("wiki", id, |document| document.readers = readers.map(texts))
    };
    put(
        &*store,
        [
            for_readers("everyone", None),
            for_readers("nobody", Some(&[])),
            for_readers("ann", Some(&["ann"])),
            for_readers("both", Some(&["bob", "ann", "ann"])),
        ],
    );
    let of = |reader: &str| found(&*store, &Filter { reader: Some(reader.to_owned()), ..Filter::default() });
    assert_eq!(of("ann"), ["wiki/ann#0", "wiki/both#0", "wiki/everyone#0"]);
    assert_eq!(of("bob"), ["wiki/both#0", "wiki/everyone#0"]);
    assert_eq!(of("Ann"), ["wiki/everyone#0"]);
    assert_eq!(of(""), ["wiki/everyone#0"]);
    assert_eq!(found(&*store, &Filter::default()).len(), 4, "without a reader, all of them");
    put(&*store, [for_readers("ann", Some(&["bob"]))]);
    assert_eq!(of("ann"), ["wiki/both#0", "wiki/everyone#0"], "what was taken away is gone at once");
}

pub(super) fn together(fresh: Factory<'_>) {
    let store = fresh();
    let mut all = Vec::new();
    for bits in 0..16_u8 {
        let has = |bit: u8| bits >> bit & 1 == 1;
        let source = if has(0) { "wiki" } else { "mail" };
        all.push(apple(source, &format!("{bits:02}"), |document| {
            document.created_at = Moment::parse(if has(1) { "2026-02-01" } else { "2026-01-01" }).ok();
            document.readers = if has(2) { None } else { Some(texts(&["bob"])) };
            document.metadata =
                [("team".to_owned(), json!(if has(3) { "ops" } else { "dev" }))].into_iter().collect();
        }));
    }
    put(&*store, all);
    let full = Filter {
        sources: Some(texts(&["wiki"])),
        since: Moment::parse("2026-01-15").ok(),
        reader: Some("ann".into()),
        metadata: vec![("team".into(), "ops".into())],
        ..Filter::default()
    };
    assert_eq!(found(&*store, &full), ["wiki/15#0"]);
    assert_eq!(found(&*store, &Filter { sources: None, ..full.clone() }), ["mail/14#0", "wiki/15#0"]);
    assert_eq!(found(&*store, &Filter { since: None, ..full.clone() }), ["wiki/13#0", "wiki/15#0"]);
    assert_eq!(found(&*store, &Filter { reader: None, ..full.clone() }), ["wiki/11#0", "wiki/15#0"]);
    assert_eq!(found(&*store, &Filter { metadata: Vec::new(), ..full }), ["wiki/07#0", "wiki/15#0"]);
}

/// The only document that passes is the worst of many: a store that filters what it has found would find nothing.
pub(super) fn before_the_limit(fresh: Factory<'_>) {
    let store = fresh();
    let crowd = (0..300).map(|n| document("wiki", &format!("{n}"), "apple apple apple", X));
    let mut last = document("wiki", "last", "an apple that stands in the very long text of a document", YX);
    last.readers = Some(texts(&["ann"]));
    let crowd = crowd.map(|document| Document { readers: Some(texts(&["bob"])), ..document });
    put(&*store, crowd.chain([last]));
    let filter = Filter { reader: Some("ann".into()), ..Filter::default() };
    let view = now(&*store);
    for vector in [None, Some(&X[..])] {
        let found = answer(&*view, &Retrieval { limit: 1, ..ask("apple", vector, &filter) });
        let chunks = view.fetch(&[found[0].found[0].chunk]).expect("the chunk");
        assert_eq!(chunks.iter().map(StoredChunk::name).collect::<Vec<_>>(), ["wiki/last#0"]);
    }
}
