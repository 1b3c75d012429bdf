//! `mainstem demo` from the outside: what it prints, what it writes, and that the commands it names work.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use unicode_width::UnicodeWidthStr as _;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// An empty folder of its own for one test.
fn folder(test: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("demo-{test}"));
    if path.exists() {
        std::fs::remove_dir_all(&path).unwrap();
    }
    std::fs::create_dir_all(&path).unwrap();
    path
}

/// Runs `mainstem` with these arguments, separated by spaces.
fn mainstem(folder: &Path, arguments: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mainstem"));
    command.current_dir(folder).args(arguments.split_whitespace()).stdin(Stdio::null());
    command.env_remove("CLICOLOR_FORCE").output().unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// Standard output of a command that must succeed.
fn stdout(folder: &Path, arguments: &str) -> String {
    let output = mainstem(folder, arguments);
    assert_eq!(output.status.code(), Some(0), "{arguments}: {}", stderr(&output));
    String::from_utf8(output.stdout).unwrap()
}

/// The arguments of the commands that a text names, one on a line.
fn commands(text: &str) -> Vec<&str> {
    text.lines().filter_map(|line| line.strip_prefix("  mainstem ")).collect()
}

/// A row of the table of measures: its name ends before the first double space.
fn row<'a>(text: &'a str, name: &str) -> Vec<&'a str> {
    let line = text.lines().find(|line| line.starts_with(name)).unwrap();
    line[name.len()..].split_whitespace().map(|cell| cell.trim_end_matches('*')).collect()
}

#[test]
fn it_needs_no_files_and_says_the_same_everywhere() {
    let text = stdout(&folder("anywhere"), "demo");
    assert_eq!(text, stdout(&root(), "demo"));
    assert!(text.contains("On call, on one page") && text.contains("[review 403]"), "{text}");
}

#[test]
fn it_fits_a_terminal() {
    let text = stdout(&root(), "demo");
    assert!(text.lines().count() < 100);
    for line in text.lines() {
        assert!(line.width() <= 100, "{line}");
        assert!(!line.contains('\u{1b}'), "{line}");
    }
}

#[test]
fn the_commands_it_names_work_in_a_clone() {
    let text = stdout(&root(), "demo");
    let (write, others): (Vec<_>, Vec<_>) =
        commands(&text).into_iter().partition(|command| command.starts_with("demo"));
    assert_eq!((write.len(), others.len()), (1, 4), "{text}");
    for command in others {
        assert!(!stdout(&root(), command).is_empty(), "{command}");
    }
}

#[test]
fn the_commands_it_names_work_without_a_clone() {
    let folder = folder("binary-only");
    let text = stdout(&folder, "demo");
    let mut named = commands(&text);
    named.sort_by_key(|command| !command.starts_with("demo --write"));
    assert_eq!(named.len(), 5);
    for command in named {
        assert!(!stdout(&folder, command).is_empty(), "{command}");
    }
}

#[test]
fn the_commands_named_after_writing_work() {
    let folder = folder("written");
    let text = stdout(&folder, "demo --write here/first-look/");
    assert!(text.starts_with("wrote 13 files to `here/first-look/`; try\n"), "{text}");
    let named = commands(&text);
    assert_eq!(named.len(), 4);
    for command in named {
        assert!(!stdout(&folder, command).is_empty(), "{command}");
    }
}

#[test]
fn what_is_written_is_what_the_repository_holds() {
    let folder = folder("same");
    stdout(&folder, "demo --write .");
    let recipe = root().join("recipes/first-look");
    let mut count = 0;
    for entry in std::fs::read_dir(&recipe).unwrap() {
        let name = entry.unwrap().file_name();
        let same = std::fs::read(recipe.join(&name)).unwrap() == std::fs::read(folder.join(&name)).unwrap();
        assert!(same, "{}", name.display());
        count += 1;
    }
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), count);
}

#[test]
fn nothing_is_overwritten() {
    let folder = folder("taken");
    std::fs::write(folder.join("qrels.tsv"), "mine").unwrap();
    let output = mainstem(&folder, "demo --write .");
    let message = stderr(&output);
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert!(
        message.contains("E0205") && message.contains("qrels.tsv") && message.contains("hint"),
        "{message}"
    );
    assert!(output.stdout.is_empty());
    assert_eq!(std::fs::read_to_string(folder.join("qrels.tsv")).unwrap(), "mine");
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1, "nothing else is written either");
}

#[test]
fn a_folder_that_cannot_be_made_is_named() {
    let folder = folder("blocked");
    std::fs::write(folder.join("file"), "").unwrap();
    let output = mainstem(&folder, "demo --write file/inside");
    let message = stderr(&output);
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert!(message.contains("E0301") && message.contains("file/inside"), "{message}");
}

#[test]
fn json_has_the_same_data() {
    let text = stdout(&root(), "demo");
    let demo: serde_json::Value = serde_json::from_str(&stdout(&root(), "demo --json")).unwrap();
    assert_eq!(demo["search"]["hits"][0]["id"], "wiki:oncall");
    assert_eq!(demo["search"]["hits"][0]["alternates"][0], "[review 403]");
    assert_eq!(demo["by_rank"]["hits"][0]["id"], "code:store/transaction.rs");
    assert_eq!(demo["evaluation"]["comparisons"][0]["verdict"], "not_shown");
    for way in demo["evaluation"]["ways"].as_array().unwrap() {
        let value = format!("{:.3}", way["measures"]["nDCG@10"].as_f64().unwrap());
        assert_eq!(row(&text, way["name"].as_str().unwrap())[0], value);
    }
    let named: Vec<_> = commands(&text).into_iter().map(|command| format!("mainstem {command}")).collect();
    assert_eq!(demo["next"], serde_json::json!(named));
    let folder = folder("json");
    let written: serde_json::Value = serde_json::from_str(&stdout(&folder, "demo --write . --json")).unwrap();
    assert_eq!(written["files"].as_array().unwrap().len(), 13);
}

/// What the demo measures is what the commands give on the same files.
#[test]
fn the_numbers_can_be_had_by_hand() {
    let folder = folder("by-hand");
    stdout(&folder, "demo --write .");
    let sources = ["code", "reviews", "wiki"];
    let six: Vec<_> = sources.iter().map(|s| format!("{s}-lexical.run {s}-dense.run")).collect();
    let six = six.join(" ");
    let bounds: Vec<_> =
        sources.iter().map(|s| format!("--bounds {s}-lexical=0:12 --bounds {s}-dense=0:1")).collect();
    let bounds = bounds.join(" ");
    stdout(&folder, &format!("fuse {six} --method rrf -o rrf.out"));
    stdout(&folder, &format!("fuse {six} --method combsum --normalise theoretical {bounds} -o scale.out"));
    stdout(&folder, "fuse lexical.run dense.run --method rsf -o rsf.out");
    let page = stdout(&folder, "demo");
    let cases = [
        ("dense, all sources by score", "dense.run"),
        ("six lists: rrf, by rank alone", "rrf.out"),
        ("six lists: combsum, on a common scale", "scale.out"),
        ("lexical + dense, all sources: rsf", "rsf.out"),
    ];
    for (name, run) in cases {
        let arguments = format!("eval --qrels qrels.tsv --run {run} -m nDCG@10 -m MRR -m Success@1 --json");
        let report: serde_json::Value = serde_json::from_str(&stdout(&folder, &arguments)).unwrap();
        let values: Vec<_> = ["nDCG@10", "MRR", "Success@1"]
            .iter()
            .map(|measure| format!("{:.3}", report["measures"][measure].as_f64().unwrap()))
            .collect();
        assert_eq!(row(&page, name), values, "{name}");
    }
}
