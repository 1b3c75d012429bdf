//! `mainstem ingest` as a user meets it: folders and files again and again, into one source or several.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod command;

use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::Duration;

use command::{Folder, stderr, stdout};
use serde_json::Value;

fn folder(test: &str, files: &[(&str, &str)]) -> Folder {
    let folder = Folder::new(test);
    for (name, text) in files {
        fs::create_dir_all(folder.0.join(name).parent().unwrap()).unwrap();
        folder.file(name, text);
    }
    folder
}

fn source(folder: &Folder, name: &str) -> Value {
    let sources: Value = serde_json::from_str(&folder.stdout("sources --json")).unwrap();
    let all = sources.as_array().or_else(|| sources["sources"].as_array()).unwrap();
    all.iter().find(|source| source["name"] == name).cloned().unwrap()
}

fn documents(folder: &Folder, name: &str) -> u64 {
    source(folder, name)["documents"].as_u64().unwrap()
}

#[test]
fn a_second_folder_removes_nothing_and_says_so() {
    let files = [("a/one.md", "# One"), ("b/two.md", "# Two"), ("b/three.md", "# Three")];
    let folder = folder("ingest_second", &files);
    folder.stdout("ingest a --source wiki --no-embed");
    let said = folder.stdout("ingest b --source wiki --no-embed");
    assert!(said.contains("2 added, 0 changed, 0 unchanged, 0 removed"), "{said}");
    assert!(said.contains("kept 1 document not here") && said.contains("`--sync` removes"), "{said}");
    assert!(said.contains("ingest_second/a`"), "{said}");
    // Neither does a later run of either, whatever came in between.
    fs::remove_file(folder.0.join("b/two.md")).unwrap();
    assert!(folder.stdout("ingest b --source wiki --no-embed").contains("kept 2 documents"));
    assert!(folder.stdout("ingest a --source wiki --no-embed").contains("kept 2 documents"));
    assert_eq!(documents(&folder, "wiki"), 3);
    let said = folder.stdout("ingest b --source wiki --no-embed --sync");
    assert!(said.contains("2 removed"), "{said}");
    // From now on the source is that of the folder, which is kept in step.
    folder.file("b/four.md", "# Four");
    folder.stdout("ingest b --source wiki --no-embed");
    fs::remove_file(folder.0.join("b/three.md")).unwrap();
    assert!(folder.stdout("ingest b --source wiki --no-embed").contains("1 removed"));
}

#[test]
fn a_folder_removes_nothing_that_came_as_lines() {
    let folder = folder("ingest_lines", &[("a/one.md", "# One")]);
    folder.file("d.jsonl", r#"{"id":"x","text":"From a line."}"#);
    folder.stdout("ingest d.jsonl --source wiki --no-embed");
    let said = folder.stdout("ingest a --source wiki --no-embed");
    assert!(said.contains("0 removed") && said.contains("d.jsonl"), "{said}");
    assert_eq!(documents(&folder, "wiki"), 2);
}

#[test]
fn a_run_that_is_stopped_has_said_the_kind_of_its_source() {
    let folder = Folder::new("ingest_kind");
    let mut lines = String::new();
    for n in 0..2100 {
        let _ = writeln!(lines, r#"{{"id":"{n}","text":"Line {n}."}}"#);
    }
    folder.file("d.jsonl", lines + "no JSON\n");
    let output = folder.run("ingest d.jsonl --source chat --kind slack --no-embed --strict");
    assert_eq!(output.status.code(), Some(2), "{}", stdout(&output));
    let source = source(&folder, "chat");
    assert!(source["documents"].as_u64().unwrap() > 0, "{source}");
    assert_eq!(source["kind"], "slack");
}

#[test]
fn files_have_a_time() {
    let folder = folder("ingest_time", &[("a/one.md", "# Windows\n\nHow to clean windows.")]);
    folder.stdout("ingest a --source wiki --no-embed");
    for filter in ["--since 30d", "--until 2100-01-01"] {
        let said = folder.stdout(&format!("search windows {filter}"));
        assert!(said.contains("one.md"), "{filter}: {said}");
    }
    assert_eq!(folder.run("search windows --until 2001-01-01").status.code(), Some(1));
    assert!(source(&folder, "wiki")["newest"].is_string());
    let said = folder.stdout("search windows");
    assert!(said.contains("ago") || said.contains("now") || said.contains("today"), "{said}");
}

#[test]
fn a_line_with_a_vector_of_another_length_is_skipped_with_its_place() {
    let folder = Folder::new("ingest_vectors");
    folder.file("d.jsonl", r#"{"id":"a","text":"One.","vector":[1,0]}"#);
    folder.stdout("ingest d.jsonl --source wiki --no-embed");
    folder.file(
        "e.jsonl",
        "{\"id\":\"b\",\"text\":\"Two.\",\"vector\":[1,0,0]}\n{\"id\":\"c\",\"text\":\"Three.\",\"vector\":[0,1]}\n",
    );
    let said = folder.stdout("ingest e.jsonl --source wiki --no-embed");
    assert!(said.contains("1 added"), "{said}");
    assert!(said.contains("e.jsonl:1: `vector`: expected 2 numbers as before, received 3"), "{said}");
    let output = folder.run("ingest e.jsonl --source wiki --no-embed --strict");
    assert!(output.status.code() == Some(2) && stderr(&output).contains("e.jsonl:1"), "{}", stderr(&output));
}

/// A watch that ends with the test.
struct Watch {
    child: Child,
    said: Receiver<String>,
}

impl Watch {
    fn start(folder: &Folder, arguments: &str) -> Self {
        let mut command = folder.command(arguments);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let (sender, said) = mpsc::channel();
        std::thread::spawn(move || lines.map_while(Result::ok).try_for_each(|line| sender.send(line)));
        Self { child, said }
    }

    /// Waits until it says something. A minute is for slow machines; it fails by then.
    #[track_caller]
    fn says(&self, what: &str) {
        let mut all = String::new();
        while !all.contains(what) {
            let line = self.said.recv_timeout(Duration::from_secs(60));
            all += &line.unwrap_or_else(|_| panic!("expected `{what}`, received `{all}`"));
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Asks again until it is so.
#[track_caller]
fn until(what: &str, is_so: impl Fn() -> bool) {
    for _ in 0..600 {
        if is_so() {
            return;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    panic!("{what}");
}

#[test]
fn a_watch_follows_its_folder_and_leaves_the_store_to_others() {
    let files = [("a/one.md", "# One\n\nApples."), ("b/two.md", "# Two\n\nPears.")];
    let folder = folder("ingest_watch", &files);
    let watch = Watch::start(&folder, "ingest a --source wiki --no-embed --watch");
    watch.says("watching `a`");
    let finds = |query: &str| folder.run(&format!("search {query}")).status.code() == Some(0);
    assert!(finds("apples"));
    // Another run can write while it waits for changes.
    folder.stdout("ingest b --source other --no-embed");
    folder.file("a/three.md", "# Three\n\nCherries.");
    until("a new file is found", || finds("cherries"));
    folder.file("a/three.md", "# Three\n\nPlums.");
    until("a changed file is found", || finds("plums") && !finds("cherries"));
    fs::remove_file(folder.0.join("a/one.md")).unwrap();
    fs::remove_file(folder.0.join("a/three.md")).unwrap();
    until("an empty folder is an empty source", || documents(&folder, "wiki") == 0);
    assert!(finds("pears"), "the other source has nothing to do with it");
    watch.says("nothing is left");
}

#[test]
fn a_watch_waits_for_a_store_that_is_busy() {
    let folder = folder("ingest_busy", &[("a/one.md", "# One\n\nApples.")]);
    let held = mainstem::store::embedded::EmbeddedStore::init(&folder.0.join(".mainstem")).unwrap();
    let watch = Watch::start(&folder, "ingest a --source wiki --no-embed --watch");
    watch.says("waiting for it to finish");
    drop(held);
    watch.says("watching `a`");
    assert_eq!(documents(&folder, "wiki"), 1);
}

#[test]
fn a_watch_that_starts_with_an_empty_folder_removes_nothing() {
    let folder = folder("ingest_empty", &[("a/one.md", "# One\n\nApples.")]);
    folder.stdout("ingest a --source wiki --no-embed");
    fs::remove_file(folder.0.join("a/one.md")).unwrap();
    let output = folder.run("ingest a --source wiki --no-embed");
    assert!(stdout(&output).contains("kept 1 document that was not found"), "{}", stdout(&output));
    let watch = Watch::start(&folder, "ingest a --source wiki --no-embed --watch");
    watch.says("watching `a`");
    assert_eq!(documents(&folder, "wiki"), 1);
}
