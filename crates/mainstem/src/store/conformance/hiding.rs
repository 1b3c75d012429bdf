//! What a caller may not see shows nowhere, not in the digits of a score either.

use mainstem_core::Document;
use mainstem_core::contract::{Background, Ctx, Filter, Found, Retrieval, Store, View};
use mainstem_core::time::Moment;
use serde_json::json;

use super::Factory;
use super::help::{Vector, X, XY, Y, YX, Z, answer, ask, delete, document, filtered, names, now, put};

const VECTORS: [Vector; 5] = [X, XY, YX, Y, Z];

fn texts(values: &[&str]) -> Vec<String> {
    values.iter().map(|value| (*value).to_owned()).collect()
}

fn only(sources: &[&str]) -> Filter {
    Filter { scope: Some(texts(sources)), ..Filter::default() }
}

/// What everyone may see: two sources in which some words are rare and some are not.
fn open() -> Vec<Document> {
    let text = |n: usize| match n % 6 {
        0 => "apple pie with a long story about it",
        1 => "apple",
        2 => "a pear and an apple",
        3 => "pears, plums and other fruit",
        _ => "nothing of the kind",
    };
    let of = |n: usize| document(["mail", "wiki"][n % 2], &n.to_string(), text(n), VECTORS[n % 5]);
    (0..40).map(of).collect()
}

/// What is hidden: it has the words of the questions far more often, and copies of what everyone may see.
fn secrets(source: &str) -> Vec<Document> {
    let rare = (0..30).map(|n| document(source, &format!("s{n}"), "apple pear secret plums", VECTORS[n % 3]));
    let copies = open().into_iter().map(|document| Document {
        source: source.to_owned(),
        id: format!("c{}", document.id),
        ..document
    });
    rare.chain(copies).collect()
}

/// Everything that a store says to one question.
#[derive(Debug, PartialEq)]
struct Said {
    found: Vec<(String, Vec<(String, u64)>)>,
    scores: Vec<Option<u64>>,
    background: Vec<Background>,
    greatest: Option<u64>,
    copies: Vec<String>,
}

fn said(view: &dyn View, retrieval: &Retrieval<'_>) -> Said {
    let ctx = Ctx::unhurried(Moment::now());
    let answer = answer(view, retrieval);
    let digits = |found: &Found| found.score.to_bits();
    let named = |found: &[Found]| names(view, found).into_iter().zip(found.iter().map(digits)).collect();
    let chunks: Vec<_> = answer.iter().flat_map(|source| &source.found).map(|found| found.chunk).collect();
    let scores = view.score(retrieval, &chunks, &ctx).expect("scores");
    Said {
        found: answer.iter().map(|source| (source.source.clone(), named(&source.found))).collect(),
        scores: scores.into_iter().map(|score| score.map(f64::to_bits)).collect(),
        background: view.background(retrieval, &ctx).expect("a background"),
        greatest: view.greatest(retrieval, &ctx).expect("a bound").map(f64::to_bits),
        copies: view.copies(retrieval.filter, &ctx).expect("copies"),
    }
}

/// Asks both stores all questions; the answers must be the same to the last bit.
fn same(without: &dyn Store, with: &dyn Store, filter: &Filter) {
    let (without, with) = (now(without), now(with));
    for vector in [None, Some(&XY[..])] {
        for text in ["apple", "apple pear", "pie secret", "\"apple pie\" story"] {
            let retrieval = Retrieval { limit: 100, ..ask(text, vector, filter) };
            assert_eq!(said(&*without, &retrieval), said(&*with, &retrieval), "`{text}` with {filter:?}");
        }
    }
}

pub(super) fn scope(fresh: Factory<'_>) {
    let store = fresh();
    put(&*store, ["mail", "slack", "wiki"].map(|source| document(source, "a", "apple", X)));
    let found = |filter: &Filter| filtered(&*store, "apple", X, filter);
    assert_eq!(found(&only(&["wiki", "mail", "nowhere"])), ["mail/a#0", "wiki/a#0"]);
    assert!(found(&only(&[])).is_empty(), "none of no sources");
    let narrow = Filter { sources: Some(texts(&["slack", "wiki"])), ..only(&["wiki", "mail"]) };
    assert_eq!(found(&narrow), ["wiki/a#0"], "both must hold");
}

pub(super) fn sources(fresh: Factory<'_>) {
    let (without, with) = (fresh(), fresh());
    put(&*without, open());
    put(&*with, secrets("a secret").into_iter().chain(open()).chain(secrets("zzz")));
    let filter = only(&["wiki", "mail"]);
    same(&*without, &*with, &filter);
    same(&*without, &*with, &Filter { sources: Some(texts(&["wiki"])), ..filter.clone() });
    delete(&*with, "a secret", "s3");
    for store in [&without, &with] {
        delete(&**store, "wiki", "1");
    }
    same(&*without, &*with, &filter);
}

pub(super) fn documents(fresh: Factory<'_>) {
    let (without, with) = (fresh(), fresh());
    put(&*without, open());
    let hide = |document: Document| Document { readers: Some(texts(&["bob"])), ..document };
    let hidden = |source: &str| secrets(source).into_iter().map(hide).collect::<Vec<_>>();
    put(&*with, hidden("wiki").into_iter().chain(open()).chain(hidden("zzz")));
    let ann = Filter { reader: Some("ann".into()), ..Filter::default() };
    same(&*without, &*with, &ann);
    same(&*without, &*with, &Filter { sources: Some(texts(&["wiki"])), ..ann.clone() });
    same(&*without, &*with, &Filter { scope: Some(texts(&["wiki", "zzz"])), ..ann });
}

/// A score is the same whether more or less is asked for.
pub(super) fn narrowing(fresh: Factory<'_>) {
    let store = fresh();
    put(
        &*store,
        open().into_iter().enumerate().map(|(n, document)| Document {
            created_at: Moment::parse(if n < 20 { "2026-01-01" } else { "2026-02-01" }).ok(),
            metadata: [("half".to_owned(), json!(n % 4 / 2))].into_iter().collect(),
            ..document
        }),
    );
    let view = now(&*store);
    let scores = |filter: &Filter| -> Vec<(String, u64)> {
        let retrieval = Retrieval { limit: 100, ..ask("apple pie", None, filter) };
        said(&*view, &retrieval).found.into_iter().flat_map(|(_, found)| found).collect()
    };
    let all = scores(&Filter::default());
    let narrow = [
        Filter { sources: Some(texts(&["wiki"])), ..Filter::default() },
        Filter { since: Moment::parse("2026-01-15").ok(), ..Filter::default() },
        Filter { metadata: vec![("half".into(), "1".into())], ..Filter::default() },
    ];
    for filter in narrow {
        let some = scores(&filter);
        assert!(!some.is_empty() && some.len() < all.len(), "{filter:?}");
        assert!(some.iter().all(|one| all.contains(one)), "{filter:?}");
    }
}
