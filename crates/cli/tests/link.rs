//! `mainstem link`: linking the pages of the documentation recipe, and taking it back.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod command;

use std::path::Path;
use std::process::Output;

use command::{Folder, stderr, stdout};
use serde_json::Value;

const SOURCES: [&str; 4] = ["guides", "api", "changelog", "faq"];

/// Runs the command without any model, so that words judge.
fn run(folder: &Folder, arguments: &str) -> Output {
    folder.command(arguments).env("MAINSTEM_MODELS", folder.0.join("no-models")).output().unwrap()
}

#[track_caller]
fn found(folder: &Folder, arguments: &str) -> String {
    let output = run(folder, arguments);
    assert_eq!(output.status.code(), Some(0), "{arguments}: {}", stderr(&output));
    stdout(&output)
}

#[track_caller]
fn json(folder: &Folder, arguments: &str) -> Value {
    serde_json::from_str(&found(folder, arguments)).unwrap()
}

#[track_caller]
fn nothing(folder: &Folder, arguments: &str) -> String {
    let output = run(folder, arguments);
    assert_eq!(output.status.code(), Some(1), "{arguments}: {}", stderr(&output));
    stderr(&output)
}

/// A folder with a store of the documentation.
fn documentation(test: &str) -> Folder {
    let folder = Folder::new(test);
    let recipes = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../recipes/docs-team");
    for source in SOURCES {
        let name = format!("{source}.jsonl");
        folder.file(&name, std::fs::read(recipes.join(&name)).unwrap());
        found(&folder, &format!("ingest {name} --source {source} --kind docs"));
    }
    folder
}

fn pairs(links: &Value) -> Vec<String> {
    let end = |end: &Value| format!("{}/{}", end["source"].as_str().unwrap(), end["id"].as_str().unwrap());
    links.as_array().unwrap().iter().map(|link| format!("{}–{}", end(&link["a"]), end(&link["b"]))).collect()
}

fn name(run: &Value) -> &str {
    run["run"]["id"].as_str().unwrap()
}

#[test]
fn from_documents_to_links_and_back() {
    let folder = documentation("link-and-back");
    assert!(nothing(&folder, "link list").contains("nothing was linked yet"));
    let dry = json(&folder, "link run --dry-run --json");
    assert_eq!(dry["dry_run"], true);
    assert!(nothing(&folder, "link list").contains("nothing was linked yet"), "a dry run keeps nothing");

    let kept = json(&folder, "link run --json");
    let run = name(&kept);
    assert!(run.starts_with("run-") && kept["run"]["documents"] == 57, "{}", kept["run"]);
    assert_eq!(kept["changes"], dry["changes"]);
    assert_eq!(kept["links"], dry["links"]);
    let links = pairs(&kept["links"]);
    assert!(links.contains(&"api/rotate-secret–changelog/v2-7".to_owned()), "{links:?}");
    assert_eq!(kept["changes"]["added"], links.len());

    let again = found(&folder, "link run --dry-run");
    assert!(
        again.contains(&format!("0 would be new, {} as before, 0 with another score", links.len())),
        "{again}"
    );

    assert!(found(&folder, "link list").contains(run));
    let of_run = json(&folder, &format!("link list {run} --top 1000 --json"));
    assert_eq!(pairs(&of_run["links"]), links);
    let of_document = found(&folder, "link list --document guides/webhook-security");
    assert!(
        of_document.contains("changelog/v2-7") && of_document.contains(&format!("({run})")),
        "{of_document}"
    );

    let related = found(&folder, "related guides/webhook-security");
    let first = related.lines().take(3).collect::<Vec<_>>().join("\n");
    assert!(
        first.contains("linked to")
            && first.contains("both have `")
            && first.contains(&format!("{run} said so")),
        "{first}"
    );
    let related = json(&folder, "related guides/webhook-security --source changelog --json");
    assert_eq!(related["links"][0]["run"], run);
    assert!(related["links"].as_array().unwrap().iter().all(|link| link["source"] == "changelog"));

    let undone = json(&folder, &format!("link undo {run} --json"));
    assert_eq!((&undone["removed"], &undone["kept"]), (&links.len().into(), &0.into()));
    assert!(nothing(&folder, &format!("link list {run}")).contains(&format!("`{run}` was undone at")));
    assert!(
        nothing(&folder, "link list --document guides/webhook-security").contains("is linked to nothing")
    );
    assert!(nothing(&folder, &format!("link undo {run}")).contains("was undone before"));
    assert!(!found(&folder, "related guides/webhook-security").contains("linked to"));
    assert!(found(&folder, "link list").contains(run), "that there was a run stays known");
    assert!(found(&folder, "doctor").contains("57 documents"));
}

#[test]
fn runs_overlap_and_documents_change() {
    let folder = documentation("link-overlap");
    let all = json(&folder, "link run --json");
    let across = json(&folder, "link run --across-only --least 0.25 --per-document 2 --json");
    let settings = &across["run"]["settings"];
    assert_eq!(
        (&settings["within"], &settings["least"], &settings["per_document"]),
        (&false.into(), &0.25.into(), &2.into())
    );
    assert_eq!((&across["changes"]["added"], &across["changes"]["changed"]), (&0.into(), &0.into()));
    let (before, some) = (pairs(&all["links"]).len(), pairs(&across["links"]).len());
    assert_eq!(across["changes"]["missed"], before - some);
    let undone = found(&folder, &format!("link undo {}", name(&all)));
    let expected =
        format!("{} links taken back, {some} links stay because another run says so", before - some);
    assert!(undone.contains(&expected), "{undone}");
    let second = name(&across);
    assert!(found(&folder, &format!("link list {second}")).contains(&format!("({second})")));

    let guides = folder.read("guides.jsonl").replace("two CNAMEs for DKIM", "two records for DKIM");
    folder.file("guides.jsonl", guides);
    found(&folder, "ingest guides.jsonl --source guides --kind docs");
    let stale = found(&folder, "link list --document guides/domains");
    assert!(stale.contains(&format!("({second}, stale)")), "{stale}");
    assert!(found(&folder, "related guides/domains").contains("stale: one of them has changed since"));
}

#[test]
fn the_file_says_how_and_flags_say_it_over() {
    let folder = documentation("link-file");
    folder.file(
        ".mainstem/mainstem.toml",
        "[link]\nleast = 0.4\nwithin = false\nsources = [\"guides\", \"changelog\"]\n",
    );
    assert!(found(&folder, "config check").contains("nothing is wrong"));
    let run = json(&folder, "link run --dry-run --json");
    assert_eq!(run["run"]["sources"], serde_json::json!(["changelog", "guides"]));
    assert_eq!(run["run"]["settings"]["least"], 0.4);
    let run = json(&folder, "link run --dry-run --json --source faq --source api --least 0.3");
    assert_eq!(run["run"]["sources"], serde_json::json!(["api", "faq"]));
    assert_eq!(
        (&run["run"]["settings"]["least"], &run["run"]["settings"]["within"]),
        (&0.3.into(), &false.into())
    );
    let run = json(&folder, "link run --dry-run --json --no-config");
    assert_eq!(run["run"]["documents"], 57);
}

#[test]
fn what_is_wrong_is_said_with_a_hint() {
    let folder = documentation("link-wrong");
    found(&folder, "link run");
    folder.file("wrong.toml", "[link]\nleast = 1.5\n");
    folder.file("slip.toml", "[link]\nlaest = 0.5\n");
    let rows = [
        (
            "link run --least 2",
            "error[E0201]: `least` is 2, expected 0 to 1",
            "hint: see `mainstem link run --help`",
        ),
        ("link run --per-document 0", "error[E0201]: `per_document` is 0, expected at least 1", "hint:"),
        ("link run --source guids", "error[E0204]: unknown source `guids`", "hint: did you mean `guides`?"),
        (
            "link run --judge maxsim",
            "error[E0305]: the judge `maxsim` needs the model",
            "`mainstem model pull`",
        ),
        (
            "link run --judge cosine",
            "error[E0305]: the judge `cosine` needs vectors",
            "hint: ingest with a model",
        ),
        ("link run --judge taste", "error[E0207]", "hint:"),
        ("link run --config wrong.toml", "`least` is 1.5, expected 0 to 1", "hint:"),
        ("link run --config slip.toml", "slip.toml:2: unknown field `laest`", "`least`"),
        ("link list runs", "error[E0204]: unknown run `runs`", "expected one of `run-"),
        ("link list run-4f2a1 --document guides/domains", "error[E0207]", "hint:"),
        (
            "link list --document guides/nothing",
            "error[E0401]: there is no document `guides/nothing`",
            "hint:",
        ),
        ("link list --document guides", "error[E0201]: expected `source/id`, received `guides`", "hint:"),
        ("link undo runs", "error[E0204]: unknown run `runs`", "expected one of `run-"),
        ("--store none link list", "error[E0206]: there is no store in `none`", "hint: make one"),
        ("--server http://127.0.0.1:9 link list", "error[E0305]: the server `http://127.0.0.1:9`", "hint:"),
    ];
    for (arguments, says, hints) in rows {
        let output = run(&folder, arguments);
        let text = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{arguments}: {text}");
        assert!(output.stdout.is_empty(), "{arguments}");
        assert!(text.contains(says) && text.contains(hints), "{arguments}: {text}");
    }
    assert!(nothing(&folder, "link run --least 1 --dry-run").contains("no two documents belong together"));
}
