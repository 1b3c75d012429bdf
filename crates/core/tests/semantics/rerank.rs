//! Reranking: how the reranker's scores are merged, and what happens when they cannot be.

use crate::search::{bytes, expect, ids, list, run, search};
use mainstem_core::rerank::{RerankSpec, Verdict};
use mainstem_core::status::StageState;
use mainstem_core::{Answer, Item, Replay};

/// Three hits of RSF scores 1, .5 and 0, with this pipeline and this verdict.
fn rerank(settings: &str, verdict: &str) -> Answer {
    run(&json(settings, verdict))
}

fn json(settings: &str, verdict: &str) -> String {
    let pipeline = format!(r#""fuse":{{"method":"rsf"}},"rerank":{{{settings}}}"#);
    search(&pipeline, &[list("wiki", "a 3, b 2, c 1")]).replacen(
        '{',
        &format!(r#"{{"reranker":{verdict},"#),
        1,
    )
}

#[test]
fn the_blend_is_seven_tenths_by_default() {
    let answer = rerank("", r#"{"scores":{"a":0.1,"b":0.2,"c":0.9}}"#);
    expect(&answer, &[("c", 0.63), ("a", 0.7 * 0.1 + 0.3), ("b", 0.7 * 0.2 + 0.15)]);
    let half = rerank(r#""blend":0.5"#, r#"{"scores":{"a":0.1,"b":0.2,"c":0.9}}"#);
    expect(&half, &[("a", 0.55), ("c", 0.45), ("b", 0.35)]);
}

#[test]
fn replace_takes_the_reranker_alone() {
    let answer = rerank(r#""replace":true"#, r#"{"scores":{"a":0.1,"b":0.2,"c":0.9}}"#);
    expect(&answer, &[("c", 0.9), ("b", 0.2), ("a", 0.1)]);
}

#[test]
fn scores_that_are_no_probabilities_are_divided_by_the_best() {
    let answer = rerank(r#""replace":true"#, r#"{"scores":{"a":-3,"b":2,"c":8}}"#);
    expect(&answer, &[("c", 1.0), ("b", 0.25), ("a", 0.0)]);
    let negative = rerank(r#""replace":true"#, r#"{"scores":{"a":-3,"b":-2,"c":-1}}"#);
    expect(&negative, &[("c", 1.0), ("b", 0.5), ("a", 1.0 / 3.0)]);
}

#[test]
fn raw_fused_scores_are_brought_to_the_unit_scale_first() {
    let json = search(r#""rerank":{}"#, &[list("wiki", "a 3, b 2")]);
    let json = json.replacen('{', r#"{"reranker":{"scores":{"a":0.5,"b":0.5}},"#, 1);
    expect(&run(&json), &[("a", 0.35 + 0.3), ("b", 0.35 + 0.3 * (61.0 / 62.0))]);
}

#[test]
fn unscored_hits_keep_their_order_below_the_scored_ones() {
    let answer = rerank("", r#"{"scores":{"c":0.01}}"#);
    assert_eq!(ids(&answer), ["c", "a", "b"]);
    assert!(answer.hits.windows(2).all(|pair| pair[0].score >= pair[1].score));
}

#[test]
fn the_reranker_reads_the_best_thirty_and_a_thousand_characters_of_each() {
    let many = (0..40).map(|n| format!("d{n:02} {}", 100 - n)).collect::<Vec<_>>().join(",");
    let json = |id: &str| {
        let json = search(r#""rerank":{}"#, &[list("wiki", &many)]);
        json.replacen('{', &format!(r#"{{"reranker":{{"scores":{{"{id}":0.9}}}},"#), 1)
    };
    assert_eq!(ids(&run(&json("d29")))[0], "d29", "the thirtieth is asked about");
    let outside = run(&json("d30"));
    assert_eq!(ids(&outside)[0], "d00", "the thirty-first is not");
    assert!(bytes(&outside).contains("that it was not asked about"));

    let item = Item { title: Some("é".repeat(600)), text: Some("한".repeat(600)), ..Item::default() };
    let passage = RerankSpec::default().passage(&item);
    assert_eq!(passage.chars().count(), 1000);
    assert_eq!(passage, format!("{} {}", "é".repeat(600), "한".repeat(399)));
}

#[test]
fn whatever_goes_wrong_the_fused_order_and_scale_stay_and_the_status_says_so() {
    let fused = run(&search(r#""fuse":{"method":"rsf"}"#, &[list("wiki", "a 3, b 2, c 1")]));
    for (verdict, reason) in [
        (r#"{"error":"timed out after 300 ms"}"#, "timed out after 300 ms"),
        (r#"{"scores":{}}"#, "scored nothing"),
        (r#"{"scores":{"a":0.1,"elsewhere":0.9}}"#, "that it was not asked about"),
    ] {
        assert_fallback(&rerank("", verdict), &fused, reason);
    }
    let unknown = rerank("", r#"{"scores":{"a":0.1,"elsewhere":0.9}}"#);
    assert!(!bytes(&unknown).contains("elsewhere"), "an id that the caller may not know is not named");
    for nonsense in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let mut replay = Replay::from_json(json("", r#"{"scores":{}}"#).as_bytes()).unwrap();
        let scores = [("a".to_owned(), 0.2), ("b".to_owned(), nonsense)];
        replay.search.verdict = Some(Verdict::Scores(scores.into_iter().collect()));
        assert_fallback(&replay.run().unwrap(), &fused, "gave `b` the score");
    }
}

fn assert_fallback(answer: &Answer, fused: &Answer, reason: &str) {
    let hits = |answer: &Answer| serde_json::to_string(&answer.hits).unwrap();
    assert_eq!(hits(answer), hits(fused), "{reason}");
    let stage = answer.status.stages.iter().find(|stage| stage.stage == "rerank").unwrap();
    assert_eq!(stage.state, StageState::Failed);
    assert!(stage.reason.as_ref().is_some_and(|why| why.contains(reason)), "{stage:?}");
}

#[test]
fn a_fallback_does_not_fall_under_a_threshold() {
    let pipeline = r#""fuse":{"method":"rsf"},"rerank":{},"min_score":0.4"#;
    let json = search(pipeline, &[list("wiki", "a 3, b 2, c 1")]).replacen(
        '{',
        r#"{"reranker":{"error":"down"},"#,
        1,
    );
    assert_eq!(ids(&run(&json)), ["a", "b"]);
}

#[test]
fn ties_after_reranking_fall_as_they_do_everywhere() {
    let answer = rerank(r#""replace":true"#, r#"{"scores":{"c":0.5,"b":0.5,"a":0.5}}"#);
    assert_eq!(ids(&answer), ["a", "b", "c"]);
}
