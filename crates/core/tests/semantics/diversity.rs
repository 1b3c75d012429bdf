//! Maximal marginal relevance.

use crate::search::{expect, ids, listed, run, search};
use mainstem_core::{Answer, Step};

fn diversify(settings: &str, items: &[&str]) -> Answer {
    let pipeline = format!(r#""fuse":{{"method":"rsf"}},"diversify":{{{settings}}}"#);
    run(&search(&pipeline, &[listed("wiki", "", &items.join(","))]))
}

const COPIES: [&str; 3] = [
    r#"{"id":"a","score":10,"text":"king and pawn ending"}"#,
    r#"{"id":"b","score":9,"text":"king and pawn ending"}"#,
    r#"{"id":"c","score":0,"text":"rook on the seventh"}"#,
];

#[test]
fn lambda_is_the_weight_of_relevance() {
    expect(&diversify(r#""lambda":1"#, &COPIES), &[("a", 1.0), ("b", 0.9), ("c", 0.0)]);
    // b: .5 · .9 − .5 · 1 = −.05; c: .5 · 0 − .5 · 0 = 0.
    expect(&diversify(r#""lambda":0.5"#, &COPIES), &[("a", 0.5), ("c", 0.0), ("b", -0.05)]);
    expect(&diversify("", &COPIES), &[("a", 0.7), ("b", 0.7 * 0.9 - 0.3), ("c", 0.0)]);
}

#[test]
fn similarity_is_the_share_of_words_without_vectors() {
    let items = [
        r#"{"id":"a","score":2,"text":"one two three four"}"#,
        r#"{"id":"b","score":1,"text":"THREE four five six"}"#,
    ];
    expect(&diversify(r#""lambda":0.5"#, &items), &[("a", 0.5), ("b", -0.5 * (2.0 / 6.0))]);
}

#[test]
fn similarity_is_the_cosine_where_both_have_a_vector() {
    let items = [
        r#"{"id":"a","score":2,"text":"same words","vector":[1,0]}"#,
        r#"{"id":"b","score":1,"text":"same words","vector":[0.6,0.8]}"#,
    ];
    let answer = diversify(r#""lambda":0.5"#, &items);
    assert!((answer.hits[1].score - -0.3).abs() < 1e-7, "{:?}", answer.hits[1].score);
    let one_without = [items[0], r#"{"id":"b","score":1,"text":"same words"}"#];
    expect(&diversify(r#""lambda":0.5"#, &one_without), &[("a", 0.5), ("b", -0.5)]);
}

#[test]
fn ties_keep_the_order_of_relevance() {
    let items = [r#"{"id":"b","score":1}"#, r#"{"id":"a","score":1}"#, r#"{"id":"c","score":1}"#];
    assert_eq!(ids(&diversify("", &items)), ["b", "a", "c"], "the order of their ranks");
}

#[test]
fn raw_scores_are_divided_by_the_best_first() {
    let json = search(r#""diversify":{"lambda":0.7}"#, &[listed("wiki", "", &COPIES.join(","))]);
    let answer = run(&json);
    expect(&answer, &[("a", 0.7), ("c", 0.7 * (61.0 / 63.0)), ("b", 0.7 * (61.0 / 62.0) - 0.3)]);
}

#[test]
fn the_ledger_names_the_hit_it_is_most_like() {
    let answer = diversify(r#""lambda":0.5"#, &COPIES);
    let nearest = |at: usize| match answer.hits[at].ledger.steps.last() {
        Some(Step::Diversify { nearest, .. }) => nearest.clone(),
        other => panic!("{other:?}"),
    };
    assert_eq!([nearest(0), nearest(1), nearest(2)], [None, None, Some("a".to_owned())]);
}
