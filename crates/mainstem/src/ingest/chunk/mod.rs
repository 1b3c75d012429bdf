//! Cutting texts into chunks.
//!
//! Every chunker keeps to the same rules. The text of a chunk is the text of its span, and neither starts nor ends with white space. Spans
//! lie on character boundaries and start one behind the other. No chunk has more than [`Size::most`] characters. Nothing but white space
//! is left out.

mod blocks;
mod code;
mod markdown;
mod pack;
mod sentences;
mod text;

use std::ops::Range;

use mainstem_core::contract::Chunker;
use mainstem_core::{Chunk, Document};
use serde_json::Value;

use super::format::Format;

pub use blocks::LineChunker;
pub use code::CodeChunker;
pub use markdown::MarkdownChunker;
pub use text::TextChunker;

/// What joins the headings of a chunk.
pub(super) const JOINT: &str = " › ";

/// How large chunks are, in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Chunks are filled up to this: 900.
    pub target: usize,
    /// What belongs together, such as a table, may be as large as this: 1,200. No chunk is larger.
    pub most: usize,
    /// A sentence up to this length is repeated at the start of the next chunk: 200.
    pub overlap: usize,
}

impl Default for Size {
    fn default() -> Self {
        Self { target: 900, most: 1_200, overlap: 200 }
    }
}

impl Size {
    /// A size that can be kept to: `overlap < target <= most`, and room for a character.
    pub fn new(target: usize, most: usize, overlap: usize) -> Self {
        let most = most.max(8);
        let target = target.clamp(4, most);
        Self { target, most, overlap: overlap.min(target / 2) }
    }
}

/// The chunker of a format.
pub fn chunker(format: Format, size: Size) -> Box<dyn Chunker> {
    match format {
        Format::Markdown | Format::Html => Box::new(MarkdownChunker::new(size)),
        Format::Text => Box::new(TextChunker::new(size)),
        Format::Code(language) => Box::new(CodeChunker::new(language, size)),
        Format::Lines(_) => Box::new(LineChunker::new(size)),
        Format::Whole => Box::new(Whole),
    }
}

/// Cuts a document that has no chunks yet. Code gets the metadata `lines`: the first line of each chunk, from 1.
///
/// A document without text, but with a title, becomes one empty chunk, so that it can be found.
pub fn cut(document: &mut Document, format: Format, size: Size) {
    if !document.chunks.is_empty() {
        return;
    }
    document.chunks = chunker(format, size).chunk(&document.text);
    if document.chunks.is_empty() {
        document.chunks.push(Chunk::default());
    }
    if format.language().is_some() {
        document.metadata.insert("lines".to_owned(), first_lines(&document.text, &document.chunks));
    }
}

fn first_lines(text: &str, chunks: &[Chunk]) -> Value {
    let (mut line, mut from) = (1, 0);
    let mut first = |chunk: &Chunk| {
        line += text[from..chunk.span.start].matches('\n').count();
        from = chunk.span.start;
        Value::from(line)
    };
    chunks.iter().map(&mut first).collect()
}

/// Does not cut.
struct Whole;

impl Chunker for Whole {
    fn chunk(&self, text: &str) -> Vec<Chunk> {
        let whole = [(0..text.len(), None)];
        finish(text, whole)
    }
}

/// Makes chunks of spans: trims them, leaves out what is empty, counts.
fn finish(text: &str, spans: impl IntoIterator<Item = (Range<usize>, Option<String>)>) -> Vec<Chunk> {
    let trimmed = spans.into_iter().map(|(span, heading)| (trim(text, span), heading));
    let filled = trimmed.filter(|(span, _)| !span.is_empty());
    let chunk = |(order, (span, heading)): (u32, (Range<usize>, Option<String>))| {
        let text = text[span.clone()].to_owned();
        Chunk { order, span, text, heading, vector: None }
    };
    (0..).zip(filled).map(chunk).collect()
}

/// The span without white space at its ends.
fn trim(text: &str, span: Range<usize>) -> Range<usize> {
    let inside = &text[span.clone()];
    let start = span.start + (inside.len() - inside.trim_start().len());
    start..(start + inside.trim().len())
}
