//! From chunks to documents.

use crate::search::{bytes, expect, ids, listed, run, search};
use mainstem_core::Replay;

const CHUNKS: &str = r#"{"id":"b1","score":0.9,"document":"B","order":1},{"id":"a2","score":0.8,"document":"A","order":2},
    {"id":"a1","score":0.6,"document":"A","order":1},{"id":"lone","score":0.5},{"id":"b2","score":0.1,"document":"B","order":0}"#;

#[test]
fn a_list_of_chunks_becomes_a_list_of_documents_before_fusion() {
    for (method, order) in
        [("max", ["B", "A", "lone"]), ("mean", ["A", "B", "lone"]), ("first", ["A", "lone", "B"])]
    {
        let answer = run(&search(&format!(r#""aggregate":"{method}""#), &[listed("wiki", "", CHUNKS)]));
        let expected: Vec<_> = (0..3).map(|at| (order[at], 1.0 / (61.0 + at as f64))).collect();
        expect(&answer, &expected);
    }
}

#[test]
fn documents_of_two_lists_meet() {
    let other = r#"{"id":"a9","score":7,"document":"A"},{"id":"lone","score":3}"#;
    let lists = [listed("wiki/dense", "", CHUNKS), listed("wiki/bm25", "", other)];
    let answer = run(&search(r#""aggregate":"max""#, &lists));
    expect(&answer, &[("A", 1.0 / 62.0 + 1.0 / 61.0), ("lone", 1.0 / 63.0 + 1.0 / 62.0), ("B", 1.0 / 61.0)]);
    assert!(bytes(&answer).contains("\"a9\""), "the ledger names the chunks");
}

#[test]
fn the_answer_does_not_depend_on_the_order_in_which_items_are_written() {
    // No chunk says its place, so the best one of a list is its first.
    let item = |id: &str, score: f64| format!(r#"{{"id":"{id}","score":{score},"document":"D"}}"#);
    let other = r#"{"id":"o","score":0.5}"#.to_owned();
    let up = [item("low", 0.1), other.clone(), item("high", 0.9)].join(",");
    let down = [item("high", 0.9), other, item("low", 0.1)].join(",");
    let pipeline = r#""aggregate":"first""#;
    let [up, down] = [up, down].map(|items| run(&search(pipeline, &[listed("wiki", "", &items)])));
    assert_eq!(ids(&up), ["D", "o"]);
    assert_eq!(ids(&up), ids(&down));
}

#[test]
fn a_record_of_unsorted_chunks_gives_the_same_answer() {
    let items = r#"{"id":"low","score":0.1,"document":"D"},{"id":"o","score":0.5},{"id":"high","score":0.9,"document":"D"}"#;
    for method in ["max", "mean", "first"] {
        let json = search(&format!(r#""aggregate":"{method}""#), &[listed("wiki", "", items)]);
        let record = Replay::from_json(json.as_bytes()).unwrap().to_json().unwrap();
        assert_eq!(bytes(&run(&record)), bytes(&run(&json)), "{method}");
    }
}
