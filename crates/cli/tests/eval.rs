//! `mainstem eval` from the outside: output, notes and exit codes.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

const QRELS: &str = "query-id\tcorpus-id\tscore\n1\twiki:a\t2\n1\tslack:b\t1\n2\twiki:c\t1\n10\twiki:a\t1\n";
const FIRST: &str = "1 Q0 wiki:a 1 0.9 t\n1 Q0 slack:b 2 0.8 t\n2 Q0 wiki:x 1 0.7 t\n2 Q0 wiki:c 2 0.6 t\n7 Q0 wiki:a 1 1 t\n";
const SECOND: &str = "1 Q0 wiki:a 1 0.9 t\n2 Q0 wiki:c 1 0.7 t\n10 Q0 wiki:a 1 0.5 t\n";

/// A folder of its own for one test, with the judgements and two runs in it.
struct Folder(PathBuf);

impl Folder {
    fn new(test: &str) -> Self {
        let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("eval-{test}"));
        std::fs::create_dir_all(&path).unwrap();
        let folder = Self(path);
        folder.file("q.tsv", QRELS);
        folder.file("first.run", FIRST);
        folder.file("second.run", SECOND);
        folder
    }

    fn file(&self, name: &str, text: &str) {
        std::fs::write(self.0.join(name), text).unwrap();
    }

    /// Runs `mainstem eval` with these arguments, separated by spaces.
    fn eval(&self, arguments: &str) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mainstem"));
        command.current_dir(&self.0).arg("eval").args(arguments.split_whitespace()).stdin(Stdio::null());
        command.output().unwrap()
    }

    /// Standard output of a command that must succeed.
    fn stdout(&self, arguments: &str) -> String {
        let output = self.eval(arguments);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        String::from_utf8(output.stdout).unwrap()
    }
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

#[test]
fn json_has_the_names_as_typed_and_the_queries_in_order() {
    let folder = Folder::new("json");
    let text = folder.stdout("--qrels q.tsv --run first.run -m P@1 -m recip_rank --json");
    let expected = concat!(
        r#"{"measures":{"P@1":0.3333333333333333,"recip_rank":0.5},"#,
        r#""queries":{"1":{"P@1":1.0,"recip_rank":1.0},"2":{"P@1":0.0,"recip_rank":0.5},"#,
        r#""10":{"P@1":0.0,"recip_rank":0.0}}}"#,
        "\n"
    );
    assert_eq!(text, expected);
}

#[test]
fn several_runs_stand_side_by_side_and_the_best_is_marked() {
    let folder = Folder::new("several");
    let text = folder.stdout("--qrels q.tsv --run first.run --run second.run -m P@1 -m R@2");
    assert_eq!(
        text,
        "run            P@1      R@2\nfirst.run   0.3333   0.6667\nsecond.run  1.0000*  0.8333*\n"
    );
    let json = folder.stdout("--qrels q.tsv --run first.run --run second.run -m P@1 --json");
    let value: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(value["runs"][1]["run"], "second.run");
    assert_eq!(value["runs"][1]["measures"]["P@1"], 1.0);
}

#[test]
fn notes_say_what_did_not_match() {
    let folder = Folder::new("notes");
    let notes = stderr(&folder.eval("--qrels q.tsv --run first.run"));
    assert!(notes.contains("1 of 3 judged queries has no result in `first.run`; it counts as 0"), "{notes}");
    assert!(notes.contains("1 query is in `first.run` but not judged; ignored"), "{notes}");
}

#[test]
fn every_query_can_be_shown() {
    let folder = Folder::new("per-query");
    let text = folder.stdout("--qrels q.tsv --run second.run -m P@1 --per-query");
    assert_eq!(text, "query     P@1\n1      1.0000\n2      1.0000\n10     1.0000\nall    1.0000\n");
    let text = folder.stdout("--qrels q.tsv --run first.run --run second.run -m P@1 --per-query");
    assert!(text.contains("\n10     first.run   0.0000\n10     second.run  1.0000\n"), "{text}");
}

#[test]
fn coverage_takes_sources_from_ids_or_from_a_mapping() {
    let folder = Folder::new("coverage");
    let text = folder.stdout("--qrels q.tsv --run first.run -m Coverage@2 --per-query");
    assert!(text.contains("\n1          1.0000\n2          0.5000\n"), "{text}");
    folder.file("map.tsv", "wiki:a\tdocs\nslack:b\tdocs\nother\tmail\n");
    let text = folder.stdout("--qrels q.tsv --run first.run -m Coverage@2 --source-map map.tsv --per-query");
    assert!(text.contains("\n1          0.5000\n2          0.0000\n"), "{text}");
}

#[test]
fn a_comparison_has_a_table_a_verdict_and_a_plot() {
    let folder = Folder::new("compare");
    let text = folder.stdout("compare first.run second.run --qrels q.tsv -m MRR --plot d.svg");
    assert!(text.starts_with("measure  run         baseline    mean"), "{text}");
    assert!(text.contains("no difference between `second.run` and `first.run` is shown: +0.5000"), "{text}");
    assert!(text.contains("with 3 queries, differences under"), "{text}");
    assert!(std::fs::read_to_string(folder.0.join("d.svg")).unwrap().contains("<title>10: +1.0000</title>"));
    let json = folder.stdout("compare first.run second.run --qrels q.tsv -m MRR -m AP --json");
    let value: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(value["comparisons"][0]["p_randomisation"], 0.5);
    assert_eq!(value["comparisons"][1]["verdict"], "not_shown");
}

#[test]
fn nothing_evaluated_is_exit_code_1() {
    let folder = Folder::new("nothing");
    folder.file("empty.run", "");
    let output = folder.eval("--qrels q.tsv --run empty.run -m MRR");
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("none of the 3 judged queries has a result in `empty.run`"));
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "run           MRR\nempty.run  0.0000\n");
}

#[test]
fn errors_are_exit_code_2_and_name_the_place() {
    let folder = Folder::new("errors");
    folder.file("twice.run", "1 Q0 a 1 2 t\n1 Q0 a 2 1 t\n");
    folder.file("short.run", "1 Q0 a 1 2\n");
    folder.file("nan.run", "1 Q0 a 1 nan t\n");
    folder.file("empty.tsv", "");
    let cases = [
        ("--qrels q.tsv --run twice.run", "E0203", "twice.run:2"),
        ("--qrels q.tsv --run short.run", "E0101", "short.run:1"),
        ("--qrels q.tsv --run nan.run", "E0202", "nan.run:1"),
        ("--qrels empty.tsv --run first.run", "E0206", "empty.tsv"),
        ("--qrels q.tsv --run absent.run", "E0301", "absent.run"),
        ("--qrels q.tsv --run first.run -m nDGC@10", "E0204", "did you mean `nDCG@10`?"),
        ("--qrels q.tsv --run first.run -m nDCG@0", "E0201", "`nDCG@0`"),
        ("--qrels - --run -", "E0205", "`-`"),
        ("compare first.run --qrels q.tsv", "", ""),
        ("--qrels q.tsv", "", "--run"),
    ];
    for (arguments, code, place) in cases {
        let output = folder.eval(arguments);
        let message = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{arguments}");
        assert!(message.contains(code) && message.contains(place), "{arguments}: {message}");
        assert!(output.stdout.is_empty(), "{arguments}");
    }
}
