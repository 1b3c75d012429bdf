//! What counts as a word.
//!
//! One set of rules serves prose, code, chat, and scripts that are written without spaces; the index, the query and the highlights
//! all use it, so what one of them calls a word the others find.
//!
//! * Text is read in Unicode normal form NFKC and compared in lower case: full-width letters, decomposed Hangul and ligatures
//!   are found by their plain spelling.
//! * English words lose Lucene's 33 stop words and are stemmed (Snowball English). Stop words keep their place, so that phrases
//!   know how far apart words are.
//! * Identifiers are split where a person would (`HTTPServer`, `snake_case`, `kebab-case`, `sha256`, `a/b/c.rs`), and the whole is
//!   a word too: without separators up to the next `/`, `.`, `:` or `@` (`get_user` and `getUser` are one word), as written
//!   beyond.
//! * Han, kana, Hangul, and the scripts of mainland South-East Asia become overlapping pairs of characters: `회의` is in `주간회의록`
//!   and in `회의를`. Word lists would be more precise on text that they cover, and blind on names and slang.
//! * A query of one such character asks for the character, which the index keeps apart ([`characters`]): as a word of its own it would
//!   double the length of every text.
//!
//! The boundaries of UAX 29 are not used for words: they keep `read.me` and `a:b` in one piece, and cut Thai into letters. Its
//! grapheme clusters are used for normalising, because a cluster is what may not be torn apart.

mod analyzer;
mod english;
mod highlight;
mod identifier;
mod letters;
mod query;
mod segment;

pub(crate) use analyzer::{CharacterTokenizer, WordTokenizer};
pub use highlight::{Highlighter, highlights};
pub use query::{Phrase, QueryTerm, Scope, WordQuery, query_terms};

use letters::{Kind, letters};
use segment::segment;

/// A word of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// What is compared: normalised, in lower case, stemmed.
    pub term: String,
    /// Where it starts in the original text, in bytes.
    pub start: usize,
    /// Where it ends in the original text, in bytes.
    pub end: usize,
    /// Its place among the words. An identifier has the place of its first part.
    pub position: u32,
}

/// The words of a text, by position.
///
/// Spans lie on character boundaries; neither starts nor positions ever go back.
pub fn tokens(text: &str) -> Vec<Token> {
    segment(text).into_iter().map(|word| word.token).collect()
}

/// The characters of a text that belong to scripts without spaces, each as a word.
pub fn characters(text: &str) -> Vec<Token> {
    let wide = letters(text).into_iter().filter(|letter| letter.kind == Kind::Wide);
    let token = |(position, letter): (usize, letters::Letter)| Token {
        term: letter.c.to_string(),
        start: letter.start,
        end: letter.end,
        position: position as u32,
    };
    wide.enumerate().map(token).collect()
}

#[cfg(test)]
mod tests;
