//! Sources that have nothing to do with the questions.

use super::judged::Way;
use super::recipes::{Vectors, judged, sources, stored};
use super::strangers::{SORTS, Sort, Strangers};

/// How many documents each has, where nothing else is said: five times as many as a source of the recipes. Twenty of them are seven times
/// as many as all others together.
const DOCUMENTS: usize = 100;

/// Which part of nDCG@10 strangers of a sort cost, step by step.
fn costs(sort: &Sort) -> Vec<f64> {
    let vectors = Vectors::read();
    let judged = judged(&vectors);
    let stored = stored(&sources(), &vectors);
    let engine = stored.engine();
    let strangers: Strangers = sort.strangers(&judged, &stored, DOCUMENTS);
    let before = judged.ask(&engine, &Way::default()).mean();
    let mut costs = Vec::new();
    let mut there = 0;
    for count in sort.counts() {
        for number in there..*count {
            stored.store.write(&strangers.source(number)).unwrap();
        }
        there = *count;
        let after = judged.ask(&engine, &Way::default()).mean();
        let (name, percent) = (sort.name, 100.0 * (after / before - 1.0));
        eprintln!("{name}, {count:2} strangers: {before:.4} -> {after:.4}, {percent:+.2} %");
        costs.push(1.0 - after / before);
    }
    costs
}

/// Every sort, whatever its words, its vectors and its size.
#[test]
fn strangers_cost_next_to_nothing() {
    let mut broken = Vec::new();
    for sort in SORTS.iter().filter(|sort| !sort.spam) {
        let costs = costs(sort);
        if costs.iter().any(|cost| *cost >= 0.01) {
            broken.push(format!("{}: {:?} of them cost {costs:.4?} of nDCG@10", sort.name, sort.counts()));
        }
    }
    assert!(broken.is_empty(), "{broken:#?}");
}

/// Texts that are nothing but the words of the questions are no strangers to them: they do cost something, and come after what answers.
#[test]
fn heaps_of_words_do_not_take_over() {
    for sort in SORTS.iter().filter(|sort| sort.spam) {
        let costs = costs(sort);
        assert!(costs.iter().all(|cost| *cost < 0.15), "{}: {costs:.4?} of nDCG@10", sort.name);
    }
}
