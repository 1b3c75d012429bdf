//! Random judgements must not change anything.

use mainstem_eval::tune::Options;

use crate::made::{Made, Random, search, small_space};

fn random_labels(seed: u64, queries: usize) -> Made {
    let mut random = Random(seed);
    Made::new(queries, |_| {
        let replay = search(&random.order(15), &random.order(15));
        let relevant = random.order(15).into_iter().take(2).map(|doc| (format!("d{doc}"), 1)).collect();
        (replay, relevant)
    })
}

#[test]
fn on_random_labels_the_settings_stay_in_95_of_100_cases() {
    let space = small_space();
    let kept = (0..100).filter(|&seed| {
        let options = Options { seed, folds: 4, ..Options::default() };
        !random_labels(1000 + seed, 20).tune(Some(&space), options).better
    });
    let kept = kept.count();
    assert!(kept >= 95, "kept {kept} times of 100");
}

#[test]
fn the_choice_looks_better_on_the_queries_that_made_it() {
    // The reason for all the care: in sample, luck looks like skill.
    let outcome = random_labels(7, 40).tune(Some(&small_space()), Options::default());
    let best = outcome.finalists.iter().find(|finalist| finalist.rule == "best").unwrap();
    assert!(best.in_sample > outcome.before, "{best:?}");
    assert!(best.out_of_fold < best.in_sample, "{best:?}");
    assert!(!outcome.better && outcome.after == outcome.before && outcome.changes.is_empty());
    assert_eq!(outcome.settings["pipeline"], serde_json::json!({"fuse": {"method": "rrf"}}));
    assert!(outcome.detectable.unwrap() > 0.01);
}
