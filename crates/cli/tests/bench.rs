//! `mainstem bench`: it measures what is there, and says so.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod command;

use command::{Folder, stderr, stdout};
use serde_json::{Value, json};

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

fn kinds(report: &Value) -> Vec<&str> {
    let searches = report["searches"].as_array().unwrap();
    for times in searches {
        let [p50, p95, p99] = ["p50_ms", "p95_ms", "p99_ms"].map(|name| times[name].as_f64().unwrap());
        assert!(0.0 < p50 && p50 <= p95 && p95 <= p99, "{times}");
    }
    searches.iter().map(|times| times["what"].as_str().unwrap()).collect()
}

#[test]
fn a_store_is_asked_for_its_own_words() {
    let folder = Folder::new("bench-store");
    let line = |n: u32| json!({ "id": n.to_string(), "text": format!("page {n} about rollback number {n}") });
    let lines: Vec<String> = (0..30).map(|n| line(n).to_string()).collect();
    folder
        .file("pages.jsonl", lines.join("\n"))
        .file("asked.txt", "rollback\n\npage 7\n")
        .file("empty.txt", "\n");
    folder.stdout("--store s ingest pages.jsonl --source pages --no-embed");
    let report = parsed(&folder.stdout("--store s bench --count 20 --json"));
    assert_eq!(
        (&report["chunks"], &report["vectors"], &report["questions"]),
        (&30.into(), &0.into(), &20.into())
    );
    assert_eq!(kinds(&report), ["search", "by words"], "nothing has a vector");
    assert!(report.get("ingest").is_none() && report["open_ms"].as_f64().unwrap() > 0.0, "{report}");

    let asked = parsed(&folder.stdout("--store s bench --queries asked.txt --json"));
    assert_eq!(asked["questions"], 2);
    let shown = folder.stdout("--store s bench --count 20");
    assert!(shown.starts_with("30 chunks in 1 source, 0 vectors; 20 questions"), "{shown}");
    assert!(shown.contains("p99 is ") && shown.contains(" % of the soft limit, 200 ms"), "{shown}");

    let empty = folder.run("--store s bench --queries empty.txt");
    assert_eq!(empty.status.code(), Some(2));
    assert!(stderr(&empty).contains("a question on each line"), "{}", stderr(&empty));
    let missing = folder.run("--store s bench --queries none.txt");
    assert_eq!(missing.status.code(), Some(2), "{}", stderr(&missing));
}

#[test]
fn a_made_up_store_is_filled_and_gone_afterwards() {
    let folder = Folder::new("bench-made-up");
    let temporary = folder.0.join("tmp");
    std::fs::create_dir(&temporary).unwrap();
    let mut command = folder.command("bench --chunks 1000 --count 10 --json");
    let output = command.env("TMPDIR", &temporary).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let report = parsed(&stdout(&output));
    assert_eq!((&report["chunks"], &report["vectors"]), (&1000.into(), &1000.into()));
    assert_eq!(kinds(&report), ["search", "by words", "by meaning"]);
    assert!(report["ingest"]["chunks_per_second"].as_f64().unwrap() > 0.0, "{report}");
    assert_eq!(std::fs::read_dir(&temporary).unwrap().count(), 0, "nothing is left behind");
}

#[test]
fn a_store_without_documents_is_said_to_be_empty() {
    let folder = Folder::new("bench-empty");
    folder.stdout("--store s init");
    let output = folder.run("--store s bench");
    assert_eq!((output.status.code(), stdout(&output).as_str()), (Some(1), ""));
    assert!(stderr(&output).contains("`--chunks N` makes something up"), "{}", stderr(&output));
}
