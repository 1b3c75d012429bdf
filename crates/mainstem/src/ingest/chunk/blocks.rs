//! Anything that has lines: blocks between blank lines, filled up.

use std::ops::Range;

use mainstem_core::Chunk;
use mainstem_core::contract::Chunker;

use super::pack::{mark_paragraphs, pack, pieces};
use super::{Size, finish};

/// Cuts by lines, at blank lines where possible. For code without a grammar, settings and tables.
#[derive(Clone, Copy, Debug, Default)]
pub struct LineChunker {
    size: Size,
}

impl LineChunker {
    /// Chunks of this size.
    pub fn new(size: Size) -> Self {
        Self { size }
    }
}

impl Chunker for LineChunker {
    fn chunk(&self, text: &str) -> Vec<Chunk> {
        let mut pieces = pieces(text, lines(text, 0..text.len()), self.size.target, false);
        mark_paragraphs(text, &mut pieces);
        finish(text, pack(&pieces, self.size).into_iter().map(|span| (span, None)))
    }
}

/// The lines of a span, each with the blank lines behind it.
pub(super) fn lines(text: &str, span: Range<usize>) -> Vec<Range<usize>> {
    let mut lines: Vec<Range<usize>> = Vec::new();
    let mut at = span.start;
    for line in text[span].split_inclusive('\n') {
        let end = at + line.len();
        match lines.last_mut() {
            Some(last) if line.trim().is_empty() => last.end = end,
            _ => lines.push(at..end),
        }
        at = end;
    }
    lines
}
