//! Sources merged by score before channels are fused.

use crate::search::{ids, listed, run, search};

const LINEAR: &str = r#""fuse":{"method":"linear"}"#;

/// A list of a source and a channel.
fn leg(name: &str, fields: &str, scores: &[(&str, f64)]) -> String {
    let items = scores.iter().map(|(id, score)| format!(r#"{{"id":"{id}","score":{score:?}}}"#));
    listed(name, fields, &items.collect::<Vec<_>>().join(","))
}

/// A useless source beside the right one: its best is worse than the right one's worst.
fn lists() -> Vec<String> {
    vec![
        leg("right/dense", "", &[("r1", 0.9), ("r2", 0.8), ("r3", 0.7)]),
        leg("right/bm25", "", &[("r1", 12.0), ("r3", 10.0)]),
        leg("useless/dense", "", &[("u1", 0.2), ("u2", 0.1)]),
        leg("useless/bm25", "", &[("u1", 1.0)]),
    ]
}

#[test]
fn the_first_of_a_useless_source_ties_by_rank_and_loses_by_score() {
    let by_rank = run(&search("", &lists()));
    assert_eq!(by_rank.hits[0].score, by_rank.hits[1].score);
    assert_eq!(by_rank.hits[1].id, "u1");
    let by_score = run(&search(&format!(r#""across":"score",{LINEAR}"#), &lists()));
    assert_eq!(ids(&by_score), ["r1", "r3", "r2", "u1", "u2"]);
}

#[test]
fn hits_and_legs_keep_their_sources() {
    let answer = run(&search(&format!(r#""across":"score",{LINEAR}"#), &lists()));
    assert_eq!(answer.hits[0].sources, ["right"]);
    assert_eq!(answer.hits[3].sources, ["useless"]);
    let legs: Vec<_> = answer.status.legs.iter().map(|leg| (leg.name.as_str(), leg.items)).collect();
    assert_eq!(legs, [("right/dense", 3), ("right/bm25", 2), ("useless/dense", 2), ("useless/bm25", 1)]);
    assert_eq!(answer.status.stages[0].stage, "merge");
}

#[test]
fn a_weight_scales_the_scores_of_its_source() {
    let halved = |score: f64| {
        vec![
            leg("a/dense", "", &[("a1", 0.5)]),
            leg("b/dense", r#""weight":0.5"#, &[("b1", score), ("b2", -0.2)]),
            leg("c/dense", r#""weight":0.0"#, &[("c1", 1.0)]),
        ]
    };
    let order = |score| ids(&run(&search(r#""across":"score""#, &halved(score)))).join(" ");
    assert_eq!((order(0.9), order(1.1)), ("a1 b1 b2".to_owned(), "b1 a1 b2".to_owned()));
}

#[test]
fn recency_and_keys_look_at_the_source_and_not_at_the_channel() {
    let items = r#"{"id":"x","score":0.9,"created_at":"2026-01-24"}"#;
    let lists = [listed("chat/dense", r#""kind":"slack""#, items), leg("wiki/dense", "", &[("y", 0.8)])];
    let answer = run(&search(&format!(r#""across":"score","recency":{{"chat":{{}}}},{LINEAR}"#), &lists));
    assert!(answer.status.notes.is_empty(), "{:?}", answer.status.notes);
    assert_eq!(answer.hits[0].score, (1.0 - 0.6) + 0.6 * 0.5, "a week old, at the half-life of slack");
}

#[test]
fn a_missing_leg_could_have_added_what_its_channel_weighs() {
    let mut lists = lists();
    lists[2] = leg("useless/dense", r#""state":"timed_out""#, &[]);
    let answer = run(&search(&format!(r#""across":"score",{LINEAR}"#), &lists));
    assert!(answer.status.partial);
    assert_eq!(answer.status.legs[2].could_add, Some(0.5));
    assert_eq!(ids(&answer)[..3], ["r1", "r3", "r2"]);
}

#[test]
fn a_channel_without_scores_is_not_merged() {
    let lists = [listed("a/dense", "", r#"{"id":"x"}"#), leg("b/dense", "", &[("y", 0.8)])];
    let answer = run(&search(r#""across":"score""#, &lists));
    assert_eq!(answer.hits.len(), 2);
    assert_eq!(answer.status.notes, ["`dense` has items without comparable scores and is not merged"]);
}
