//! What was planted must be found.

use mainstem_eval::Measure;
use mainstem_eval::tune::{Guard, Options, Task};
use serde_json::json;

use crate::made::{Made, Random, search, small_space, space};

/// The three best by `1 / (k + dense rank) + weight / (k + lexical rank)` are relevant.
fn planted(queries: usize, k: f64, weight: f64) -> Made {
    let mut random = Random(42);
    Made::new(queries, |_| {
        let (dense, lexical) = (random.order(30), random.order(30));
        let rank = |order: &[usize], doc| 1.0 + order.iter().position(|one| *one == doc).unwrap() as f64;
        let score = |doc| 1.0 / (k + rank(&dense, doc)) + weight / (k + rank(&lexical, doc));
        let mut docs: Vec<usize> = (0..30).collect();
        docs.sort_by(|a, b| score(*b).total_cmp(&score(*a)));
        let relevant = docs.iter().take(3).map(|doc| (format!("d{doc}"), 1)).collect();
        (search(&dense, &lexical), relevant)
    })
}

#[test]
fn a_planted_k_and_weight_are_found() {
    let outcome = planted(60, 2.0, 4.0).tune(Some(&small_space()), Options::default());
    assert!(outcome.better, "{}", outcome.reason);
    assert_eq!(outcome.settings["pipeline"]["fuse"]["k"], json!(2));
    assert_eq!(outcome.settings["weights"], json!({"lexical": 4}));
    assert_eq!(outcome.after, 1.0);
    assert_eq!(outcome.finalists[2].agreement, 5);
    // Another k or weight does worse, and the curves say so.
    assert!(outcome.sensitivity.iter().all(|curve| curve.range > 0.05), "{:?}", outcome.sensitivity);
}

#[test]
fn it_is_found_in_a_space_too_large_to_try_all() {
    let made = planted(60, 10.0, 2.5);
    let values: Vec<f64> = (1..60).map(f64::from).collect();
    let weights: Vec<f64> = (1..40).map(|step| f64::from(step) / 8.0).collect();
    let large = space(json!({"axis": [
        {"path": "pipeline.fuse.k", "values": values, "default": 60},
        {"path": "weights.lexical", "values": weights, "default": 1},
        {"path": "pipeline.min_score", "values": [0.0, 0.001, 0.01, 0.02]},
    ]}));
    let outcome = made.tune(Some(&large), Options { budget: 400, ..Options::default() });
    assert!(outcome.better && outcome.after > 0.97, "{} {}", outcome.after, outcome.reason);
    assert!(outcome.tried <= 400 && outcome.points > 9000.0);
}

#[test]
fn what_does_not_matter_stays_as_it_is() {
    let made = planted(60, 60.0, 4.0);
    let with_idle = space(json!({"axis": [
        {"path": "weights.lexical", "values": [0.25, 0.5, 1, 2, 4], "default": 1},
        {"path": "weights.nothing", "values": [0.5, 2], "default": 1},
        {"path": "pipeline.offset", "values": [0, 3]},
    ]}));
    let outcome = made.tune(Some(&with_idle), Options::default());
    assert!(outcome.better, "{}", outcome.reason);
    let changed: Vec<_> = outcome.changes.iter().map(|change| change.axis.as_str()).collect();
    assert_eq!(changed, ["weights.lexical"]);
}

#[test]
fn a_broken_guard_keeps_the_settings() {
    let made = planted(60, 2.0, 4.0);
    let space = small_space();
    let guard = |margin| Guard { measure: Measure::parse("MRR@1").unwrap(), margin };
    let outcome = made.tune_as(|task| {
        *task = Task { space: Some(&space), guards: vec![guard(-0.9)], ..task.clone() };
    });
    assert!(!outcome.better && outcome.reason.contains("guard"), "{}", outcome.reason);
    let outcome = made.tune_as(|task| {
        *task = Task { space: Some(&space), guards: vec![guard(0.0)], ..task.clone() };
    });
    assert!(outcome.better, "{}", outcome.reason);
}

#[test]
fn dearer_searches_are_refused() {
    let mut random = Random(5);
    // Relevant documents are found far down the second list only.
    let made = Made::new(40, |_| {
        let order = random.order(40);
        let relevant = order[25..35].iter().map(|doc| (format!("d{doc}"), 1)).collect();
        (search(&order[..10], &order[20..]), relevant)
    });
    let deep = space(json!({"axis": [{"path": "candidates", "values": [5, 20]}]}));
    let at = |dearer: f64| {
        let base = serde_json::json!({"candidates": 5});
        let base = mainstem_eval::tune::Setting::from_json(base).unwrap();
        let task = Task {
            recordings: &made.recordings,
            qrels: &made.qrels,
            judged_source: None,
            base: &base,
            space: Some(&deep),
            measure: Measure::parse("R@30").unwrap(),
            guards: Vec::new(),
            options: Options { dearer, ..Options::default() },
        };
        mainstem_eval::tune::tune(&task, &|_| ()).unwrap()
    };
    assert!(!at(2.0).better && at(2.0).reason.contains("candidates looked at"), "{}", at(2.0).reason);
    assert!(at(4.0).better, "{}", at(4.0).reason);
}
