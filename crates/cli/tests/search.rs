//! `mainstem search` and `mainstem eval --queries` on a small store, as a user runs them.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod command;

use command::{Folder, stderr, stdout};
use mainstem::store::EmbeddedStore;
use mainstem_core::contract::Change;
use mainstem_core::time::Moment;
use mainstem_core::{Chunk, Document};
use serde_json::Value;

fn document(source: &str, id: &str, created_at: &str, text: &str) -> Change {
    let chunk = Chunk { span: 0..text.len(), text: text.into(), ..Chunk::default() };
    Change::Put(Document {
        source: source.into(),
        id: id.into(),
        title: Some(format!("About {id}")),
        label: Some(format!("[{source}: {id}]")),
        url: Some(format!("https://example.org/{id}")),
        text: text.into(),
        created_at: Some(Moment::parse(created_at).unwrap()),
        chunks: vec![chunk],
        ..Document::default()
    })
}

/// A folder with a store of two sources, in the place where the command looks for it.
fn store(test: &str) -> Folder {
    let folder = Folder::new(test);
    let store = EmbeddedStore::init(&folder.0.join(".mainstem")).unwrap();
    store.set_source("wiki", "wiki").unwrap();
    store.set_source("chat", "slack").unwrap();
    let changes = [
        document("wiki", "forks", "2025-01-31", "A fork attacks two pieces at once. Knights fork best."),
        document("wiki", "pins", "2025-01-31", "A pinned piece cannot move without loss."),
        document("chat", "monday", "2026-01-28", "a fork attacks two pieces at once. knights fork best."),
        document("chat", "lunch", "2026-01-30", "Lunch at noon, bring a fork."),
    ];
    store.write(&changes).unwrap();
    folder
}

const NOW: &str = "--now 2026-01-31T00:00:00Z";

#[test]
fn hits_say_what_where_and_when() {
    let folder = store("search_hits");
    let text = folder.stdout(&format!("search fork --source wiki {NOW}"));
    let expected = "  1. ████████ wiki  About forks\n     \
                    A fork attacks two pieces at once. Knights fork best.\n     \
                    1 year ago · https://example.org/forks · wiki/forks#0\n\n";
    assert_eq!(text, expected);
}

#[test]
fn words_are_highlighted_and_copies_named() {
    let folder = store("search_colours");
    let output = folder.command(&format!("search fork {NOW}")).env("CLICOLOR_FORCE", "1").output().unwrap();
    let text = stdout(&output);
    assert!(text.contains("\u{1b}[1m\u{1b}[33mfork\u{1b}[0m"), "{text:?}");
    assert!(text.contains("also in [chat: monday]"), "{text}");
    assert!(stderr(&output).contains("searched by words only"), "{}", stderr(&output));
}

#[test]
fn json_has_hits_and_status() {
    let folder = store("search_json");
    let text = folder.stdout(&format!("search fork --json {NOW}"));
    let json: Value = serde_json::from_str(&text).unwrap();
    let hit = &json["hits"][0];
    assert_eq!((hit["id"].as_str(), hit["source"].as_str()), (Some("wiki/forks#0"), Some("wiki")));
    assert_eq!(hit["alternates"][0], "[chat: monday]");
    assert_eq!((json["status"]["partial"].as_bool(), &json["status"]["route"]), (Some(false), &Value::Null));
    assert_eq!(json["status"]["legs"][0]["name"], "chat/lexical");
    assert_eq!(text, folder.stdout(&format!("search fork --json {NOW}")), "the same bytes every time");
}

#[test]
fn filters_narrow_the_answer() {
    let folder = store("search_filters");
    for (filter, expected) in [
        ("--since 7d", vec!["chat/monday#0", "chat/lunch#0"]),
        ("--until 2026-01-01", vec!["wiki/forks#0"]),
        ("--kind wiki", vec!["wiki/forks#0"]),
        ("--limit 1 --offset 1", vec!["chat/lunch#0"]),
    ] {
        let json: Value =
            serde_json::from_str(&folder.stdout(&format!("search fork --json {filter} {NOW}"))).unwrap();
        let ids: Vec<_> =
            json["hits"].as_array().unwrap().iter().map(|hit| hit["id"].as_str().unwrap()).collect();
        assert_eq!(ids, expected, "{filter}");
    }
}

#[test]
fn nothing_found_is_exit_code_1_and_a_sentence() {
    let folder = store("search_nothing");
    let output = folder.run("search zugzwang");
    assert_eq!((output.status.code(), stdout(&output).as_str()), (Some(1), ""));
    assert!(
        stderr(&output).contains("nothing found for `zugzwang`; try other or fewer words"),
        "{}",
        stderr(&output)
    );
    let narrowed = folder.run("search lunch --source wiki");
    assert!(stderr(&narrowed).contains("try it without `--source`"), "{}", stderr(&narrowed));
}

#[test]
fn what_is_wrong_is_said_with_a_hint() {
    let folder = store("search_wrong");
    let slip = folder.run("search fork --source wikki");
    assert_eq!(slip.status.code(), Some(2));
    assert!(stderr(&slip).contains("did you mean `wiki`?"), "{}", stderr(&slip));
    let absent = folder.run("--store elsewhere search fork");
    assert_eq!(absent.status.code(), Some(2), "{}", stderr(&absent));
    for wrong in ["search fork --where status", "search fork --since lately", "search fork --channel dense"] {
        let output = folder.run(wrong);
        assert!(
            output.status.code() == Some(2) && stderr(&output).contains("hint"),
            "{wrong}: {}",
            stderr(&output)
        );
    }
}

#[test]
fn plans_and_accounts_are_printed() {
    let folder = store("search_plan");
    let plan = folder.stdout("search fork --plan");
    assert!(
        plan.contains("legs      chat/lexical  weight 0.8\n          wiki/lexical  weight 0.8\n"),
        "{plan}"
    );
    let json: Value = serde_json::from_str(&folder.stdout("search fork --plan --json")).unwrap();
    assert_eq!(json["variants"][0], "fork");
    let account = folder.stdout(&format!("search fork --explain {NOW}"));
    assert!(
        account.contains("linear: mean of weight × calibrated score") && account.contains("recency:"),
        "{account}"
    );
    let fate = folder.stdout(&format!("search fork --why-not chat/monday#0 {NOW}"));
    assert!(fate.contains("the same thing as `wiki/forks#0`"), "{fate}");
}

#[test]
fn an_account_says_what_else_could_have_come_first() {
    let folder = store("search_alternatives");
    let account = folder.stdout(&format!("search fork --explain {NOW}"));
    let table = "what else could have come first\n   \
                 across = \"rank\"    the same\n   \
                 across = \"score\"   the same\n   \
                 wiki alone         the same\n   \
                 chat alone         chat/monday#0   the present first not at all\n";
    assert!(account.ends_with(table), "{account}");
    let json = |arguments: &str| -> Value {
        serde_json::from_str(&folder.stdout(&format!("search fork --json {arguments} {NOW}"))).unwrap()
    };
    let others = &json("--explain")["alternatives"];
    assert_eq!(others[3], serde_json::json!({"name": "chat alone", "first": "chat/monday#0", "place": null}));
    assert!(json("").get("alternatives").is_none(), "only who asks gets them");
    let page = folder.stdout(&format!("search fork --explain --offset 1 {NOW}"));
    assert!(page.contains("chat alone         chat/monday#0   the present first not at all"), "{page}");
    assert!(page.contains("wiki alone         wiki/forks#0    the present first at rank 1"), "{page}");
}

#[test]
fn guarantees_are_kept_and_accounted_for() {
    let folder = store("search_guarantee");
    folder.file("mine.toml", "[pipeline.guarantee]\nchat = { min = 1, top = 1 }\n");
    let copied = folder.stdout(&format!("search fork --config mine.toml -n 1 {NOW}"));
    assert!(copied.contains("also in [chat: monday]"), "a copy counts: {copied}");
    folder.file("mine.toml", "[pipeline.guarantee]\nchat = { min = 1, top = 1 }\nwiki = { max = 0 }\n");
    let search = format!("search fork --config mine.toml {NOW}");
    let json: Value = serde_json::from_str(&folder.stdout(&format!("{search} --json"))).unwrap();
    let first = &json["hits"][0];
    assert_eq!(first["source"], "chat", "{json}");
    let step = first["ledger"].as_array().unwrap().last().unwrap();
    assert_eq!((step["stage"].as_str(), step["rule"].as_str()), (Some("guarantee"), Some("min")), "{step}");
    assert_eq!((step["from"].as_u64(), step["to"].as_u64()), (Some(2), Some(1)), "{step}");
    let output = folder.run(&format!("{search} --explain"));
    assert!(
        stdout(&output).contains("guarantee: from rank 2 to 1 by the `min` of chat, cost "),
        "{}",
        stdout(&output)
    );
    assert!(stderr(&output).contains("`min = 1` of chat and `max = 0` of wiki cost "), "{}", stderr(&output));
    let plan = folder.stdout("search fork --config mine.toml --plan");
    assert!(plan.contains("ensure    at least 1 of chat, at most 0 of wiki in the first 1\n"), "{plan}");
    folder.file("wrong.toml", "[pipeline.guarantee]\nchat = { min = 2, max = 1 }\n");
    let wrong = folder.run("search fork --config wrong.toml");
    assert_eq!(wrong.status.code(), Some(2));
    let sentence = "`guarantee.chat.min` is 2, expected at most `max`, which is 1";
    assert!(
        stderr(&wrong).contains(sentence) && stderr(&wrong).contains("wrong.toml:"),
        "{}",
        stderr(&wrong)
    );
}

#[test]
fn the_live_engine_is_measured_at_the_level_of_documents() {
    let folder = store("search_eval");
    folder
        .file(
            "queries.jsonl",
            "{\"_id\":\"1\",\"text\":\"two pieces\"}\n{\"_id\":\"2\",\"text\":\"pinned\"}\n",
        )
        .file("qrels.tsv", "query-id\tcorpus-id\tscore\n1\tforks\t1\n2\tpins\t1\n");
    let live = "eval --queries queries.jsonl --qrels qrels.tsv --judged-source wiki -m MRR -m nDCG@10 --json";
    let own: Value = serde_json::from_str(&folder.stdout(&format!("{live} --sources wiki"))).unwrap();
    assert_eq!(own["measures"]["MRR"], 1.0);
    let all: Value = serde_json::from_str(&folder.stdout(live)).unwrap();
    assert_eq!(all["queries"]["2"]["MRR"], 1.0);
    assert!(
        all["queries"]["1"]["MRR"].as_f64().unwrap() < 1.0,
        "the copy in the chat counts as a wrong answer: {all}"
    );
    let without = folder.run("eval --queries queries.jsonl --qrels qrels.tsv");
    assert!(
        without.status.code() == Some(2) && stderr(&without).contains("--judged-source"),
        "{}",
        stderr(&without)
    );
}

/// The judgements of the two sources of the store.
fn judged(test: &str) -> Folder {
    let folder = store(test);
    folder
        .file(
            "queries.jsonl",
            "{\"_id\":\"1\",\"text\":\"two pieces\"}\n{\"_id\":\"2\",\"text\":\"pinned\"}\n",
        )
        .file(
            "qrels.tsv",
            "query-id\tcorpus-id\tscore\n1\twiki/forks\t1\n1\tchat/monday\t1\n2\twiki/pins\t1\n",
        );
    folder
}

#[test]
fn judgements_may_span_sources() {
    let folder = judged("search_eval_sources");
    let live =
        "eval --queries queries.jsonl --qrels qrels.tsv -m R@10 -m Coverage@10 -m SourceRecall@10 --json";
    let all: Value = serde_json::from_str(&folder.stdout(live)).unwrap();
    assert_eq!(all["measures"]["R@10"], 1.0);
    // Both sources answer the first query, one of two the second.
    assert_eq!(
        (&all["queries"]["1"]["Coverage@10"], &all["queries"]["2"]["Coverage@10"]),
        (&1.0.into(), &0.5.into())
    );
    assert_eq!(all["measures"]["SourceRecall@10"], 1.0);
    let wiki: Value = serde_json::from_str(&folder.stdout(&format!("{live} --sources wiki"))).unwrap();
    assert_eq!(wiki["queries"]["1"]["SourceRecall@10"], 0.5, "{wiki}");
    assert_eq!(wiki["queries"]["1"]["Coverage@10"], 0.5, "the chat is judged, so it counts");
}

#[test]
fn coverage_counts_the_sources_of_wrong_answers_too() {
    let folder = judged("search_eval_coverage");
    folder.file("own.tsv", "query-id\tcorpus-id\tscore\n1\tforks\t1\n2\tpins\t1\n");
    let live = "eval --queries queries.jsonl --qrels own.tsv --judged-source wiki -m Coverage@10 -m SourceRecall@10 --json";
    let all: Value = serde_json::from_str(&folder.stdout(live)).unwrap();
    assert_eq!(
        (&all["queries"]["1"]["Coverage@10"], &all["queries"]["2"]["Coverage@10"]),
        (&1.0.into(), &0.5.into())
    );
    assert_eq!(all["measures"]["SourceRecall@10"], 1.0);
    assert_eq!(kept(&folder, "eval")["report"], all, "the web page shows what was last measured");
    let slip = folder.run("eval --queries queries.jsonl --qrels own.tsv --judged-source wikki");
    assert!(
        slip.status.code() == Some(2) && stderr(&slip).contains("did you mean `wiki`?"),
        "{}",
        stderr(&slip)
    );
}

/// The report that the store keeps.
fn kept(folder: &Folder, kind: &str) -> Value {
    serde_json::from_str(&folder.read(&format!(".mainstem/reports/{kind}.json"))).unwrap()
}

#[test]
fn a_store_remembers_what_could_not_be_read() {
    let folder = store("search_ingest_report");
    folder.file("notes.jsonl", "{\"id\":\"a\",\"text\":\"a note\"}\nno JSON\n");
    folder.stdout("ingest notes.jsonl --source notes");
    let report = kept(&folder, "ingest-notes");
    assert_eq!((&report["source"], &report["report"]["added"]), (&"notes".into(), &1.into()));
    assert_eq!(report["report"]["skipped"]["count"], 1, "{report}");
}

#[test]
fn ways_stand_side_by_side() {
    let folder = judged("search_eval_ways");
    let command = "eval sources --queries queries.jsonl --qrels qrels.tsv -m R@10";
    let text = folder.stdout(command);
    let rows: Vec<_> = text.lines().map(|line| line.split("  ").next().unwrap()).collect();
    let expected = [
        "R@10, 2 judged queries",
        "chat alone",
        "wiki alone",
        "all sources, by words alone",
        "all sources, merged by rank alone",
        "all sources, default",
        "no difference to the default is shown",
    ];
    assert_eq!(rows, expected, "{text}");
    assert!(text.contains("wiki alone                         0.7500   -0.2500"), "{text}");
    folder.file("tuned.toml", "[pipeline]\nacross = \"rank\"\n");
    let json: Value =
        serde_json::from_str(&folder.stdout(&format!("{command} --config tuned.toml --json"))).unwrap();
    let ways = json["ways"].as_array().unwrap();
    assert_eq!((&ways[5]["way"], &ways[5]["of"]), (&"configured".into(), &"tuned.toml".into()));
    assert_eq!((json["comparisons"].as_array().unwrap().len(), &json["queries"]), (5, &2.into()));
    assert_eq!(json["comparisons"][0]["baseline"], "all sources, default");
    assert_eq!(kept(&folder, "sources")["report"], json);
    let without = folder.run("eval sources --qrels qrels.tsv");
    assert!(
        without.status.code() == Some(2) && stderr(&without).contains("--queries"),
        "{}",
        stderr(&without)
    );
}

#[test]
fn settings_are_laid_over_the_defaults() {
    let folder = store("search_config");
    folder.file("mine.toml", "[pipeline]\nlimit = 1\n[pipeline.dedup]\nacross = 1.0\nwithin = 1.0\n");
    let plan = folder.stdout("search fork --config mine.toml --plan");
    assert!(plan.contains("fuse      linear") && plan.contains("from 1\n"), "the method stays: {plan}");
    assert!(plan.contains("cut       1 hits") && plan.contains("settings of `mine.toml`"), "{plan}");
    let more = folder.stdout("search fork --config mine.toml --plan -n 7 --method rrf");
    assert!(more.contains("cut       7 hits") && more.contains("fuse      rrf"), "options win: {more}");
    let json: Value = serde_json::from_str(&folder.stdout("search fork --config mine.toml --json")).unwrap();
    assert_eq!(json["hits"].as_array().unwrap().len(), 1);
    let notes = json["status"]["notes"].as_array().unwrap();
    assert!(notes.contains(&"settings of `mine.toml`".into()), "{notes:?}");
    folder.file("part.toml", "[pipeline.fuse]\nnormalise = \"zscore\"\n");
    assert!(folder.stdout("search fork --config part.toml --plan").contains("fuse      linear"));
}

#[test]
fn the_settings_beside_the_store_are_found() {
    let folder = store("search_found_config");
    let note = |arguments: &str| stderr(&folder.run(&format!("search fork {NOW} {arguments}")));
    assert!(!note("").contains("settings of"));
    folder.file("mainstem.toml", "[pipeline]\nlimit = 1\n");
    assert!(note("").contains("settings of `mainstem.toml`"), "{}", note(""));
    folder.file(".mainstem/mainstem.toml", "[pipeline]\nlimit = 2\n");
    assert!(note("").contains("settings of `.mainstem/mainstem.toml`"), "{}", note(""));
    assert!(!note("--no-config").contains("settings of"));
}

#[test]
fn slips_in_settings_are_refused_with_a_hint() {
    let folder = judged("search_wrong_config");
    for (name, text, expected) in [
        ("key.toml", "[pipeline]\nacros = \"rank\"\n", "key.toml:2"),
        ("table.toml", "[pipelines]\nacross = \"rank\"\n", "table.toml"),
        ("value.toml", "[pipeline.fuse]\nk = -1\n", "value.toml"),
        ("none.toml", "", "none.toml"),
        ("absent.toml/", "", "absent.toml"),
    ] {
        if !name.ends_with('/') {
            folder.file(name, text);
        }
        for command in ["search fork", "eval --queries queries.jsonl --qrels qrels.tsv"] {
            let output = folder.run(&format!("{command} --config {name}"));
            let message = stderr(&output);
            assert_eq!(output.status.code(), Some(2), "{name}: {message}");
            assert!(message.contains(expected) && message.contains("hint"), "{name}: {message}");
        }
    }
    let idle = folder.run("eval --run some.run --qrels qrels.tsv --config key.toml");
    assert!(idle.status.code() == Some(2) && stderr(&idle).contains("--queries"), "{}", stderr(&idle));
    let map = folder.run("eval --queries queries.jsonl --qrels qrels.tsv --source-map map.tsv");
    assert!(map.status.code() == Some(2) && stderr(&map).contains("--source-map"), "{}", stderr(&map));
}

#[test]
fn a_search_waits_as_long_as_it_is_told() {
    let folder = store("search_deadline");
    let wait = |arguments: &str| {
        let plan = folder.stdout(&format!("search fork --plan {arguments}"));
        plan.lines().find_map(|line| line.strip_prefix("wait      ")).unwrap().to_owned()
    };
    assert_eq!(wait(""), "200 ms, at most 500 ms");
    assert_eq!(wait("--soft 50ms --hard 1.5s"), "50 ms, at most 1500 ms");
    assert_eq!(wait("--hard 80ms"), "80 ms, at most 80 ms", "the later limit is the last word");
    assert_eq!(wait("--soft 2s"), "2000 ms, at most 2000 ms");
    folder.file("mainstem.toml", "[deadline]\nsoft = \"300ms\"\nhard = \"3s\"\n");
    assert_eq!(wait(""), "300 ms, at most 3000 ms");
    assert_eq!(wait("--soft 1s"), "1000 ms, at most 3000 ms", "options win");
    assert_eq!(wait("--no-config"), "200 ms, at most 500 ms");
    let json: Value = serde_json::from_str(&folder.stdout("search fork --plan --json --hard 2s")).unwrap();
    assert_eq!(json["deadline_ms"], serde_json::json!({ "soft": 300, "hard": 2000 }));
    let found = folder.stdout(&format!("search fork --soft 60s --hard 60s {NOW}"));
    assert!(found.contains("About forks"), "{found}");
}

#[test]
fn slips_in_deadlines_are_refused_with_a_hint() {
    let folder = store("search_wrong_deadline");
    for (arguments, expected) in [
        ("--soft soon", "`--soft` is `soon`, expected a time of at least 1ms"),
        ("--hard 500", "`--hard` is `500`, expected a time of at least 1ms"),
        ("--hard -1s", "`--hard` is `-1s`, expected a time of at least 1ms"),
        ("--soft 0s", "`--soft` is `0s`, expected a time of at least 1ms"),
        ("--soft 2s --hard 1s", "`--hard` is 1s, expected at least `--soft`, which is 2s"),
    ] {
        let output = folder.run(&format!("search fork {arguments}"));
        assert_eq!(output.status.code(), Some(2), "{arguments}");
        let message = stderr(&output);
        assert!(message.contains(&format!("]: {expected}\nhint: such as `")), "{arguments}: {message}");
    }
    for (text, expected) in [
        (
            "[deadline]\nsoft = 200\n",
            "wrong.toml:2: expected a time such as \"200ms\" or \"1.5s\", received 200",
        ),
        (
            "[deadline]\nsoft = \"x\"\n",
            "wrong.toml:2: expected a time such as \"200ms\" or \"1.5s\", received \"x\"",
        ),
        ("[deadline]\nsoft = \"2s\"\nhard = \"1s\"\n", "expected at least `deadline.soft`, which is 2s"),
        ("[deadline]\nsofter = \"2s\"\n", "unknown field `softer`, expected `soft` or `hard`"),
    ] {
        folder.file("wrong.toml", text);
        let output = folder.run("search fork --config wrong.toml");
        assert_eq!(output.status.code(), Some(2), "{text}");
        let message = stderr(&output);
        assert!(message.contains(expected) && message.contains("\nhint: "), "{text}: {message}");
    }
}

/// What a process leaves behind that was killed between writing a document and telling the index.
#[test]
fn a_search_lets_the_index_catch_up() {
    let folder = Folder::new("search_behind");
    let dir = folder.0.join(".mainstem");
    let put = |id: &str, text: &str| {
        let store = EmbeddedStore::init(&dir).unwrap();
        store.write(&[document("wiki", id, "2026-01-31", text)]).unwrap();
    };
    put("old", "a rook");
    let mut folders = std::fs::read_dir(&dir).unwrap().flatten().map(|entry| entry.path());
    let index = folders.find(|path| path.to_string_lossy().contains("lexical-")).unwrap();
    let files = |from: &std::path::Path, to: &std::path::Path| {
        let _ = std::fs::remove_dir_all(to);
        std::fs::create_dir(to).unwrap();
        for entry in std::fs::read_dir(from).unwrap().flatten() {
            std::fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
        }
    };
    let aside = folder.0.join("aside");
    files(&index, &aside);
    put("new", "a bishop");
    files(&aside, &index);
    assert!(folder.stdout("search bishop").contains("About new"));
    assert!(folder.stdout("doctor").starts_with("all is well"));
    put("newest", "a queen");
    files(&aside, &index);
    let doctor = folder.run("doctor");
    assert_eq!(doctor.status.code(), Some(0), "{}", stdout(&doctor));
    assert!(stdout(&doctor).starts_with("all is well: 3 documents"), "{}", stdout(&doctor));
    assert_eq!(stderr(&doctor), "note: the indexes were behind the documents, and have caught up\n");
    assert_eq!(stderr(&folder.run("doctor")), "");
}
