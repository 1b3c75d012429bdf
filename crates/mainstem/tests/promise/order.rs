//! The order in which sources came.

use mainstem::query::{Engine, Request, Response};
use mainstem_core::time::Moment;

use super::judged::{Judged, Question, unhurried};
use super::recipes::{Vectors, judged, sources, stored};
use super::stored::Stored;

/// The same sources twice, ingested in different orders.
fn two_orders() -> (Judged, [Stored; 2]) {
    let vectors = Vectors::read();
    let mut turned = sources();
    turned.reverse();
    turned.rotate_left(5);
    (judged(&vectors), [sources(), turned].map(|sources| stored(&sources, &vectors)))
}

fn ask(engine: &Engine, question: &Question) -> Response {
    // The clock is an input, or the same search would not be the same.
    let now = Some(Moment::parse("2026-01-31").unwrap());
    engine.search(&Request { now, limit: 50, ..unhurried(question) }).unwrap()
}

/// What a reader sees of the hits: names, scores to the last bit, and what was folded into them.
fn seen(response: &Response) -> Vec<(&str, u64, &[String])> {
    response
        .hits
        .iter()
        .map(|hit| (hit.id.as_str(), hit.score.to_bits(), hit.alternates.as_slice()))
        .collect()
}

#[test]
fn the_order_in_which_sources_came_does_not_matter() {
    let (judged, stored) = two_orders();
    let engines = stored.each_ref().map(Stored::engine);
    for question in &judged.questions {
        let [one, other] = engines.each_ref().map(|engine| ask(engine, question));
        assert_eq!(seen(&one), seen(&other), "{}", question.id);
    }
}

#[test]
fn the_same_search_gives_the_same_bytes() {
    let vectors = Vectors::read();
    let stored = stored(&sources(), &vectors);
    // Another engine, so that nothing is remembered.
    let engines = [&stored, &stored].map(Stored::engine);
    for question in &judged(&vectors).questions {
        let [one, other] =
            engines.each_ref().map(|engine| serde_json::to_string(&ask(engine, question)).unwrap());
        assert_eq!(one, other, "{}", question.id);
    }
}

/// The whole answer, with the rank of every hit in every list.
#[test]
fn the_order_in_which_sources_came_does_not_matter_to_the_last_byte() {
    let (judged, stored) = two_orders();
    let engines = stored.each_ref().map(Stored::engine);
    for question in &judged.questions {
        let [one, other] =
            engines.each_ref().map(|engine| serde_json::to_string(&ask(engine, question)).unwrap());
        assert_eq!(one, other, "{}", question.id);
    }
}
