//! What the cases are written in.

use std::ops::Range;
use std::sync::Arc;

use mainstem_core::contract::{
    Applied, Change, Channel, Ctx, Filter, Found, FoundIn, Retrieval, Store, View,
};
use mainstem_core::time::Moment;
use mainstem_core::{Chunk, Document};

use super::DIM;

/// A vector of the suite.
pub(super) type Vector = [f32; DIM];

/// Vectors at right angles, and two between the first and the second: nearer to the first, and nearer to the second.
pub(super) const X: Vector = [1.0, 0.0, 0.0, 0.0];
pub(super) const Y: Vector = [0.0, 1.0, 0.0, 0.0];
pub(super) const Z: Vector = [0.0, 0.0, 1.0, 0.0];
pub(super) const XY: Vector = [0.8, 0.6, 0.0, 0.0];
pub(super) const YX: Vector = [0.6, 0.8, 0.0, 0.0];

/// A document of one chunk with a vector.
pub(super) fn document(source: &str, id: &str, text: &str, vector: Vector) -> Document {
    chunked(source, id, &[(text, vector)])
}

/// A document of these chunks.
pub(super) fn chunked(source: &str, id: &str, parts: &[(&str, Vector)]) -> Document {
    let mut text = String::new();
    let mut add = |part: &str| -> Range<usize> {
        let start = text.len();
        text.push_str(part);
        let span = start..text.len();
        text.push('\n');
        span
    };
    let chunk = |(order, (part, vector)): (usize, &(&str, Vector))| Chunk {
        order: order as u32,
        span: add(part),
        text: (*part).to_owned(),
        heading: None,
        vector: Some(vector.to_vec()),
    };
    let chunks = parts.iter().enumerate().map(chunk).collect();
    Document { source: source.into(), id: id.into(), text, chunks, ..Document::default() }
}

/// Puts documents.
pub(super) fn put(store: &dyn Store, documents: impl IntoIterator<Item = Document>) -> Applied {
    store.apply(documents.into_iter().map(Change::Put).collect()).expect("documents that can be stored")
}

/// Deletes a document.
pub(super) fn delete(store: &dyn Store, source: &str, id: &str) -> Applied {
    let change = Change::Delete { source: source.into(), id: id.into() };
    store.apply(vec![change]).expect("a deletion")
}

/// The store as it is now.
pub(super) fn now(store: &dyn Store) -> Arc<dyn View> {
    store.view().expect("a view")
}

/// Searches by words or by meaning.
pub(super) fn ask<'a>(text: &'a str, vector: Option<&'a [f32]>, filter: &'a Filter) -> Retrieval<'a> {
    let channel = if vector.is_some() { Channel::Dense } else { Channel::Lexical };
    Retrieval { channel, text, vector, filter, limit: 10 }
}

/// The answer to a question.
pub(super) fn answer(view: &dyn View, retrieval: &Retrieval<'_>) -> Vec<FoundIn> {
    let mut answer = view.retrieve(retrieval, &Ctx::unhurried(Moment::now())).expect("an answer");
    answer.sort_by(|a, b| a.source.cmp(&b.source));
    assert!(answer.iter().all(|source| !source.found.is_empty()), "a source without hits is left out");
    for FoundIn { source, found } in &answer {
        let sorted = found.windows(2).all(|pair| pair[0].score >= pair[1].score);
        assert!(sorted, "best first in `{source}`: {found:?}");
        assert!(found.len() <= retrieval.limit, "more than {} in `{source}`", retrieval.limit);
    }
    answer
}

/// The names of chunks that were found, in order, such as `wiki/a#0`.
pub(super) fn names(view: &dyn View, found: &[Found]) -> Vec<String> {
    let ids: Vec<_> = found.iter().map(|found| found.chunk).collect();
    let chunks = view.fetch(&ids).expect("chunks");
    assert!(chunks.iter().map(|chunk| chunk.id).eq(ids), "what is found can be fetched, in the order asked");
    chunks.iter().map(mainstem_core::StoredChunk::name).collect()
}

/// All names of an answer, source by source.
pub(super) fn all_names(view: &dyn View, retrieval: &Retrieval<'_>) -> Vec<String> {
    answer(view, retrieval).iter().flat_map(|source| names(view, &source.found)).collect()
}

/// What is found by words.
pub(super) fn by_words(store: &dyn Store, text: &str) -> Vec<String> {
    all_names(&*now(store), &ask(text, None, &Filter::default()))
}

/// What is found by meaning.
pub(super) fn by_meaning(store: &dyn Store, vector: Vector) -> Vec<String> {
    all_names(&*now(store), &ask("", Some(&vector), &Filter::default()))
}

/// What is found with a filter, which must be the same by words and by meaning.
pub(super) fn filtered(store: &dyn Store, text: &str, vector: Vector, filter: &Filter) -> Vec<String> {
    let view = now(store);
    let mut words = all_names(&*view, &ask(text, None, filter));
    let mut meaning = all_names(&*view, &ask(text, Some(&vector), filter));
    words.sort();
    meaning.sort();
    assert_eq!(words, meaning, "by words and by meaning with {filter:?}");
    words
}
