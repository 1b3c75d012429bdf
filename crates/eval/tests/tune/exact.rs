//! What is left out of the recordings before they are run changes nothing: values are those of the whole pipeline.

use mainstem_core::{PipelineSpec, Replay};
use mainstem_eval::tune::{Options, Setting, Task, tune};
use mainstem_eval::{Measure, RunBuilder, Settings, evaluate};
use serde_json::{Value, json};

use crate::made::{Made, Random, space};

/// Chunks of documents with texts, some of them copies of each other, keys, times and vectors.
fn rich(random: &mut Random) -> Replay {
    let words = ["Alpha", "beta", "gamma", "delta", "Épsilon", "zeta", "eta", "theta"];
    let mut items = |source: &str, count: usize| -> Vec<Value> {
        let order = random.order(count);
        let item = |(rank, at): (usize, usize)| {
            let text: Vec<&str> = (0..6).map(|_| words[random.below(4 + at % 5)]).collect();
            json!({"id": format!("{source}{at}"), "score": 1.0 - rank as f64 / 50.0, "text": text.join(" "),
                   "document": format!("{source}/d{}", at / 2), "order": at % 2, "key": format!("k{}", random.below(30)),
                   "url": format!("u{}", random.below(20)), "created_at": format!("2026-01-{:02}", 1 + random.below(28)),
                   "vector": [at as f64, 1.0, 0.5]})
        };
        order.into_iter().enumerate().map(item).collect()
    };
    let lists = json!([
        {"name": "wiki/dense", "items": items("wiki", 14)}, {"name": "wiki/lexical", "items": items("wiki", 14)},
        {"name": "chat/dense", "items": items("chat", 10)}, {"name": "chat/lexical", "items": items("chat", 10)},
    ]);
    let replay = json!({"now": "2026-02-01", "lists": lists});
    Replay::from_json(replay.to_string().as_bytes()).unwrap()
}

/// The mean of the present settings, by the tuner and by hand.
fn both(pipeline: &Value, extra: &Value, measure: &str) -> (f64, f64) {
    let mut random = Random(11);
    let made = Made::new(12, |_| {
        let relevant = (0..7).map(|at| (format!("d{at}"), at % 3)).collect();
        (rich(&mut random), relevant)
    });
    let mut settings = json!({"pipeline": pipeline});
    settings.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
    let base = Setting::from_json(settings).unwrap();
    let nothing = space(json!({"axis": []}));
    let task = Task {
        recordings: &made.recordings,
        qrels: &made.qrels,
        judged_source: Some("wiki"),
        base: &base,
        space: Some(&nothing),
        measure: Measure::parse(measure).unwrap(),
        guards: Vec::new(),
        options: Options { threads: 2, ..Options::default() },
    };
    let outcome = tune(&task, &|_| ()).unwrap();
    let mut run = RunBuilder::default();
    for recording in &made.recordings {
        let spec: PipelineSpec = serde_json::from_value(pipeline.clone()).unwrap();
        let answer = Replay { pipeline: spec, ..recording.replay.clone() }.run().unwrap();
        for hit in &answer.hits {
            let name = hit.item.document.as_deref().unwrap_or(&hit.id);
            let name = name.strip_prefix("wiki/").unwrap_or(name);
            run.push(&recording.query, name, -(hit.rank as f64));
        }
    }
    let measure = [Measure::parse(measure).unwrap()];
    let by_hand = evaluate(&made.qrels, &run.finish(), &measure, &Settings::default()).means()[0];
    (outcome.before, by_hand)
}

#[test]
fn values_are_those_of_the_whole_pipeline() {
    let pipelines = [
        json!({}),
        json!({"dedup": {"within": 0.5, "across": 0.6}}),
        json!({"dedup": {"across": 0.9}, "across": "score", "fuse": {"method": "linear"}}),
        json!({"dedup": {"across": 0.9, "by": "cosine"}}),
        json!({"dedup": {"across": 0.8, "keys": ["url", "key"]}}),
        json!({"diversify": {"lambda": 0.4}, "limit": 3}),
        json!({"recency": {"*": {"half_life": "10d", "weight": 0.5}}, "fuse": {"method": "rsf"}}),
        json!({"aggregate": "mean", "min_score": 0.01}),
    ];
    for pipeline in &pipelines {
        for measure in ["nDCG@5", "AP"] {
            let mut whole = pipeline.clone();
            whole.as_object_mut().unwrap().remove("limit");
            let (tuned, by_hand) = both(&whole, &json!({}), measure);
            assert!((tuned - by_hand).abs() < 1e-12, "{whole} {measure}: {tuned} {by_hand}");
            assert!(by_hand > 0.0);
        }
    }
}

#[test]
fn candidates_and_weights_are_applied() {
    let all = both(&json!({}), &json!({}), "nDCG@10").0;
    let few = both(&json!({}), &json!({"candidates": 2}), "nDCG@10").0;
    assert!(few < all, "{few} {all}");
    let merged = both(&json!({"across": "score"}), &json!({"candidates": 2}), "nDCG@10").0;
    assert_ne!(merged, few);
    let off = both(&json!({}), &json!({"weights": {"wiki": 0}}), "nDCG@10").0;
    assert_eq!(off, 0.0);
    let named = both(&json!({}), &json!({"weights": {"dense": 0, "wiki/lexical": 2}}), "nDCG@10").0;
    assert_ne!(named, all);
}
