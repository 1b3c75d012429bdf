//! The reference pages are generated from the code. A stale page fails here; `UPDATE_REFERENCE=1 cargo test` writes it anew.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use mainstem_core::link::LinkSettings;
use mainstem_core::{Code, Fault, PipelineSpec};
use serde_json::Value;

fn page(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name)
}

#[track_caller]
fn check(name: &str, expected: &str) {
    let path = page(name);
    if std::env::var_os("UPDATE_REFERENCE").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, expected).unwrap();
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(found == expected, "docs/{name} is stale: run `UPDATE_REFERENCE=1 cargo test --test reference`");
}

fn help(command: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_mainstem"))
        .args(command)
        .arg("--help")
        .env("NO_COLOR", "1")
        .env_remove("COLUMNS")
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(|line| line.trim_end().to_owned() + "\n").collect()
}

#[test]
fn command_line() {
    let mut out = String::from("# The command line\n\nGenerated from the program's own help.\n");
    let commands: [&[&str]; 36] = [
        &[],
        &["demo"],
        &["init"],
        &["ingest"],
        &["remove"],
        &["sources"],
        &["search"],
        &["related"],
        &["link"],
        &["link", "run"],
        &["link", "list"],
        &["link", "undo"],
        &["ask"],
        &["fuse"],
        &["eval"],
        &["eval", "compare"],
        &["eval", "sources"],
        &["eval", "rerank"],
        &["tune"],
        &["recency"],
        &["serve"],
        &["mcp"],
        &["key"],
        &["key", "create"],
        &["key", "list"],
        &["key", "revoke"],
        &["config"],
        &["config", "check"],
        &["config", "show"],
        &["model"],
        &["model", "pull"],
        &["model", "add"],
        &["model", "remove"],
        &["model", "list"],
        &["reindex"],
        &["doctor"],
    ];
    for command in commands {
        let name = [&["mainstem"], command].concat().join(" ");
        let _ = write!(out, "\n## `{name}`\n\n```text\n{}```\n", help(command));
    }
    check("reference/cli.md", &out);
}

/// The picture in the README: a real search, as a terminal shows it.
#[test]
fn picture() {
    let output = Command::new(env!("CARGO_BIN_EXE_mainstem"))
        .args(["fuse", "recipes/first-look/search.json", "--explain", "--top", "2"])
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."))
        .env_remove("NO_COLOR")
        .env("CLICOLOR_FORCE", "1")
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let command = "$ mainstem fuse recipes/first-look/search.json --explain --top 2\n\n";
    check(
        "images/explain.svg",
        &anstyle_svg::Term::new().render_svg(&(command.to_owned() + text.trim_end() + "\n")),
    );
}

#[test]
fn errors() {
    let mut out = String::from(
        "# Errors\n\nGenerated from the code. Every error prints its code, where it is, what was expected and received, and a \
         hint.\nThe exit code of every error is 2; 1 means that nothing was found.\n\n\
         | code | meaning | who can fix it | HTTP status |\n|---|---|---|---|\n",
    );
    for code in Code::ALL {
        let who = match code.fault() {
            Fault::Caller => "the caller",
            Fault::Environment => "the operator",
            Fault::Mainstem => "the developers",
        };
        let _ =
            writeln!(out, "| `{}` | {} | {who} | {} |", code.as_str(), code.summary(), code.http_status());
    }
    check("reference/errors.md", &out);
}

#[test]
fn configuration() {
    check("configuration.md", &mainstem_server::config::reference());
}

#[test]
fn pipeline() {
    let schema = serde_json::to_value(schemars::schema_for!(PipelineSpec)).unwrap();
    let mut out = String::from(
        "# The pipeline\n\nGenerated from the code. The same object stands under `pipeline` in the JSON that `mainstem fuse` \
         reads and under\n`[pipeline]` in a configuration file. What is left out is off, except that lists are always fused.\n",
    );
    section(&mut out, "pipeline", &schema, &schema);
    let stages = ["fuse", "dedup", "learned", "rerank", "recency", "diversify", "guarantee", "route"];
    for stage in stages {
        let (definition, suffix) = definition_of(&schema, stage);
        section(&mut out, &format!("pipeline.{stage}{suffix}"), definition, &schema);
    }
    check("reference/pipeline.md", &out);
}

#[test]
fn link() {
    let schema = serde_json::to_value(schemars::schema_for!(LinkSettings)).unwrap();
    let mut out = String::from(
        "# Links\n\nGenerated from the code. What `mainstem link run` does otherwise than by default stands under `[link]` in \
         `mainstem.toml`;\n[links.md](../links.md) says what it means.\n",
    );
    section(&mut out, "link", &schema, &schema);
    check("reference/link.md", &out);
}

/// The definition that a property of the pipeline refers to, and how its path goes on.
fn definition_of<'a>(schema: &'a Value, property: &str) -> (&'a Value, &'static str) {
    let property = &schema["properties"][property];
    let nested = [
        (&property["additionalProperties"]["$ref"], ".SOURCE"),
        (&property["items"]["$ref"], "[]"),
        (&property["anyOf"][0]["$ref"], ""),
        (&property["$ref"], ""),
    ];
    let (reference, suffix) = nested.into_iter().find(|(reference, _)| reference.is_string()).unwrap();
    (schema.pointer(&reference.as_str().unwrap()[1..]).unwrap(), suffix)
}

fn section(out: &mut String, name: &str, definition: &Value, schema: &Value) {
    let description = definition["description"].as_str().unwrap_or_default().replace('\n', " ");
    let _ = write!(
        out,
        "\n## `{name}`\n\n{description}\n\n| option | takes | default | meaning |\n|---|---|---|---|\n"
    );
    for (option, property) in definition["properties"].as_object().unwrap() {
        let meaning = property["description"].as_str().unwrap_or_default().replace('\n', " ");
        let default = match &property["default"] {
            Value::Null => "–".to_owned(),
            Value::Object(_) | Value::Array(_) => "off".to_owned(),
            value => format!("`{}`", value.as_str().map_or_else(|| value.to_string(), str::to_owned)),
        };
        let default = match option.as_str() {
            "fuse" => "RRF".to_owned(),
            "ways" => "all".to_owned(),
            _ => default,
        };
        let _ = writeln!(out, "| `{option}` | {} | {default} | {meaning} |", takes(property, schema));
    }
}

/// What values a property takes, in words.
fn takes(property: &Value, schema: &Value) -> String {
    if let Some(reference) = property["$ref"].as_str() {
        return takes(schema.pointer(&reference[1..]).unwrap(), schema);
    }
    if let Some(any) = property["anyOf"].as_array() {
        return takes(&any[0], schema);
    }
    if let Some(choices) = property["oneOf"].as_array() {
        let names = choices.iter().filter_map(|choice| choice["const"].as_str());
        return names.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    }
    let kinds = match &property["type"] {
        Value::Array(kinds) => {
            kinds.iter().filter_map(Value::as_str).filter(|kind| *kind != "null").collect()
        }
        kind => vec![kind.as_str().unwrap_or("any")],
    };
    let word = |kind: &str| match kind {
        "integer" => "a whole number".to_owned(),
        "number" => "a number".to_owned(),
        "boolean" => "`true` or `false`".to_owned(),
        "array" => "a list".to_owned(),
        "object" => "a table".to_owned(),
        "string" => "a text".to_owned(),
        other => other.to_owned(),
    };
    kinds.into_iter().map(word).collect::<Vec<_>>().join(" or ")
}
