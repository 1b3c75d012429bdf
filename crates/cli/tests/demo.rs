//! `mainstem demo` from the outside: what it prints, what it keeps, what it writes, and that the commands it names work.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod command;

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use command::{Folder, stderr};
use serde_json::Value;
use unicode_width::UnicodeWidthStr as _;

fn recipes() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../recipes")
}

/// The page and the store of one run: a debug build takes its time.
fn shown() -> &'static (Folder, String) {
    static SHOWN: OnceLock<(Folder, String)> = OnceLock::new();
    SHOWN.get_or_init(|| {
        let folder = Folder::new("demo-shown");
        let text = folder.stdout("demo --keep demo-store");
        (folder, text)
    })
}

/// The same as JSON, from a store that is not kept.
fn data() -> &'static (Folder, Value) {
    static DATA: OnceLock<(Folder, Value)> = OnceLock::new();
    DATA.get_or_init(|| {
        let folder = Folder::new("demo-json");
        std::fs::create_dir(folder.0.join("tmp")).unwrap();
        let output = folder.command("demo --json").env("TMPDIR", folder.0.join("tmp")).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        let value = serde_json::from_slice(&output.stdout).unwrap();
        (folder, value)
    })
}

/// The commands that a text names, as a shell takes them.
fn commands(text: &str) -> Vec<String> {
    let joined = text.replace(" \\\n     ", "");
    joined.lines().filter_map(|line| line.strip_prefix("  mainstem ")).map(str::to_owned).collect()
}

/// A text as one line.
fn unfolded(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Runs a command with quoted arguments.
fn run_quoted(folder: &Folder, command: &str) {
    let mut program = folder.command("");
    for (at, part) in command.split('"').enumerate() {
        if at % 2 == 1 {
            program.arg(part);
        } else {
            program.args(part.split_whitespace());
        }
    }
    let output = program.output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{command}: {}", stderr(&output));
    assert!(!output.stdout.is_empty(), "{command}");
}

#[test]
fn it_fits_a_terminal() {
    let (_, text) = shown();
    assert!(text.lines().count() < 130, "{}", text.lines().count());
    for line in text.lines() {
        assert!(line.width() <= 100 && !line.contains('\u{1b}'), "{line}");
    }
}

#[test]
fn every_question_makes_its_point() {
    let (_, demo) = data();
    let questions = demo["questions"].as_array().unwrap();
    assert_eq!(questions.len(), 7);
    let recipes: std::collections::BTreeSet<_> =
        questions.iter().map(|question| question["recipe"].as_str().unwrap()).collect();
    assert_eq!(recipes.len(), 5, "every kind of user asks");
    for question in questions {
        let first = &question["answer"]["hits"][0];
        let name = format!("{}/{}", first["source"].as_str().unwrap(), first["document"].as_str().unwrap());
        assert_eq!(question["expected"], name.as_str(), "{}", question["query"]);
    }
    let of = |query: &str| questions.iter().find(|question| question["query"] == query).unwrap();
    let folded = &of("how do I add an index to a big table without blocking writes")["answer"]["hits"][1];
    assert!(folded["alternates"][0].as_str().unwrap().contains("review 1135"), "{folded}");
    assert_eq!(
        of("when do we move to the new office")["answer"]["hits"][0]["alternates"].as_array().unwrap().len(),
        2
    );
    let rank =
        |query: &str, list: usize| of(query)["answer"]["hits"][0]["ledger"][0]["lists"][list]["rank"].clone();
    // Lists are: by meaning, by words.
    assert!(rank("픽업 코드는 언제 만료되나", 0).as_u64().unwrap() > 10, "words win");
    assert!(rank("why did we stop using Quickbill", 1).as_u64().unwrap() > 1, "meaning wins");
    assert_eq!(rank("why did we stop using Quickbill", 0), 1);
}

#[test]
fn the_page_and_the_json_say_the_same() {
    let ((_, text), (folder, demo)) = (shown(), data());
    let ways = demo["evaluation"]["ways"].as_array().unwrap();
    assert_eq!(
        (ways.len(), &demo["evaluation"]["questions"], &demo["documents"]),
        (7, &50.into(), &297.into())
    );
    for way in ways {
        let all = format!(" {:.3}", way["all"].as_f64().unwrap());
        assert!(text.contains(&all), "{} {all}", way["name"]);
    }
    assert!(text.contains("2026-01-31") && unfolded(text).contains("by words and by meaning"), "{text}");
    let left = std::fs::read_dir(folder.0.join("tmp")).unwrap().count();
    assert_eq!(left, 0, "the temporary store is removed");
    let named: Vec<_> = demo["next"].as_array().unwrap().iter().map(|next| next.as_str().unwrap()).collect();
    assert_eq!(named[0], "mainstem demo --keep demo-store");
    let shown: Vec<_> = commands(text).into_iter().map(|command| format!("mainstem {command}")).collect();
    assert_eq!(shown, named[1..], "without the one that keeps the store, which is kept");
}

#[test]
fn what_is_measured_is_better_than_the_ways_it_is_compared_with() {
    let (_, demo) = data();
    let all = |name: &str| {
        let way =
            demo["evaluation"]["ways"].as_array().unwrap().iter().find(|way| way["name"] == name).unwrap();
        way["all"].as_f64().unwrap()
    };
    let default = all("all sources, default");
    for other in [
        "best source alone",
        "all sources, by words alone",
        "all sources, by meaning alone",
        "all sources, merged by rank alone",
    ] {
        assert!(default > all(other), "{other}");
    }
}

#[test]
fn the_commands_it_names_work() {
    let (folder, text) = shown();
    let named = commands(text);
    assert_eq!(named.len(), 4, "{named:?}");
    for command in &named {
        run_quoted(folder, command);
    }
    // What the text says of freshness: by words alone, December's schedule is the second.
    folder.file(
        "aged.toml",
        ["slack", "notion", "linear", "gmail"]
            .map(|name| format!("[pipeline.recency.{name}]\nweight = 0.0\n"))
            .concat(),
    );
    let output = folder
        .command("--store demo-store search --config aged.toml --channel lexical --json")
        .arg("배포 일정")
        .output()
        .unwrap();
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answer["hits"][1]["id"], "slack/s-deploy-47#0");
    let again = folder.run("demo --keep demo-store");
    assert!(again.status.code() == Some(2) && stderr(&again).contains("hint"), "{}", stderr(&again));
}

#[test]
fn words_alone_will_do() {
    let folder = Folder::new("demo-words");
    let text = folder.stdout("demo --words");
    assert!(unfolded(&text).contains("at once, by words alone") && !text.contains("meaning #"), "{text}");
    assert!(!text.contains("\nmeaning alone"), "{text}");
}

#[test]
fn the_commands_named_after_writing_work() {
    let folder = Folder::new("demo-written");
    let text = folder.stdout("demo --write here/samples/");
    assert!(text.starts_with("wrote 54 files to `here/samples/`; try\n"), "{text}");
    let named = commands(&text);
    assert_eq!(named.len(), 4);
    for command in &named {
        run_quoted(&folder, command);
    }
}

#[test]
fn what_is_written_is_what_the_repository_holds() {
    let folder = Folder::new("demo-same");
    let written: Value = serde_json::from_str(&folder.stdout("demo --write . --json")).unwrap();
    let mut count = 0;
    for recipe in
        std::fs::read_dir(recipes()).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_dir())
    {
        for file in std::fs::read_dir(&recipe).unwrap().map(|entry| entry.unwrap().path()) {
            let name = file.strip_prefix(recipes()).unwrap();
            assert!(
                std::fs::read(&file).unwrap() == std::fs::read(folder.0.join(name)).unwrap(),
                "{}",
                name.display()
            );
            count += 1;
        }
    }
    assert_eq!(written["files"].as_array().unwrap().len(), count);
}

#[test]
fn nothing_is_overwritten() {
    let folder = Folder::new("demo-taken");
    std::fs::create_dir(folder.0.join("desktop")).unwrap();
    folder.file("desktop/qrels.tsv", "mine");
    let output = folder.run("demo --write .");
    let message = stderr(&output);
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert!(
        message.contains("E0205") && message.contains("qrels.tsv") && message.contains("hint"),
        "{message}"
    );
    assert!(output.stdout.is_empty());
    assert_eq!(folder.read("desktop/qrels.tsv"), "mine");
    assert_eq!(std::fs::read_dir(&folder.0).unwrap().count(), 1, "nothing else is written either");
}

#[test]
fn a_folder_that_cannot_be_made_is_named() {
    let folder = Folder::new("demo-blocked");
    folder.file("file", "");
    for option in ["--write", "--keep"] {
        let output = folder.run(&format!("demo {option} file/inside"));
        let message = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{message}");
        assert!(message.contains("file/inside") && message.contains("hint"), "{message}");
    }
}
