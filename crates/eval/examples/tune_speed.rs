//! How long tuning takes: 1,000 queries under 1,000 settings.
//!
//! `cargo run --release -p mainstem-eval --example tune_speed [QUERIES [SETTINGS [THREADS]]]`

use std::time::Instant;

use mainstem_core::Replay;
use mainstem_eval::tune::{Options, Recording, Setting, Task, tune};
use mainstem_eval::{Measure, QrelsBuilder};
use serde_json::{Value, json};

/// Two lists of 100, half of them shared, with texts of 60 words; in every fifth search some are copies.
fn search(query: usize) -> Replay {
    let noise = |a: usize, b: usize| (a * 7_919 + b * 104_729 + query * 31) % 1_000;
    let item = |list: usize, rank: usize| -> Value {
        let id = if noise(list, rank) < 500 { rank } else { 1_000 * (list + 1) + rank };
        let topic = if query.is_multiple_of(5) && noise(id, 3) < 50 { 0 } else { id };
        let text: Vec<String> = (0..60)
            .map(|word| {
                format!("word{}", (topic * 7_919 + word * word * 104_729 + topic * word * 31) % 5_003)
            })
            .collect();
        json!({"id": format!("document-{id}"), "score": 1.0 - rank as f64 / 120.0, "text": text.join(" "),
               "created_at": format!("2026-01-{:02}", 1 + id % 28)})
    };
    let items = |list: usize| (0..100).map(|rank| item(list, rank)).collect::<Vec<_>>();
    let replay = json!({"now": "2026-02-01", "pipeline": {"dedup": {"within": 0.9, "across": 0.9}},
        "lists": [{"name": "w/dense", "items": items(0)}, {"name": "w/lexical", "items": items(1)}]});
    Replay::from_json(replay.to_string().as_bytes()).expect("a replay as documented")
}

fn main() {
    let arguments: Vec<usize> = std::env::args().skip(1).filter_map(|text| text.parse().ok()).collect();
    let [queries, budget, threads] = [1_000, 1_000, 2]
        .iter()
        .enumerate()
        .map(|(at, usual)| *arguments.get(at).unwrap_or(usual))
        .collect::<Vec<_>>()[..]
    else {
        return;
    };
    let mut builder = QrelsBuilder::default();
    let mut recordings = Vec::with_capacity(queries);
    for at in 0..queries {
        let query = format!("q{at}");
        for rank in 0..5 {
            builder.judge(
                &query,
                &format!("document-{}", (at * 17 + rank * 11) % 60),
                if rank == 0 { 2 } else { 1 },
            );
        }
        recordings.push(Recording { query, replay: search(at), candidates: None });
    }
    let qrels = builder.finish();
    let base = Setting::new(&recordings[0].replay.pipeline).expect("a pipeline can be written");
    let task = Task {
        recordings: &recordings,
        qrels: &qrels,
        judged_source: None,
        base: &base,
        space: None,
        measure: Measure::parse("nDCG@10").expect("a known measure"),
        guards: Vec::new(),
        options: Options { budget, threads, ..Options::default() },
    };
    let start = Instant::now();
    let outcome = tune(&task, &|_| ()).expect("recordings that can be tuned on");
    let seconds = start.elapsed().as_secs_f64();
    let runs = queries * outcome.tried;
    println!(
        "{queries} queries, {} settings, {threads} threads: {seconds:.1} s, {:.1} µs of one core each ({})",
        outcome.tried,
        1e6 * seconds * threads as f64 / runs as f64,
        outcome.reason
    );
}
