//! What many sources cost: judged questions over five collections as five sources of one store, and with strangers beside them.
//!
//! `cargo bench -p mainstem --bench sources` prints nDCG@10 of the default and of the plain ways to merge, then what 1, 5 and 20 sources
//! that have nothing to do with the questions cost in quality and in time, each as a ratio. It fails where a limit does not hold, and does
//! nothing where the collections are not at hand (`../shared/data`).
#![allow(clippy::unwrap_used, reason = "a benchmark that cannot go on fails")]

#[path = "../tests/promise/dice.rs"]
mod dice;
#[path = "../tests/promise/five.rs"]
mod five;
#[path = "../tests/promise/judged.rs"]
mod judged;
#[path = "../tests/promise/stored.rs"]
mod stored;
#[path = "../tests/promise/strangers.rs"]
mod strangers;

use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

use mainstem_core::contract::Channel;

use five::FIVE;
use judged::{Judged, Scores, Way};
use stored::Stored;
use strangers::{SORTS, Sort, Strangers};

/// How many documents, of one chunk each, a stranger has, where nothing else is said.
const DOCUMENTS: usize = 1000;
/// The part of nDCG@10 that strangers may cost.
const LIMIT: f64 = 0.01;

fn main() {
    let Some(folder) = five::folder() else {
        println!("skipped: the judged collections are not at hand");
        return;
    };
    let judged = five::judged(&folder, 1);
    let mut broken = quality(&folder, &judged);
    broken.extend(strange(&folder, &judged));
    for limit in &broken {
        println!("does not hold: {limit}");
    }
    assert!(broken.is_empty(), "{} limits do not hold", broken.len());
}

/// The table of all ways; the limits that do not hold.
fn quality(folder: &Path, judged: &Judged) -> Vec<String> {
    let stored = five::stored(folder);
    let engine = stored.engine();
    println!(
        "nDCG@10, {} questions{:>17} {}   mean",
        judged.questions.len(),
        "",
        FIVE.map(|set| format!("{set:>9}")).join(" ")
    );
    let row = |name: &str, way: &Way| {
        let scores = judged.ask(&engine, way);
        let sets = FIVE.map(|set| format!("{:9.4}", scores.of_set(set))).join(" ");
        println!("{name:<40} {sets}  {:.4}", scores.mean());
        scores
    };
    let words = row("own source, words alone", &Way::own(Some(Channel::Lexical)));
    let meaning = row("own source, meaning alone", &Way::own(Some(Channel::Dense)));
    let own = row("own source, default", &Way::own(None));
    row("own source, `score`", &Way { own: true, ..Way::across("score") });
    let all = row("five sources, default", &Way::default());
    row("five sources, `score`", &Way::across("score"));
    row("five sources, `rank`", &Way::across("rank"));
    let ratios = FIVE.map(|set| format!("{:9.4}", all.of_set(set) / own.of_set(set))).join(" ");
    println!("{:<40} {ratios}  {:.4}", "five sources / own source, default", all.mean() / own.mean());
    limits([&words, &meaning], &own, &all)
}

fn limits(legs: [&Scores; 2], own: &Scores, all: &Scores) -> Vec<String> {
    let mut broken = Vec::new();
    let mut hold = |what: String, value: f64, least: f64| {
        if value < least {
            broken.push(format!("{what}: {value:.4}, expected {least:.4} at least"));
        }
    };
    hold("five sources, mean".into(), all.mean(), 0.535);
    hold("own source, mean".into(), own.mean(), 0.552);
    for set in FIVE {
        let leg = legs.map(|leg| leg.of_set(set)).into_iter().fold(0.0, f64::max);
        hold(format!("{set}, own source against the better leg"), own.of_set(set), leg - 0.005);
        hold(format!("{set}, five sources against the own"), all.of_set(set), 0.88 * own.of_set(set));
    }
    broken
}

/// What strangers of every sort cost; the limits that do not hold.
fn strange(folder: &Path, judged: &Judged) -> Vec<String> {
    println!("\n{:<24} strangers  chunks  nDCG@10     cost     CPU ms  chunks ×  time ×", "strangers");
    let mut broken = Vec::new();
    for sort in &SORTS {
        let stored = five::stored(folder);
        let strangers = sort.strangers(judged, &stored, DOCUMENTS);
        broken.extend(grow(sort, &stored, &strangers, judged));
    }
    broken
}

/// What was measured with some number of strangers.
#[derive(Clone, Copy)]
struct Measured {
    chunks: u64,
    ndcg: f64,
    /// On a processor, for one search as a user has it.
    milliseconds: f64,
}

impl Measured {
    fn new(stored: &Stored, judged: &Judged) -> Self {
        let engine = stored.engine();
        let chunks = stored.store.sources().unwrap().iter().map(|source| source.chunks).sum();
        // Asking all of them first makes the store warm.
        let ndcg = judged.ask(&engine, &Way::default()).mean();
        let start = Instant::now();
        let before = processor_seconds();
        for question in &judged.questions {
            black_box(engine.search(&judged::unhurried(question)).unwrap());
        }
        let wall = start.elapsed().as_secs_f64();
        let seconds = before.zip(processor_seconds()).map_or(wall, |(before, after)| after - before);
        Self { chunks, ndcg, milliseconds: seconds * 1e3 / judged.questions.len() as f64 }
    }
}

/// The time that all threads have spent on a processor: it hardly depends on how busy the machine is. Nothing where the system does not say.
fn processor_seconds() -> Option<f64> {
    const TICKS_PER_SECOND: f64 = 100.0;
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // The name of the program may hold anything, and is followed by a bracket; user and system time are fields 14 and 15.
    let fields: Vec<&str> = stat.rsplit(')').next()?.split_whitespace().collect();
    let ticks = |field: usize| fields.get(field - 3)?.parse::<f64>().ok();
    Some((ticks(14)? + ticks(15)?) / TICKS_PER_SECOND)
}

/// Adds strangers step by step.
fn grow(sort: &Sort, stored: &Stored, strangers: &Strangers, judged: &Judged) -> Vec<String> {
    let (mut there, mut broken) = (0, Vec::new());
    let first = Measured::new(stored, judged);
    for count in sort.counts() {
        for number in there..*count {
            stored.store.write(&strangers.source(number)).unwrap();
        }
        there = *count;
        let Measured { chunks, ndcg, milliseconds } = Measured::new(stored, judged);
        let (more, slower) = (chunks as f64 / first.chunks as f64, milliseconds / first.milliseconds);
        let (name, cost) = (sort.name, 1.0 - ndcg / first.ndcg);
        println!(
            "{name:<24} {count:>9} {chunks:>7} {ndcg:>8.4} {:>7.2}% {milliseconds:>10.2} {more:>9.2} {slower:>7.2}",
            100.0 * cost
        );
        // Heaps of the questions' own words are no strangers to them.
        if cost >= LIMIT && !sort.spam {
            broken
                .push(format!("{count} strangers, {name}: they cost {cost:.4}, expected less than {LIMIT}"));
        }
        // The fewer there are, the more the ratio is that of two noises.
        if *count == 20 && slower >= more {
            broken.push(format!(
                "{count} strangers, {name}: {slower:.2} times the time for {more:.2} times the chunks"
            ));
        }
    }
    broken
}
