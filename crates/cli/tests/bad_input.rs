//! Input that is wrong: one sentence with a code and a place, one hint, exit code 2, and nothing on standard output.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod command;

use std::process::Output;

use command::{Folder, stderr};

/// What is on standard error: the error and its hint, and nothing else.
#[track_caller]
fn refused(output: &Output, what: &str) -> (String, String) {
    let text = stderr(output);
    assert_eq!(output.status.code(), Some(2), "{what}: {text}");
    assert!(output.stdout.is_empty(), "{what}: something on standard output");
    let lines: Vec<_> = text.lines().collect();
    let [error, hint] = lines.as_slice() else {
        panic!("{what}: expected an error and a hint, received:\n{text}")
    };
    assert!(error.starts_with("error[E0") && !error.ends_with('.'), "{what}: {error}");
    let hint = hint.strip_prefix("hint: ").unwrap_or_else(|| panic!("{what}: {hint}"));
    ((*error).to_owned(), hint.to_owned())
}

/// Runs `mainstem fuse` on a file with this content, and checks how the error begins and what it and its hint say.
#[track_caller]
fn file(folder: &Folder, name: &str, content: impl AsRef<[u8]>, [begins, says, hints]: [&str; 3]) {
    folder.file(name, &content);
    let shown = String::from_utf8_lossy(content.as_ref()).chars().take(200).collect::<String>();
    let (error, hint) = refused(&folder.run(&format!("fuse {name}")), &shown);
    assert!(error.starts_with(begins), "{shown}: {error}");
    assert!(error.contains(says) && hint.contains(hints), "{shown}: {error}\n{hint}");
}

/// The fallback where the sentence itself says what is expected.
const SEE: &str = "see `mainstem fuse --help`";

/// One list of one item with these fields, on the second line.
fn item(fields: &str) -> String {
    format!("{{\"lists\":[{{\"name\":\"a\",\"items\":[\n{{{fields}}}]}}]}}")
}

/// No lists, and this pipeline on the second line.
fn pipeline(settings: &str) -> String {
    format!("{{\"pipeline\":\n{{{settings}}},\"lists\":[]}}")
}

#[test]
fn numbers_that_are_none() {
    let folder = Folder::new("bad-numbers");
    for score in ["NaN", "Infinity", "-Infinity", "1e999"] {
        let says = format!("item `x` has score {score}, expected a finite number");
        file(
            &folder,
            "s.json",
            item(&format!(r#""id":"x","score":{score}"#)),
            ["error[E0202]: s.json:2:", &says, "drop the item"],
        );
    }
    let list =
        |weight: &str| format!("{{\"lists\":[\n{{\"name\":\"wiki\",\"weight\":{weight},\"items\":[]}}]}}");
    let negative =
        ["error[E0201]: s.json:2:", "the weight of list `wiki` is -1, expected a finite number ≥ 0", SEE];
    file(&folder, "s.json", list("-1"), negative);
    file(&folder, "s.json", list("NaN"), ["error[E0101]: s.json:2:", "expected value", "no NaN or Infinity"]);
    file(&folder, "s.json", list("1e999"), ["error[E0101]: s.json:2:", "number out of range", "JSON"]);
}

#[test]
fn settings_out_of_range() {
    let folder = Folder::new("bad-settings");
    let refused = |settings: &str, says: &str| {
        file(&folder, "s.json", pipeline(settings), ["error[E0201]: s.json:2:", says, SEE]);
    };
    refused(r#""fuse":{"k":-1}"#, "`k` is -1, expected a finite number ≥ 0");
    refused(r#""fuse":{"k":0,"rank_base":0}"#, "`k` with `rank_base` 0 is 0, expected a number > 0");
    refused(r#""fuse":{"rank_base":2}"#, "`rank_base` is 2, expected 0 or 1");
    refused(r#""fuse":{"method":"linear","equal":2}"#, "`fuse.equal` is 2, expected a number from 0 to 1");
    refused(r#""limit":0"#, "`limit` is 0, expected at least 1");
    refused(r#""diversify":{"lambda":2}"#, "`diversify.lambda` is 2, expected a number from 0 to 1");
    refused(r#""dedup":{"within":0}"#, "`dedup.within` is 0, expected a number over 0 and up to 1");
    refused(r#""dedup":{"across":1.1}"#, "`dedup.across` is 1.1");
    refused(r#""dedup":{"keys":["+"]}"#, "a key of `dedup.keys` is `+`");
    refused(
        r#""recency":{"*":{"half_life":"abc"}}"#,
        "a time span is `abc`, expected such as `12h`, `30d` or `2w`",
    );
    refused(r#""recency":{"*":{"half_life":"0d"}}"#, "a time span is `0d`");
    refused(
        r#""recency":{"chat":{"weight":2}}"#,
        "`recency.chat.weight` is 2, expected a number from 0 to 1",
    );
    refused(r#""recency":{"*":{"weight":0.1,"factor":0.1}}"#, "expected either a window or a decay");
    refused(r#""rerank":{"blend":-0.1}"#, "`rerank.blend` is -0.1");
    refused(r#""rerank":{"top":0}"#, "`rerank.top` and `rerank.chars` is 0, expected at least 1");
    refused(r#""route":[{"name":"r","patterns":["("],"weights":{}}]"#, "a pattern of route `r` is `(`");
}

#[test]
fn settings_that_contradict_each_other() {
    let folder = Folder::new("bad-conflict");
    let conflict =
        ["error[E0205]: s.json:2:", "`fuse.k` has no meaning for method `rsf`", "leave `fuse.k` out"];
    file(&folder, "s.json", pipeline(r#""fuse":{"method":"rsf","k":60}"#), conflict);
    let both = ["error[E0201]: s.json", "expected either `lists` or `variants`", SEE];
    file(&folder, "s.json", r#"{"lists":[],"variants":[]}"#, both);
    let bounds = r#"{"pipeline":{"fuse":{"method":"linear","normalise":"theoretical"}},"lists":[{"name":"bm25","items":[{"id":"a","score":1}]}]}"#;
    file(
        &folder,
        "s.json",
        bounds,
        ["error[E0206]: s.json", "the lower bound of list `bm25` is missing", "`bounds`"],
    );
}

#[test]
fn names_that_are_not_known() {
    let folder = Folder::new("bad-names");
    let near = |text: String, says: &str, hint: &str| {
        file(&folder, "s.json", text, ["error[E0101]: s.json:2:", says, hint]);
    };
    near(pipeline(r#""fuse":{"method":"rff"}"#), "`rff`, expected one of `rrf`", "did you mean `rrf`?");
    near(pipeline(r#""fuse":{"method":"bayes"}"#), "`bayes`, expected one of `rrf`", SEE);
    near(pipeline(r#""dedupe":{}"#), "unknown field `dedupe`", "did you mean `dedup`?");
    near(pipeline(r#""fuse":{"rank_bas":1}"#), "unknown field `rank_bas`", "did you mean `rank_base`?");
    near("{\n\"list\":[]}".into(), "unknown field `list`", "did you mean `lists`?");
    near(
        "{\"lists\":[\n{\"name\":\"a\",\"itmes\":[]}]}".into(),
        "unknown field `itmes`",
        "did you mean `items`?",
    );
    near("{\"lists\":[\n{\"name\":\"a\",\"state\":\"late\"}]}".into(), "`late`, expected one of `ok`", SEE);
    let twice = "{\"lists\":[{\"name\":\"wiki\",\"items\":[]},\n{\"name\":\"wiki\",\"items\":[]}]}";
    let unique = [
        "error[E0203]: s.json:2:",
        "two lists are called `wiki`, expected unique names",
        "give every list its own name",
    ];
    file(&folder, "s.json", twice, unique);
}

#[test]
fn values_of_the_wrong_type() {
    let folder = Folder::new("bad-types");
    let refused =
        |text: String, says: &str| file(&folder, "s.json", text, ["error[E0101]: s.json:2:", says, SEE]);
    refused(item(r#""id":"x","score":"high""#), "invalid type: string \"high\"");
    refused(item(r#""id":"x","text":7"#), "invalid type: integer `7`, expected a string");
    refused(item(r#""id":"x","vector":[1,"2"]"#), "invalid type: string \"2\"");
    refused(item(r#""id":"x","created_at":"31.01.2026""#), "expected a time such as");
    refused(item(r#""id":[1]"#), "expected an id: a string or a whole number");
    refused(item(r#""id":1.5"#), "expected an id: a string or a whole number");
    refused(item(r#""score":1"#), "missing field `id`");
    refused("{\"lists\":[{\"name\":\"a\",\"items\":[\n7]}]}".into(), "expected an item, such as");
    refused("{\"lists\":\n{}}".into(), "expected lists, such as");
    refused("{\"lists\":\nnull,\"now\":\"yesterday\"}".into(), "\"yesterday\", expected a time");
    refused(pipeline(r#""recency":{"*":{"half_life":true}}"#), "expected a time span");
    refused(pipeline(r#""limit":-1"#), "invalid value: integer `-1`");
    refused("{\"lists\":[],\n\"version\":99}".into(), "the replay has version 99, expected at most 1");
}

#[test]
fn files_that_are_not_what_they_should_be() {
    let folder = Folder::new("bad-files");
    file(
        &folder,
        "s.json",
        "{}",
        ["error[E0206]: s.json", "`lists` is missing: there is nothing to fuse", "give `\"lists\""],
    );
    file(&folder, "s.json", "{\n\"lists\":[]} x", ["error[E0101]: s.json:2:", "trailing characters", "JSON"]);
    file(
        &folder,
        "s.json",
        "{\n'lists':[]}",
        ["error[E0101]: s.json:2:", "key must be a string", "quoted keys"],
    );
    file(
        &folder,
        "s.json",
        "{\"lists\":\n[],}",
        ["error[E0101]: s.json:2:", "trailing comma", "no trailing commas"],
    );
    file(
        &folder,
        "s.json",
        b"{\"lists\":[\n{\"name\":\"\xff\"}]}",
        ["error[E0102]: s.json:2:10", "0xff", "UTF-8"],
    );
    file(
        &folder,
        "five.run",
        "1 Q0 a 1 2 t\n1 Q0 a 1 2\n",
        ["error[E0101]: five.run:2:", "expected 6 columns", "`1 Q0 doc7"],
    );
    file(
        &folder,
        "rank.run",
        "1 Q0 a one 2 t\n",
        ["error[E0101]: rank.run:1:", "a whole number as rank", "1, 2, 3"],
    );
    file(
        &folder,
        "nan.run",
        "\n1 Q0 a 1 NaN t\n",
        ["error[E0202]: nan.run:2:", "`NaN` for document `a`", "leave the document out"],
    );
    file(
        &folder,
        "inf.run",
        "1 Q0 a 1 1e999 t\n",
        ["error[E0202]: inf.run:1:", "`1e999` for document `a`", ""],
    );
    file(
        &folder,
        "utf.run",
        b"1 Q0 a 1 2 t\n1 Q0 \xff 2 1 t\n",
        ["error[E0102]: utf.run:2:", "UTF-8", "UTF-8"],
    );
    file(
        &folder,
        "array.json",
        "[1, 2]",
        ["error[E0101]: array.json:1:", "is a list, expected an object", "\"lists\""],
    );
}

#[test]
fn files_that_cannot_be_read_or_written() {
    let folder = Folder::new("bad-io");
    std::fs::create_dir_all(folder.0.join("folder")).unwrap();
    folder
        .file("ok.json", r#"{"lists":[{"name":"a","items":[{"id":"x"}]}]}"#)
        .file("ok.run", "1 Q0 a 1 1 t\n");
    for (arguments, begins) in [
        ("fuse absent.json", "error[E0301]: absent.json: cannot read the input"),
        ("fuse ok.run absent.run", "error[E0301]: absent.run: cannot read the input"),
        ("fuse folder", "error[E0301]: folder: cannot read the input"),
        ("fuse ok.json --config absent.toml", "error[E0301]: absent.toml: cannot read the input"),
        ("fuse ok.json -o absent/out", "error[E0301]: absent/out: cannot write the output"),
        ("fuse ok.json --record absent/out", "error[E0301]: absent/out: cannot write the output"),
    ] {
        let (error, hint) = refused(&folder.run(arguments), arguments);
        assert!(error.starts_with(begins) && hint.starts_with("check "), "{arguments}: {error}\n{hint}");
    }
}

#[test]
fn options_that_are_wrong() {
    let folder = Folder::new("bad-options");
    let list = |name: &str| format!(r#"{{"name":"{name}","items":[{{"id":"x","score":1}}]}}"#);
    folder.file("ok.json", format!(r#"{{"lists":[{},{}]}}"#, list("wiki/dense"), list("bm25")));
    folder.file("ok.run", "1 Q0 a 1 1 t\n").file("other.run", "2 Q0 a 1 1 t\n");
    for (arguments, says, hints) in [
        ("ok.json --k -1", "error[E0201]: `k` is -1", SEE),
        ("ok.json --k NaN", "error[E0201]: `k` is NaN", SEE),
        ("ok.json --k inf", "error[E0201]: `k` is inf", SEE),
        ("ok.json --k 0 --rank-base 0", "the first rank would divide by 0", SEE),
        ("ok.json --rank-base 2", "error[E0201]: `rank_base` is 2", SEE),
        ("ok.json --top 0", "error[E0201]: `limit` is 0", SEE),
        ("ok.json --weight nope=2", "error[E0204]: unknown list or source `nope`", SEE),
        (
            "ok.json --weight wiki/dens=2",
            "error[E0204]: unknown list or source `wiki/dens`",
            "did you mean `wiki/dense`?",
        ),
        ("ok.json --weight bm25=-1", "error[E0201]: the weight of list `bm25` is -1", SEE),
        ("ok.json --weight bm25=NaN", "error[E0201]: the weight of list `bm25` is NaN", SEE),
        ("ok.json --weight bm25=inf", "error[E0201]: the weight of list `bm25` is inf", SEE),
        ("ok.json --weight bm25=two", "`two` is no number", "such as"),
        ("ok.json --weight bm25", "expected `NAME=W`", "--weight bm25=2"),
        ("ok.json --bounds bm25=x", "`x` is no number", "such as"),
        ("ok.json --bounds nope=0", "error[E0204]: unknown list or source `nope`", SEE),
        (
            "ok.json --method linear --normalise theoretical --bounds bm25=0 --bounds wiki=1:0",
            "bounds of list `wiki/dense`",
            SEE,
        ),
        (
            "ok.json --method linear --normalise theoretical --bounds wiki=0 --bounds bm25=-inf:1",
            "bounds of list `bm25`",
            SEE,
        ),
        ("ok.json --normalise mnmax", "`mnmax`, expected one of `minmax`", "--help"),
        ("ok.json --combine max", "`fuse.combine` of `rrf` is `max`", SEE),
        ("ok.json --method rsf --k 3", "error[E0205]: `fuse.k` has no meaning", "leave `fuse.k` out"),
        ("ok.json --now yesterday", "error[E0201]: a time is `yesterday`", SEE),
        ("ok.json --query 1", "error[E0205]: `--query`", "leave it out"),
        ("ok.run --query 9", "error[E0204]: unknown query `9`", SEE),
        ("ok.run --record x.json", "error[E0205]: `--record` needs a JSON file", "leave it out"),
        ("ok.run ok.run", "error[E0203]: two lists are called `ok.run`", "give every list its own name"),
        ("ok.json ok.run", "error[E0205]: `ok.json` is JSON", "one at a time"),
        ("ok.run ok.json", "error[E0205]: `ok.json` is JSON", "one at a time"),
        ("- -", "error[E0205]: expected at most one input from `-`", "name files"),
        (
            "ok.run other.run --compat weaviate --query 2 --weight nope=1",
            "error[E0204]: unknown list or source `nope`",
            SEE,
        ),
        ("ok.run --compat qdrnt", "error[E0204]: unknown system `qdrnt`", "did you mean `qdrant`?"),
        ("ok.run --compat weaviate", "error[E0201]: the number of lists for `weaviate` is 1", SEE),
    ] {
        let (error, hint) = refused(&folder.run(&format!("fuse {arguments}")), arguments);
        assert!(error.contains(says) && hint.contains(hints), "{arguments}: {error}\n{hint}");
    }
}

/// What the parser of the command line finds is an error like any other.
#[test]
fn options_that_do_not_parse() {
    let folder = Folder::new("bad-parse");
    folder.file("ok.json", r#"{"lists":[]}"#);
    for (arguments, says) in [
        ("--method bayes", "possible values: rrf, rsf"),
        ("--k abc", "--k"),
        ("--top -1", ""),
        ("--no-such-option", "--no-such-option"),
        ("--explain --json", "--json"),
    ] {
        let (error, hint) = refused(&folder.run(&format!("fuse ok.json {arguments}")), arguments);
        assert!(error.starts_with("error[E0207]: "), "{arguments}: {error}");
        assert!(error.contains(says) || hint.contains(says), "{arguments}: {error}\n{hint}");
    }
}

#[test]
fn configuration_files_that_are_wrong() {
    let folder = Folder::new("bad-config");
    folder.file("ok.json", r#"{"lists":[{"name":"a","items":[{"id":"x"}]}]}"#);
    let deep = format!("pipeline = {}", "[".repeat(100_000));
    let cases: [(&[u8], &str, &str, &str); 8] = [
        (b"[pipeline]\nlimit = 0\n", "error[E0201]: c.toml:2:", "`limit` is 0", SEE),
        (
            b"[pipeline]\nlimt = 3\n",
            "error[E0101]: c.toml:2:",
            "unknown field `limt`",
            "did you mean `limit`?",
        ),
        (b"[pipeline.fuse]\nk = nan\n", "error[E0201]: c.toml:", "`k` is NaN", SEE),
        (b"[pipeline]\nmin_score = nan\n", "error[E0201]: c.toml:2:", "`min_score` is NaN", SEE),
        (b"# one\n[pipeline\n", "error[E0101]: c.toml:2:", "", SEE),
        (b"[pipeline]\naggregate = \"\xff\"\n", "error[E0102]: c.toml:2:", "not UTF-8", "UTF-8"),
        (b"[pipline]\nlimit = 1\n", "error[E0206]: c.toml", "`[pipeline]` is missing", "[pipeline]"),
        (deep.as_bytes(), "error[E0101]: c.toml:1:", "", SEE),
    ];
    for (text, begins, says, hints) in cases {
        folder.file("c.toml", text);
        let shown = String::from_utf8_lossy(&text[..text.len().min(60)]).into_owned();
        let (error, hint) = refused(&folder.run("fuse ok.json --config c.toml"), &shown);
        assert!(
            error.starts_with(begins) && error.contains(says) && hint.contains(hints),
            "{shown}: {error}\n{hint}"
        );
    }
}

#[test]
fn text_that_is_cut_off_is_refused_wherever_it_was_cut() {
    let sample = r#"{"version":1,"now":"2026-01-31T00:00:00Z","query":"é","pipeline":{"fuse":{"method":"rrf","k":60},
"dedup":{"within":0.9},"recency":{"*":{"half_life":"30d","weight":0.2}},"limit":10},
"lists":[{"name":"wiki/dense","weight":1.5,"items":[{"id":"a","score":0.91,"text":"회의","extra":{"n":[1.5e3,null]}}]}],
"reranker":{"scores":{"a":0.5}}}"#;
    let folder = Folder::new("bad-cut");
    folder.file("s.json", sample);
    assert_eq!(folder.run("fuse s.json").status.code(), Some(0));
    for end in 1..sample.len() {
        folder.file("s.json", &sample.as_bytes()[..end]);
        let (error, hint) = refused(&folder.run("fuse s.json"), &format!("cut at byte {end}"));
        assert!(error.contains(": s.json:"), "{end}: {error}");
        // Inside a character the text is not UTF-8; inside a number or a word it may just look wrong.
        assert!(
            hint.contains("cut off") || hint.contains("UTF-8") || hint.contains("JSON"),
            "{end}: {error}\n{hint}"
        );
    }
}

#[test]
fn deep_nesting_does_not_overflow_the_stack() {
    let folder = Folder::new("bad-deep");
    let (open, close) = ("[".repeat(100_000), "]".repeat(100_000));
    for text in [
        format!("{{\"lists\":{open}"),
        item(&format!(r#""id":{open}{close}"#)),
        item(&format!(r#""id":"x","title":{open}{close}"#)),
        pipeline(&format!(r#""recency":{{"*":{{"half_life":{open}{close}}}}}"#)),
        "{\"a\":".repeat(100_000),
    ] {
        folder.file("s.json", &text);
        let (error, _) = refused(&folder.run("fuse s.json"), "deep");
        assert!(error.starts_with("error[E0101]: s.json:"), "{error}");
    }
    // Where any value is allowed it is passed through as it is.
    folder.file("s.json", item(&format!(r#""id":"x","metadata":{open}{close}"#)));
    assert!(folder.stdout("fuse s.json --json").contains(&format!("{open}{close}")));
}

/// 300 MB without a line break are refused after the first MiB, in a process that may not have more than 100 MB of memory.
#[cfg(target_os = "linux")]
#[test]
fn an_endless_line_is_refused_at_once_and_in_little_memory() {
    use std::process::{Command, Stdio};
    let binary = env!("CARGO_BIN_EXE_mainstem");
    let script =
        format!("head -c 300000000 /dev/zero | tr '\\0' x | {{ ulimit -v 100000; exec {binary} fuse -; }}");
    let start = std::time::Instant::now();
    let output = Command::new("bash").args(["-c", &script]).stdin(Stdio::null()).output().unwrap();
    let (error, hint) = refused(&output, "an endless line");
    assert_eq!(
        error,
        "error[E0103]: standard input:1: expected a line of at most 1048576 bytes, received a longer one"
    );
    assert!(hint.contains("line breaks"), "{hint}");
    assert!(start.elapsed().as_secs() < 10, "{:?}", start.elapsed());
}

#[test]
fn a_json_file_has_a_largest_size() {
    let folder = Folder::new("bad-large");
    folder.file("s.json", "{");
    // The file is sparse: it takes no room on the disk.
    let file = std::fs::OpenOptions::new().write(true).open(folder.0.join("s.json")).unwrap();
    file.set_len((256 << 20) + 1).unwrap();
    let (error, hint) = refused(&folder.run("fuse s.json"), "257 MiB");
    assert_eq!(error, "error[E0103]: s.json: the input is longer than 256 MiB, expected at most that");
    assert!(hint.contains("split it"), "{hint}");
    std::fs::remove_file(folder.0.join("s.json")).unwrap();
}
