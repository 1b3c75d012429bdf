//! Filling chunks with pieces.

use std::ops::Range;

use super::Size;

/// A part of a text that is not cut: a sentence, a table, a block of code. Pieces follow each other without gaps.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Piece {
    pub(super) span: Range<usize>,
    /// How many characters it has.
    pub(super) chars: usize,
    /// How many characters the paragraph has that it opens; 0 inside of a paragraph.
    pub(super) ahead: usize,
    /// Whether it may be repeated at the start of the next chunk.
    pub(super) prose: bool,
    /// Whether it is white space alone.
    blank: bool,
}

impl Piece {
    pub(super) fn new(text: &str, span: Range<usize>, prose: bool) -> Self {
        let inside = &text[span.clone()];
        Self { chars: inside.chars().count(), blank: inside.trim().is_empty(), span, ahead: 0, prose }
    }
}

/// Fills chunks up to the target, whole paragraphs where possible. No piece may be larger than the size allows at most.
pub(super) fn pack(pieces: &[Piece], size: Size) -> Vec<Range<usize>> {
    let mut spans = Vec::new();
    let (mut from, mut filled) = (0, 0);
    for (at, piece) in pieces.iter().enumerate() {
        if at > from && !joins(filled, piece, size) {
            spans.push(pieces[from].span.start..pieces[at - 1].span.end);
            let again = repeats(&pieces[from..at], piece, size);
            from = if again { at - 1 } else { at };
            filled = if again { pieces[at - 1].chars } else { 0 };
        }
        filled += piece.chars;
    }
    if let Some(last) = pieces.last() {
        spans.push(pieces[from].span.start..last.span.end);
    }
    spans
}

/// Whether a piece goes into a chunk that has so many characters.
fn joins(filled: usize, piece: &Piece, size: Size) -> bool {
    let half_empty = filled < size.target / 2;
    let limit = if half_empty { size.most } else { size.target };
    filled + piece.chars <= limit && (half_empty || filled + piece.ahead <= limit)
}

/// Whether the last sentence of a full chunk is repeated before `next`.
fn repeats(full: &[Piece], next: &Piece, size: Size) -> bool {
    let [before @ .., last] = full else { return false };
    // A chunk that is one sentence would be repeated as a whole.
    let more = before.iter().any(|piece| !piece.blank) && !last.blank;
    let prose = last.prose && next.prose;
    // Behind white space alone, the next chunk could end before it has anything new.
    more && prose && !next.blank && last.chars <= size.overlap && last.chars + next.chars <= size.target
}

/// Cuts a span into pieces of at most `limit` characters: at ends of lines, else at white space, else between characters.
pub(super) fn split_long(text: &str, span: Range<usize>, limit: usize) -> Vec<Range<usize>> {
    let mut pieces = Vec::new();
    let mut start = span.start;
    while let Some((window, _)) = text[start..span.end].char_indices().nth(limit) {
        let end = start + best_cut(&text[start..start + window]);
        pieces.push(start..end);
        start = end;
    }
    pieces.push(start..span.end);
    pieces
}

/// Where to cut a window: behind the last line of its second half, else behind its last white space, else at its end.
fn best_cut(window: &str) -> usize {
    let half = window.len() / 2;
    let behind =
        |found: Option<(usize, char)>| found.map(|(at, char)| at + char.len_utf8()).filter(|at| *at > half);
    let line = window.rfind('\n').map(|at| (at, '\n'));
    let space = || window.char_indices().rev().find(|(_, char)| char.is_whitespace());
    behind(line).or_else(|| behind(space())).unwrap_or(window.len())
}

/// Pieces out of spans, those that are too long cut further.
pub(super) fn pieces(
    text: &str,
    spans: impl IntoIterator<Item = Range<usize>>,
    limit: usize,
    prose: bool,
) -> Vec<Piece> {
    let mut pieces = Vec::new();
    for span in spans {
        let piece = Piece::new(text, span, prose);
        if piece.chars <= limit {
            pieces.push(piece);
        } else {
            let parts = split_long(text, piece.span, limit);
            pieces.extend(parts.into_iter().map(|part| Piece::new(text, part, prose)));
        }
    }
    pieces
}

/// Notes at the first piece of each paragraph how long the paragraph is. Paragraphs end with a blank line.
pub(super) fn mark_paragraphs(text: &str, pieces: &mut [Piece]) {
    let mut ahead = 0;
    for at in (0..pieces.len()).rev() {
        ahead += pieces[at].chars;
        if at == 0 || ends_paragraph(&text[pieces[at - 1].span.clone()]) {
            pieces[at].ahead = ahead;
            ahead = 0;
        }
    }
}

fn ends_paragraph(piece: &str) -> bool {
    piece[piece.trim_end().len()..].matches('\n').count() > 1
}
