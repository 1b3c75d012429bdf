//! What is found, in which order, and with which scores.

use mainstem_core::Document;
use mainstem_core::contract::{Change, Channel, Ctx, Filter, Retrieval};
use mainstem_core::time::Moment;

use super::help::{X, XY, Y, YX, Z, all_names, answer, ask, by_words, delete, document, names, now, put};
use super::{DIM, Factory};

pub(super) fn per_source(fresh: Factory<'_>) {
    let store = fresh();
    let many = (0..30).map(|n| document("large", &format!("{n:02}"), "apple pie", X));
    put(&*store, many.chain([document("small", "a", "one apple in a long text about other things", Y)]));
    let view = now(&*store);
    let filter = Filter::default();
    for vector in [None, Some(&X[..])] {
        for limit in [1, 5, 29, 30, 31] {
            let found = answer(&*view, &Retrieval { limit, ..ask("apple", vector, &filter) });
            let counts: Vec<_> =
                found.iter().map(|source| (source.source.as_str(), source.found.len())).collect();
            assert_eq!(counts, [("large", limit.min(30)), ("small", 1)], "limit {limit}");
        }
        assert!(answer(&*view, &Retrieval { limit: 0, ..ask("apple", vector, &filter) }).is_empty());
    }
}

pub(super) fn comparable(fresh: Factory<'_>) {
    let store = fresh();
    let texts = [("a", "apple", X), ("b", "apple apple pear", XY), ("c", "pear", YX)];
    for source in ["one", "two"] {
        put(&*store, texts.map(|(id, text, vector)| document(source, id, text, vector)));
    }
    let view = now(&*store);
    let filter = Filter::default();
    for vector in [None, Some(&X[..])] {
        let found = answer(&*view, &ask("apple", vector, &filter));
        let scores = |place: usize| found[place].found.iter().map(|found| found.score).collect::<Vec<_>>();
        assert_eq!(scores(0), scores(1), "the same text scores the same in every source");
        assert!(scores(0).iter().all(|score| score.is_finite()));
    }
    let meaning = answer(&*view, &ask("", Some(&X), &filter));
    assert_eq!(names(&*view, &meaning[0].found), ["one/a#0", "one/b#0", "one/c#0"]);
    let spread = meaning[0].found.windows(2).all(|pair| pair[0].score > pair[1].score + 0.05);
    assert!(spread, "nearer vectors score more: {meaning:?}");
}

pub(super) fn ties(fresh: Factory<'_>) {
    let store = fresh();
    for group in 0..4 {
        put(&*store, (0..5).map(|n| document("wiki", &format!("{}", 90 - group * 10 - n), "apple", X)));
    }
    let filter = Filter::default();
    for vector in [None, Some(&X[..])] {
        let view = now(&*store);
        let first = answer(&*view, &Retrieval { limit: 20, ..ask("apple", vector, &filter) });
        let ids: Vec<_> = first[0].found.iter().map(|found| found.chunk).collect();
        assert_eq!(ids.len(), 20);
        assert!(ids.is_sorted(), "equal scores are in the order of the numbers: {ids:?}");
        for limit in 1..20 {
            let fewer = answer(&*view, &Retrieval { limit, ..ask("apple", vector, &filter) });
            assert_eq!(fewer[0].found, first[0].found[..limit], "fewer are the first of more");
        }
    }
}

pub(super) fn scripts(fresh: Factory<'_>) {
    let store = fresh();
    let texts = [
        ("ko", "주간회의록: 배포 일정을 정했다", "회의", "배포"),
        ("ja", "東京タワーの近くで会議をした", "会議", "東京"),
        ("zh", "我们讨论了数据库的备份策略", "数据库", "备份"),
        ("de", "Übergröße für Straßenschuhe", "übergröße", "Straßenschuhe"),
        ("ru", "Обсудили резервное копирование", "резервное", "копирование"),
        ("code", "fn parse_header(line: &str) -> HttpHeader", "parse_header", "HttpHeader"),
    ];
    put(&*store, texts.map(|(id, text, ..)| document("wiki", id, text, X)));
    for (id, _, first, second) in texts {
        for word in [first, second] {
            assert_eq!(by_words(&*store, word), [format!("wiki/{id}#0")], "`{word}`");
        }
    }
}

pub(super) fn odd(fresh: Factory<'_>) {
    let store = fresh();
    let mut bare = Document { source: "s".into(), id: "no chunks".into(), ..Document::default() };
    assert_eq!(put(&*store, [bare.clone()]).added, 1);
    assert_eq!(put(&*store, [bare.clone()]).unchanged, 1);
    bare.title = Some("now with a title".into());
    assert_eq!(put(&*store, [bare]).changed, 1);
    let long = "x".repeat(100_000);
    let documents = [
        document("", "", "", X),
        document("s", "zero", "nothing", [0.0; DIM]),
        document("s", "quote's \"and\" \\ / % _ 😀\u{0}", "emoji 😀 and a nul \u{0} inside", Y),
        document("s", "long", &long, Z),
        document("source with spaces / 소스", &long, "apple", Z),
    ];
    assert_eq!(put(&*store, documents.clone()).added, documents.len());
    assert_eq!(put(&*store, documents.clone()).unchanged, documents.len());
    assert_eq!(by_words(&*store, "apple"), [format!("source with spaces / 소스/{long}#0")]);
    for document in documents {
        assert_eq!(delete(&*store, &document.source, &document.id).removed, 1);
    }
}

pub(super) fn odd_questions(fresh: Factory<'_>) {
    let store = fresh();
    put(&*store, [document("wiki", "a", "apple pie", X)]);
    for text in
        ["", " ", "\"", "\"apple", "AND OR NOT", "a:b", "-", "*", "(", "\\", "😀", "\u{0}", "apple~2^3"]
    {
        drop(by_words(&*store, text));
    }
    assert!(by_words(&*store, "pear").is_empty());
    assert_eq!(by_words(&*store, &"apple ".repeat(2000)), ["wiki/a#0"]);
    let filter = Filter::default();
    let huge = Retrieval { limit: usize::MAX, ..ask("apple", None, &filter) };
    assert_eq!(all_names(&*now(&*store), &huge), ["wiki/a#0"]);
    let huge = Retrieval { limit: usize::MAX, ..ask("", Some(&X), &filter) };
    assert_eq!(all_names(&*now(&*store), &huge), ["wiki/a#0"]);
}

pub(super) fn wrong_vectors(fresh: Factory<'_>) {
    let store = fresh();
    put(&*store, [document("wiki", "a", "apple", X)]);
    for vector in
        [vec![], vec![1.0; DIM - 1], vec![1.0; DIM + 1], vec![f32::NAN; DIM], vec![f32::INFINITY; DIM]]
    {
        let mut wrong = document("wiki", "b", "banana", X);
        wrong.chunks[0].vector = Some(vector.clone());
        assert!(store.apply(vec![Change::Put(wrong)]).is_err(), "{vector:?}");
        let filter = Filter::default();
        let retrieval = Retrieval { channel: Channel::Dense, ..ask("", Some(&vector), &filter) };
        let asked = now(&*store).retrieve(&retrieval, &Ctx::unhurried(Moment::now()));
        assert!(asked.is_err(), "{vector:?}");
    }
    assert_eq!(by_words(&*store, "apple banana"), ["wiki/a#0"]);
}
