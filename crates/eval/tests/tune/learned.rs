//! A learned ranker is taken where it helps, and refused where it does not.

use std::sync::Arc;

use mainstem_core::{Answer, PipelineSpec, Replay, Search, Step};
use mainstem_eval::Measure;
use mainstem_eval::tune::learn::{Model, learn};
use mainstem_eval::tune::{Options, Setting, Task};
use serde_json::json;

use crate::made::{Made, Random, search};

fn task<'a>(made: &'a Made, base: &'a Setting) -> Task<'a> {
    Task {
        recordings: &made.recordings,
        qrels: &made.qrels,
        judged_source: None,
        base,
        space: None,
        measure: Measure::parse("nDCG@10").unwrap(),
        guards: Vec::new(),
        options: Options { folds: 3, ..Options::default() },
    }
}

fn present() -> Setting {
    Setting::from_json(serde_json::json!({"pipeline": {}})).unwrap()
}

#[test]
fn what_no_weights_can_say_is_learned() {
    let mut random = Random(9);
    // Relevant is what both channels put in the middle: no weighted sum can find that.
    let made = Made::new(60, |_| {
        let (dense, lexical) = (random.order(20), random.order(20));
        let relevant = dense[6..10].iter().map(|doc| (format!("d{doc}"), 1)).collect();
        (search(&dense, &lexical), relevant)
    });
    let base = present();
    let learned = learn(&task(&made, &base), &base).unwrap();
    assert!(learned.better && learned.gain > 0.2, "{} {}", learned.settings, learned.out_of_fold);
    // What is written does the same when it is read.
    let text = serde_json::to_string(&learned.model).unwrap();
    let again = Model::from_json(&text).unwrap();
    let ids = |model: &Model| -> Vec<String> {
        let answer = model.run(&made.recordings[0].replay.search).unwrap();
        assert!(answer.status.notes.is_empty(), "{:?}", answer.status.notes);
        assert!(answer.hits.iter().all(|hit| hit.ledger.replay() == hit.score), "the ledger replays");
        assert!(
            answer.hits.iter().all(|hit| hit
                .ledger
                .steps
                .iter()
                .any(|step| matches!(step, Step::Learned { .. })))
        );
        answer.hits.into_iter().map(|hit| hit.id).collect()
    };
    assert_eq!(ids(&learned.model), ids(&again));
    falls_back(&again, &made.recordings[0].replay);
}

/// Where a search lacks what the model was trained with, everything stays as it is, and the status says why.
fn falls_back(model: &Model, replay: &Replay) {
    let spec = |method: &str| -> PipelineSpec {
        serde_json::from_value(json!({"fuse": {"method": method}, "learned": {"model": "-"}})).unwrap()
    };
    let run = |spec: &PipelineSpec, search: &Search| spec.check().unwrap().run(search).unwrap();
    let search = Search { learned: Some(Arc::new(model.clone())), ..replay.search.clone() };
    let mut deaf = search.clone();
    deaf.candidates.weigh(|leg| if leg.channel() == "dense" { 0.0 } else { leg.weight }).unwrap();
    let cases = [
        (spec("rrf"), replay.search.clone(), "there is no model"),
        (spec("isr"), search.clone(), "fused in another way"),
        (spec("rrf"), deaf, "the channel `dense`"),
    ];
    for (spec, search, why) in cases {
        let answer = run(&spec, &search);
        let stage = answer.status.stages.iter().find(|stage| stage.stage == "learned").unwrap();
        assert!(stage.reason.as_ref().is_some_and(|reason| reason.contains(why)), "{why}: {stage:?}");
        let without = run(&PipelineSpec { learned: None, ..spec }, &search);
        let scores =
            |answer: Answer| -> Vec<_> { answer.hits.into_iter().map(|hit| (hit.id, hit.score)).collect() };
        assert_eq!(scores(answer), scores(without), "{why}");
    }
    assert!(run(&spec("rrf"), &search).status.stages.iter().all(|stage| stage.reason.is_none()));
}

#[test]
fn random_judgements_teach_nothing() {
    // One draw can be lucky; the rate must be that of the test, one-sided.
    let base = present();
    let taken = (0..20).filter(|&seed| {
        let mut random = Random(seed);
        let made = Made::new(50, |_| {
            let relevant = random.order(12).into_iter().take(3).map(|doc| (format!("d{doc}"), 1)).collect();
            (search(&random.order(12), &random.order(12)), relevant)
        });
        learn(&task(&made, &base), &base).unwrap().better
    });
    let taken = taken.count();
    assert!(taken <= 1, "taken {taken} times of 20");
}

#[test]
fn few_queries_and_broken_models_are_refused() {
    let made = Made::new(12, |_| (search(&[1, 2], &[2, 1]), vec![("d1".to_owned(), 1)]));
    let base = present();
    assert!(learn(&task(&made, &base), &base).unwrap_err().to_string().contains("at least 50"));
    for broken in [
        "{}",
        "nonsense",
        r#"{"version":1,"features":{"common":[],"channels":[],"sources":[]},"pipeline":{},"trees":[]}"#,
        r#"{"version":2,"features":{"common":["score"],"channels":[],"sources":[]},"pipeline":{},"trees":[]}"#,
    ] {
        assert!(Model::from_json(broken).is_err(), "{broken}");
    }
    let common = r#""common":["score","rank","agreement","copies","age","words"]"#;
    let model = |trees: &str| {
        let features = format!(r#"{{{common},"channels":[],"sources":[]}}"#);
        Model::from_json(&format!(
            r#"{{"version":2,"features":{features},"pipeline":{{}},"trees":[{trees}]}}"#
        ))
    };
    assert!(model(r#"[{"leaf":0.5}]"#).is_ok());
    for broken in [
        r#"[{"split":{"feature":0,"at":0,"below":0,"above":0}}]"#,
        r#"[{"split":{"feature":6,"at":0,"below":1,"above":2}},{"leaf":0},{"leaf":1}]"#,
    ] {
        assert!(model(broken).is_err(), "{broken}");
    }
}
