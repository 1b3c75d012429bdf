//! Bulk ingest.

use std::io::{BufRead as _, BufReader, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};

use crate::client::{Server, ids};

#[test]
fn every_line_has_its_result() {
    let server = Server::with(|config| config.line_limit = mainstem_server::config::Bytes(2000));
    let lines = [
        r#"{"id":"a","text":"one"}"#.to_owned(),
        String::new(),
        "not json".to_owned(),
        r#"{"id":"b"}"#.to_owned(),
        format!(r#"{{"id":"c","text":"{}"}}"#, "x".repeat(3000)),
        r#"{"id":"d","text":"vector","vector":[1,0]}"#.to_owned(),
        r#"{"id":"e","text":"other vector","vector":[1,0,0]}"#.to_owned(),
        format!(r#"{{"id":"f","text":"deep","metadata":{}1{}}}"#, "[".repeat(100), "]".repeat(100)),
        r#"{"id":"g","text":"last"}"#.to_owned(),
    ];
    let answer = server.put("/v1/sources/s/documents", lines.join("\n"));
    assert_eq!(answer.headers["content-type"], "application/x-ndjson");
    let results = answer.lines();
    let seen: Vec<_> = results[..8]
        .iter()
        .map(|result| {
            (result["line"].as_u64().unwrap(), result["status"].as_str().unwrap(), result["id"].as_str())
        })
        .collect();
    assert_eq!(
        seen,
        [
            (1, "stored", Some("a")),
            (3, "refused", None),
            (4, "refused", Some("b")),
            (5, "refused", None),
            (6, "stored", Some("d")),
            (7, "refused", Some("e")),
            (8, "refused", None),
            (9, "stored", Some("g")),
        ],
        "{}",
        answer.text
    );
    let expected = json!({"done": true, "stored": 3, "refused": 5, "added": 3, "changed": 0, "unchanged": 0});
    assert_eq!(results[8], expected);
    assert_eq!(results[5]["error"]["code"], "E0208", "{}", answer.text);
    assert_eq!(server.get("/v1/sources").json()["sources"][0]["documents"], 3);
}

#[test]
fn what_an_ingest_did_is_kept_as_a_report() {
    let server = Server::new();
    let report = || server.get("/v1/reports").json()["reports"].clone();
    server.put("/v1/sources/s/documents", "\n");
    assert_eq!(report(), json!([]), "nothing was read");
    let lines = concat!(
        "{\"id\":\"a\",\"text\":\"one\"}\n",
        "no JSON\n",
        "{\"id\":\"b\",\"text\":\"two\"}\n",
        "{\"id\":\"c\"}\n",
    );
    let answer = server.put("/v1/sources/s/documents", lines);
    let kept = report();
    assert_eq!((kept[0]["kind"].as_str(), kept[0]["source"].as_str()), (Some("ingest"), Some("s")));
    assert!(kept[0]["at"].is_string() && kept.as_array().unwrap().len() == 1, "{kept}");
    let kept = &kept[0]["report"];
    for (name, count) in
        [("documents", 2), ("added", 2), ("changed", 0), ("unchanged", 0), ("removed", 0), ("chunks", 2)]
    {
        assert_eq!(kept[name], count, "{name}: {kept}");
    }
    assert!(kept["elapsed_s"].is_number() && kept["interrupted"] == false, "{kept}");
    let why = |line: usize| answer.lines()[line - 1]["error"]["message"].clone();
    let skips = json!([{"what": "line 2", "why": why(2)}, {"what": "line 4, `c`", "why": why(4)}]);
    assert_eq!((&kept["skipped"]["count"], &kept["skipped"]["first"]), (&json!(2), &skips));

    server.put(
        "/v1/sources/s/documents",
        "{\"id\":\"a\",\"text\":\"one\"}\n{\"id\":\"b\",\"text\":\"three\"}\n",
    );
    let kept = report();
    let counts = ["added", "changed", "unchanged"].map(|name| kept[0]["report"][name].clone());
    assert_eq!(counts, [json!(0), json!(1), json!(1)], "the last one takes the place of the first: {kept}");
    assert_eq!(kept[0]["report"]["skipped"]["count"], 0);
}

#[test]
fn the_requests_of_one_run_are_reported_together() {
    let server = Server::new();
    let put = |run: &str, id: &str| {
        let line = format!("{{\"id\":\"{id}\",\"text\":\"word\"}}\nno JSON\n");
        server.put(&format!("/v1/sources/s/documents?run={run}"), line);
        let kept = server.get("/v1/reports").json()["reports"][0]["report"].clone();
        (kept["added"].as_u64().unwrap(), kept["skipped"]["count"].as_u64().unwrap())
    };
    assert_eq!([put("one", "a"), put("one", "b"), put("one", "b")], [(1, 1), (2, 2), (2, 3)]);
    assert_eq!(put("two", "c"), (1, 1), "another run begins anew");
    assert_eq!(server.put("/v1/sources/s/documents?run=", "").error().0, 400);
}

#[test]
fn an_ingest_that_breaks_off_says_so_in_its_report() {
    let server = Server::with(|config| config.bulk_limit = mainstem_server::config::Bytes(2000));
    let mut stream = server.connect();
    let head = "PUT /v1/sources/s/documents HTTP/1.1\r\nhost: x\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\
                content-type: application/x-ndjson\r\n\r\n";
    let part = |text: &str| format!("{:x}\r\n{text}\r\n", text.len());
    let line = part("{\"id\":\"a\",\"text\":\"one\"}\n");
    stream.write_all(format!("{head}{line}").as_bytes()).unwrap();
    let mut answers = BufReader::new(stream.try_clone().unwrap()).lines().map_while(Result::ok);
    assert!(answers.any(|line| line.contains("\"stored\"")), "the first line was not acknowledged");
    stream.write_all(part(&" ".repeat(3000)).as_bytes()).unwrap();
    assert!(answers.any(|line| line.contains("\"done\":false")), "too much was taken");
    let kept = server.get("/v1/reports").json()["reports"][0]["report"].clone();
    assert_eq!((&kept["added"], &kept["interrupted"]), (&json!(1), &json!(true)), "{kept}");
}

#[test]
fn the_same_documents_change_nothing_and_others_replace() {
    let server = Server::new();
    let put = |text: &str| {
        server.put("/v1/sources/s/documents", format!(r#"{{"id":"a","text":"{text}"}}"#)).lines()
    };
    assert_eq!(put("one")[1]["added"], 1);
    assert_eq!(put("one")[1]["unchanged"], 1);
    assert_eq!(put("two")[1]["changed"], 1);
    assert_eq!(server.get("/v1/documents/s/a").json()["text"], "two");
    let twice = server.put(
        "/v1/sources/s/documents",
        "{\"id\":\"a\",\"text\":\"three\"}\n{\"id\":\"a\",\"text\":\"four\"}\n",
    );
    assert_eq!(twice.lines().len(), 3);
    assert_eq!(server.get("/v1/documents/s/a").json()["text"], "four", "the last stays");
}

#[test]
fn gzip_is_read_and_its_length_counts_unpacked() {
    let server = Server::with(|config| config.bulk_limit = mainstem_server::config::Bytes(100_000));
    let packed = |text: &str| {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(text.as_bytes()).unwrap();
        encoder.finish().unwrap()
    };
    let send = |body: Vec<u8>| {
        let head = format!(
            "PUT /v1/sources/z/documents HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-encoding: gzip\r\n\
             content-type: application/x-ndjson\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        String::from_utf8_lossy(&server.raw(&[head.into_bytes(), body].concat())).into_owned()
    };
    let fine = send(packed("{\"id\":\"a\",\"text\":\"one\"}\n"));
    assert!(fine.starts_with("HTTP/1.1 200") && fine.contains(r#""stored":1"#), "{fine}");
    let bomb = send(packed(&" ".repeat(10_000_000)));
    assert!(bomb.contains(r#""done":false"#) && bomb.contains("E0103"), "{bomb}");
    let broken = send(b"no gzip at all".to_vec());
    assert!(broken.contains(r#""done":false"#) && broken.contains("E0101"), "{broken}");
}

#[test]
fn a_line_is_acknowledged_while_the_request_goes_on() {
    let server = Server::new();
    let mut stream = server.connect();
    let head = "PUT /v1/sources/s/documents HTTP/1.1\r\nhost: x\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\
                content-type: application/x-ndjson\r\n\r\n";
    stream.write_all(head.as_bytes()).unwrap();
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    for number in 0..3 {
        let line = format!("{{\"id\":\"{number}\",\"text\":\"word\"}}\n");
        stream.write_all(format!("{:x}\r\n{line}\r\n", line.len()).as_bytes()).unwrap();
        let mut seen = String::new();
        while !seen.contains("\"stored\"") {
            seen.clear();
            assert!(reader.read_line(&mut seen).unwrap() > 0, "the server hung up");
        }
        assert!(seen.contains(&format!("\"id\":\"{number}\"")), "{seen}");
        assert_eq!(server.get(&format!("/v1/documents/s/{number}")).status, 200);
    }
}

#[test]
fn searches_stay_right_while_documents_arrive() {
    let server = Server::new();
    server.ingest("fixed", &[json!({"id": "anchor", "text": "the one and only aardvark"})]);
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let searching = scope.spawn(|| {
            let (mut rounds, mut last) = (0, 0);
            while !done.load(Ordering::Relaxed) || rounds == 0 {
                let answer = server
                    .search(&json!({"query": "aardvark", "deadline": {"soft_ms": 20000, "hard_ms": 20000}}));
                assert_eq!(ids(&answer), ["fixed/anchor#0"]);
                let all = server
                    .search(&json!({"query": "arriving", "deadline": {"soft_ms": 20000, "hard_ms": 20000}}));
                let total = all["total"].as_u64().unwrap();
                assert!(total >= last, "documents do not go away: {total} after {last}");
                (rounds, last) = (rounds + 1, total);
            }
            rounds
        });
        for part in 0..6 {
            let documents: Vec<Value> = (0..50)
                .map(|at| json!({"id": format!("{part}-{at}"), "text": format!("arriving number {part} {at}")}))
                .collect();
            server.ingest("moving", &documents);
        }
        done.store(true, Ordering::Relaxed);
        assert!(searching.join().unwrap() > 0);
    });
    assert_eq!(server.get("/v1/sources").json()["sources"][1]["documents"], 300);
}

#[test]
fn many_clients_may_write_to_one_source() {
    let server = Server::new();
    std::thread::scope(|scope| {
        for client in 0..4 {
            let server = &server;
            scope.spawn(move || {
                for at in 0..5 {
                    server.ingest("shared", &[json!({"id": format!("{client}-{at}"), "text": "word"})]);
                }
            });
        }
    });
    assert_eq!(server.get("/v1/sources").json()["sources"][0]["documents"], 20);
}
