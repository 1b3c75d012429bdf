//! `mainstem tune` from the outside: recordings in, settings out, and what it says about bad input.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod command;

use std::fmt::Write as _;

use command::{Folder, stderr, stdout};
use serde_json::{Value, json};

/// Two channels over 20 documents; the words channel is right, meaning is not.
fn recording(query: usize) -> Value {
    let place = |at: usize, step: usize| (at * step + query * 7) % 20;
    let items = |step: usize| -> Vec<Value> {
        (0..20).map(|at| json!({"id": format!("d{}", place(at, step)), "score": 20 - at})).collect()
    };
    json!({"query_id": format!("q{query}"), "query": format!("text {query}"), "pipeline": {"limit": 5},
        "lists": [{"name": "w/dense", "source": "w", "items": items(9)}, {"name": "w/lexical", "source": "w", "items": items(3)}]})
}

/// A folder with recordings and judgements that call for a greater weight of the words.
fn folder(test: &str, queries: usize) -> Folder {
    let folder = Folder::new(&format!("tune-{test}"));
    let mut lines = String::new();
    let mut qrels = String::new();
    for query in 0..queries {
        writeln!(lines, "{}", recording(query)).unwrap();
        for at in 1..4 {
            writeln!(qrels, "q{query} 0 d{} 1", (at * 3 + query * 7) % 20).unwrap();
        }
    }
    folder.file("searches.jsonl", lines).file("qrels.txt", qrels);
    folder
}

#[test]
fn better_settings_are_found_written_and_read_back() {
    let folder = folder("found", 40);
    let text =
        folder.stdout("tune searches.jsonl --qrels qrels.txt --budget 120 -o tuned.toml --report r.html");
    assert!(text.starts_with("Better settings found."), "{text}");
    for part in ["What changes", "How good could it be?", "How much each setting matters", "weights.lexical"]
    {
        assert!(text.contains(part), "{part}: {text}");
    }
    let toml = folder.read("tuned.toml");
    assert!(toml.contains("[pipeline]") && toml.contains("limit = 5"), "{toml}");
    // All that was recorded was looked at, and a search is to look as deep.
    assert!(toml.contains("\ncandidates = 20\n"), "{toml}");
    // The file is the new starting point: from there nothing better is found, and the mean is what it was.
    let again = folder.run("tune searches.jsonl --qrels qrels.txt --budget 120 --config tuned.toml --json");
    let again: Value = serde_json::from_str(&stdout(&again)).unwrap();
    let first = folder.stdout("tune searches.jsonl --qrels qrels.txt --budget 120 --json");
    let first: Value = serde_json::from_str(&first).unwrap();
    assert!(again["before"].as_f64() > first["before"].as_f64(), "{again}");
    assert_eq!(first["better"], true);
}

#[test]
fn fuse_takes_the_weights_of_a_tuned_file() {
    let folder = folder("fuse", 12);
    let mut search = recording(0);
    search.as_object_mut().unwrap().remove("query_id");
    folder.file("search.json", search.to_string());
    folder.file("tuned.toml", "[weights]\ndense = 0\n\n[pipeline]\nlimit = 3\n");
    let answer: Value =
        serde_json::from_str(&folder.stdout("fuse search.json --config tuned.toml --json")).unwrap();
    let ids: Vec<_> =
        answer["hits"].as_array().unwrap().iter().map(|hit| hit["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["d0", "d3", "d6"]);
    folder.file("wrong.toml", "[weights]\nspares = 2\n\n[pipeline]\n");
    let refused = folder.run("fuse search.json --config wrong.toml");
    assert_eq!(refused.status.code(), Some(2));
    assert!(stderr(&refused).contains("`spares`"), "{}", stderr(&refused));
}

#[test]
fn the_report_is_one_page_without_requests() {
    let folder = folder("report", 20);
    folder.run("tune searches.jsonl --qrels qrels.txt --budget 40 --report r.html");
    let page = folder.read("r.html");
    assert!(page.starts_with("<!doctype html>") && page.trim_end().ends_with("</html>"));
    for absent in ["http://", "https://", "<script", "<link", "@import", "url(", "NaN", "inf,"] {
        assert!(!page.contains(absent), "{absent}");
    }
    for present in ["prefers-color-scheme:dark", "scope=\"row\"", "aria-label=", "<caption>", "lang=\"en\""] {
        assert!(page.contains(present), "{present}");
    }
    assert_eq!(page.matches("<svg").count(), page.matches("</svg>").count());
}

#[test]
fn without_a_gain_the_settings_stay_and_nothing_is_written() {
    let folder = folder("kept", 20);
    let flat: Vec<String> = (0..20).map(|query| format!("q{query} 0 d{} 1", (query * 11 + 5) % 20)).collect();
    folder.file("flat.txt", flat.join("\n"));
    let output = folder.run("tune searches.jsonl --qrels flat.txt --budget 60 -o tuned.toml");
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(stdout(&output).starts_with("Keep the present settings."), "{}", stdout(&output));
    assert!(stderr(&output).contains("`tuned.toml` is not written"), "{}", stderr(&output));
    assert!(!folder.0.join("tuned.toml").exists());
}

#[test]
fn folders_and_threads_change_nothing() {
    let folder = folder("folder", 14);
    std::fs::create_dir_all(folder.0.join("all")).unwrap();
    for query in 0..14 {
        let mut search = recording(query);
        search.as_object_mut().unwrap().remove("query_id");
        folder.file(&format!("all/q{query}.json"), search.to_string());
    }
    let run = |arguments: &str| stdout(&folder.run(arguments));
    let lines = run("tune searches.jsonl --qrels qrels.txt --budget 50 --json --threads 1");
    assert!(lines.starts_with('{'), "{lines}");
    assert_eq!(lines, run("tune all --qrels qrels.txt --budget 50 --json --threads 3"));
}

#[test]
fn the_space_can_be_shown_changed_and_given() {
    let folder = folder("space", 20);
    let space = folder.stdout("tune searches.jsonl --show-space");
    assert!(space.contains("[[axis]]") && space.contains("pipeline.fuse.k"), "{space}");
    folder.file("space.toml", space);
    let given = folder.run("tune searches.jsonl --qrels qrels.txt --space space.toml --budget 50 --json");
    let usual = folder.run("tune searches.jsonl --qrels qrels.txt --budget 50 --json");
    assert_eq!(stdout(&given), stdout(&usual));
    folder.file(
        "one.json",
        r#"{"axis": [{"path": "weights.lexical", "from": 1, "to": 4, "steps": 4, "default": 1}]}"#,
    );
    let text = folder.stdout("tune searches.jsonl --qrels qrels.txt --space one.json --json");
    let outcome: Value = serde_json::from_str(&text).unwrap();
    assert_eq!((outcome["tried"].as_u64(), outcome["strategy"].as_str()), (Some(4), Some("exhaustive")));
}

#[test]
fn clicks_judge_where_there_are_enough() {
    let folder = folder("clicks", 30);
    let mut clicks = String::new();
    for query in 0..30 {
        let shown: Vec<_> = (0..6).map(|at| format!("d{}", (at * 3 + query * 7) % 20)).collect();
        for clicked in &shown[1..4] {
            writeln!(clicks, "{}", json!({"query": format!("text {query}"), "shown": shown, "clicked": [clicked], "at": "2026-01-02"})).unwrap();
        }
    }
    folder.file("few.jsonl", clicks.lines().take(9).collect::<Vec<_>>().join("\n"));
    folder.file("clicks.jsonl", clicks.repeat(2));
    let output = folder.run("tune searches.jsonl --clicks clicks.jsonl --budget 60");
    assert!(matches!(output.status.code(), Some(0 | 1)), "{}", stderr(&output));
    assert!(stderr(&output).contains("180 clicks in 180 searches"), "{}", stderr(&output));
    let refused = folder.run("tune searches.jsonl --clicks few.jsonl");
    assert_eq!(refused.status.code(), Some(2));
    assert!(stderr(&refused).contains("received 9 clicks"), "{}", stderr(&refused));
}

#[test]
fn runs_are_lists_too() {
    let folder = folder("runs", 20);
    let (mut good, mut bad) = (String::new(), String::new());
    for query in 0..20 {
        for at in 0..20 {
            writeln!(good, "q{query} Q0 d{} {} {} t", (at * 3 + query * 7) % 20, at + 1, 20 - at).unwrap();
            writeln!(bad, "q{query} Q0 d{} {} {} t", (at * 9 + query * 7) % 20, at + 1, 20 - at).unwrap();
        }
    }
    folder.file("good.run", good).file("bad.run", bad);
    let output = folder.run("tune bad.run good.run --qrels qrels.txt --budget 60 --json");
    let outcome: Value = serde_json::from_str(&stdout(&output)).unwrap();
    let lists: Vec<_> = outcome["ceiling"]["lists"]
        .as_array()
        .unwrap()
        .iter()
        .map(|part| part["name"].as_str().unwrap())
        .collect();
    assert_eq!(lists, ["bad", "good"]);
    assert_eq!(outcome["used"]["queries"], 20);
    let mixed = folder.run("tune bad.run searches.jsonl --qrels qrels.txt");
    assert_eq!(mixed.status.code(), Some(2));
    assert!(stderr(&mixed).contains("expected one kind"), "{}", stderr(&mixed));
}

#[test]
fn the_store_is_searched_once_and_recorded() {
    let folder = Folder::new("tune-live");
    std::fs::create_dir_all(folder.0.join("set/qrels")).unwrap();
    let names = [
        "heron", "otter", "plover", "newt", "grebe", "vole", "teal", "smelt", "adder", "shrew", "crane",
        "stoat",
    ];
    let (mut corpus, mut queries, mut qrels) =
        (String::new(), String::new(), String::from("query-id\tcorpus-id\tscore\n"));
    for (at, name) in names.iter().enumerate() {
        let other = names[(at + 1) % names.len()];
        let text = format!("the {name} lives by the river and fears the {other}");
        writeln!(corpus, "{}", json!({"_id": format!("d{at}"), "title": name, "text": text})).unwrap();
        writeln!(
            queries,
            "{}",
            json!({"_id": format!("q{at}"), "text": format!("where does the {name} live")})
        )
        .unwrap();
        writeln!(qrels, "q{at}\td{at}\t1").unwrap();
    }
    folder
        .file("set/corpus.jsonl", corpus)
        .file("set/queries.jsonl", queries)
        .file("set/qrels/test.tsv", qrels);
    folder.stdout("--store s ingest set --source animals --kind beir");
    let judged = "--qrels set/qrels/test.tsv --judged-source animals --budget 40 --json";
    let live = folder.run(&format!("--store s tune --queries set/queries.jsonl --record r.jsonl {judged}"));
    assert_eq!(live.status.code(), Some(1), "{}", stderr(&live));
    assert!(stderr(&live).contains("recorded 12 searches in `r.jsonl`"), "{}", stderr(&live));
    let again = folder.run(&format!("tune r.jsonl {judged}"));
    let [live, again]: [Value; 2] =
        [live, again].map(|output| serde_json::from_str(&stdout(&output)).unwrap());
    assert!(live["before"].as_f64().unwrap() > 0.5, "{live}");
    assert_eq!(live["before"], again["before"]);
    // The recordings know how deep the store searches, though they reach deeper: both times the same settings are looked at.
    assert!(folder.read("r.jsonl").lines().all(|line| line.contains("\"candidates\":100,")));
    assert_eq!(live["settings"]["candidates"], 100);
    assert_eq!(live["settings"], again["settings"]);
    assert_eq!(live["used"]["queries"], 12);
    let absent = folder.run("--store nowhere tune --queries set/queries.jsonl --qrels set/qrels/test.tsv");
    assert_eq!(absent.status.code(), Some(2));
}

#[test]
fn a_model_is_written_only_if_it_is_better() {
    let folder = folder("learn", 60);
    let output =
        folder.run("tune searches.jsonl --qrels qrels.txt --budget 20 --folds 3 --learn model.json --json");
    let outcome: Value = serde_json::from_str(&stdout(&output)).unwrap();
    let better = outcome["learned"]["better"].as_bool().unwrap();
    assert_eq!(folder.0.join("model.json").exists(), better, "{outcome}");
    let small = self::folder("learn-few", 12)
        .run("tune searches.jsonl --qrels qrels.txt --budget 20 --learn model.json");
    assert_eq!(small.status.code(), Some(2));
    assert!(stderr(&small).contains("at least 50 judged recordings"), "{}", stderr(&small));
}

#[test]
fn bad_input_is_refused_with_a_hint() {
    let folder = folder("bad", 12);
    folder
        .file("few.txt", "q0 0 d1 1\nq1 0 d2 1\n")
        .file("alien.txt", "x 0 d1 1\n")
        .file("broken.jsonl", "{\"query_id\": 1,\n");
    folder
        .file("anonymous.jsonl", "{\"lists\": []}\n")
        .file("space.toml", "[[axis]]\npath = \"pipeline.fuse.kk\"\nvalues = [1]\n");
    folder.file("typo.toml", "[[axis]]\npth = \"a\"\n").file("config.toml", "[pipelin]\n");
    let twice = folder.read("searches.jsonl").lines().next().unwrap().to_owned();
    folder.file("twice.jsonl", format!("{twice}\n{twice}\n"));
    let mut other = recording(99);
    other["pipeline"] = json!({"fuse": {"method": "rsf"}});
    folder.file("mixed.jsonl", format!("{}{other}\n", folder.read("searches.jsonl")));
    let cases = [
        ("searches.jsonl --qrels few.txt", "received 2, and fewer cannot tell luck"),
        ("searches.jsonl --qrels alien.txt", "a judged query is `x`, a recorded one `q0`"),
        ("missing.jsonl --qrels qrels.txt", "missing.jsonl"),
        ("broken.jsonl --qrels qrels.txt", "broken.jsonl:1"),
        ("anonymous.jsonl --qrels qrels.txt", "`query_id`"),
        ("twice.jsonl --qrels qrels.txt", "`q0`"),
        ("mixed.jsonl --qrels qrels.txt", "`q99`"),
        ("searches.jsonl --qrels qrels.txt --space space.toml", "unknown field `kk`"),
        ("searches.jsonl --qrels qrels.txt --space typo.toml", "unknown field `pth`"),
        ("searches.jsonl --qrels qrels.txt --config config.toml", "[pipeline]"),
        ("searches.jsonl --qrels qrels.txt -m nDGC@10", "did you mean `nDCG@10`?"),
        ("searches.jsonl --qrels qrels.txt --guard MRR=much", "NAME=MARGIN"),
        ("searches.jsonl --qrels qrels.txt --margin -1", "--margin"),
        ("searches.jsonl --qrels qrels.txt --folds 1", "folds"),
        ("searches.jsonl", "--qrels"),
        ("--qrels qrels.txt", "RECORDINGS"),
        ("searches.jsonl --qrels qrels.txt --clicks c.jsonl", "--clicks"),
    ];
    for (arguments, words) in cases {
        let output = folder.run(&format!("tune {arguments}"));
        let message = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{arguments}: {message}");
        assert!(message.contains(words) && message.contains("hint: "), "{arguments}: {message}");
        assert!(stdout(&output).is_empty(), "{arguments}");
    }
}
