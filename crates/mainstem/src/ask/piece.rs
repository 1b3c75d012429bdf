//! A hit as the packer sees it.

use std::ops::Range;

use crate::query::{Response, SearchHit};

/// A part of a document that was found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Piece {
    /// Its name, `source/document#order`.
    pub id: String,
    /// Its place among the hits, from 1.
    pub rank: usize,
    /// Its score.
    pub score: f64,
    /// The source.
    pub source: String,
    /// The kind of the source.
    pub kind: String,
    /// The id of the document within the source.
    pub document: String,
    /// Its place in the document, from 0.
    pub order: u32,
    /// The bytes of the document that it stands for.
    pub span: Range<usize>,
    /// The title of the document.
    pub title: Option<String>,
    /// Where a person can see it.
    pub url: Option<String>,
    /// The day it was written.
    pub date: Option<String>,
    /// Its text.
    pub text: String,
}

impl Piece {
    /// The hits of a search, best first.
    pub fn of(response: &Response) -> Vec<Self> {
        response.hits.iter().map(|hit| Self::new(hit, response)).collect()
    }

    fn new(hit: &SearchHit, response: &Response) -> Self {
        let leg = response.plan.legs.iter().find(|leg| leg.source == hit.source);
        Self {
            id: hit.id.clone(),
            rank: hit.rank,
            score: hit.score,
            source: hit.source.clone(),
            kind: leg
                .map(|leg| leg.kind.clone())
                .filter(|kind| !kind.is_empty())
                .unwrap_or_else(|| hit.source.clone()),
            document: hit.document.clone(),
            order: hit.order,
            span: hit.span.clone(),
            title: hit.title.clone(),
            url: hit.url.clone(),
            date: hit.created_at.as_ref().map(|at| at.to_string().chars().take(10).collect()),
            text: hit.text.clone(),
        }
    }

    /// Whether the two stand next to each other in one document.
    pub(super) fn neighbours(&self, other: &Self) -> bool {
        self.source == other.source
            && self.document == other.document
            && self.order.abs_diff(other.order) == 1
    }

    /// Whether the span says where in the document the text is. Those who bring their own chunks need not.
    fn is_placed(&self) -> bool {
        self.span.len() == self.text.len()
    }

    /// What joins this text to the one that follows it, and how many bytes of that were said already.
    fn joint(&self, next: &Self) -> (&'static str, usize) {
        if !self.is_placed() || !next.is_placed() || next.span.start < self.span.start {
            return ("\n\n", 0);
        }
        let shared = self.span.end.saturating_sub(next.span.start).min(next.text.len());
        let repeated = next.text.get(..shared).is_some_and(|start| self.text.ends_with(start));
        match next.span.start.saturating_sub(self.span.end) {
            0 if shared > 0 && repeated => ("", shared),
            0 if shared == 0 => ("", 0),
            1 => ("\n", 0),
            _ => ("\n\n", 0),
        }
    }
}

/// The text of pieces that follow each other, without what two of them share.
pub(super) fn joined(pieces: &[&Piece]) -> String {
    let mut text = pieces.first().map(|piece| piece.text.clone()).unwrap_or_default();
    for pair in pieces.windows(2) {
        let (joint, said) = pair[0].joint(pair[1]);
        text.push_str(joint);
        text.push_str(&pair[1].text[said..]);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "One. Two. Three.\n\nFour.";

    fn piece(order: u32, span: Range<usize>) -> Piece {
        Piece { order, text: TEXT[span.clone()].to_owned(), span, ..Piece::default() }
    }

    #[test]
    fn what_two_pieces_share_is_said_once() {
        let [a, b, c] = [piece(0, 0..9), piece(1, 5..16), piece(2, 18..23)];
        assert_eq!(joined(&[&a, &b]), "One. Two. Three.");
        assert_eq!(joined(&[&a, &b, &c]), TEXT);
        assert_eq!(joined(&[&piece(0, 0..4), &piece(1, 5..9)]), "One.\nTwo.");
    }

    #[test]
    fn spans_that_lie_are_not_believed() {
        let a = Piece { text: "One.".into(), span: 0..9, ..Piece::default() };
        let b = Piece { text: "Two.".into(), span: 0..0, ..Piece::default() };
        assert_eq!(joined(&[&a, &b]), "One.\n\nTwo.");
        let c = Piece { text: "abcd".into(), span: 0..4, ..Piece::default() };
        let d = Piece { text: "wxyz".into(), span: 2..6, ..Piece::default() };
        assert_eq!(joined(&[&c, &d]), "abcd\n\nwxyz");
    }

    #[test]
    fn neighbours_are_of_one_document() {
        let a = Piece { source: "s".into(), document: "d".into(), order: 3, ..Piece::default() };
        assert!(
            a.neighbours(&Piece { order: 2, ..a.clone() }) && a.neighbours(&Piece { order: 4, ..a.clone() })
        );
        assert!(!a.neighbours(&a) && !a.neighbours(&Piece { order: 5, ..a.clone() }));
        assert!(!a.neighbours(&Piece { order: 4, source: "t".into(), ..a.clone() }));
    }
}
