//! Commands that ask a server do what they do on a store: the same bytes, the same exit codes.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod command;
mod served;
#[path = "../../mainstem/tests/ask/service.rs"]
mod service;

use std::process::Output;

use command::{Folder, stderr, stdout};
use served::{Served, command, filled, python};
use service::{Script, Service, Step};

fn run(folder: &Folder, place: &[&str], arguments: &[&str]) -> Output {
    command(folder, &[place, arguments].concat()).output().unwrap()
}

#[test]
fn a_server_answers_as_its_store_does() {
    let folder = filled("remote-same");
    let server = Served::start(&folder);
    let clock = ["--now", "2026-02-01"];
    let searches: [&[&str]; 9] = [
        &["search", "zebra", "--json"],
        &["search", "roll back", "--json"],
        &["search", "roll back"],
        &["search", "roll back", "--explain", "--variant", "rollback job"],
        &["search", "roll back", "--explain", "--json"],
        &["search", "release", "--why-not", "wiki/team/lunch#0", "-n", "1"],
        &[
            "search",
            "release",
            "-n",
            "1",
            "--offset",
            "1",
            "--method",
            "rrf",
            "--json",
            "--where",
            "status=open",
        ],
        &[
            "search",
            "release",
            "--since",
            "20d",
            "--channel",
            "lexical",
            "--soft",
            "1s",
            "--hard",
            "2s",
            "--json",
        ],
        &["search", "zebra", "--source", "wiki", "--kind", "notion"],
    ];
    let others: [&[&str]; 6] = [
        &["sources"],
        &["sources", "--json"],
        &["related", "wiki/release"],
        &["related", "wiki/release#0", "--source", "chat", "-n", "2", "--json"],
        &["search", "x", "--source", "wikki"],
        &["related", "wiki/release", "--source", "wikki"],
    ];
    let searches = searches.iter().map(|search| [search, &clock[..]].concat());
    let mut codes = Vec::new();
    for arguments in searches.chain(others.iter().map(|other| other.to_vec())) {
        let here = run(&folder, &["--store", "s"], &arguments);
        let there = run(&folder, &["--server", &server.url], &arguments);
        assert_eq!(stdout(&here), stdout(&there), "{arguments:?}");
        // How long it took is told behind all else.
        let untimed = |output: &Output| stderr(output).split(", in ").next().map(str::to_owned);
        assert_eq!(untimed(&here), untimed(&there), "{arguments:?}");
        assert_eq!(here.status.code(), there.status.code(), "{arguments:?}");
        codes.push(here.status.code().unwrap());
    }
    assert_eq!(codes, [1, 0, 0, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 2, 2]);
}

/// What is printed but times, and the names of runs that are not kept.
fn timeless(output: &Output) -> String {
    let is_timed = |line: &&str| {
        let names = ["\"made_at\":", "\"id\": \"2", "\"id\": \"run-"];
        names.iter().any(|name| line.trim_start().starts_with(name))
    };
    stdout(output).lines().filter(|line| !is_timed(line)).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_server_links_as_its_store_does() {
    let folder = filled("remote-links");
    let server = Served::start(&folder);
    let both = |arguments: &[&str]| {
        [["--store", "s"], ["--server", &server.url]].map(|place| run(&folder, &place, arguments))
    };
    let mut codes = Vec::new();
    let mut same = |arguments: &[&str]| {
        let [here, there] = both(arguments);
        assert_eq!(timeless(&here), timeless(&there), "{arguments:?}: {}{}", stderr(&here), stderr(&there));
        assert_eq!(here.status.code(), there.status.code(), "{arguments:?}: {}", stderr(&there));
        codes.push(here.status.code().unwrap());
    };
    same(&["link", "list"]);
    same(&["link", "run", "--dry-run"]);
    same(&["link", "run", "--dry-run", "--json", "--least", "0.01", "--across-only", "--per-document", "2"]);
    same(&["link", "run", "--dry-run", "--source", "wiki"]);
    same(&["link", "run", "--dry-run", "--source", "wikki"]);
    same(&["link", "run", "--dry-run", "--least", "2"]);
    let kept = run(&folder, &["--server", &server.url], &["link", "run"]);
    assert_eq!(kept.status.code(), Some(0), "{}", stderr(&kept));
    let told = stdout(&kept);
    let id = told.split(':').next().unwrap();
    assert!(told.contains("1 link\n1 new, 0 as before") && told.contains("chat/c1"), "{told}");
    assert!(
        stderr(&kept).contains(&format!("`mainstem link undo {id}` takes them back")),
        "{}",
        stderr(&kept)
    );
    same(&["link", "list"]);
    same(&["link", "list", "--json"]);
    same(&["link", "list", id]);
    same(&["link", "list", id, "--json", "--top", "1"]);
    same(&["link", "list", id, "--top", "0"]);
    same(&["link", "list", "--document", "wiki/release"]);
    same(&["link", "list", "--document", "wiki/release#0", "--json"]);
    same(&["link", "list", "--document", "wiki/team/lunch"]);
    same(&["link", "list", "--document", "wiki/nothing"]);
    same(&["link", "list", "nothing"]);
    same(&["related", "wiki/release"]);
    same(&["related", "chat/c1", "--json"]);
    same(&["related", "chat/c1", "--source", "chat"]);
    let undo = |name: &str| run(&folder, &["--server", &server.url], &["link", "undo", name]);
    assert_eq!(stdout(&undo(id)), format!("{id} is undone: 1 link taken back\n"));
    let again = undo(id);
    assert!(stderr(&again).contains("was undone before, at "), "{}", stderr(&again));
    assert_eq!(again.status.code(), Some(1));
    assert!(stderr(&undo("nothing")).contains("unknown run `nothing`"));
    same(&["link", "list", id]);
    assert_eq!(codes, [1, 0, 0, 1, 2, 2, 0, 0, 0, 0, 1, 0, 0, 1, 2, 2, 0, 0, 1, 1]);
    let refused = run(&folder, &["--server", &server.url], &["link", "run", "--no-config"]);
    assert!(stderr(&refused).contains("a server has its own settings"), "{}", stderr(&refused));
}

#[test]
fn what_a_key_is_not_told_is_not_printed() {
    let folder = filled("remote-limited");
    let [some, ann] = ["some --write", "ann --reader ann"].map(|key| {
        let made = folder.stdout(&format!("--store s key create --source wiki --source chat {key}"));
        made.trim().to_owned()
    });
    let server = Served::start(&folder);
    let ask = |key: &str, arguments: &[&str]| {
        let arguments = [&["--server", &server.url], arguments].concat();
        let output = command(&folder, &arguments).env("MAINSTEM_KEY", key).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", stderr(&output));
        stdout(&output)
    };
    let run = ask(&some, &["link", "run"]);
    let (id, rest) = run.split_once(": ").unwrap();
    assert!(rest.contains(" documents of 2 sources, 1 link\n\nscore"), "what it changed is not told: {run}");
    let dry: serde_json::Value =
        serde_json::from_str(&ask(&some, &["link", "run", "--dry-run", "--json"])).unwrap();
    assert!(dry["changes"].is_null() && dry["run"]["edges"] == 1, "{dry}");
    // A reader is told no counts.
    for (key, counts) in [(&some, ["3", "1"]), (&ann, ["–", "–"])] {
        let listed = ask(key, &["link", "list"]);
        let cells: Vec<&str> = listed.lines().last().unwrap().split_whitespace().collect();
        assert_eq!((cells[0], cells[2], &cells[3..5]), (id, "2", &counts[..]), "{listed}");
        assert!(ask(key, &["link", "list", id]).contains("chat/c1"));
        assert!(ask(key, &["related", "chat/c1"]).contains("↔ linked to "));
    }
    let runs: serde_json::Value = serde_json::from_str(&ask(&ann, &["link", "list", "--json"])).unwrap();
    assert!(runs["runs"][0]["id"] == id && runs["runs"][0].get("edges").is_none(), "{runs}");
    assert_eq!(ask(&some, &["link", "undo", id]), format!("{id} is undone\n"));
    let again = ask(&some, &["link", "run"]);
    let (id, _) = again.split_once(": ").unwrap();
    assert_eq!(ask(&some, &["link", "undo", id, "--json"]), "{}\n");
}

fn asked(folder: &Folder, server: &Served, more: &[&str]) -> [Output; 2] {
    let question = [&["ask", "roll back a release", "--now", "2026-02-01"], more].concat();
    [["--store", "s"], ["--server", &server.url]].map(|place| run(folder, &place, &question))
}

#[test]
fn a_server_packs_as_its_store_does() {
    let folder = filled("remote-context");
    let server = Served::start(&folder);
    for more in [
        &[][..],
        &["--context"],
        &["--json"],
        &["--context", "--json", "--budget", "60"],
        &["--source", "chat", "-n", "1", "--context"],
        &["--where", "status=none"],
        &["--where", "status=none", "--json"],
        &["--stages", "2"],
        &["--source", "wikki"],
    ] {
        let [here, there] = asked(&folder, &server, more);
        assert_eq!(stdout(&here), stdout(&there), "{more:?}");
        assert_eq!(here.status.code(), there.status.code(), "{more:?}");
        if here.status.code() != Some(2) {
            assert_eq!(stderr(&here), stderr(&there), "{more:?}");
        }
    }
    let refused = run(&folder, &["--server", &server.url], &["ask", "x", "--template", "t.jinja"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(stderr(&refused).contains("a server has its own prompt"), "{}", stderr(&refused));
}

#[test]
fn a_server_answers_questions_as_they_are_written() {
    let folder = filled("remote-answer");
    let broken = "data: {\"error\": {\"message\": \"out of memory\"}}\n\n".to_owned();
    let whole = Script::says(&["Run the job [1], ", "not [9]."]);
    let failing = Script::stream([Step::Say("Run the job [1] "), Step::Raw(broken)]);
    let three = ["- a [1]", "A [1].", "All of it [1]."].map(|text| Script::says(&[text]));
    let scripts = [vec![whole.clone(), whole.clone(), whole], vec![failing.clone(), failing], three.to_vec()];
    let service = Service::start(scripts.concat());
    let settings = format!("[ask]\nurl = \"{}\"\nmodel = \"scripted\"\ntimeout = 30\n", service.url);
    folder.file("s/mainstem.toml", settings);
    let server = Served::start(&folder);
    let [here, there] = asked(&folder, &server, &[]);
    assert_eq!(stdout(&here), stdout(&there));
    let printed = stdout(&there);
    assert!(printed.starts_with("Run the job [1], not [9].\n\n[1] "), "{printed}");
    let told = stderr(&there);
    assert!(told.contains("cites [9], which is no passage") && told.contains("passages, "), "{told}");
    let json = run(&folder, &["--server", &server.url], &["ask", "roll back", "--json"]);
    assert!(stdout(&json).contains("\"answer\": \"Run the job [1], not [9].\""), "{}", stdout(&json));
    let [here, there] = asked(&folder, &server, &[]);
    assert_eq!((stdout(&here), here.status.code()), (stdout(&there), there.status.code()));
    assert_eq!(there.status.code(), Some(2));
    assert!(stdout(&there).starts_with("Run the job [1] \n\n[1] "), "{}", stdout(&there));
    assert!(stderr(&there).contains("error[E0305]: the model failed: out of memory"), "{}", stderr(&there));
    let three = run(&folder, &["--server", &server.url], &["ask", "roll back", "--stages", "3"]);
    assert!(stdout(&three).starts_with("All of it [1].\n"), "{}", stdout(&three));
}

#[test]
fn documents_that_go_through_a_server_are_the_same_as_in_a_store() {
    let folder = Folder::new("remote-ingest");
    std::fs::create_dir(folder.0.join("docs")).unwrap();
    folder.file("docs/guide.md", "# Guide\n\nHow to begin.\n\n## Setup\n\nInstall it, then run it.\n");
    folder
        .file("docs/tool.py", "def rollback(job):\n    \"\"\"Undo a release.\"\"\"\n    return job.undo()\n");
    let server = Served::start(&folder);
    let elsewhere = ["--server", server.url.as_str()];
    let ingest = ["ingest", "docs", "--source", "docs"];
    let first = run(&folder, &elsewhere, &ingest);
    assert_eq!(first.status.code(), Some(0), "{}", stderr(&first));
    assert!(stdout(&first).starts_with("docs: 2 added, 0 changed, 0 unchanged"), "{}", stdout(&first));
    assert!(stderr(&first).contains("any more stay"), "{}", stderr(&first));
    let again = run(&folder, &elsewhere, &ingest);
    assert!(stdout(&again).starts_with("docs: 0 added, 0 changed, 2 unchanged"), "{}", stdout(&again));
    let local = run(&folder, &["--store", "own"], &ingest);
    assert_eq!(local.status.code(), Some(0), "{}", stderr(&local));
    let search = ["search", "rollback setup", "--json", "--now", "2026-02-01"];
    assert_eq!(
        stdout(&run(&folder, &["--store", "own"], &search)),
        stdout(&run(&folder, &elsewhere, &search))
    );
    for refused in [["--sync", ""], ["--watch", ""], ["--no-embed", ""], ["--model", "x"]] {
        let more: Vec<&str> = refused.into_iter().filter(|part| !part.is_empty()).collect();
        let output = run(&folder, &elsewhere, &[&ingest[..], &more[..]].concat());
        assert_eq!(output.status.code(), Some(2), "{more:?}");
        assert!(stderr(&output).contains("error[E0205]"), "{}", stderr(&output));
    }
}

#[test]
fn a_server_is_named_by_flag_or_variable() {
    let folder = filled("remote-named");
    let server = Served::start(&folder);
    let mut asked = command(&folder, &["sources"]);
    let output = asked.env("MAINSTEM_SERVER", &server.url).output().unwrap();
    assert!(stdout(&output).contains("wiki"), "{}", stderr(&output));
    // What is said on the command line wins.
    let mut asked = command(&folder, &["--store", "nowhere", "sources"]);
    let output = asked.env("MAINSTEM_SERVER", &server.url).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", stdout(&output));
    let cases: [(&[&str], &str); 9] = [
        (
            &["--server", "http://127.0.0.1:1", "sources"],
            "error[E0305]: the server `http://127.0.0.1:1` does not answer",
        ),
        (
            &["--server", "nowhere", "sources"],
            "error[E0201]: expected the URL of a server, received `nowhere`",
        ),
        (&["--server", &server.url, "--store", "s", "sources"], "expected one of them, received both"),
        (&["--server", &server.url, "remove", "wiki", "--all"], "`--all` is for the folder of a store"),
        (&["--server", &server.url, "doctor"], "`--server` is for `search`"),
        (&["--server", &server.url, "search", "x", "--plan"], "`--plan`: a server does not show its plans"),
        (&["--server", &server.url, "search", "x", "--no-config"], "a server has its own settings"),
        (&["--server", &server.url, "search", "x", "--rerank", "maxsim"], "a server has its own reranker"),
        (
            &["--server", &server.url, "related", "wiki/nothing"],
            "error[E0401]: there is no document `wiki/nothing`",
        ),
    ];
    for (arguments, part) in cases {
        let output = run(&folder, &[], arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(stderr(&output).contains(part), "{arguments:?}: {}", stderr(&output));
    }
}

#[test]
fn the_description_holds_whatever_is_asked() {
    let Some(python) = python("schemathesis") else { return };
    let folder = filled("remote-description");
    let server = Served::start(&folder);
    let seconds = std::env::var("MAINSTEM_TEST_SECONDS").unwrap_or_else(|_| "30".to_owned());
    let here = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/description");
    let output = std::process::Command::new(python)
        .args(["-m", "schemathesis.cli", "--config-file", &format!("{here}/schemathesis.toml"), "run"])
        .arg(format!("{}/openapi.json", server.url))
        .args(["--max-time", &seconds, "--seed", "7", "--no-color", "--generation-database", "none"])
        .env("PYTHONPATH", here)
        .current_dir(&folder.0)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}{}", stdout(&output), stderr(&output));
}

#[test]
fn documents_are_removed_at_a_server() {
    let folder = filled("remote-remove");
    let server = Served::start(&folder);
    let at = ["--server", &server.url];
    let removed = run(&folder, &at, &["remove", "wiki", "team/lunch", "nothing"]);
    assert_eq!(stdout(&removed), "removed 1 document from `wiki`\n", "{}", stderr(&removed));
    assert_eq!(stderr(&removed), "note: there is no document `wiki/nothing`\n");
    let again = run(&folder, &at, &["remove", "wiki", "team/lunch"]);
    assert_eq!((again.status.code(), stdout(&again).as_str()), (Some(1), ""), "{}", stderr(&again));
    let unknown = run(&folder, &at, &["remove", "wikis", "team/lunch"]);
    assert_eq!(unknown.status.code(), Some(2));
    assert!(stderr(&unknown).contains("unknown source `wikis`"), "{}", stderr(&unknown));
}
