//! Legs that are late, missing, empty or left out, and the deadline that decides about them.

use std::time::Duration;

use crate::search::{ids, list, listed, run, search, two_lists, weighted};
use mainstem_core::LegState;
use mainstem_core::deadline::Deadline;

fn missing(state: &str, weight: f64, items: &str) -> String {
    listed("slack/dense", &format!(r#""state":"{state}","weight":{weight:?}"#), items)
}

#[test]
fn a_missing_leg_is_reported_with_the_most_it_could_have_added() {
    let [bm25, dense] = two_lists();
    for state in ["timed_out", "failed"] {
        let lists = [bm25.clone(), dense.clone(), missing(state, 2.0, "")];
        let answer = run(&search(r#""fuse":{"k":10}"#, &lists));
        assert!(answer.status.partial);
        assert_eq!(answer.status.legs[2].could_add, Some(2.0 / 11.0));
        assert_eq!(answer.status.legs[0].could_add, None);
        let from_zero = run(&search(r#""fuse":{"k":10,"rank_base":0}"#, &lists));
        assert_eq!(from_zero.status.legs[2].could_add, Some(2.0 / 10.0));
        let rsf = run(&search(r#""fuse":{"method":"rsf"}"#, &lists));
        assert_eq!(rsf.status.legs[2].could_add, Some(2.0 / 4.0));
    }
}

#[test]
fn late_legs_never_change_an_answer() {
    let late = r#"{"id":"late","score":9},{"id":"d","score":8}"#;
    for method in ["rrf", "rsf", "combmnz", "borda", "condorcet"] {
        let fuse = format!(r#""fuse":{{"method":"{method}"}},"dedup":{{"within":0.9,"across":0.9}}"#);
        let [bm25, dense] = two_lists();
        let without = run(&search(&fuse, &[bm25.clone(), dense.clone()]));
        for state in ["timed_out", "failed"] {
            let with = run(&search(&fuse, &[bm25.clone(), missing(state, 1.0, late), dense.clone()]));
            assert_eq!(
                serde_json::to_string(&with.hits).unwrap(),
                serde_json::to_string(&without.hits).unwrap(),
                "{method}, {state}"
            );
            assert!(with.status.partial && !without.status.partial);
        }
    }
}

#[test]
fn a_slow_leg_counts_and_is_no_gap() {
    let answer = run(&search("", &[missing("slow", 1.0, r#"{"id":"x"}"#)]));
    assert_eq!((ids(&answer), answer.status.legs[0].state), (vec!["x"], LegState::Slow));
    assert!(!answer.status.partial);
}

#[test]
fn an_empty_leg_has_a_state_of_its_own() {
    let answer = run(&search("", &[list("wiki", ""), list("bm25", "a 1")]));
    assert_eq!(answer.status.legs[0].state, LegState::Empty);
    assert!(!answer.status.partial);
    assert_eq!(answer.status.legs[0].items, 0);
}

#[test]
fn without_any_hit_the_answer_is_empty_and_says_what_each_leg_did() {
    for lists in [vec![], vec![list("wiki", "")], vec![weighted("wiki", 0.0, "a 1")]] {
        let stages =
            r#""dedup":{"within":0.9,"across":0.9},"recency":{"*":{}},"diversify":{},"rerank":{},"limit":5"#;
        let answer = run(&search(stages, &lists));
        assert!(answer.hits.is_empty());
        assert_eq!(answer.status.legs.len(), lists.len());
    }
}

fn at(ms: &[Option<u64>]) -> Vec<Option<Duration>> {
    ms.iter().map(|ms| ms.map(Duration::from_millis)).collect()
}

#[test]
fn the_deadline_is_soft_at_200_and_hard_at_500() {
    let goes_on = |arrivals: &[Option<u64>]| Deadline::default().goes_on_at(&at(arrivals)).as_millis();
    assert_eq!(goes_on(&[Some(10), Some(30)]), 30);
    assert_eq!(goes_on(&[Some(10), Some(201)]), 200);
    assert_eq!(goes_on(&[Some(10), Some(200)]), 200);
    assert_eq!(goes_on(&[Some(250), Some(499)]), 250);
    assert_eq!(goes_on(&[Some(501), None]), 500);
}

#[test]
fn what_arrives_after_the_search_went_on_is_timed_out_whatever_it_holds() {
    let states = |arrivals: &[Option<u64>]| Deadline::default().states(&at(arrivals));
    assert_eq!(states(&[Some(200), Some(200)]), [LegState::Ok, LegState::Ok]);
    assert_eq!(states(&[Some(199), Some(201)]), [LegState::Ok, LegState::TimedOut]);
    assert_eq!(
        states(&[Some(300), Some(300), Some(301)]),
        [LegState::Slow, LegState::Slow, LegState::TimedOut]
    );
    assert_eq!(states(&[Some(500), None]), [LegState::Slow, LegState::TimedOut]);
    assert_eq!(states(&[Some(501)]), [LegState::TimedOut]);
}

#[test]
fn a_record_remembers_what_was_passed_over() {
    let json = search("", &[list("wiki", "a 3, b 2, a 1")]);
    let record = mainstem_core::Replay::from_json(json.as_bytes()).unwrap().to_json().unwrap();
    assert_eq!(crate::search::bytes(&run(&record)), crate::search::bytes(&run(&json)));

    let lists = list("wiki", "a 3, b 2");
    let variant = format!(r#"{{"query":"q","lists":[{lists}]}}"#);
    let json = format!(r#"{{"variants":[{variant},{variant}]}}"#);
    let record = mainstem_core::Replay::from_json(json.as_bytes()).unwrap().to_json().unwrap();
    assert_eq!(crate::search::bytes(&run(&record)), crate::search::bytes(&run(&json)));
}
