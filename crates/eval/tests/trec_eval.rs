//! Parity with `trec_eval` on the files that come with it.
//!
//! The files are not part of the project. Where they are absent, the tests say so and pass.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::{Path, PathBuf};

use mainstem_eval::format::Lines;
use mainstem_eval::{Evaluation, Measure, Qrels, Run, Settings, evaluate};

/// The folder `shared/data/trec_eval` beside one of the folders above this crate.
fn folder() -> Option<PathBuf> {
    let found = Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .map(|up| up.join("shared/data/trec_eval"))
        .find(|folder| folder.is_dir());
    if found.is_none() {
        eprintln!("skipped: no folder `shared/data/trec_eval` above the crate");
    }
    found
}

fn run_on(folder: &Path, qrels: &str, run: &str, measures: &[String], rel: i64) -> Evaluation {
    let open = |name: &str| Lines::open(folder.join(name).to_str().unwrap()).unwrap();
    let qrels = Qrels::read(open(qrels)).unwrap();
    let run = Run::read(open(run)).unwrap();
    let measures: Vec<_> = measures.iter().map(|name| Measure::parse(name).unwrap()).collect();
    let settings = Settings { rel, ..Settings::default() };
    evaluate(&qrels, &run, &measures, &settings)
}

/// The measures of `trec_eval`'s output that this crate has.
fn is_ours(name: &str) -> bool {
    let bases = ["P", "recall", "ndcg_cut", "map_cut", "success"];
    ["map", "recip_rank", "ndcg"].contains(&name)
        || name.rsplit_once('_').is_some_and(|(base, k)| bases.contains(&base) && k.parse::<u32>().is_ok())
}

/// Every value of ours in the output file, as (measure, query, value as printed).
fn expected(folder: &Path, output: &str) -> Vec<(String, String, String)> {
    let text = std::fs::read_to_string(folder.join(output)).unwrap();
    let rows = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    let ours = rows.filter(|row| row.len() == 3 && is_ours(row[0]));
    ours.map(|row| (row[0].to_owned(), row[1].to_owned(), row[2].to_owned())).collect()
}

#[test]
fn every_value_that_trec_eval_prints() {
    let Some(folder) = folder() else { return };
    let mut compared = 0;
    for output in ["out.test.a", "out.test.aq"] {
        let rows = expected(&folder, output);
        let names: Vec<_> = rows.iter().map(|row| row.0.clone()).collect();
        let got = run_on(&folder, "qrels.test", "results.test", &names, 1);
        for (measure, query, printed) in rows {
            let value = if query == "all" { got.mean(&measure) } else { got.value(&query, &measure) };
            assert_eq!(format!("{:.4}", value.unwrap()), printed, "{measure} of {query}");
            compared += 1;
        }
    }
    assert_eq!(compared, 5 * 42, "the means twice and three queries");
}

/// Values of ir_measures 0.4.3 with `pytrec_eval` 0.5.11 for graded judgements with negative grades. The truncated run
/// lacks one judged query, which counts as 0.
#[test]
fn graded_judgements_and_a_missing_query() {
    let Some(folder) = folder() else { return };
    let names = ["nDCG@10", "nDCG", "AP", "RR", "P@5", "R@100", "Success@10", "Judged@10"].map(str::to_owned);
    let cases = [
        (
            "results.test",
            1,
            [0.265_633, 0.389_387, 0.177_379, 0.406_433, 0.266_667, 0.489_659, 0.666_667, 1.0],
        ),
        (
            "results.test",
            2,
            [0.265_633, 0.389_387, 0.166_661, 0.351_963, 0.266_667, 0.473_485, 0.333_333, 1.0],
        ),
        (
            "results.test",
            3,
            [0.265_633, 0.389_387, 0.139_332, 0.334_419, 0.266_667, 0.181_818, 0.333_333, 1.0],
        ),
        (
            "results.trunc",
            1,
            [0.153_834, 0.185_727, 0.094_34, 0.166_667, 0.2, 0.182_841, 0.666_667, 0.666_667],
        ),
        (
            "results.trunc",
            2,
            [0.153_834, 0.185_727, 0.083_622, 0.112_197, 0.2, 0.166_667, 0.333_333, 0.666_667],
        ),
    ];
    for (run, rel, values) in cases {
        let got = run_on(&folder, "qrels.rel_level", run, &names, rel);
        for ((name, got), value) in names.iter().zip(got.means()).zip(values) {
            assert!((got - value).abs() < 1e-6, "{name} of {run} from relevance {rel}: {got}, not {value}");
        }
        assert_eq!(got.gaps().without_results, usize::from(run == "results.trunc"));
    }
}
