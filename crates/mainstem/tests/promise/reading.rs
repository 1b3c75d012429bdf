//! Only candidates that may come into the answer are read, and nobody can tell.

use mainstem::query::{Request, Response};
use mainstem_core::time::Moment;
use serde_json::{Value, json};

use super::judged::{Question, unhurried};
use super::recipes::{Vectors, judged, sources, stored};

/// Nothing ages, so that no stage looks at every candidate.
fn request(question: &Question, limit: usize, offset: usize) -> Request {
    let now = Some(Moment::parse("2026-01-31").unwrap());
    Request { now, limit, offset, pipeline: json!({ "recency": null }), ..unhurried(question) }
}

/// The hits with all that is said about them, but for their ranks in the lists: these count copies that were not seen as such.
fn hits(response: &Response) -> Vec<String> {
    let mut hits = serde_json::to_value(&response.hits).unwrap();
    let steps = hits.as_array_mut().unwrap().iter_mut().flat_map(|hit| hit["ledger"].as_array_mut().unwrap());
    for list in steps.filter_map(|step| step.get_mut("lists")?.as_array_mut()).flatten() {
        list["rank"] = Value::Null;
    }
    hits.as_array().unwrap().iter().map(Value::to_string).collect()
}

fn unread(response: &Response) -> usize {
    response.answer.dropped.iter().filter(|dropped| dropped.id.starts_with('#')).count()
}

/// Where a copy changes the scores of others, everything is read, and so all pages are of one order.
#[test]
fn pages_are_of_one_order_whatever_fuses_them() {
    let vectors = Vectors::read();
    let stored = stored(&sources(), &vectors);
    let engine = stored.engine();
    for (question, method) in judged(&vectors).questions.iter().zip(["rrf", "rsf", "borda"].iter().cycle()) {
        let stages = json!({ "recency": null, "fuse": { "method": method }, "across": "score" });
        let asked = |limit, offset| Request { pipeline: stages.clone(), ..request(question, limit, offset) };
        let whole: Vec<_> = hits(&engine.search(&asked(30, 0)).unwrap());
        let pages: Vec<_> = [0, 10, 20]
            .iter()
            .flat_map(|offset| hits(&engine.search(&asked(10, *offset)).unwrap()))
            .collect();
        assert_eq!(pages, whole, "{} by {method}", question.id);
    }
}

#[test]
fn what_is_not_read_changes_no_answer() {
    let vectors = Vectors::read();
    let stored = stored(&sources(), &vectors);
    let engine = stored.engine();
    let mut spared = 0;
    for question in &judged(&vectors).questions {
        for (limit, offset) in [(10, 0), (3, 8), (10, 40), (60, 0)] {
            let some = engine.search(&request(question, limit, offset)).unwrap();
            // With alternatives, everything is read.
            let all = Request { alternatives: true, ..request(question, limit, offset) };
            let all = engine.search(&all).unwrap();
            assert_eq!(unread(&all), 0);
            for (some, all) in hits(&some).iter().zip(&hits(&all)) {
                assert_eq!(some, all, "{} from {offset}", question.id);
            }
            assert_eq!(some.hits.len(), all.hits.len());
            let counted = some.by_source.values().sum::<usize>();
            assert_eq!(counted, some.total, "what is not read is counted with its source");
            spared += unread(&some);
        }
    }
    assert!(spared > 1000, "{spared} were not read");
}
