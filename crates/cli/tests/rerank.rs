//! Reranking as a user sets it up: a service that is added, settings in a file, options that win over it, and whether it is worth it.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod command;

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::Output;
use std::thread;

use command::{Folder, stderr, stdout};
use serde_json::{Value, json};

/// A service that likes long texts, as long as its answers are good; the URL.
fn serve(good: bool) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    thread::spawn(move || {
        for stream in listener.incoming() {
            thread::spawn(move || answer(stream.unwrap(), good));
        }
    });
    url
}

fn answer(mut stream: TcpStream, good: bool) {
    let (mut bytes, mut block) = (Vec::new(), [0; 4096]);
    let body: Value = loop {
        let read = stream.read(&mut block).unwrap();
        assert!(read > 0, "the request ended early");
        bytes.extend_from_slice(&block[..read]);
        let head = bytes.windows(4).position(|four| four == b"\r\n\r\n").map(|at| at + 4);
        if let Some(body) = head.and_then(|head| serde_json::from_slice(&bytes[head..]).ok()) {
            break body;
        }
    };
    let texts = body["documents"].as_array().unwrap().iter().enumerate();
    let one = |(index, text): (usize, &Value)| json!({"index": index, "relevance_score": text.as_str().unwrap().len() as f64 / 250.0});
    let body = json!({"results": texts.map(one).collect::<Vec<_>>()}).to_string();
    let (status, length) = (if good { 200 } else { 500 }, body.len());
    let head = format!("HTTP/1.1 {status} X\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n");
    let _ = stream.write_all((head + &body).as_bytes());
}

fn run(folder: &Folder, arguments: &[&str]) -> Output {
    folder.command("").args(arguments).env("MAINSTEM_MODELS", folder.0.join("models")).output().unwrap()
}

#[track_caller]
fn good(folder: &Folder, arguments: &[&str]) -> String {
    let output = run(folder, arguments);
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", stderr(&output));
    stdout(&output)
}

/// A store with three notes, of which the longest is about forks in passing.
fn notes(test: &str) -> Folder {
    let folder = Folder::new(test);
    let lines = [
        json!({"id": "short", "text": "a fork"}),
        json!({"id": "middle", "text": "the fork attacks two pieces, and a fork is a double attack"}),
        json!({"id": "long", "text": format!("{} and a fork", "rooks, bishops, pawns ".repeat(9))}),
    ];
    folder.file("notes.jsonl", lines.map(|line| line.to_string()).join("\n"));
    good(&folder, &["ingest", "notes.jsonl", "--source", "notes"]);
    folder
}

fn order(folder: &Folder, options: &[&str]) -> (Vec<String>, Value) {
    let answer = good(folder, &[&["search", "fork", "--json"], options].concat());
    let answer: Value = serde_json::from_str(&answer).unwrap();
    let ids =
        answer["hits"].as_array().unwrap().iter().map(|hit| hit["document"].as_str().unwrap().to_owned());
    (ids.collect(), answer["status"].clone())
}

fn stage(status: &Value) -> Option<&Value> {
    status["stages"].as_array().unwrap().iter().find(|stage| stage["stage"] == "rerank")
}

#[test]
fn a_service_is_added_asked_and_removed() {
    let folder = notes("rerank_service");
    let url = serve(true);
    good(&folder, &["model", "add", "judge", "--rerank", "--url", &url]);
    assert!(good(&folder, &["model", "list"]).contains(&format!("rerank          -  {url}")));
    let (fused, status) = order(&folder, &[]);
    assert!(stage(&status).is_none());
    let (reranked, status) = order(&folder, &["--rerank", "judge"]);
    assert_eq!(stage(&status).unwrap()["state"], "ok");
    assert!(fused[0] != "long" && reranked[0] == "long", "{fused:?} {reranked:?}");
    let explained = good(&folder, &["search", "fork", "--rerank", "judge", "--explain"]);
    assert!(explained.contains("(reranker)") && explained.contains("without the reranker"), "{explained}");
    good(&folder, &["model", "remove", "judge"]);
    let refused = run(&folder, &["search", "fork", "--rerank", "judg"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(stderr(&refused).contains("received `judg`"), "{}", stderr(&refused));
}

#[test]
fn a_service_that_does_not_answer_is_not_added() {
    let folder = Folder::new("rerank_not_added");
    let refused = run(&folder, &["model", "add", "judge", "--rerank", "--url", &serve(false)]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(stderr(&refused).contains("it answered 500"), "{}", stderr(&refused));
    assert!(!folder.0.join("models/rerankers.json").exists());
}

#[test]
fn a_file_says_who_and_how_and_options_win() {
    let folder = notes("rerank_file");
    good(&folder, &["model", "add", "judge", "--rerank", "--url", &serve(true)]);
    folder.file("mainstem.toml", "[rerank]\nmodel = \"judge\"\nreplace = true\ntop = 2\n");
    let (_, status) = order(&folder, &[]);
    assert_eq!(stage(&status).unwrap()["state"], "ok");
    assert!(status["notes"].to_string().contains("`judge` reranks the first 2, within 1s"), "{status}");
    let (fused, status) = order(&folder, &["--no-config"]);
    assert!(stage(&status).is_none());
    let (off, status) = order(&folder, &["--rerank", "off"]);
    assert!(stage(&status).is_none() && off == fused);
    for (text, reason) in [
        ("[rerank]\nmodel = \"judge\"\ntop = 0\n", "at least 1"),
        ("[rerank]\nmodel = \"judge\"\ntimout = 3\n", "timout"),
        ("[rerank]\nmodel = \"judge\"\n[pipeline.rerank]\ntop = 3\n", "both"),
        ("[rerank]\nmodel = \"judge\"\nblend = 0.5\nreplace = true\n", "blend"),
    ] {
        folder.file("mainstem.toml", text);
        let refused = run(&folder, &["search", "fork"]);
        assert_eq!(refused.status.code(), Some(2), "{text}");
        assert!(stderr(&refused).contains(reason), "{text}: {}", stderr(&refused));
    }
}

#[test]
fn a_service_that_fails_later_is_said_and_changes_nothing() {
    let folder = notes("rerank_fails");
    let (fused, _) = order(&folder, &[]);
    let broken = json!([{"shape": "jina", "url": serve(false), "model": "judge"}]);
    std::fs::create_dir_all(folder.0.join("models")).unwrap();
    folder.file("models/rerankers.json", broken.to_string());
    let (ids, status) = order(&folder, &["--rerank", "judge"]);
    assert_eq!(ids, fused);
    assert_eq!(stage(&status).unwrap()["state"], "failed");
    let said = stderr(&run(&folder, &["search", "fork", "--rerank", "judge"]));
    assert!(said.contains("`rerank` did not run") && said.contains("it answered 500"), "{said}");
}

#[test]
fn eval_says_whether_it_is_worth_it() {
    let folder = notes("rerank_worth");
    good(&folder, &["model", "add", "judge", "--rerank", "--url", &serve(true)]);
    folder.file(
        "queries.jsonl",
        "{\"_id\":\"1\",\"text\":\"fork\"}\n{\"_id\":\"2\",\"text\":\"double attack fork\"}\n",
    );
    folder.file("qrels.tsv", "query-id\tcorpus-id\tscore\n1\tlong\t1\n2\tlong\t1\n");
    let ask = [
        "--queries",
        "queries.jsonl",
        "--qrels",
        "qrels.tsv",
        "--judged-source",
        "notes",
        "--rerank",
        "judge",
    ];
    let report = good(&folder, &[&["eval", "rerank", "-m", "MRR", "--json"], &ask[..]].concat());
    let report: Value = serde_json::from_str(&report).unwrap();
    let comparison = &report["comparisons"][0];
    assert_eq!((&report["reranker"], &report["not_reranked"]), (&json!("judge"), &json!(0)));
    assert_eq!(comparison["run_mean"], 1.0);
    assert!(comparison["difference"].as_f64().unwrap() > 0.0, "{report}");
    assert!(report["latency_ms"]["added"]["p50"].is_f64());
    let text = good(&folder, &[&["eval", "rerank"], &ask[..]].concat());
    assert!(text.contains("95 % interval") && text.contains("a search takes"), "{text}");
    let measured = good(&folder, &[&["eval", "-m", "MRR", "--json"], &ask[..]].concat());
    let measured: Value = serde_json::from_str(&measured).unwrap();
    assert_eq!(measured["measures"]["MRR"], 1.0);
}
