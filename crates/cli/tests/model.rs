//! The local model from end to end: pulled, ingested with, searched with, as a user does it.
//!
//! Needs the model in the folder of models; `./test` puts it there.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod command;
mod model_here;

use std::path::Path;
use std::process::Output;

use command::{Folder, stderr, stdout};
use model_here::{model_folder, search};
use serde_json::Value;

const CARS: &str =
    "# Vehicles\n\nOur two cars are serviced every spring. The mechanic changes the tyres and the oil.\n";
const BREAD: &str =
    "# Baking\n\nKnead the dough for ten minutes and let it rise before it goes into the oven.\n";
const PAYROLL: &str = "# Salaries\n\nWages are paid on the last working day of each month.\n";

/// Documents in a folder, and a folder of models with the model pulled into it.
fn documents(test: &str) -> Option<Folder> {
    let from = model_folder()?;
    let folder = Folder::new(test);
    std::fs::create_dir(folder.0.join("docs")).unwrap();
    folder.file("docs/cars.md", CARS).file("docs/bread.md", BREAD).file("docs/payroll.md", PAYROLL);
    let pulled = run(&folder, &format!("model pull --from {}", from.display()));
    assert_eq!(pulled.status.code(), Some(0), "{}", stderr(&pulled));
    assert!(stdout(&pulled).trim().ends_with("all-MiniLM-L6-v2"), "{}", stdout(&pulled));
    Some(folder)
}

/// Runs the command with a folder of models of its own.
fn run(folder: &Folder, arguments: &str) -> Output {
    folder.command(arguments).env("MAINSTEM_MODELS", folder.0.join("models")).output().unwrap()
}

#[track_caller]
fn json(folder: &Folder, arguments: &str) -> Value {
    let output = run(folder, arguments);
    assert_eq!(output.status.code(), Some(0), "{arguments}: {}", stderr(&output));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The names of the legs that answered.
fn answered(response: &Value) -> Vec<&str> {
    let legs = response["status"]["legs"].as_array().unwrap().iter();
    legs.filter(|leg| leg["state"] == "ok").map(|leg| leg["name"].as_str().unwrap()).collect()
}

fn empty(folder: &Path) {
    let _ = std::fs::remove_dir_all(folder);
}

#[test]
fn a_text_is_found_by_its_meaning() {
    let Some(folder) = documents("model_meaning") else { return };
    // More tokens than the model reads, in one chunk.
    folder.file("docs/numbers.md", "1 2 3 4 5 6 7 ".repeat(50).trim());
    let ingested = run(&folder, "ingest docs --source wiki");
    let said = stdout(&ingested);
    assert!(said.contains("4 added"), "{said}{}", stderr(&ingested));
    assert!(said.contains(" 1 of them longer than the model reads"), "{said}");

    let words = run(&folder, "search automobile --channel lexical");
    assert_eq!(words.status.code(), Some(1), "no text has the word: {}", stdout(&words));
    for (query, expected) in
        [("automobile", "cars.md"), ("earnings of staff", "payroll.md"), ("a loaf", "bread.md")]
    {
        let found = search(&folder, query);
        assert_eq!(found["hits"][0]["document"], expected, "{query}: {found:#}");
        assert!(answered(&found).contains(&"wiki/dense"), "{:#}", found["status"]);
    }
    let plan = stdout(&run(&folder, "search automobile --plan"));
    assert!(plan.contains("wiki/dense"), "{plan}");

    let again = json(&folder, "ingest docs --source wiki --json");
    assert_eq!((&again["embedded"], &again["unchanged"]), (&0.into(), &4.into()), "{again:#}");
    empty(&folder.0);
}

#[test]
fn a_store_keeps_to_its_model() {
    let Some(folder) = documents("model_kept") else { return };
    json(&folder, "ingest docs --source wiki --json");
    folder.file("brought.jsonl", r#"{"id":"a","text":"Cars","vector":[1,0,0]}"#);
    let refused = run(&folder, "ingest brought.jsonl --source other --vectors-model another");
    assert_eq!(refused.status.code(), Some(2), "{}", stdout(&refused));
    let said = stderr(&refused);
    assert!(
        said.contains("holds vectors of `all-MiniLM-L6-v2 (384 numbers)`") && said.contains("another"),
        "{said}"
    );
    assert!(said.contains("hint:"), "{said}");

    // Without the model the store is searched by words, and says so.
    empty(&folder.0.join("models"));
    let words = run(&folder, "search cars");
    assert!(
        stdout(&words).contains("Vehicles") && stderr(&words).contains("which is not here"),
        "{}",
        stderr(&words)
    );
    let wanted = run(&folder, "ingest docs --source wiki --model all-MiniLM-L6-v2");
    assert_eq!(wanted.status.code(), Some(2));
    assert!(
        stderr(&wanted).contains("`mainstem model pull all-MiniLM-L6-v2` gets it"),
        "{}",
        stderr(&wanted)
    );
    empty(&folder.0);
}
