//! What each interface is asked, and how its answer is read.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::Shape;

/// The body of the call. All texts are asked for: a service that gives the best few alone would leave the others without a score.
pub(super) fn body(shape: Shape, model: &str, query: &str, texts: &[&str]) -> Value {
    match shape {
        Shape::Cohere => json!({"model": model, "query": query, "documents": texts, "top_n": texts.len()}),
        Shape::Jina => json!({
            "model": model, "query": query, "documents": texts, "top_n": texts.len(), "return_documents": false,
        }),
        Shape::Tei => json!({
            "query": query, "texts": texts, "raw_scores": false, "return_text": false, "truncate": true,
        }),
    }
}

#[derive(Deserialize)]
struct Results {
    results: Vec<Scored>,
}

#[derive(Deserialize)]
struct Scored {
    index: usize,
    #[serde(alias = "relevance_score")]
    score: f64,
}

/// The scores of an answer, in the order of the texts: exactly one for each.
pub(super) fn read(shape: Shape, answer: &[u8], count: usize) -> Result<Vec<f64>, String> {
    let received = match shape {
        Shape::Cohere | Shape::Jina => parse::<Results>(answer)?.results,
        Shape::Tei => parse(answer)?,
    };
    if received.len() != count {
        return Err(format!("expected {count} scores, received {}", received.len()));
    }
    let mut scores = vec![None; count];
    for Scored { index, score } in received {
        let place = scores.get_mut(index).ok_or_else(|| {
            format!("expected scores for the texts 0 to {}, received one for {index}", count - 1)
        })?;
        if place.replace(score).is_some() {
            return Err(format!("expected one score for text {index}, received two"));
        }
        if !score.is_finite() {
            return Err(format!("expected a finite score for text {index}, received {score}"));
        }
    }
    Ok(scores.into_iter().flatten().collect())
}

fn parse<T: DeserializeOwned>(answer: &[u8]) -> Result<T, String> {
    serde_json::from_slice(answer).map_err(|error| format!("the answer is not as expected: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_come_in_any_order() {
        let cohere = br#"{"id":"x","results":[{"index":1,"relevance_score":0.9},{"index":0,"relevance_score":0.1}],"meta":{}}"#;
        assert_eq!(read(Shape::Cohere, cohere, 2).unwrap(), [0.1, 0.9]);
        assert_eq!(read(Shape::Jina, cohere, 2).unwrap(), [0.1, 0.9]);
        assert_eq!(
            read(Shape::Tei, br#"[{"index":1,"score":1},{"index":0,"score":-2.5}]"#, 2).unwrap(),
            [-2.5, 1.0]
        );
    }

    #[test]
    fn nonsense_is_refused() {
        for answer in [
            "",
            "[]",
            "{}",
            r#"[{"index":0,"score":1}]"#,
            r#"[{"index":0,"score":1},{"index":0,"score":1}]"#,
            r#"[{"index":0,"score":1},{"index":2,"score":1}]"#,
            r#"[{"index":-1,"score":1},{"index":0,"score":1}]"#,
            r#"[{"index":0,"score":NaN},{"index":1,"score":1}]"#,
            r#"[{"index":0,"score":1e999},{"index":1,"score":1}]"#,
            r#"[{"index":0,"score":null},{"index":1,"score":1}]"#,
            r#"[{"index":0,"score":1},{"index":1,"score":1},{"index":2,"score":1}]"#,
        ] {
            assert!(read(Shape::Tei, answer.as_bytes(), 2).is_err(), "{answer}");
        }
    }
}
