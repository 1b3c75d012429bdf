//! Putting, replacing, deleting, and what views see of it.

use std::sync::atomic::{AtomicBool, Ordering};

use mainstem_core::contract::{Applied, Change, Filter, Store, View};
use mainstem_core::time::Moment;
use mainstem_core::{ChunkId, Document};
use serde_json::json;

use super::Factory;
use super::help::{
    X, Y, Z, all_names, answer, ask, by_meaning, by_words, chunked, delete, document, now, put,
};

pub(super) fn empty(fresh: Factory<'_>) {
    let store = fresh();
    assert!(by_words(&*store, "anything").is_empty());
    assert!(by_meaning(&*store, X).is_empty());
    let view = now(&*store);
    assert!(view.sources().expect("sources").iter().all(|source| source.documents == 0));
    assert!(view.fetch(&[ChunkId(1), ChunkId(u64::MAX >> 1)]).expect("no chunks").is_empty());
    assert_eq!(store.apply(Vec::new()).expect("no changes"), Applied::default());
    assert_eq!(delete(&*store, "wiki", "a"), Applied::default());
}

/// A document with something in every field.
fn full() -> Document {
    let mut document = chunked("wiki", "a/b c?", &[("the first part", X), ("the second part", Y)]);
    document.title = Some("A title".into());
    document.url = Some("https://example.org/a?b=c#d".into());
    document.label = Some("[wiki: A]".into());
    document.created_at = Moment::parse("2026-01-31T09:00:00+09:00").ok();
    document.updated_at = serde_json::from_str("1769817600").ok();
    document.readers = Some(vec!["ann".into(), "김민수".into()]);
    document.key = Some("key".into());
    document.metadata = [("n", json!(1.5)), ("list", json!(["a", null])), ("o", json!({"x": {"y": true}}))]
        .into_iter()
        .map(|(key, value)| (key.to_owned(), value))
        .collect();
    document.chunks[1].heading = Some("Part › Second".into());
    document
}

pub(super) fn comes_back(fresh: Factory<'_>) {
    let store = fresh();
    let document = full();
    assert_eq!(put(&*store, [document.clone()]), Applied { added: 1, ..Applied::default() });
    let view = now(&*store);
    for order in [0, 1] {
        let vector = document.chunks[order].vector.as_deref();
        let found = answer(&*view, &ask("", vector, &Filter::default()));
        let stored = view.fetch(&[found[0].found[0].chunk]).expect("the chunk").remove(0);
        assert_eq!(stored.chunk, document.chunks[order]);
        let without = Document { text: String::new(), chunks: Vec::new(), ..document.clone() };
        assert_eq!(stored.document, without);
    }
    let found = answer(&*view, &ask("part", None, &Filter::default()));
    let [a, b] = [found[0].found[0].chunk, found[0].found[1].chunk];
    let asked = [b, ChunkId(u64::MAX >> 1), a, b];
    let ids: Vec<_> = view.fetch(&asked).expect("chunks").iter().map(|chunk| chunk.id).collect();
    assert_eq!(ids, [b, a, b], "in the order asked, without what is not there");
}

pub(super) fn replaces(fresh: Factory<'_>) {
    let store = fresh();
    put(&*store, [chunked("wiki", "a", &[("old apple", X), ("old pear", X)])]);
    let applied = put(&*store, [document("wiki", "a", "new apple", Y)]);
    assert_eq!(applied, Applied { changed: 1, ..Applied::default() });
    assert!(by_words(&*store, "old pear").is_empty());
    assert_eq!(by_words(&*store, "apple"), ["wiki/a#0"]);
    assert_eq!(by_meaning(&*store, Y), ["wiki/a#0"], "the old vectors are gone");
    let changes: [fn(&mut Document); 4] = [
        |d| d.title = Some("t".into()),
        |d| d.metadata = [("a".to_owned(), json!(1))].into_iter().collect(),
        |d| d.chunks[0].vector = None,
        |d| d.chunks[0].span = 0..3,
    ];
    for change in changes {
        let mut document = document("wiki", "a", "new apple", Y);
        change(&mut document);
        assert_eq!(put(&*store, [document]).changed, 1);
    }
    assert_eq!(put(&*store, [document("mail", "a", "apple", X)]).added, 1, "a name is source and id");
    assert_eq!(by_words(&*store, "apple"), ["mail/a#0", "wiki/a#0"]);
}

pub(super) fn deletes(fresh: Factory<'_>) {
    let store = fresh();
    put(&*store, [document("wiki", "a", "apple", X), document("wiki", "b", "apple", Y)]);
    assert_eq!(delete(&*store, "wiki", "c"), Applied::default());
    assert_eq!(delete(&*store, "mail", "a"), Applied::default());
    assert_eq!(delete(&*store, "wiki", "a"), Applied { removed: 1, ..Applied::default() });
    assert_eq!(delete(&*store, "wiki", "a"), Applied::default());
    assert_eq!(by_words(&*store, "apple"), ["wiki/b#0"]);
    assert_eq!(by_meaning(&*store, X), ["wiki/b#0"]);
    assert_eq!(put(&*store, [document("wiki", "a", "apple", X)]).added, 1);
}

pub(super) fn unchanged(fresh: Factory<'_>) {
    let store = fresh();
    put(&*store, [full()]);
    let found = |store: &dyn Store| answer(&*now(store), &ask("part", None, &Filter::default()));
    let before = found(&*store);
    assert_eq!(put(&*store, [full()]), Applied { unchanged: 1, ..Applied::default() });
    assert_eq!(found(&*store), before, "the very same chunks");
}

pub(super) fn in_order(fresh: Factory<'_>) {
    let store = fresh();
    let gone = Change::Delete { source: "wiki".into(), id: "a".into() };
    let changes = vec![
        Change::Put(document("wiki", "a", "first", X)),
        Change::Put(document("wiki", "a", "second", X)),
        gone.clone(),
        Change::Put(document("wiki", "a", "third", X)),
        Change::Put(document("wiki", "a", "third", X)),
        Change::Put(document("wiki", "b", "third", X)),
        Change::Delete { source: "wiki".into(), id: "b".into() },
    ];
    let applied = store.apply(changes).expect("changes");
    assert_eq!(applied, Applied { added: 3, changed: 1, unchanged: 1, removed: 2 });
    assert_eq!(by_words(&*store, "first second third"), ["wiki/a#0"]);
    assert_eq!(by_meaning(&*store, X), ["wiki/a#0"]);
}

pub(super) fn all_or_none(fresh: Factory<'_>) {
    let store = fresh();
    put(&*store, [document("wiki", "a", "apple", X)]);
    let mut wrong = document("wiki", "c", "cherry", X);
    wrong.chunks[0].vector = Some(vec![1.0; super::DIM + 1]);
    let changes = vec![
        Change::Delete { source: "wiki".into(), id: "a".into() },
        Change::Put(document("wiki", "b", "banana", X)),
        Change::Put(wrong),
    ];
    assert!(store.apply(changes).is_err());
    assert_eq!(by_words(&*store, "apple banana cherry"), ["wiki/a#0"]);
    assert_eq!(by_meaning(&*store, X), ["wiki/a#0"]);
    assert_eq!(now(&*store).sources().expect("sources")[0].documents, 1);
}

pub(super) fn never_again(fresh: Factory<'_>) {
    let store = fresh();
    let mut seen = Vec::new();
    for round in 0..5 {
        put(&*store, [document("wiki", "a", &format!("apple {round}"), X)]);
        seen.push(answer(&*now(&*store), &ask("apple", None, &Filter::default()))[0].found[0].chunk);
        delete(&*store, "wiki", "a");
    }
    assert!(now(&*store).fetch(&seen).expect("no chunks").is_empty());
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), 5);
}

/// Everything that a view says.
fn says(view: &dyn View) -> (Vec<String>, Vec<String>, Vec<u64>) {
    let filter = Filter::default();
    let words = all_names(view, &ask("apple", None, &filter));
    let meaning = all_names(view, &ask("", Some(&X), &filter));
    (words, meaning, view.sources().expect("sources").iter().map(|source| source.documents).collect())
}

pub(super) fn isolation(fresh: Factory<'_>) {
    let store = fresh();
    put(&*store, [document("wiki", "a", "apple", X), document("wiki", "b", "apple", X)]);
    let view = now(&*store);
    let before = says(&*view);
    put(&*store, [document("wiki", "a", "changed apple", Y), document("mail", "c", "apple", X)]);
    delete(&*store, "wiki", "b");
    assert_eq!(says(&*view), before, "what was there stays, what came does not show");
    assert_eq!(by_words(&*store, "apple"), ["mail/c#0", "wiki/a#0"]);
    drop(view);
    assert_eq!(by_words(&*store, "apple"), ["mail/c#0", "wiki/a#0"]);
}

pub(super) fn counts(fresh: Factory<'_>) {
    let store = fresh();
    let mut dated = chunked("wiki", "a", &[("one", X), ("two", Y)]);
    dated.created_at = Moment::parse("2026-01-31T00:00:00Z").ok();
    dated.chunks[1].vector = None;
    let mut older = document("wiki", "b", "three", X);
    older.created_at = Moment::parse("2025-12-31").ok();
    put(&*store, [dated.clone(), older, document("mail", "c", "four", X)]);
    put(&*store, [document("mail", "c", "five", X)]);
    let sources = now(&*store).sources().expect("sources");
    let counted: Vec<_> =
        sources.iter().map(|s| (s.name.as_str(), s.documents, s.chunks, s.vectors)).collect();
    assert_eq!(counted, [("mail", 1, 1, 1), ("wiki", 2, 3, 2)], "by name");
    assert_eq!(sources[1].newest, dated.created_at);
    assert_eq!(sources[0].newest, None);
    assert!(sources.iter().all(|source| source.written_at.is_some()));
    delete(&*store, "wiki", "a");
    let sources = now(&*store).sources().expect("sources");
    assert_eq!((sources[1].documents, sources[1].chunks, sources[1].vectors), (1, 1, 1));
    assert_eq!(sources[1].newest, Moment::parse("2025-12-31").ok());
    let mut file = document("wiki", "file", "six", X);
    file.updated_at = Moment::parse("2026-01-15").ok();
    put(&*store, [file.clone()]);
    assert_eq!(now(&*store).sources().expect("sources")[1].newest, file.updated_at, "a file has a time");
}

/// Each write puts one pair: two documents of which a view must see both or none, by words and by meaning.
pub(super) fn concurrent(fresh: Factory<'_>) {
    const PAIRS: usize = 12;
    let store = fresh();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let mut seen = 0;
                while !done.load(Ordering::Acquire) {
                    let pairs = pairs(&*now(&*store));
                    assert!(pairs >= seen, "{pairs} pairs after {seen}");
                    seen = pairs;
                }
            });
        }
        for pair in 1..=PAIRS {
            let half = |half| document("wiki", &format!("{pair}-{half}"), "apple", X);
            put(&*store, [half(1), half(2)]);
            assert_eq!(pairs(&*now(&*store)), pair, "a write shows once it returns");
        }
        done.store(true, Ordering::Release);
    });
}

fn pairs(view: &dyn View) -> usize {
    let filter = Filter::default();
    let count = |vector| {
        let retrieval = mainstem_core::contract::Retrieval { limit: 100, ..ask("apple", vector, &filter) };
        answer(view, &retrieval).first().map_or(0, |source| source.found.len())
    };
    let documents = view.sources().expect("sources").first().map_or(0, |source| source.documents as usize);
    assert_eq!([count(None), count(Some(&X))], [documents; 2]);
    assert_eq!(documents % 2, 0);
    documents / 2
}

pub(super) fn survives(open: Factory<'_>) {
    put(&*open(), [full(), document("wiki", "b", "apple", Z), document("mail", "c", "apple", X)]);
    delete(&*open(), "mail", "c");
    let store = open();
    assert_eq!(by_words(&*store, "apple"), ["wiki/b#0"]);
    assert_eq!(by_meaning(&*store, Z)[0], "wiki/b#0");
    assert_eq!(put(&*store, [full()]).unchanged, 1);
}
