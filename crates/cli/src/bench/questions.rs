//! What is asked.

use std::fs;
use std::path::Path;

use mainstem::query::Request;
use mainstem::store::EmbeddedStore;
use mainstem_core::contract::Channel;
use mainstem_core::diagnostic::Place;
use mainstem_core::{Document, Failure};

use crate::failure::Problem;

/// How many words of a text are asked for.
const WORDS: usize = 6;

/// One question, with its vector where there is one.
pub(super) struct Question {
    pub(super) text: String,
    pub(super) vector: Option<Vec<f32>>,
}

impl Question {
    /// Asks it, in one channel or in all.
    pub(super) fn request(&self, channel: Option<Channel>) -> Request {
        let channels = channel.map(|channel| vec![channel]);
        Request { vector: self.vector.clone(), channels, ..Request::new(&self.text) }
    }
}

/// Words of documents that are spread evenly over the store.
pub(super) fn of_store(store: &EmbeddedStore, count: usize) -> Result<Vec<Question>, Failure> {
    let mut documents = Vec::new();
    for source in store.sources()? {
        let known = store.documents_of(&source.name)?;
        documents.extend(known.into_iter().map(|document| (source.name.clone(), document.id)));
    }
    let mut questions = Vec::new();
    for at in 0..count.min(documents.len()) {
        let (source, id) = &documents[at * documents.len() / count.min(documents.len())];
        questions.extend(store.document(source, id)?.as_ref().and_then(question));
    }
    Ok(questions)
}

/// A few words from the middle of a document.
fn question(document: &Document) -> Option<Question> {
    let chunk = document.chunks.get(document.chunks.len() / 2)?;
    let words: Vec<&str> = chunk.text.split_whitespace().collect();
    let first = words.len().saturating_sub(WORDS) / 2;
    let text = words.iter().skip(first).take(WORDS).copied().collect::<Vec<_>>().join(" ");
    (!text.is_empty()).then(|| Question { text, vector: chunk.vector.clone() })
}

/// The lines of a file.
pub(super) fn of_file(file: &Path, count: usize) -> Result<Vec<Question>, Failure> {
    let name = file.display().to_string();
    let read = fs::read_to_string(file);
    let text = read.map_err(|source| Problem::Read { place: Place::default().in_file(&name), source })?;
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let questions: Vec<_> =
        lines.take(count).map(|line| Question { text: line.to_owned(), vector: None }).collect();
    if questions.is_empty() {
        let (expected, received) = ("a question on each line", "an empty file");
        return Err(
            Problem::from(mainstem_core::Error::range(format!("`{name}`"), expected, received)).into()
        );
    }
    Ok(questions)
}
