//! `mainstem fuse` from the outside: what comes out, in every process the same, and where it goes.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod command;

use std::collections::BTreeSet;

use command::{Folder, stderr, stdout};
use mainstem_core::Compat;
use serde_json::Value;

/// The two lists of the published comparison.
const TWO_LISTS: &str = r#"{"lists":[
    {"name":"bm25","items":[{"id":"a","score":12.5},{"id":"b","score":11.0},{"id":"c","score":9.2}]},
    {"name":"dense","items":[{"id":"b","score":0.95},{"id":"c","score":0.88},{"id":"d","score":0.70}]}]}"#;

const BM25: &str = "1 Q0 a 1 12.5 x\n1 Q0 b 2 11.0 x\n1 Q0 c 3 9.2 x\n2 Q0 z 1 1 x\n10 Q0 y 1 1 x\n";
const DENSE: &str = "1 Q0 b 1 0.95 y\n1 Q0 c 2 0.88 y\n1 Q0 d 3 0.70 y\n10 Q0 w 1 0.5 y\n";

fn two_lists(test: &str) -> Folder {
    let folder = Folder::new(test);
    folder.file("two.json", TWO_LISTS).file("bm25.run", BM25).file("dense.run", DENSE);
    folder
}

fn hits(json: &str) -> Vec<(String, f64)> {
    let answer: Value = serde_json::from_str(json).unwrap();
    let hit = |hit: &Value| (hit["id"].as_str().unwrap().to_owned(), hit["score"].as_f64().unwrap());
    answer["hits"].as_array().unwrap().iter().map(hit).collect()
}

/// Ids with scores to as many digits as are expected, such as `b .8333, c .5833`.
#[track_caller]
fn expect(json: &str, expected: &str) {
    let got = hits(json);
    let shown: Vec<_> = expected
        .split(", ")
        .zip(&got)
        .map(|(wanted, (id, score))| {
            let digits = wanted.split_once('.').map_or(0, |(_, digits)| digits.len());
            format!("{id} {score:.digits$}").replacen(" 0.", " .", 1)
        })
        .collect();
    assert_eq!((shown.join(", ").as_str(), got.len()), (expected, expected.split(", ").count()));
}

#[test]
fn every_process_gives_the_same_bytes() {
    let folder = Folder::new("fuse-same");
    let list = |name: &str, step: usize| {
        let item = |n: usize| {
            format!(r#"{{"id":"d{:03}","score":{},"text":"w{} w{}"}}"#, n * step % 211, n / 70, n % 9, n % 4)
        };
        let items: Vec<_> = (1..211).map(item).collect();
        format!(r#"{{"name":"{name}","items":[{}]}}"#, items.join(","))
    };
    let lists = [list("a", 1), list("b", 5), list("c", 7), list("d", 11)].join(",");
    let stages = r#""dedup":{"within":0.9,"across":0.95},"diversify":{}"#;
    for method in ["rrf", "condorcet"] {
        let json = format!(r#"{{"pipeline":{{"fuse":{{"method":"{method}"}},{stages}}},"lists":[{lists}]}}"#);
        folder.file("ties.json", json);
        for arguments in ["fuse ties.json --json", "fuse ties.json --explain"] {
            let first = folder.stdout(arguments);
            assert!(first.len() > 1000);
            for _ in 0..20 {
                assert_eq!(folder.stdout(arguments), first, "{method}: {arguments}");
            }
        }
    }
}

#[test]
fn other_systems_are_reproduced_to_the_published_digits() {
    let published = [
        (
            "cormack elasticsearch opensearch ranx rankops lancedb-python azure rrf elasticsearch-rrf opensearch-rrf azure-ai-search",
            "b .032522, c .032002, a .016393, d .015873",
        ),
        (
            "llamaindex llama-index lancedb lancedb-rust rankops-0.2",
            "b .033060, c .032522, a .016667, d .016129",
        ),
        ("vespa", "b .032522, a .032018, c .032002, d .031498"),
        ("qdrant qdrant-rrf", "b .8333, c .5833, a .5000, d .2500"),
        ("onyx", "b .038839, c .038099, a .019608, d .018868"),
        ("langchain", "b .016261, c .016001, a .008197, d .007937"),
        ("haystack haystack-rrf", "b .991935, c .976062, a .5, d .484127"),
        ("weaviate-ranked", "b .016598, c .016327, d .012097, a .004167"),
        ("weaviate weaviate-relative", "b .886364, c .54, a .25, d 0"),
        ("typesense", "a .70, b .65, c .3833, d .10"),
        ("txtai txtai-rrf", "b .75, a .50, c .4167, d .1667"),
        ("opensearch-minmax opensearch-min-max opensearch-min-max-mean", "b .772727, a .5, c .3605, d .0005"),
        ("elasticsearch-linear elasticsearch-minmax elasticsearch-min-max", "b 1.545455, a 1, c .72, d 0"),
        ("qdrant-dbsf", "b 1.147931, c .875903, a .661394, d .314772"),
        ("haystack-dbsf", "a .697666, b .668824, c .558033, d .273143"),
    ];
    let folder = two_lists("fuse-compat");
    let mut seen: Vec<&str> = Vec::new();
    for (names, expected) in published {
        for name in names.split(' ') {
            expect(&folder.stdout(&format!("fuse two.json --compat {name} --json")), expected);
            seen.push(name);
        }
    }
    let mut all: Vec<_> =
        Compat::all().iter().flat_map(|preset| [preset.names, preset.aliases].concat()).collect();
    seen.sort_unstable();
    all.sort_unstable();
    assert_eq!(seen, all, "every preset has its published numbers here");
    let weighted = folder.stdout("fuse two.json --compat qdrant --weight bm25=1 --weight dense=3 --json");
    expect(&weighted, "b 1.0833, c .85, a .5, d .5");
}

#[test]
fn methods_and_their_settings_can_be_chosen() {
    let folder = two_lists("fuse-methods");
    for (arguments, expected) in [
        ("", "b .032522, c .032002, a .016393, d .015873"),
        ("--k 0", "b 1.5, a 1.0, c .83333, d .33333"),
        ("--k 60 --rank-base 0", "b .033060, c .032522, a .016667, d .016129"),
        ("--method rsf", "b .772727, a .5, c .36, d 0"),
        ("--method combsum --normalise none", "a 12.50, b 11.95, c 10.08, d .70"),
        ("--method linear --combine max", "a 1.0, b 1.0, c .72, d .0"),
        ("--missing last", "b .032522, a .032018, c .032002, d .031498"),
        ("--method isr", "b 2.5, a 1.0, c .722222, d .111111"),
        ("--method borda", "b 7, a 5, c 5, d 3"),
        ("--method condorcet", "b 2.5, a 1.5, c 1.5, d .5"),
        ("--top 2", "b .032522, c .032002"),
        ("--offset 1 --top 2", "c .032002, a .016393"),
    ] {
        expect(&folder.stdout(&format!("fuse two.json --json {arguments}")), expected);
    }
}

#[test]
fn options_win_over_the_file_and_the_rest_of_the_file_stays() {
    let folder = Folder::new("fuse-override");
    let json = TWO_LISTS.replacen('{', r#"{"pipeline":{"fuse":{"method":"rrf","k":10},"limit":3},"#, 1);
    folder.file("two.json", json);
    expect(&folder.stdout("fuse two.json --json"), "b .174242, c .160256, a .090909");
    expect(&folder.stdout("fuse two.json --json --k 0"), "b 1.5, a 1.0, c .833333");
    expect(&folder.stdout("fuse two.json --json --top 1"), "b .174242");
    expect(&folder.stdout("fuse two.json --json --method rsf"), "b .772727, a .5, c .36");
}

#[test]
fn weights_go_to_a_list_or_to_all_lists_of_a_source() {
    let folder = Folder::new("fuse-weight");
    let list = |name: &str, id: &str| format!(r#"{{"name":"{name}","items":[{{"id":"{id}","score":1}}]}}"#);
    let lists = [list("wiki/dense", "a"), list("wiki/bm25", "b"), list("chat/dense", "c")].join(",");
    folder.file("s.json", format!(r#"{{"lists":[{lists}]}}"#));
    let json = |arguments: &str| folder.stdout(&format!("fuse s.json --json --k 0 {arguments}"));
    expect(&json("--weight wiki/bm25=3"), "b 3, a 1, c 1");
    expect(&json("--weight wiki=2"), "a 2, b 2, c 1");
    expect(&json("--weight wiki=2 --weight wiki/dense=0.5"), "b 2, c 1, a .5");
    expect(&json("--weight wiki=0"), "c 1");
    let output = folder.run("fuse s.json --weight wiki/bm25=0");
    assert!(
        stderr(&output).contains("note: list `wiki/bm25` has weight 0 and was left out"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn bounds_make_scores_comparable() {
    let folder = two_lists("fuse-bounds");
    let arguments =
        "fuse two.json --json --method linear --normalise theoretical --bounds bm25=0 --bounds dense=-1:1";
    // bm25 over 0 to 12.5: 1, .88, .736; dense over −1 to 1: .975, .94, .85.
    expect(&folder.stdout(arguments), "b .9275, c .838, a .5, d .425");
}

#[test]
fn the_pipeline_can_come_from_a_configuration_file() {
    let folder = two_lists("fuse-config");
    folder.file(
        "mainstem.toml",
        "# other tables are for other commands\n[sources.wiki]\nkind = \"wiki\"\n\n[pipeline]\nlimit = 2\n\n\
         [pipeline.fuse]\nmethod = \"rsf\"\n",
    );
    expect(&folder.stdout("fuse two.json --json --config mainstem.toml"), "b .772727, a .5");
    expect(&folder.stdout("fuse two.json --json --config mainstem.toml --method rrf --top 1"), "b .032522");
    let run = folder.stdout("fuse bm25.run dense.run --config mainstem.toml --query 1");
    assert_eq!(run.lines().count(), 2, "{run}");
}

#[test]
fn a_record_gives_the_same_bytes_again() {
    let folder = Folder::new("fuse-record");
    let json = r#"{"query":"why","now":"2026-01-31","pipeline":{
        "route":[{"name":"ideas","patterns":["why"],"weights":{"wiki":2}}],
        "fuse":{"method":"rsf"},"dedup":{"within":0.9,"across":0.9},"rerank":{},"recency":{"*":{"half_life":"3d"}},
        "diversify":{"lambda":0.6},"limit":3},
        "reranker":{"scores":{"a":0.25,"c":0.75}},
        "lists":[
        {"name":"wiki/dense","weight":0.3,"items":[
            {"id":"b","score":0.1,"text":"quite another thing","n":1.50},
            {"id":"a","score":0.30000000000000004,"text":"one two three","created_at":1769212800,"vector":[0.1,0.25]}]},
        {"name":"chat","kind":"slack","direction":"distance","items":[
            {"id":"c","score":-0.0,"text":"one two three","label":"[chat]"},{"id":"e","text":"last"}]},
        {"name":"mail","state":"timed_out","items":[]}]}"#;
    folder.file("search.json", json);
    let settings = "--method linear --normalise zscore --weight chat=1.7 --now 2026-02-01T00:00:00Z";
    let first = folder.stdout(&format!("fuse search.json {settings} --json --record record.json"));
    assert_eq!(folder.stdout("fuse record.json --json"), first);
    assert_eq!(folder.stdout("fuse record.json --json --record again.json"), first);
    assert_eq!(folder.read("again.json"), folder.read("record.json"));
    assert!(folder.read("record.json").contains("\"n\": 1.50"));
}

#[test]
fn a_record_keeps_the_clock_of_this_machine_where_none_was_given() {
    let folder = Folder::new("fuse-clock");
    let item = r#"{"id":"a","score":1,"created_at":"2026-01-01"}"#;
    folder.file(
        "s.json",
        format!(r#"{{"pipeline":{{"recency":{{"*":{{}}}}}},"lists":[{{"name":"x","items":[{item}]}}]}}"#),
    );
    let first = folder.stdout("fuse s.json --json --record record.json");
    assert!(folder.read("record.json").contains("\"now\": \"20"));
    assert_eq!(folder.stdout("fuse record.json --json"), first);
}

#[test]
fn without_an_active_rule_nothing_depends_on_the_time_of_day() {
    let folder = Folder::new("fuse-no-clock");
    let lists = r#""lists":[{"name":"x","items":[{"id":"a","score":1,"created_at":"2026-01-01"}]}]"#;
    folder.file("off.json", format!("{{{lists}}}"));
    folder.file("zero.json", format!(r#"{{"pipeline":{{"recency":{{"*":{{"weight":0}}}}}},{lists}}}"#));
    assert_eq!(folder.stdout("fuse zero.json --json"), folder.stdout("fuse off.json --json"));
}

#[test]
fn runs_go_in_and_out() {
    let folder = two_lists("fuse-trec");
    let fused = folder.stdout("fuse bm25.run dense.run --tag both --query 1 --query 2");
    let expected = "1 Q0 b 1 0.03252247488101534 both\n1 Q0 c 2 0.03200204813108039 both\n\
        1 Q0 a 3 0.01639344262295082 both\n1 Q0 d 4 0.015873015873015872 both\n2 Q0 z 1 0.01639344262295082 both\n";
    assert_eq!(fused, expected, "scores that read back to the last bit");
    folder.stdout("fuse bm25.run dense.run --tag both -o fused.run");
    let all = folder.read("fused.run");
    assert!(all.starts_with(&fused), "{all}");
    let queries: Vec<_> = all.lines().map(|line| line.split(' ').next().unwrap()).collect();
    assert_eq!(queries, ["1", "1", "1", "1", "2", "10", "10"], "queries in numeric order");
    // Fusing a single run by its raw scores gives the run again.
    assert_eq!(folder.stdout("fuse fused.run --method combsum --normalise none --tag both"), all);
}

/// Tools that ignore the rank column and read scores as 32-bit floats see the order that the answer has.
#[test]
fn ties_in_a_run_stay_in_order_for_other_tools() {
    let folder = Folder::new("fuse-trec-ties");
    let lines: Vec<_> = (0..50).map(|n| format!("1 Q0 d{:02} 1 5 t\n", n * 7 % 50)).collect();
    let lines = lines.concat();
    folder.file("a.run", &lines).file("b.run", lines.replace("Q0 d", "Q0 e"));
    let run = folder.stdout("fuse a.run b.run --method rsf");
    let answer: Value = serde_json::from_str(&folder.stdout("fuse a.run b.run --method rsf --json")).unwrap();
    let hits = answer["queries"]["1"]["hits"].as_array().unwrap();
    let mut above = f32::INFINITY;
    for (line, hit) in run.lines().zip(hits) {
        let columns: Vec<_> = line.split(' ').collect();
        assert_eq!(columns[2], hit["id"].as_str().unwrap());
        let score: f64 = columns[4].parse().unwrap();
        assert!((score as f32) < above && (score - hit["score"].as_f64().unwrap()).abs() < 1e-5, "{line}");
        above = score as f32;
    }
}

#[test]
fn equal_scores_of_a_run_go_by_the_rank_column() {
    let folder = Folder::new("fuse-rank-column");
    folder.file("a.run", "1 Q0 last 3 1 t\n1 Q0 first 1 1 t\n1 Q0 second 2 1 t\n");
    let ids: Vec<_> =
        folder.stdout("fuse a.run").lines().map(|line| line.split(' ').nth(2).unwrap().to_owned()).collect();
    assert_eq!(ids, ["first", "second", "last"]);
}

#[test]
fn a_fused_run_can_be_piped_into_eval() {
    let folder = two_lists("fuse-eval");
    folder.file("qrels", "1 0 c 1\n10 0 w 1\n");
    let fused = folder.run("fuse bm25.run dense.run");
    let output = folder.pipe("eval --qrels qrels --run - -m MRR --json", &fused.stdout);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let value: Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(value["queries"]["1"]["MRR"], 0.5);
}

#[test]
fn queries_can_be_chosen_and_answers_come_by_query() {
    let folder = two_lists("fuse-query");
    assert_eq!(folder.stdout("fuse bm25.run --query 2 --tag t"), "2 Q0 z 1 0.01639344262295082 t\n");
    let json: Value =
        serde_json::from_str(&folder.stdout("fuse bm25.run dense.run --json --query 1 --query 10")).unwrap();
    assert_eq!(json["queries"]["1"]["hits"][0]["id"], "b");
    assert_eq!(json["queries"]["10"]["hits"].as_array().unwrap().len(), 2);
    let explained = folder.stdout("fuse bm25.run dense.run --explain --query 1 --top 1");
    assert!(
        explained.contains("query 1") && explained.contains("rrf: sum of weight / (60 + rank)"),
        "{explained}"
    );
}

#[test]
fn standard_input_is_a_file_like_any_other() {
    let folder = two_lists("fuse-stdin");
    let direct = folder.stdout("fuse two.json --json");
    for arguments in ["fuse - --json", "fuse --json"] {
        assert_eq!(stdout(&folder.pipe(arguments, TWO_LISTS.as_bytes())), direct);
    }
    let run = stdout(&folder.pipe("fuse - dense.run --query 1", BM25.as_bytes()));
    assert_eq!(run, folder.stdout("fuse bm25.run dense.run --query 1"));
    let marked = ["\u{feff}", &TWO_LISTS.replace('\n', "\r\n")].concat();
    assert_eq!(stdout(&folder.pipe("fuse - --json", marked.as_bytes())), direct, "byte order mark and CRLF");
    let marked = ["\u{feff}", &BM25.replace('\n', "\r\n")].concat();
    assert_eq!(stdout(&folder.pipe("fuse -", marked.as_bytes())), folder.stdout("fuse bm25.run"));
}

#[test]
fn why_not_says_what_became_of_an_item() {
    let folder = Folder::new("fuse-why-not");
    let json = r#"{"pipeline":{"dedup":{"across":0.9},"min_score":0.0158,"limit":2},"lists":[
        {"name":"wiki","items":[{"id":"a","score":4,"text":"one two"},{"id":"b","score":3,"text":"three four"},
            {"id":"c","score":2,"text":"five six"},{"id":"d","score":1,"text":"seven eight"}]},
        {"name":"chat","items":[{"id":"copy","score":1,"text":"ONE  two"}]},
        {"name":"off","weight":0,"items":[{"id":"unseen","score":1}]}]}"#;
    folder.file("s.json", json);
    for (id, sentence) in [
        ("a", "a: it is in the answer, at rank 1\n"),
        ("copy", "copy: it is the same thing as `a` and was collapsed into it\n"),
        ("c", "c: it is at rank 3 with score 0.015873, 0.000256 short of the last hit\n"),
        ("d", "d: its score 0.015625 is below the least one wanted, 0.0158\n"),
        ("unseen", "unseen: no list holds it, or all lists that do have weight 0: it was not retrieved\n"),
        ("nowhere", "nowhere: no list holds it, or all lists that do have weight 0: it was not retrieved\n"),
    ] {
        assert_eq!(folder.stdout(&format!("fuse s.json --why-not {id}")), sentence);
    }
    let early = folder.stdout("fuse s.json --offset 1 --why-not a");
    assert_eq!(early, "a: it is at rank 1, on an earlier page\n");
}

#[test]
fn exit_codes_say_found_nothing_or_error() {
    let folder = two_lists("fuse-exit");
    folder
        .file("empty.json", r#"{"lists":[{"name":"a","items":[]}]}"#)
        .file("empty.run", "")
        .file("blank.run", "\n \n");
    folder.file("high.json", TWO_LISTS.replacen('{', r#"{"pipeline":{"min_score":5},"#, 1));
    for (arguments, code) in [
        ("fuse two.json", 0),
        ("fuse bm25.run", 0),
        ("fuse bm25.run empty.run", 0),
        ("fuse empty.json", 1),
        ("fuse empty.json --json", 1),
        ("fuse empty.run", 1),
        ("fuse blank.run", 1),
        ("fuse high.json", 1),
        ("fuse two.json --offset 100", 1),
        ("fuse absent.json", 2),
        ("fuse two.json --k -1", 2),
        ("fuse two.json --no-such-option", 2),
    ] {
        assert_eq!(folder.run(arguments).status.code(), Some(code), "{arguments}");
    }
    let nothing = folder.run("fuse empty.json --json");
    let answer: Value = serde_json::from_str(&stdout(&nothing)).unwrap();
    assert_eq!(
        (answer["hits"].as_array().unwrap().len(), &answer["status"]["legs"][0]["state"]),
        (0, &Value::from("empty"))
    );
}

#[test]
fn there_are_no_escape_codes_where_nobody_sees_them() {
    let folder = two_lists("fuse-colour");
    for arguments in
        ["fuse two.json", "fuse two.json --explain", "fuse bm25.run --explain", "fuse two.json --k -1"]
    {
        let plain = folder.run(arguments);
        let quiet = folder.command(arguments).env("NO_COLOR", "1").output().unwrap();
        for output in [&plain, &quiet] {
            assert!(!output.stdout.contains(&0x1b) && !output.stderr.contains(&0x1b), "{arguments}");
        }
    }
    let forced = folder.command("fuse two.json --explain").env("CLICOLOR_FORCE", "1").output().unwrap();
    assert!(forced.stdout.contains(&0x1b), "colours can be asked for");
    let file =
        folder.command("fuse two.json --explain -o out.txt").env("CLICOLOR_FORCE", "1").output().unwrap();
    assert!(file.stdout.is_empty() && !folder.read("out.txt").contains('\u{1b}'), "a file never has any");
}

#[test]
fn fields_that_are_not_ours_come_back_untouched() {
    let folder = Folder::new("fuse-fields");
    let fields = [
        r#""big":123456789012345678901234567890"#,
        r#""precise":1.500"#,
        r#""exponent":1E+2"#,
        r#""metadata":{"b": 1, "a" : [ {"deep":[null,true]}, "é\u00e9\/" ]}"#,
        r#""url":"https://example.org/?a=1&b=2""#,
        r#""":0"#,
    ];
    let item = format!(r#"{{"id":"a","score":1,{},"rank":7,"ledger":"mine"}}"#, fields.join(","));
    folder.file("s.json", format!(r#"{{"lists":[{{"name":"x","items":[{item}]}}]}}"#));
    let out = folder.stdout("fuse s.json --json");
    for field in fields {
        let (name, value) = field.split_once(':').unwrap();
        assert!(out.contains(&format!("{name}: {value}")), "{field}: {out}");
    }
    let answer: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(
        (&answer["hits"][0]["rank"], &answer["hits"][0]["input"]["rank"]),
        (&Value::from(1), &Value::from(7))
    );
    assert_eq!(answer["hits"][0]["input"]["ledger"], "mine");
}

#[test]
fn the_answer_has_the_promised_shape() {
    let folder = two_lists("fuse-shape");
    let answer: Value = serde_json::from_str(&folder.stdout("fuse two.json --json")).unwrap();
    let names = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<BTreeSet<_>>();
    let promised = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<BTreeSet<_>>();
    assert_eq!(names(&answer), promised(&["hits", "status"]));
    let hit = &answer["hits"][0];
    assert_eq!(names(hit), promised(&["alternates", "id", "ledger", "rank", "score", "sources"]));
    assert_eq!(hit["sources"], serde_json::json!(["bm25", "dense"]));
    assert_eq!(hit["alternates"], serde_json::json!([]));
    let fuse = &hit["ledger"][0];
    assert_eq!((&fuse["stage"], &fuse["method"]), (&Value::from("fuse"), &Value::from("rrf")));
    assert_eq!(fuse["lists"][0]["rank"], 2);
}

#[test]
fn data_goes_to_standard_output_and_messages_to_standard_error() {
    let folder = Folder::new("fuse-streams");
    let json = r#"{"pipeline":{"rerank":{}},"reranker":{"error":"timed out after 300 ms"},"lists":[
        {"name":"wiki","items":[{"id":"a","score":1},{"id":"a","score":1}]},
        {"name":"chat","weight":2,"state":"timed_out","items":[]}]}"#;
    folder.file("s.json", json);
    let output = folder.run("fuse s.json");
    assert_eq!(stdout(&output), "#     score  id  sources  found by\n1  0.016393  a   wiki     wiki #1\n");
    let expected = "note: list `wiki` repeats 1 id; the first place counts\n\
        note: list `chat` did not answer in time; it could have added at most 0.032787 to a hit\n\
        note: rerank was left out: timed out after 300 ms\n";
    assert_eq!(stderr(&output), expected);
}
