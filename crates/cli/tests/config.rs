//! `mainstem config`, and what `search` and `serve` make of a configuration.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod command;

use command::{Folder, stderr};

#[test]
fn everything_that_is_wrong_is_listed_with_its_line() {
    let folder = Folder::new("config-wrong");
    folder.file("mainstem.toml", "[pipeline]\nlimit = 5\n\n[server]\nsearchs = 3\nbody_limit = \"lots\"\n");
    let output = folder.command("config check").env("MAINSTEM_SERVER_WRITES", "none").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let told = stderr(&output);
    for expected in [
        "mainstem.toml:5: `server.searchs`: no option has this name",
        "did you mean `searches`?",
        "mainstem.toml:6: `server.body_limit`: expected a size such as `16MiB`, received `lots`",
        "`MAINSTEM_SERVER_WRITES`: expected a whole number ≥ 1, received `none`",
    ] {
        assert!(told.contains(expected), "{expected} is not in\n{told}");
    }
    let serve = folder.run("serve --address 127.0.0.1:0");
    assert_eq!(serve.status.code(), Some(2));
    assert!(stderr(&serve).contains("mainstem.toml:5"), "{}", stderr(&serve));
}

#[test]
fn wrong_settings_of_searches_and_broken_files_are_found() {
    let folder = Folder::new("config-broken");
    let told = |text: &str| {
        folder.file("mainstem.toml", text);
        let output = folder.run("config check");
        assert_eq!(output.status.code(), Some(2), "{text}");
        stderr(&output)
    };
    assert!(told("[pipeline.fuse]\nmethod = \"rff\"\n").contains("mainstem.toml:2"));
    let both = told("[server]\nwrites = 0\n\n[pipeline]\nlimitt = 1\n");
    assert!(both.contains("mainstem.toml:2") && both.contains("mainstem.toml:5"), "{both}");
    let broken = told("[server]\nwrites = = 3\n");
    assert!(broken.contains("mainstem.toml:2"), "{broken}");
    assert!(told("[sever]\nwrites = 3\n").contains("sever"));
}

#[test]
fn what_applies_is_shown_with_where_it_comes_from() {
    let folder = Folder::new("config-show");
    let nothing = folder.stdout("config check");
    assert!(nothing.contains("the defaults apply"), "{nothing}");
    folder.file("mainstem.toml", "[server]\nsearches = 7\n");
    assert!(folder.stdout("config check").contains("nothing is wrong with `mainstem.toml`"));
    let output = folder.command("config show").env("MAINSTEM_SERVER_WRITES", "2").output().unwrap();
    let shown = command::stdout(&output);
    let line = |name: &str| {
        shown.lines().find(|line| line.starts_with(name)).unwrap().split_whitespace().collect::<Vec<_>>()
    };
    assert_eq!(line("searches"), ["searches", "=", "7", "#", "mainstem.toml:2"]);
    assert_eq!(line("writes"), ["writes", "=", "2", "#", "MAINSTEM_SERVER_WRITES"]);
    assert_eq!(line("address"), ["address", "=", "\"127.0.0.1:7700\"", "#", "default"]);
    let json: serde_json::Value = serde_json::from_str(&folder.stdout("config show --json")).unwrap();
    assert_eq!(json["server"]["searches"]["origin"], "mainstem.toml:2");
    // What is shown can stand in a file.
    folder.file("other.toml", &shown);
    assert!(folder.stdout("config check --config other.toml").contains("nothing is wrong"));
}

#[test]
fn a_file_for_the_server_does_not_disturb_searches() {
    let folder = Folder::new("config-search");
    folder
        .file("mainstem.toml", "[server]\nsearches = 7\n")
        .file("a.md", "# Rollback\n\nHow to roll back.\n");
    folder.stdout("ingest a.md --source wiki --no-embed");
    assert!(folder.stdout("search rollback").contains("wiki"));
}

#[test]
fn settings_of_a_source_that_is_not_there_yet_are_a_warning() {
    let folder = Folder::new("config-absent");
    let settings =
        "[weights]\nwiki = 2.0\nchat = 0.5\ndense = 1.5\n\n[pipeline.recency.mail]\nhalf_life = \"7d\"\n";
    folder.file("mainstem.toml", settings).file("a.md", "# Rollback\n\nHow to roll back.\n");
    assert!(!stderr(&folder.run("config check")).contains("warning"), "no store, nothing to compare with");
    folder.stdout("ingest a.md --source wiki --no-embed");
    let output = folder.run("config check");
    let warning =
        "warning: `mainstem.toml` names the sources `chat`, `mail`, which the store does not have yet";
    assert_eq!((output.status.code(), stderr(&output).trim()), (Some(0), warning));
    // In a store that nobody writes to meanwhile it is a slip, and a search says which.
    let search = folder.run("search rollback");
    assert_eq!(search.status.code(), Some(2));
    assert!(
        stderr(&search).contains("channel or source `chat`") || stderr(&search).contains("`chat`"),
        "{}",
        stderr(&search)
    );
    folder.file("mainstem.toml", "[weights]\nwiki = 2.0\n");
    assert_eq!(stderr(&folder.run("config check")), "");
    assert!(folder.stdout("search rollback").contains("wiki"));
}
