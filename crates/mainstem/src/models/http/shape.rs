//! What each interface is asked, and how its answer is read.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::Shape;

/// What the vectors are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    /// To be found.
    Document,
    /// To find.
    Query,
}

/// What a service is asked.
pub(super) struct Question<'a> {
    /// The model.
    pub(super) model: &'a str,
    /// The texts, as they are.
    pub(super) texts: &'a [&'a str],
    /// Whether the service may cut them.
    pub(super) cut: bool,
    /// What the vectors are for.
    pub(super) purpose: Use,
}

impl Question<'_> {
    /// The body of the call.
    pub(super) fn body(&self, shape: Shape) -> Value {
        let Self { model, texts, cut, purpose } = self;
        match shape {
            Shape::OpenAi => json!({"model": model, "input": texts, "encoding_format": "float"}),
            Shape::Tei => json!({"inputs": texts, "normalize": true, "truncate": cut}),
            Shape::Ollama => json!({"model": model, "input": texts, "truncate": cut}),
            Shape::Cohere => json!({
                "model": model,
                "texts": texts,
                "input_type": if *purpose == Use::Query { "search_query" } else { "search_document" },
                "embedding_types": ["float"],
                "truncate": if *cut { "END" } else { "NONE" },
            }),
        }
    }
}

#[derive(Deserialize)]
struct OpenAi {
    data: Vec<Indexed>,
}

#[derive(Deserialize)]
struct Indexed {
    index: Option<usize>,
    embedding: Vec<f32>,
}

#[derive(Deserialize)]
struct Cohere {
    embeddings: Floats,
}

#[derive(Deserialize)]
struct Floats {
    float: Vec<Vec<f32>>,
}

#[derive(Deserialize)]
struct Ollama {
    embeddings: Vec<Vec<f32>>,
}

/// The vectors of an answer, in the order of the texts.
pub(super) fn read(shape: Shape, answer: &[u8], count: usize) -> Result<Vec<Vec<f32>>, String> {
    let vectors = match shape {
        Shape::OpenAi => in_order(parse::<OpenAi>(answer)?.data)?,
        Shape::Tei => parse(answer)?,
        Shape::Cohere => parse::<Cohere>(answer)?.embeddings.float,
        Shape::Ollama => parse::<Ollama>(answer)?.embeddings,
    };
    if vectors.len() == count {
        Ok(vectors)
    } else {
        Err(format!("expected {count} vectors, received {}", vectors.len()))
    }
}

fn parse<T: DeserializeOwned>(answer: &[u8]) -> Result<T, String> {
    serde_json::from_slice(answer).map_err(|error| format!("the answer is not as expected: {error}"))
}

/// By the index that comes with each vector: services may answer in another order. Where none comes, they are in order.
fn in_order(mut data: Vec<Indexed>) -> Result<Vec<Vec<f32>>, String> {
    if data.iter().any(|one| one.index.is_some()) {
        data.sort_by_key(|one| one.index);
        let wrong = data.iter().enumerate().find(|(place, one)| Some(*place) != one.index);
        if let Some((place, one)) = wrong {
            let received =
                one.index.map_or_else(|| "one without a number".into(), |index| format!("one for {index}"));
            return Err(format!("expected a vector for text {place}, received {received}"));
        }
    }
    Ok(data.into_iter().map(|one| one.embedding).collect())
}
