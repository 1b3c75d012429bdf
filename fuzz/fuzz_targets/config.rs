//! `mainstem.toml`, on any text: refused in words, or a plan can be made of it or refused in words, and a plan keeps its promises.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use mainstem::query::{Known, Plan, Request, Settings};
use mainstem_core::contract::{Ability, Capabilities, SourceStats};
use mainstem_core::deadline::Deadline;
use mainstem_core::{Diagnostic, PipelineSpec, Replay};
use serde_json::Value;

#[path = "../../crates/cli/src/search/written.rs"]
mod written;

use written::Written;

/// Lists of two sources, to run what was configured on.
static LISTS: LazyLock<Replay> = LazyLock::new(|| {
    Replay::from_json(include_bytes!("../seeds/fuse_json/stages.json")).expect("the lists can be read")
});

fuzz_target!(|data: &[u8]| {
    let Ok(text) = str::from_utf8(data) else { return };
    let written = match Written::read(text) {
        Ok(written) => written,
        Err(error) => return refused(&error),
    };
    assert!(written.weights.values().all(|weight| weight.is_finite() && *weight >= 0.0));
    let deadline = written.deadline.over(Deadline::default());
    assert!(deadline.soft <= deadline.hard && !deadline.soft.is_zero(), "{deadline:?}");
    match plan(written, deadline) {
        Ok(plan) => check(&plan, deadline),
        Err(error) => refused(error.as_ref()),
    }
});

/// Errors are for people.
fn refused(error: &dyn Diagnostic) {
    let place = error.place().map(ToString::to_string);
    let _ = (place, error.hint().map(|hint| hint.len()));
    assert!(!error.to_string().is_empty());
}

fn plan(written: Written, deadline: Deadline) -> Result<Plan, mainstem_core::Failure> {
    let source = |name: &str, kind: &str| SourceStats {
        name: name.into(),
        kind: kind.into(),
        documents: 5,
        chunks: 9,
        vectors: 9,
        ..SourceStats::default()
    };
    let sources = [source("wiki", "files"), source("chat", "slack")];
    let capabilities =
        Capabilities { lexical: Ability::Exact, dense: Ability::Inexact, filters: Ability::Exact };
    let known = Known { sources: &sources, capabilities, model: None };
    let settings = Settings::default();
    let candidates = written.candidates.unwrap_or(settings.candidates);
    let request = Request {
        vector: Some(vec![1.0]),
        pipeline: Value::Object(written.pipeline.unwrap_or_default()),
        deadline: Some(deadline),
        ..Request::new("a river")
    };
    Plan::new(&request, &Settings { candidates, ..settings }, &known)
}

fn check(plan: &Plan, deadline: Deadline) {
    assert_eq!(plan.deadline, deadline);
    assert!(plan.candidates > 0);
    assert!(plan.to_string().contains("fuse "), "{plan}");
    serde_json::to_string(plan).expect("a plan can be written");
    let spec = serde_json::to_string(&plan.pipeline).expect("settings can be written");
    let again: PipelineSpec = serde_json::from_str(&spec).expect("what was written can be read");
    assert_eq!(again, plan.pipeline);
    plan.pipeline.check().expect("what was planned can be run");
    let replay = Replay { pipeline: plan.pipeline.clone(), search: LISTS.search.clone() };
    let answer = match replay.run() {
        Ok(answer) => answer,
        Err(error) => return refused(&error),
    };
    for hit in &answer.hits {
        assert!(hit.score.is_finite(), "`{}` has the score {}", hit.id, hit.score);
        assert_eq!(hit.ledger.replay().to_bits(), hit.score.to_bits(), "`{}` of {spec}", hit.id);
    }
}
