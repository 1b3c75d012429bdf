//! Passages in the making, and how they are written.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::context::Included;
use crate::ask::piece::{Piece, joined};
use crate::ask::quote::{fence, quote, title};

/// A passage in the making.
#[derive(Clone)]
pub(super) struct Draft<'a> {
    /// The hit that brought it in.
    pub(super) lead: &'a Piece,
    /// All its pieces, in the order of the document.
    pub(super) pieces: Vec<&'a Piece>,
    /// What is quoted.
    pub(super) text: String,
    /// Why it is in.
    pub(super) why: Included,
    /// Whether the end is missing.
    pub(super) cut: bool,
}

impl<'a> Draft<'a> {
    pub(super) fn new(piece: &'a Piece, why: Included) -> Self {
        Self { lead: piece, pieces: vec![piece], text: quote(piece.text.trim()), why, cut: false }
    }

    /// Whether a piece stands beside one of this passage.
    pub(super) fn touches(&self, piece: &Piece) -> bool {
        self.pieces.iter().any(|own| own.neighbours(piece))
    }

    /// The passage with one more piece.
    pub(super) fn with(mut self, piece: &'a Piece) -> Self {
        self.pieces.push(piece);
        self.pieces.sort_by_key(|piece| piece.order);
        self.text = quote(joined(&self.pieces).trim());
        self
    }

    /// Two passages as one.
    pub(super) fn and(self, other: Self) -> Self {
        other.pieces.into_iter().fold(self, Self::with)
    }

    /// The passage under its number.
    pub(super) fn block(&self, n: usize, fence: &str, shared: &BTreeSet<&str>) -> String {
        let mut out = format!("[Source {n}: {}", label(&self.lead.kind));
        if shared.contains(self.lead.kind.as_str()) {
            let _ = write!(out, " ({})", title(&self.lead.source));
        }
        let name = self.lead.title.as_deref().map(title).filter(|title| !title.is_empty());
        let _ = writeln!(out, " - \"{}\"]", name.unwrap_or_else(|| title(&self.lead.document)));
        if let Some(date) = &self.lead.date {
            let _ = writeln!(out, "Written {date}");
        }
        let _ = write!(out, "{fence}\n{}\n{fence}", self.text);
        out
    }
}

/// The whole context.
pub(super) fn render(drafts: &[Draft<'_>], shared: &BTreeSet<&str>) -> String {
    let fence = fence(drafts.iter().map(|draft| draft.text.as_str()));
    let blocks = drafts.iter().zip(1..).map(|(draft, n)| draft.block(n, &fence, shared));
    blocks.collect::<Vec<_>>().join("\n\n")
}

/// How a heading names one thing of this kind.
pub(in crate::ask) fn label(kind: &str) -> String {
    match kind {
        "books" => "Book".to_owned(),
        "games" => "Game".to_owned(),
        "reviews" => "Review".to_owned(),
        "github" => "GitHub".to_owned(),
        "" => "Document".to_owned(),
        other => {
            let plain = title(other);
            let mut chars = plain.chars();
            let first = chars.next().map(char::to_uppercase).into_iter().flatten();
            first.chain(chars).collect()
        }
    }
}
