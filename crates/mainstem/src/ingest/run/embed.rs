//! Embedding the chunks that have no vector.

use mainstem_core::contract::{Ctx, Embedder};
use mainstem_core::time::Moment;
use mainstem_core::{Chunk, Document, Failure};

use super::super::chunk::JOINT;
use crate::Error;

/// A chunk that waits for its vector.
pub(super) struct Waiting {
    document: usize,
    chunk: usize,
    text: String,
    vector: Option<Vec<f32>>,
}

/// What a model reads of a chunk: title, headings and text, so that a part says what it is a part of.
///
/// Headings that repeat the title or stand in the text already are left out.
pub fn reading(document: &Document, chunk: &Chunk) -> String {
    let title = document.title.as_deref().unwrap_or_default().trim();
    let heading = chunk.heading.as_deref().unwrap_or_default();
    let shown = |part: &&str| *part != title && !chunk.text.lines().take(4).any(|line| line.contains(*part));
    let headings = heading.split(JOINT).filter(|part| !part.is_empty()).filter(shown);
    let repeated = chunk.text.trim_start_matches(['#', ' ']).starts_with(title);
    let title = Some(title).filter(|title| !title.is_empty() && !repeated);
    let text = Some(chunk.text.as_str()).filter(|text| !text.is_empty());
    title.into_iter().chain(headings).chain(text).collect::<Vec<_>>().join(" ")
}

/// The chunks that have no vector.
pub(super) fn waiting(documents: &[Document]) -> Vec<Waiting> {
    let mut waiting = Vec::new();
    for (at, document) in documents.iter().enumerate() {
        let bare = document.chunks.iter().enumerate().filter(|(_, chunk)| chunk.vector.is_none());
        let wait =
            |(chunk, part)| Waiting { document: at, chunk, text: reading(document, part), vector: None };
        waiting.extend(bare.map(wait));
    }
    // Texts of like length go through a model together without being filled up.
    waiting.sort_by_key(|wait| wait.text.len());
    waiting
}

/// Embeds, and says how many texts were longer than the model reads.
pub(super) fn embed(embedder: &dyn Embedder, part: &mut [Waiting]) -> Result<usize, Failure> {
    let texts: Vec<&str> = part.iter().map(|wait| wait.text.as_str()).collect();
    let answers = embedder.embed(&texts, &Ctx::unhurried(Moment::now()))?;
    if answers.len() != part.len() {
        let message = format!("the model gave {} vectors for {} texts", answers.len(), part.len());
        return Err(Box::new(Error::Internal(message)));
    }
    let cut = answers.iter().filter(|answer| answer.cut).count();
    for (wait, answer) in part.iter_mut().zip(answers) {
        wait.vector = Some(answer.vector);
    }
    Ok(cut)
}

/// Gives the chunks their vectors.
pub(super) fn put_back(documents: &mut [Document], waiting: Vec<Waiting>) {
    for wait in waiting {
        documents[wait.document].chunks[wait.chunk].vector = wait.vector;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_says_what_it_is_a_part_of() {
        let document = Document { title: Some("Guide".into()), ..Document::default() };
        let chunk = |heading: &str, text: &str| Chunk {
            heading: Some(heading.to_owned()).filter(|heading| !heading.is_empty()),
            text: text.to_owned(),
            ..Chunk::default()
        };
        let read = |heading, text| reading(&document, &chunk(heading, text));
        assert_eq!(read("", "Body"), "Guide Body");
        assert_eq!(read("Guide › Setup", "Body"), "Guide Setup Body");
        assert_eq!(read("Guide › Setup", "## Setup\n\nBody"), "Guide ## Setup\n\nBody");
        assert_eq!(read("Guide", "# Guide\n\nBody"), "# Guide\n\nBody");
        assert_eq!(read("", ""), "Guide");
    }
}
