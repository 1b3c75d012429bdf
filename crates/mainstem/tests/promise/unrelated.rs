//! Sources that have nothing to do with the questions.

use super::judged::{Judged, Way};
use super::recipes::{Vectors, judged, sources, stored};
use super::stored::Stored;
use super::strangers::{Aim, Filler, Strangers};

/// How many strangers there are in the end, step by step.
const COUNTS: [usize; 3] = [1, 5, 20];
/// How many documents each has: five times as many as a source of the recipes. Twenty of them are seven times as many as all others together.
const DOCUMENTS: usize = 100;

/// Which part of nDCG@10 the strangers cost, for each of the counts.
fn costs(make: impl Fn(&Judged, &Stored) -> (Filler, Aim)) -> Vec<f64> {
    let vectors = Vectors::read();
    let judged = judged(&vectors);
    let stored = stored(&sources(), &vectors);
    let engine = stored.engine();
    let (filler, aim) = make(&judged, &stored);
    let strangers = Strangers { filler, aim, dim: judged.questions[0].vector.len(), documents: DOCUMENTS };
    let before = judged.ask(&engine, &Way::default()).mean();
    let mut costs = Vec::new();
    let mut there = 0;
    for count in COUNTS {
        for number in there..count {
            stored.store.write(&strangers.source(number)).unwrap();
        }
        there = count;
        let after = judged.ask(&engine, &Way::default()).mean();
        eprintln!("{count:2} strangers: {before:.4} -> {after:.4}, {:+.2} %", 100.0 * (after / before - 1.0));
        costs.push(1.0 - after / before);
    }
    costs
}

fn assert_cost(limit: f64, make: impl Fn(&Judged, &Stored) -> (Filler, Aim)) {
    let costs = costs(make);
    assert!(costs.iter().all(|cost| *cost < limit), "{COUNTS:?} strangers cost {costs:.4?} of nDCG@10");
}

#[test]
fn other_subjects_cost_next_to_nothing() {
    assert_cost(0.01, |_, _| (Filler::Little, Aim::Anywhere));
}

#[test]
fn words_of_the_questions_cost_next_to_nothing() {
    assert_cost(0.01, |judged, _| {
        let texts = judged.questions.iter().map(|question| question.text.as_str());
        (Filler::of_questions(texts), Aim::Anywhere)
    });
}

#[test]
fn vectors_about_the_middle_of_all_others_cost_next_to_nothing() {
    assert_cost(0.01, |_, stored| (Filler::Little, Aim::like(&stored.vectors())));
}

/// The two that cost more. A source without any little words makes those of the questions look rare and telling, because words are counted
/// over the whole store; one whose vectors are all alike, and like the middle of the others, raises what counts as a typical cosine.
#[test]
fn strange_strangers_cost_little() {
    assert_cost(0.02, |_, _| (Filler::Nothing, Aim::Anywhere));
    assert_cost(0.02, |_, stored| (Filler::Little, Aim::at_the_middle_of(&stored.vectors())));
}
