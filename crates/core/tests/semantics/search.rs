//! Searches in short notation, and what came out of them.

use mainstem_core::{Answer, Error, Replay};

/// The clock of all searches.
pub(crate) const NOW: &str = "2026-01-31T00:00:00Z";

/// A list in short notation: `a 12.5, b 11, c` holds two items with scores and one without.
pub(crate) fn list(name: &str, items: &str) -> String {
    weighted(name, 1.0, items)
}

/// The same with a weight.
pub(crate) fn weighted(name: &str, weight: f64, items: &str) -> String {
    let items = items.split(',').map(str::trim).filter(|item| !item.is_empty()).map(|item| {
        match item.split_once(' ') {
            Some((id, score)) => format!(r#"{{"id":"{id}","score":{score}}}"#),
            None => format!(r#"{{"id":"{item}"}}"#),
        }
    });
    listed(name, &format!(r#""weight":{weight:?}"#), &items.collect::<Vec<_>>().join(","))
}

/// A list of items that are written out, with further fields of the list.
pub(crate) fn listed(name: &str, fields: &str, items: &str) -> String {
    let comma = if fields.is_empty() { "" } else { "," };
    format!(r#"{{"name":"{name}"{comma}{fields},"items":[{items}]}}"#)
}

/// A search over lists with this pipeline.
pub(crate) fn search(pipeline: &str, lists: &[String]) -> String {
    format!(r#"{{"now":"{NOW}","pipeline":{{{pipeline}}},"lists":[{}]}}"#, lists.join(","))
}

/// A search over variants, each of which is some lists.
pub(crate) fn variants(pipeline: &str, variants: &[&[String]]) -> String {
    let variants = variants.iter().map(|lists| format!(r#"{{"lists":[{}]}}"#, lists.join(",")));
    format!(
        r#"{{"now":"{NOW}","pipeline":{{{pipeline}}},"variants":[{}]}}"#,
        variants.collect::<Vec<_>>().join(",")
    )
}

/// Runs a search, and replays the ledger of every hit.
#[track_caller]
pub(crate) fn run(json: &str) -> Answer {
    let replay = Replay::from_json(json.as_bytes()).unwrap_or_else(|error| panic!("{error}: {json}"));
    replayed(replay.run().unwrap_or_else(|error| panic!("{error}: {json}")))
}

/// The answer, after the ledger of every hit gave its score to the last bit.
#[track_caller]
pub(crate) fn replayed(answer: Answer) -> Answer {
    for (at, hit) in answer.hits.iter().enumerate() {
        assert_eq!(hit.ledger.replay().to_bits(), hit.score.to_bits(), "`{}`: {:?}", hit.id, hit.ledger);
        assert_eq!(hit.rank, answer.hits[0].rank + at);
    }
    answer
}

/// Runs a search that must be refused.
#[track_caller]
pub(crate) fn refused(json: &str) -> Error {
    let outcome = Replay::from_json(json.as_bytes()).and_then(|replay| replay.run());
    outcome.err().unwrap_or_else(|| panic!("not refused: {json}"))
}

/// The two lists of the published comparison.
pub(crate) fn two_lists() -> [String; 2] {
    [list("bm25", "a 12.5, b 11.0, c 9.2"), list("dense", "b 0.95, c 0.88, d 0.70")]
}

/// The ids in order.
pub(crate) fn ids(answer: &Answer) -> Vec<&str> {
    answer.hits.iter().map(|hit| hit.id.as_str()).collect()
}

/// Ids and scores in order, the scores to a few parts in 10¹².
#[track_caller]
pub(crate) fn expect(answer: &Answer, expected: &[(&str, f64)]) {
    let got: Vec<_> = answer.hits.iter().map(|hit| (hit.id.as_str(), hit.score)).collect();
    let same = got.len() == expected.len()
        && got
            .iter()
            .zip(expected)
            .all(|(got, wanted)| got.0 == wanted.0 && (got.1 - wanted.1).abs() < 5e-12);
    assert!(same, "got {got:?}, expected {expected:?}");
}

/// The same to six digits, for numbers taken from elsewhere.
#[track_caller]
pub(crate) fn expect_rounded(answer: &Answer, expected: &[(&str, f64)]) {
    let got: Vec<_> = answer.hits.iter().map(|hit| (hit.id.as_str(), hit.score)).collect();
    let same = got.len() == expected.len()
        && got.iter().zip(expected).all(|(got, wanted)| got.0 == wanted.0 && (got.1 - wanted.1).abs() < 1e-6);
    assert!(same, "got {got:?}, expected {expected:?}");
}

/// The score of a hit.
#[track_caller]
pub(crate) fn score(answer: &Answer, id: &str) -> f64 {
    answer.hits.iter().find(|hit| hit.id == id).map(|hit| hit.score).unwrap()
}

/// Everything that a caller sees, as bytes.
pub(crate) fn bytes(answer: &Answer) -> String {
    serde_json::to_string_pretty(answer).unwrap()
}
