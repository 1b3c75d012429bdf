//! Stores that were damaged, or whose writer was killed, as a user meets them.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod command;
mod directions;

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Instant;

use command::{Folder, stderr, stdout};
use directions::{direction, npy};
use mainstem::store::{EmbeddedStore, Options};
use serde_json::{Value, json};

const DIM: usize = 8;

fn vector(number: u64) -> Vec<f32> {
    direction(number, DIM)
}

fn documents(count: u64) -> String {
    let mut lines = String::new();
    for number in 0..count {
        let text = format!("own{number} in a document with w{} and w{}", number % 31, number % 7);
        let line = json!({ "id": number.to_string(), "text": text, "vector": vector(number) });
        writeln!(lines, "{line}").unwrap();
    }
    lines
}

const INGEST: &str = "ingest documents.jsonl --source wiki --vectors-model test --no-embed";

fn filled(test: &str) -> Folder {
    let folder = Folder::new(test);
    folder.file("documents.jsonl", documents(60));
    folder.stdout(INGEST);
    folder
}

fn search(folder: &Folder, number: u64, channel: &str) -> std::process::Output {
    folder.file("query.npy", npy(&vector(number)));
    let wait = "--soft 60s --hard 60s --query-vector query.npy";
    folder.run(&format!("search own{number} --channel {channel} --json {wait}"))
}

/// A document is found by a channel; what was said meanwhile.
#[track_caller]
fn assert_found(folder: &Folder, number: u64, channel: &str, when: &str) -> String {
    let output = search(folder, number, channel);
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(0), "{when}: {said}");
    let found: Value = serde_json::from_str(&stdout(&output)).unwrap();
    let ids: Vec<_> = found["hits"].as_array().unwrap().iter().map(|hit| hit["id"].clone()).collect();
    assert!(
        ids.contains(&format!("wiki/{number}#0").into()),
        "{when}: {number} by {channel}: {ids:?}, {said}"
    );
    said
}

/// All files below a folder.
fn files(dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).unwrap().flatten().map(|entry| entry.path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

fn copy(from: &Path, to: &Path) {
    let _ = fs::remove_dir_all(to);
    for file in files(from) {
        let place = to.join(file.strip_prefix(from).unwrap());
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        fs::copy(file, place).unwrap();
    }
}

type Damage = fn(&Path);

fn invert(path: &Path) {
    let bytes = fs::read(path).unwrap();
    fs::write(path, bytes.iter().map(|byte| byte ^ 0xFF).collect::<Vec<_>>()).unwrap();
}

fn halve(path: &Path) {
    let bytes = fs::read(path).unwrap();
    fs::write(path, &bytes[..100.min(bytes.len() / 2)]).unwrap();
}

fn remove(path: &Path) {
    fs::remove_file(path).unwrap();
}

/// Damages the files whose names end like this.
fn damage(store: &Path, end: &str, how: Damage) {
    let named = |path: &PathBuf| path.to_string_lossy().ends_with(end);
    let damaged: Vec<_> = files(store).into_iter().filter(named).collect();
    assert!(!damaged.is_empty(), "no file `{end}`");
    for path in &damaged {
        how(path);
    }
}

#[test]
fn a_search_makes_damaged_indexes_anew_and_the_doctor_reports_them() {
    let folder = filled("damage_mended");
    let (store, sound) = (folder.0.join(".mainstem"), folder.0.join("sound"));
    copy(&store, &sound);
    let cases: [(&str, Damage, &str); 10] = [
        ("meta.json", remove, "lexical"),
        ("meta.json", halve, "lexical"),
        (".idx", invert, "lexical"),
        (".term", invert, "lexical"),
        (".fast", halve, "lexical"),
        ("/commit", invert, "dense"),
        ("/rows", invert, "dense"),
        ("/codes", halve, "dense"),
        ("/exact", halve, "dense"),
        ("/exact", remove, "dense"),
    ];
    for (end, how, channel) in cases {
        copy(&sound, &store);
        damage(&store, end, how);
        let doctor = folder.run("doctor");
        assert_eq!(doctor.status.code(), Some(1), "{end}: {}{}", stdout(&doctor), stderr(&doctor));
        assert!(stdout(&doctor).contains("60 documents") && stdout(&doctor).contains("fix: "), "{end}");
        let said = assert_found(&folder, 7, channel, end);
        assert!(
            said.contains("note: an index was damaged, and was made anew from the documents"),
            "{end}: {said}"
        );
        assert!(folder.stdout("doctor").starts_with("all is well: 60 documents"), "{end}");
        assert_eq!(assert_found(&folder, 59, channel, end), "", "{end}: it is mended once");
    }
    for index in ["lexical-", "matrix-"] {
        copy(&sound, &store);
        let folders = fs::read_dir(&store).unwrap().flatten().map(|entry| entry.path());
        let mut folders = folders.filter(|path| path.to_string_lossy().contains(index));
        fs::remove_dir_all(folders.next().unwrap()).unwrap();
        assert_eq!(folder.run("doctor").status.code(), Some(1), "{index}");
        let related = folder.run("related wiki/7");
        assert_eq!(related.status.code(), Some(0), "{index}: {}", stderr(&related));
        assert!(folder.stdout("doctor").starts_with("all is well"), "{index}");
    }
}

#[test]
fn damage_that_cannot_be_mended_is_an_error() {
    let folder = filled("damage_stays");
    let store = folder.0.join(".mainstem");
    let writer = EmbeddedStore::open(&store, Options::default()).unwrap();
    damage(&store, "/codes", halve);
    let output = search(&folder, 7, "dense");
    assert_eq!(output.status.code(), Some(2), "another process writes: {}", stderr(&output));
    let said = stderr(&output);
    assert!(said.starts_with("error[E0302]: ") && said.contains("\nhint: "), "{said}");
    drop(writer);
    fs::write(store.join("truth.sqlite"), "not a database, and long enough".repeat(100)).unwrap();
    let output = search(&folder, 7, "lexical");
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).starts_with("error[E0302]: "), "{}", stderr(&output));
    let doctor = folder.run("doctor");
    assert_eq!(doctor.status.code(), Some(1), "{}", stderr(&doctor));
    assert!(stdout(&doctor).contains("truth.sqlite"), "{}", stdout(&doctor));
}

#[test]
fn the_doctor_tells_of_missing_cards() {
    let folder = filled("damage_cards");
    let store = folder.0.join(".mainstem");
    let zero: Damage = |path| fs::write(path, vec![0; fs::metadata(path).unwrap().len() as usize]).unwrap();
    for how in [zero, halve, remove] {
        damage(&store, "cards.index", how);
        let doctor = folder.run("doctor");
        assert_eq!(doctor.status.code(), Some(0), "{}", stdout(&doctor));
        let said = stderr(&doctor);
        assert!(said.contains("chunks without a card") && said.contains("mainstem reindex"), "{said}");
        assert!(folder.stdout("doctor --json").contains("without a card"));
        assert_found(&folder, 7, "lexical", "without cards");
        folder.stdout("reindex");
        let doctor = folder.run("doctor");
        assert_eq!((stderr(&doctor).as_str(), doctor.status.code()), ("", Some(0)));
    }
}

/// How often a command is killed: a fifth of `MAINSTEM_KILLS`, since a round of it takes longer than one of the store alone; at least 3.
fn kills() -> u64 {
    let kills = std::env::var("MAINSTEM_KILLS").ok().and_then(|kills| kills.parse::<u64>().ok());
    (kills.unwrap_or_default() / 5).max(3)
}

#[test]
fn an_ingest_that_is_killed_leaves_a_sound_store() {
    const DOCUMENTS: u64 = 4000;
    let folder = Folder::new("damage_kills");
    folder.file("documents.jsonl", documents(DOCUMENTS));
    folder.stdout("init");
    // Moments within the time that it takes here: a fast machine is done early.
    let started = Instant::now();
    folder.stdout(INGEST);
    let whole = started.elapsed();
    folder.stdout("remove wiki --all");
    let count = || {
        let sources = stdout(&folder.run("sources --json"));
        let sources: Value = serde_json::from_str(&sources).unwrap();
        sources[0]["documents"].as_u64().unwrap_or(0)
    };
    let (mut before, mut cut_short) = (0, 0);
    for round in 0..kills() {
        let mut child = folder.command(INGEST).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(whole * (vector(round)[0].to_bits() % 900) / 1000);
        child.kill().unwrap();
        cut_short += u64::from(!child.wait().unwrap().success());
        let doctor = folder.run("doctor");
        let report = format!("round {round}: {}{}", stdout(&doctor), stderr(&doctor));
        assert_eq!(doctor.status.code(), Some(0), "{report}");
        let there = count();
        assert!(there >= before, "round {round}: {before} documents, then {there}");
        if there > 0 {
            assert_found(&folder, there - 1, "lexical", &report);
            assert_found(&folder, there / 2, "dense", &report);
        }
        // What is complete cannot be cut short any more.
        before = if there == DOCUMENTS { 0 } else { there };
        if there == DOCUMENTS {
            folder.stdout("remove wiki --all");
        }
    }
    assert!(cut_short > 0, "no ingest was cut short");
    folder.stdout(INGEST);
    assert_eq!(count(), DOCUMENTS);
    assert!(folder.stdout("doctor").starts_with("all is well"));
}

#[test]
fn documents_and_sources_are_removed() {
    let folder = filled("damage_remove");
    folder.stdout("ingest documents.jsonl --source mail --vectors-model test --no-embed");
    assert_eq!(folder.stdout("remove wiki 7 8"), "removed 2 documents from `wiki`\n");
    let found = folder.stdout("search own7 --channel lexical");
    assert!(found.contains("mail/7#0") && !found.contains("wiki/7#0"), "{found}");
    let partly = folder.run("remove wiki 7 9");
    assert_eq!(partly.status.code(), Some(0));
    assert_eq!(stdout(&partly), "removed 1 document from `wiki`\n");
    assert_eq!(stderr(&partly), "note: there is no document `wiki/7`\n");
    let again = folder.run("remove wiki 7 --json");
    assert_eq!(again.status.code(), Some(1));
    let again: Value = serde_json::from_str(&stdout(&again)).unwrap();
    assert_eq!(again, json!({ "source": "wiki", "removed": 0, "missing": ["7"] }));
    assert_eq!(folder.stdout("remove wiki --all"), "removed the source `wiki` with 57 documents\n");
    let sources = folder.stdout("sources");
    assert!(sources.contains("mail") && !sources.contains("wiki"), "{sources}");
    assert!(folder.stdout("doctor").starts_with("all is well: 60 documents"));
    let unknown = folder.run("remove wiki --all");
    assert_eq!(unknown.status.code(), Some(2));
    assert!(
        stderr(&unknown).contains("unknown source `wiki`, expected one of `mail`"),
        "{}",
        stderr(&unknown)
    );
    for slip in ["remove wiki", "remove wiki 7 --all"] {
        assert_eq!(folder.run(slip).status.code(), Some(2), "{slip}");
    }
    // Its number may be given to another.
    folder.stdout(INGEST);
    assert!(folder.stdout("search own7 --channel lexical --source wiki").contains("wiki/7#0"));
    assert!(folder.stdout("doctor").starts_with("all is well: 120 documents"));
}
