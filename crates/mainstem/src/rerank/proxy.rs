//! Reranking for callers who bring their own texts, so that the keys of a service stay here.

use mainstem_core::Failure;
use mainstem_core::diagnostic::Code;
use mainstem_core::time::Moment;
use serde::{Deserialize, Serialize};

use super::Reranking;
use crate::Error;

/// How many documents one call may bring.
pub const MOST_DOCUMENTS: usize = 1000;
/// How many characters a query and each document may have.
pub const LONGEST_TEXT: usize = 100_000;

/// A text with a name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProxyDocument {
    /// The name, which comes back.
    pub id: String,
    /// The text.
    pub text: String,
}

/// What to rerank: `{query, documents: [{id, text}], topN}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ProxyRequest {
    /// The query.
    pub query: String,
    /// The documents.
    pub documents: Vec<ProxyDocument>,
    /// How many results are wanted; all when left out.
    #[serde(default)]
    pub top_n: Option<usize>,
}

/// One document and how well it answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ProxyResult {
    /// The name that the caller gave it.
    pub id: String,
    /// The score: larger is better.
    pub relevance_score: f64,
    /// Its place in the request, from 0.
    pub index: usize,
}

/// The documents, best first: `{results: [{id, relevanceScore, index}]}`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProxyResponse {
    /// The results.
    pub results: Vec<ProxyResult>,
}

/// Reranks the documents of a caller. Equal scores stay in the order of the request.
///
/// # Errors
/// When the request is too large or has no query, or the reranker does not give a usable answer in time.
pub fn rerank(reranking: &Reranking, request: &ProxyRequest, now: &Moment) -> Result<ProxyResponse, Failure> {
    check(request)?;
    if request.documents.is_empty() {
        return Ok(ProxyResponse { results: Vec::new() });
    }
    let texts = request.documents.iter().map(|document| document.text.clone()).collect();
    let scores = reranking.scores(&request.query, texts, now)?;
    let documents = request.documents.iter().zip(scores).enumerate();
    let mut results: Vec<_> = documents
        .map(|(index, (document, relevance_score))| ProxyResult {
            id: document.id.clone(),
            relevance_score,
            index,
        })
        .collect();
    results.sort_by(|a, b| b.relevance_score.total_cmp(&a.relevance_score).then(a.index.cmp(&b.index)));
    results.truncate(request.top_n.unwrap_or(usize::MAX));
    Ok(ProxyResponse { results })
}

fn check(request: &ProxyRequest) -> Result<(), Error> {
    let refused = |message: String, hint: &str| Err(Error::input(message, hint));
    if request.query.trim().is_empty() {
        return refused(
            "the query is empty, expected some words".into(),
            "say what the documents should answer",
        );
    }
    if request.top_n == Some(0) {
        return refused("`topN` is 0, expected at least 1".into(), "leave it out to get all documents");
    }
    let count = request.documents.len();
    if count > MOST_DOCUMENTS {
        let message = format!("expected at most {MOST_DOCUMENTS} documents, received {count}");
        return Err(too_large(message));
    }
    let texts = request.documents.iter().map(|document| &document.text).chain([&request.query]);
    match texts.map(|text| text.chars().count()).max() {
        Some(longest) if longest > LONGEST_TEXT => {
            Err(too_large(format!("expected texts of at most {LONGEST_TEXT} characters, received {longest}")))
        }
        _ => Ok(()),
    }
}

fn too_large(message: String) -> Error {
    let hint = "send fewer or shorter documents".to_owned();
    Error::Input { message, code: Code::TooLarge, hint, place: None }
}
