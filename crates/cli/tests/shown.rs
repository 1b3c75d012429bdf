//! What people see of text that others wrote, and what they are told when something is not there.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod command;

use std::fmt::Write as _;
use std::process::Output;

use command::{Folder, stderr, stdout};
use serde_json::{Value, json};

/// Sets the title of a window, clears it, hides what follows, turns the direction of writing; and the same by one character.
const EVIL: &str = "\u{1b}]0;pwn\u{7}\u{1b}[2J\u{1b}[8m\u{202e}\u{2066}\u{9b}2J\u{7f}\r";

fn ingested(test: &str, documents: &[Value]) -> Folder {
    let folder = Folder::new(test);
    let lines = documents.iter().fold(String::new(), |mut lines, document| {
        let _ = writeln!(lines, "{document}");
        lines
    });
    let output = folder.pipe("ingest - --source wiki --no-embed", lines.as_bytes());
    assert!(output.status.success(), "{}", stderr(&output));
    folder
}

/// Only colours of our own and lines reach a terminal.
#[track_caller]
fn check(what: &str, output: &Output) {
    for text in [stdout(output), stderr(output)] {
        let mut rest = text.as_str();
        while let Some(at) = rest.find(|char: char| {
            (char.is_control() && !matches!(char, '\n' | '\t'))
                || matches!(char, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
        }) {
            let style = rest[at..].strip_prefix("\u{1b}[").and_then(|rest| rest.split_once('m'));
            let numbers = style.map(|(numbers, _)| numbers);
            let ours = numbers.is_some_and(|numbers| {
                numbers.chars().all(|char| char.is_ascii_digit() || char == ';') && numbers != "8"
            });
            assert!(ours, "{what}: {:?} in {text:?}", &rest[at..]);
            rest = style.unwrap().1;
        }
    }
}

#[test]
fn text_of_documents_does_not_act_on_a_terminal() {
    let evil = |id: &str, text: &str| {
        json!({"id": format!("{id}{EVIL}"), "title": format!("Rollback {EVIL}"), "text": format!("# {EVIL}\n{text} {EVIL} of the release"),
            "url": format!("https://example.org/{EVIL}"), "label": format!("[{EVIL}]")})
    };
    let documents = [evil("a", "rollback alpha beta"), evil("b", "rollback alpha beta gamma")];
    let folder = ingested("shown_escapes", &documents);
    folder.file("evil.txt", "");
    let name = format!("wiki/a{EVIL}");
    let commands: [&[&str]; 10] = [
        &["search", "rollback"],
        &["search", "rollback", "--explain"],
        &["search", "rollback", "--why-not", &name],
        &["search", EVIL, "--plan"],
        &["search", "rollback", "--source", EVIL],
        &["related", &name],
        &["link", "run", "--judge", "words", "--least", "0.01"],
        &["link", "list", "--document", &name],
        &["ask", "rollback", "--context"],
        &["ask", "rollback"],
    ];
    for arguments in commands {
        for colours in ["1", "0"] {
            let output = folder.command("").args(arguments).env("CLICOLOR_FORCE", colours).output().unwrap();
            check(&format!("{arguments:?}"), &output);
        }
    }
    let output = folder.command("search rollback -n 1").env("CLICOLOR_FORCE", "1").output().unwrap();
    assert!(stdout(&output).contains("Rollback ␛]0;pwn␇␛[2J␛[8m\\u{202e}\\u{2066}\\u{9b}2J␡"), "{output:?}");
    let json = folder.stdout("search rollback -n 1 --json");
    assert!(json.contains(r"\u001b]0;pwn\u0007"), "{json}");
    let title = &serde_json::from_str::<Value>(&json).unwrap()["hits"][0]["title"];
    assert!(title.as_str().unwrap().contains("\u{1b}]0;pwn\u{7}"), "JSON says what is there: {title}");
}

#[test]
fn the_name_of_a_source_does_not_act_either() {
    let folder = Folder::new("shown_source");
    let put = ["ingest", "-", "--no-embed", "--source", &format!("s{EVIL}")].map(str::to_owned);
    folder.file("one.jsonl", "{\"id\": \"a\", \"text\": \"rollback\"}\n");
    let arguments = put.map(|argument| if argument == "-" { "one.jsonl".to_owned() } else { argument });
    for arguments in [&arguments[..], &["sources".to_owned()], &["search".to_owned(), "rollback".to_owned()]]
    {
        let output = folder.command("").args(arguments).env("CLICOLOR_FORCE", "1").output().unwrap();
        assert!(output.status.success(), "{}", stderr(&output));
        check(&format!("{arguments:?}"), &output);
    }
}

#[test]
fn who_misses_a_document_is_told_why() {
    let documents = [
        json!({"id": "a.md", "text": "cherry cake", "status": "open"}),
        json!({"id": "b.md", "text": "cherry pie", "status": "done", "readers": ["ann"]}),
        json!({"id": "c.md", "text": "nothing of it"}),
    ];
    let folder = ingested("shown_why_not", &documents);
    let told = |arguments: &str| {
        let output = folder.run(&format!("search cherry {arguments}"));
        (stdout(&output), output.status.code())
    };
    let hit = "wiki/a.md (by its chunk `wiki/a.md#0`): it is in the answer, at rank ";
    assert!(told("--why-not wiki/a.md").0.starts_with(hit), "{:?}", told("--why-not wiki/a.md"));
    let missing = "there is no such document, or you may not read it\n";
    for id in ["wiki/no.md", "zzz", "wiki/no.md#3", "wiki/a.md#x"] {
        assert_eq!(told(&format!("--why-not {id}")), (format!("{id}: {missing}"), Some(1)));
    }
    assert_eq!(told("--reader bob --why-not wiki/b.md"), (format!("wiki/b.md: {missing}"), Some(1)));
    let outside = "wiki/b.md: it is outside of the filter of this search\n".to_owned();
    assert_eq!(told("--where status=open --why-not wiki/b.md"), (outside, Some(0)));
    let unfound =
        "wiki/c.md: no list found it among its best candidates (`candidates` says how many)\n".to_owned();
    assert_eq!(told("--why-not wiki/c.md"), (unfound, Some(0)));
    let json: Value = serde_json::from_str(&told("--json --why-not wiki/b.md -n 1").0).unwrap();
    assert_eq!(
        (&json["why_not"]["id"], &json["why_not"]["part"]),
        (&json!("wiki/b.md"), &json!("wiki/b.md#0"))
    );
}

/// A `.npy` file with one row.
fn one_row(values: &[f32]) -> Vec<u8> {
    let mut header = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': (1, {}), }}", values.len());
    header.push_str(&" ".repeat(117 - header.len()));
    header.push('\n');
    let mut file = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
    file.extend(header.as_bytes());
    file.extend(values.iter().flat_map(|value| value.to_le_bytes()));
    file
}

#[test]
fn a_vector_of_another_length_is_refused() {
    let folder = Folder::new("shown_vector");
    folder.file("one.jsonl", "{\"id\": \"a\", \"text\": \"cherry\", \"vector\": [1, 0, 0]}\n");
    folder.stdout("ingest one.jsonl --source v --vectors-model mine");
    folder.file("right.npy", one_row(&[1.0, 0.0, 0.0])).file("wrong.npy", one_row(&[1.0, 0.0]));
    folder.stdout("search cherry --query-vector right.npy");
    for more in ["", "--channel dense", "--plan"] {
        let output = folder.run(&format!("search cherry --query-vector wrong.npy {more}"));
        assert_eq!(output.status.code(), Some(2), "{more}: {}", stdout(&output));
        let text = stderr(&output);
        assert!(text.contains("has 2 dimensions, expected 3") && text.contains("hint: "), "{text}");
    }
    folder.stdout("search cherry --query-vector wrong.npy --channel lexical");
}

#[test]
fn a_page_behind_the_candidates_says_so() {
    let fruit = |at: usize| json!({"id": format!("d{at}"), "text": format!("cherry number{at} {}", at * at)});
    let folder = ingested("shown_pages", &(0..150).map(fruit).collect::<Vec<_>>());
    let note = "only the best 100 candidates of each list were looked at";
    let output = folder.run("search cherry -n 120");
    assert!(output.status.success() && stderr(&output).contains(note), "{}", stderr(&output));
    let output = folder.run("search cherry --offset 130");
    assert_eq!(output.status.code(), Some(1));
    let text = stderr(&output);
    assert!(text.contains(note) && text.contains("`candidates = ") && !text.contains("in all"), "{text}");
    folder.file("mainstem.toml", "candidates = 1000\n");
    let output = folder.run("search cherry -n 200");
    assert!(!stderr(&output).contains(note), "{}", stderr(&output));
    assert_eq!(stdout(&output).matches("cherry").count(), 150);
    assert!(!stderr(&folder.run("search cherry -n 10")).contains(note), "one page of many is no surprise");
}

#[test]
fn many_copies_are_counted_and_not_all_named() {
    let same = |at: usize| json!({"id": format!("d{at}"), "label": format!("L{at}"), "text": "cherry cake with cream"});
    let folder = ingested("shown_copies", &(0..20).map(same).collect::<Vec<_>>());
    let text = folder.stdout("search cherry");
    assert!(text.contains(" and 14 more · "), "{text}");
    assert!(text.contains("  L"), "without a title, the label names a hit: {text}");
    let json: Value = serde_json::from_str(&folder.stdout("search cherry --json")).unwrap();
    assert_eq!(json["hits"][0]["alternates"].as_array().unwrap().len(), 19);
}

#[test]
fn small_words_are_right() {
    let folder = Folder::new("shown_small");
    let alone = folder.run("");
    assert_eq!(alone.status.code(), Some(2));
    let text = stderr(&alone);
    assert!(text.contains("Commands:") && !text.contains("error["), "{text}");
    std::fs::create_dir(folder.0.join("code")).unwrap();
    folder.file("code/a.rs", "\n\n/// Cherry.\nfn cherry() {}\n");
    let said = folder.stdout("ingest code --source code --no-embed");
    assert!(said.contains("; 1 document, 1 chunk, "), "{said}");
    assert!(folder.stdout("doctor").contains("1 document, 1 chunk, 0 vectors"));
    assert!(folder.stdout("search cherry").contains("line 3 · "), "{}", folder.stdout("search cherry"));
    for command in ["search cherry -n 0", "ask cherry -n 0"] {
        let none = folder.run(command);
        assert_eq!(none.status.code(), Some(2));
        assert!(stderr(&none).contains("hint: such as `-n 10`"), "{}", stderr(&none));
    }
}
