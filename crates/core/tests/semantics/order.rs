//! The total order, and the numbers that have no place in it.

use crate::search::{bytes, expect, ids, list, listed, refused, replayed, run, search, weighted};
use mainstem_core::{Candidates, Diagnostic as _, Item, Leg, NonFinite, PipelineSpec, Search};

#[test]
fn ties_fall_to_best_rank_then_best_raw_score_then_id() {
    // All have 1/61 from rank 1; q has the better raw score, and o comes before p.
    let lists = [list("one", "p 3"), list("two", "q 9"), list("three", "o 3")];
    assert_eq!(ids(&run(&search("", &lists))), ["q", "o", "p"]);
}

#[test]
fn a_better_rank_wins_a_tie_before_a_better_raw_score() {
    // With k = 0: x is second twice, 1/2 + 1/2; y is first once, 1.
    let lists = [list("one", "a 9, x 8"), list("two", "b 9, x 8"), list("three", "y 1")];
    let answer = run(&search(r#""fuse":{"k":0}"#, &lists));
    expect(&answer, &[("a", 1.0), ("b", 1.0), ("y", 1.0), ("x", 1.0)]);
}

#[test]
fn an_item_without_a_score_loses_a_tie_on_raw_scores() {
    let lists = [list("one", "a"), list("two", "b -100")];
    assert_eq!(ids(&run(&search("", &lists))), ["b", "a"]);
}

#[test]
fn ids_are_compared_as_bytes() {
    let lists = ["ä", "z", "Z", "10", "9"].map(|id| list(&format!("of {id}"), id));
    assert_eq!(ids(&run(&search("", &lists))), ["10", "9", "Z", "z", "ä"]);
}

#[test]
fn sums_run_in_list_order() {
    // In this order 0.1 + 0.2 + 0.3 is not 0.3 + 0.2 + 0.1: the last bit says which one was taken.
    let linear = r#""fuse":{"method":"linear","normalise":"none","combine":"sum"}"#;
    let lists = [list("one", "x 0.1"), list("two", "x 0.2"), list("three", "x 0.3")];
    assert_eq!(run(&search(linear, &lists)).hits[0].score, 0.1 + 0.2 + 0.3);
    let [one, two, three] = lists;
    assert_eq!(run(&search(linear, &[three, two, one])).hits[0].score, 0.3 + 0.2 + 0.1);
}

#[test]
fn equal_scores_in_a_list_keep_the_order_given() {
    assert_eq!(ids(&run(&search("", &[list("x", "c 1, a 1, b 2")]))), ["b", "c", "a"]);
}

#[test]
fn the_same_input_gives_the_same_bytes() {
    let many = (0..200).map(|n| format!("id{n} {}", n % 3)).collect::<Vec<_>>().join(",");
    let lists = [list("one", &many), weighted("two", 1.0, &many)];
    let json = search(r#""fuse":{"method":"condorcet"}"#, &lists);
    let first = bytes(&run(&json));
    for _ in 0..3 {
        assert_eq!(bytes(&run(&json)), first);
    }
}

#[test]
fn a_score_that_is_no_number_is_refused_with_the_id() {
    for (score, shown) in [
        ("NaN", "NaN"),
        ("Infinity", "Infinity"),
        ("-Infinity", "-Infinity"),
        ("1e999", "1e999"),
        ("-1e999", "-1e999"),
    ] {
        for item in [
            format!(r#"{{"id":"bad one","score":{score}}}"#),
            format!(r#"{{"score":{score},"id":"bad one"}}"#),
        ] {
            let json = search("", &[listed("bm25", "", &format!(r#"{{"id":"ok","score":1}},{item}"#))]);
            let error = refused(&json);
            let message = error.to_string();
            assert!(message.contains("`bad one`") && message.contains(shown), "{item}: {message}");
            assert_eq!(error.code().as_str(), "E0202", "{item}");
            assert!(error.place().is_some_and(|place| place.line == Some(1)), "{item}");
            assert!(error.hint().is_some(), "{item}");
        }
    }
}

#[test]
fn a_live_leg_loses_such_items_and_the_status_counts_them() {
    let mut candidates = Candidates::new();
    let items = [("a", 2.0), ("bad", f64::NAN), ("worse", f64::INFINITY), ("b", 1.0)];
    let items = items.map(|(id, score)| (id.to_owned(), Some(score)));
    candidates.add(Leg::new("wiki/dense"), items, NonFinite::Drop).unwrap();
    let items = vec![Item::default(); candidates.len()];
    let search = Search { candidates, items, ..Search::default() };
    let answer = replayed(PipelineSpec::default().check().unwrap().run(&search).unwrap());
    expect(&answer, &[("a", 1.0 / 61.0), ("b", 1.0 / 62.0)]);
    assert_eq!((answer.status.legs[0].items, answer.status.legs[0].dropped), (2, 2));
    assert!(bytes(&answer).contains("\"dropped\": 2"));
}
