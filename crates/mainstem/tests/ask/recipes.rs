//! The contexts of the sample questions, as a person can review them: `tests/contexts/`.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use mainstem::ask::{AskSettings, Asker, CONSIDERED};
use mainstem::ingest::{Ingest, Jsonl};
use mainstem::query::{Engine, Request, Settings};
use mainstem::store::EmbeddedStore;
use mainstem_core::time::Moment;

/// A recipe, its sources with their kinds, and a question.
type Recipe = (&'static str, &'static [(&'static str, &'static str)], &'static str);

const RECIPES: [Recipe; 5] = [
    (
        "code-review",
        &[("code", "code"), ("reviews", "reviews"), ("wiki", "wiki")],
        "why do we retry only four times",
    ),
    (
        "agent-memory",
        &[("facts", "memory"), ("episodes", "memory"), ("documents", "docs")],
        "how much money may the boat cost now",
    ),
    (
        "desktop",
        &[("slack", "slack"), ("notion", "notion"), ("linear", "linear"), ("gmail", "gmail")],
        "when do we move to the new office",
    ),
    (
        "docs-team",
        &[("guides", "docs"), ("api", "docs"), ("changelog", "docs"), ("faq", "docs")],
        "what does FM-1207 mean for my domain",
    ),
    (
        "chess-tutor",
        &[("books", "books"), ("games", "games")],
        "why is a bishop bad when its pawns stand on its colour",
    ),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The prompt of a recipe's question with its receipts. By words alone, so that it needs no model.
fn prompt(recipe: &str, sources: &[(&str, &str)], query: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let store = Arc::new(EmbeddedStore::init(folder.path()).unwrap());
    let recipe = root().join("recipes").join(recipe);
    for (source, kind) in sources {
        let mut connector = Jsonl::open(&recipe.join(format!("{source}.jsonl"))).unwrap();
        let mut ingest = Ingest::new(source, store.as_ref());
        ingest.strict = true;
        ingest.run(&mut connector, &mut |_| ()).unwrap();
        store.set_source(source, kind).unwrap();
    }
    let engine = Engine::new(store, None, Settings::default());
    let now = Some(Moment::parse("2026-01-31").unwrap());
    let request = Request { limit: CONSIDERED, now, ..Request::new(query) };
    let settings =
        AskSettings { budget: 900, template: Some("prompt.jinja".into()), ..AskSettings::default() };
    let asker = Asker::new(settings, &recipe).unwrap();
    let context = asker.context(&engine.search(&request).unwrap(), None).unwrap();
    assert!(context.tokens <= 900 && context.passages.len() >= 3, "{}", context.text);
    let mut out = asker.prompt(query, &context).unwrap();
    let _ = writeln!(
        out,
        "\n== {} of {} tokens, diversity {:.3}",
        context.tokens, context.budget, context.diversity
    );
    for passage in &context.passages {
        let cut = if passage.cut { ", cut" } else { "" };
        let _ =
            writeln!(out, "[{}] {} ({} tokens{cut}): {}", passage.n, passage.id, passage.tokens, passage.why);
    }
    for left_out in &context.left_out {
        let _ = writeln!(out, "out {}: {}", left_out.id, left_out.why);
    }
    out
}

#[test]
fn contexts_of_the_recipes_are_as_reviewed() {
    for (recipe, sources, query) in RECIPES {
        let made = prompt(recipe, sources, query);
        let path = root().join("tests/contexts").join(format!("{recipe}.txt"));
        if std::env::var_os("UPDATE_GOLDENS").is_some() {
            std::fs::write(&path, &made).unwrap();
        }
        let golden = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(
            made == golden,
            "tests/contexts/{recipe}.txt is stale: look at it after `UPDATE_GOLDENS=1 cargo test -p mainstem --test ask`\n{made}"
        );
    }
}
