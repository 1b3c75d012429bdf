//! `mainstem ingest` on a disk that fills up, as a user meets it.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod command;
mod directions;
#[path = "../../mainstem/tests/small_disk/mod.rs"]
mod small_disk;

use std::fmt::Write as _;
use std::path::Path;

use command::{Folder, stderr, stdout};
use directions::{direction, npy};
use serde_json::{Value, json};
use small_disk::Ballast;

const DISK_BYTES: u64 = 16 << 20;
const DIM: usize = 16;
const DOCUMENTS: usize = 5000;
/// How many documents are written at once.
const GROUP: usize = 2048;
/// How much of the disk is free, in KiB: the truth runs out of room in the second or third group, or the index does behind it.
const ROOM: [u64; 4] = [2900, 4400, 5400, 6070];

fn vector(number: usize) -> Vec<f32> {
    direction(number as u64, DIM)
}

fn documents() -> String {
    let mut lines = String::new();
    for number in 0..DOCUMENTS {
        let words: Vec<_> = (0..40).map(|word| format!("w{}", (number * 31 + word * 17) % 4001)).collect();
        let text = format!("own{number} {}", words.join(" "));
        let line = json!({ "id": number.to_string(), "text": text, "vector": vector(number) });
        writeln!(lines, "{line}").unwrap();
    }
    lines
}

/// How many documents the store says it has.
fn count(folder: &Folder, store: &str) -> usize {
    let output = folder.run(&format!("{store} sources --json"));
    let sources: Value = serde_json::from_str(&stdout(&output)).unwrap();
    sources[0]["documents"].as_u64().unwrap_or(0) as usize
}

/// The first of the documents are there; some of them are looked for by words and by meaning.
fn assert_found(folder: &Folder, store: &str, count: usize, when: &str) {
    for number in [0, count / 2, count - 1] {
        folder.file("query.npy", npy(&vector(number)));
        for channel in ["lexical", "dense"] {
            let search =
                format!("{store} search own{number} --channel {channel} --hard 60s --soft 60s --json");
            let output = folder.run(&format!("{search} --query-vector query.npy"));
            assert_eq!(output.status.code(), Some(0), "{when}: {}", stderr(&output));
            let found: Value = serde_json::from_str(&stdout(&output)).unwrap();
            let ids: Vec<_> = found["hits"].as_array().unwrap().iter().map(|hit| hit["id"].clone()).collect();
            assert!(
                ids.contains(&format!("wiki/{number}#0").into()),
                "{when}: {number} by {channel}: {ids:?}"
            );
        }
    }
}

/// Whether the indexes were behind.
fn round(folder: &Folder, disk: &Path, room: u64) -> bool {
    let (dir, when) = (disk.join("store"), format!("{room} KiB"));
    let store = format!("--store {}", dir.display());
    let ingest =
        format!("{store} ingest documents.jsonl --source wiki --vectors-model test --no-embed --json");
    let ballast = Ballast::new(disk, DISK_BYTES - room * 1024);
    let output = folder.run(&ingest);
    assert_eq!(output.status.code(), Some(2), "{when}: {}{}", stdout(&output), stderr(&output));
    let message = stderr(&output);
    let lines: Vec<_> = message.lines().collect();
    assert_eq!(lines.len(), 2, "{when}: {message}");
    assert!(
        lines[0].starts_with("error[E0301]: ") && lines[0].contains(&*dir.to_string_lossy()),
        "{message}"
    );
    assert_eq!(lines[1], "hint: check the path, the permissions and the free space", "{message}");
    let written = count(folder, &store);
    assert!((1..=DOCUMENTS).contains(&written), "{when}: {written} documents");
    // What the last group brought may be in no index; who searches is told so.
    let note = stderr(&folder.run(&format!("{store} search own0 --channel lexical")));
    let behind =
        note.contains("note: what was written last is not found, because the indexes cannot follow: ");
    assert_found(folder, &store, if behind { GROUP } else { written }, &format!("{when}, full"));
    drop(ballast);
    assert_found(folder, &store, written, &format!("{when}, with room"));
    let doctor = folder.run(&format!("{store} doctor"));
    assert!(stdout(&doctor).starts_with("all is well"), "{when}: {}{}", stdout(&doctor), stderr(&doctor));
    let again = folder.run(&ingest);
    assert_eq!(again.status.code(), Some(0), "{when}: {}", stderr(&again));
    let summary: Value = serde_json::from_str(&stdout(&again)).unwrap();
    assert_eq!(summary["added"].as_u64(), Some((DOCUMENTS - written) as u64), "{when}: {summary}");
    assert_eq!(summary["unchanged"].as_u64(), Some(written as u64), "{when}: {summary}");
    assert_found(folder, &store, DOCUMENTS, &format!("{when}, complete"));
    assert!(folder.stdout(&format!("{store} doctor")).starts_with("all is well"), "{when}, complete");
    std::fs::remove_dir_all(dir).unwrap();
    behind
}

#[test]
fn an_ingest_that_fills_the_disk_loses_nothing() {
    let test = "an_ingest_that_fills_the_disk_loses_nothing";
    let Some(disk) = small_disk::here() else { return small_disk::run(test, DISK_BYTES) };
    let folder = Folder::new("full_disk");
    folder.file("documents.jsonl", documents());
    let behind = ROOM.into_iter().filter(|room| round(&folder, &disk, *room)).count();
    println!("the indexes were behind in {behind} of {} cases", ROOM.len());
}
