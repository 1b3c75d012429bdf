//! The scores of chunks that were not asked for, and how scores are spread.

use mainstem_core::contract::{Background, Ctx, Filter, Retrieval, View};
use mainstem_core::time::Moment;
use mainstem_core::{ChunkId, Document};

use super::Factory;
use super::help::{X, XY, Y, YX, Z, answer, ask, delete, document, now, put};

fn scores(view: &dyn View, retrieval: &Retrieval<'_>, chunks: &[ChunkId]) -> Vec<Option<f64>> {
    let scores = view.score(retrieval, chunks, &Ctx::unhurried(Moment::now())).expect("scores");
    assert_eq!(scores.len(), chunks.len(), "one for each");
    scores
}

fn spread(view: &dyn View, retrieval: &Retrieval<'_>) -> Vec<Background> {
    view.background(retrieval, &Ctx::unhurried(Moment::now())).expect("a background")
}

/// Every chunk that is found by its meaning, which is every one with a vector.
fn everything(view: &dyn View) -> Vec<ChunkId> {
    let filter = Filter::default();
    let all = answer(view, &Retrieval { limit: 1000, ..ask("", Some(&X), &filter) });
    all.iter().flat_map(|source| source.found.iter().map(|found| found.chunk)).collect()
}

pub(super) fn same_as_found(fresh: Factory<'_>) {
    let store = fresh();
    let texts = [
        ("a", "apple", X),
        ("b", "apple apple pear and a long tail of other words", XY),
        ("c", "pear", YX),
        ("d", "nothing", Z),
    ];
    for source in ["one", "two"] {
        put(&*store, texts.map(|(id, text, vector)| document(source, id, text, vector)));
    }
    let view = now(&*store);
    let filter = Filter::default();
    let elsewhere = Filter { sources: Some(vec!["no such source".into()]), ..Filter::default() };
    for vector in [None, Some(&XY[..])] {
        for text in ["apple", "apple pear", "\"apple pear\" long"] {
            let retrieval = ask(text, vector, &filter);
            for source in answer(&*view, &retrieval) {
                let mut ids: Vec<_> = source.found.iter().map(|found| found.chunk).collect();
                let mut found: Vec<_> = source.found.iter().map(|found| Some(found.score)).collect();
                ids.reverse();
                found.reverse();
                assert_eq!(scores(&*view, &retrieval, &ids), found, "`{text}` in `{}`", source.source);
                let narrow = Retrieval { limit: 0, ..ask(text, vector, &elsewhere) };
                assert_eq!(scores(&*view, &narrow, &ids), found, "neither limit nor filter count");
            }
        }
        assert!(scores(&*view, &ask("apple", vector, &filter), &[]).is_empty());
    }
}

pub(super) fn absent(fresh: Factory<'_>) {
    let store = fresh();
    let mut bare = document("wiki", "bare", "apple", X);
    bare.chunks[0].vector = None;
    put(&*store, [document("wiki", "a", "apple", X), document("wiki", "b", "pear", Y), bare]);
    let filter = Filter::default();
    let view = now(&*store);
    let [a, b] = everything(&*view).try_into().expect("two chunks with a vector");
    let words = answer(&*view, &ask("apple", None, &filter));
    let bare = words[0].found.iter().map(|found| found.chunk).find(|id| *id != a).expect("the bare one");
    let nowhere = ChunkId(u32::MAX.into());
    let asked = [b, nowhere, a, bare, a];
    let by_words = scores(&*view, &ask("apple", None, &filter), &asked);
    assert_eq!(by_words[0], Some(0.0), "without any word of the query");
    assert_eq!(by_words[1], None, "never there");
    assert!(by_words[2].is_some_and(|score| score > 0.0) && by_words[2] == by_words[4]);
    assert!(by_words[3].is_some_and(|score| score > 0.0));
    let by_meaning = scores(&*view, &ask("", Some(&X), &filter), &asked);
    assert_eq!((by_meaning[1], by_meaning[3]), (None, None), "no vector");
    assert!(by_meaning[0].is_some() && by_meaning[2] > by_meaning[0] && by_meaning[2] == by_meaning[4]);
    delete(&*store, "wiki", "a");
    for vector in [None, Some(&X[..])] {
        assert_eq!(scores(&*now(&*store), &ask("apple", vector, &filter), &[a]), [None], "gone");
    }
    let wrong = Retrieval { vector: Some(&[1.0]), ..ask("", Some(&X), &filter) };
    assert!(view.score(&wrong, &[a], &Ctx::unhurried(Moment::now())).is_err(), "a vector of another model");
}

/// The background is what the scores of all chunks give; with one word in the query, no store has to estimate more than the sample.
pub(super) fn background(fresh: Factory<'_>) {
    let store = fresh();
    let vectors = [X, XY, YX, Y, Z];
    let text = |n: usize| if n.is_multiple_of(4) { "apple pie" } else { "some other words entirely" };
    let documents = |source: &'static str, count: usize| -> Vec<Document> {
        (0..count).map(|n| document(source, &n.to_string(), text(n), vectors[n % 5])).collect()
    };
    put(&*store, documents("large", 60).into_iter().chain(documents("small", 7)));
    let view = now(&*store);
    let filter = Filter::default();
    for vector in [None, Some(&X[..])] {
        let retrieval = Retrieval { limit: 1, ..ask("apple", vector, &filter) };
        let spreads = spread(&*view, &retrieval);
        assert_eq!(spreads, spread(&*view, &retrieval), "the same each time");
        let names: Vec<_> = spreads.iter().map(|spread| (spread.source.as_str(), spread.count)).collect();
        assert_eq!(names, [("large", 60), ("small", 7)]);
        for spread in &spreads {
            let all = scores_of(&*view, &retrieval, &spread.source);
            let mean = all.iter().sum::<f64>() / all.len() as f64;
            let variance = all.iter().map(|score| (score - mean).powi(2)).sum::<f64>() / all.len() as f64;
            assert!((spread.mean - mean).abs() <= 0.05 * variance.sqrt(), "{spread:?}, expected {mean}");
            assert!(
                (spread.deviation / variance.sqrt() - 1.0).abs() < 0.1,
                "{spread:?}, expected {}",
                variance.sqrt()
            );
        }
    }
    let only =
        Filter { sources: Some(vec!["small".into()]), reader: Some("ann".into()), ..Filter::default() };
    let names: Vec<_> =
        spread(&*view, &ask("apple", None, &only)).into_iter().map(|spread| spread.source).collect();
    assert_eq!(names, ["small"], "only the sources of the filter count");
    let silent = spread(&*view, &ask("", None, &filter));
    assert!(silent.iter().all(|spread| spread.mean == 0.0 && spread.deviation == 0.0), "{silent:?}");
}

/// The scores of all chunks of a source.
fn scores_of(view: &dyn View, retrieval: &Retrieval<'_>, source: &str) -> Vec<f64> {
    let chunks = view.fetch(&everything(view)).expect("chunks");
    let ids: Vec<_> =
        chunks.iter().filter(|chunk| chunk.document.source == source).map(|chunk| chunk.id).collect();
    scores(view, retrieval, &ids).into_iter().flatten().collect()
}
