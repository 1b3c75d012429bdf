//! Prose: filled by sentences, with a sentence of overlap.

use mainstem_core::Chunk;
use mainstem_core::contract::Chunker;

use super::pack::{mark_paragraphs, pack, pieces};
use super::sentences::sentences;
use super::{Size, finish};

/// Cuts prose by sentences. A chunk holds whole paragraphs where they fit, and starts with the last sentence of the one before.
#[derive(Clone, Copy, Debug, Default)]
pub struct TextChunker {
    size: Size,
}

impl TextChunker {
    /// Chunks of this size.
    pub fn new(size: Size) -> Self {
        Self { size }
    }
}

impl Chunker for TextChunker {
    fn chunk(&self, text: &str) -> Vec<Chunk> {
        let mut pieces = pieces(text, sentences(text, 0..text.len()), self.size.target, true);
        mark_paragraphs(text, &mut pieces);
        finish(text, pack(&pieces, self.size).into_iter().map(|span| (span, None)))
    }
}
