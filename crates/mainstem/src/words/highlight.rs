//! Where a text says what was asked for.
//!
//! Most pieces of a text are plain words that cannot be meant, and are passed over without being stemmed. The answer is the same as
//! that of looking at every token.

use std::ops::Range;

use rustc_hash::FxHashSet;

use super::english::term;
use super::{Scope, characters, query_terms, tokens};

/// The bytes of a text that match a word of the query, in order, without overlaps.
pub fn highlights(text: &str, query: &str) -> Vec<Range<usize>> {
    Highlighter::new(query).highlights(text)
}

/// A query that is looked for in many texts.
#[derive(Clone, Debug)]
pub struct Highlighter {
    words: FxHashSet<String>,
    single: FxHashSet<String>,
    /// The plain words of the query as they stand there, which need no stemming in a text either.
    plain: Vec<Vec<u8>>,
    /// How a plain word begins that is going to be one of the words.
    stems: Vec<Vec<u8>>,
    /// The letters that these begin with, a bit each: most words of a text begin with another.
    letters: u32,
}

impl Highlighter {
    /// The words of a query.
    pub fn new(query: &str) -> Self {
        let (mut words, mut single) = (FxHashSet::default(), FxHashSet::default());
        for term in query_terms(query) {
            match term.scope {
                Scope::Word => words.insert(term.term),
                Scope::Character => single.insert(term.term),
            };
        }
        let mut stems: Vec<_> = words.iter().map(|word| beginning(word.as_bytes()).to_vec()).collect();
        stems.sort_unstable();
        let letters = stems.iter().filter_map(|stem| stem.first()).fold(0, |all, byte| all | letter(*byte));
        let plain = pieces(query).filter_map(|piece| {
            let piece = &query.as_bytes()[piece];
            Some(piece[plain_word(piece)?].to_ascii_lowercase())
        });
        let is_meant = |word: &Vec<u8>| {
            let word = String::from_utf8(word.clone()).ok();
            word.and_then(term).is_some_and(|term| words.contains(&term))
        };
        let plain = plain.filter(is_meant).collect();
        Self { words, single, plain, stems, letters }
    }

    /// The bytes of a text that match a word of the query, in order, without overlaps.
    pub fn highlights(&self, text: &str) -> Vec<Range<usize>> {
        let mut spans = Vec::new();
        if !self.words.is_empty() {
            for piece in pieces(text) {
                self.look(text, piece, &mut spans);
            }
        }
        if !self.single.is_empty() {
            let found = characters(text).into_iter().filter(|token| self.single.contains(&token.term));
            spans.extend(found.map(|token| token.start..token.end));
        }
        merge(spans)
    }

    /// Adds what matches in a piece of the text.
    fn look(&self, text: &str, piece: Range<usize>, spans: &mut Vec<Range<usize>>) {
        if let Some(word) = plain_word(&text.as_bytes()[piece.clone()]) {
            let word = piece.start + word.start..piece.start + word.end;
            if self.means(&text[word.clone()]) {
                spans.push(word);
            }
            return;
        }
        let found = tokens(&text[piece.clone()]).into_iter().filter(|token| self.words.contains(&token.term));
        spans.extend(found.map(|token| piece.start + token.start..piece.start + token.end));
    }

    /// Whether the stem of a plain word is one of the words.
    fn means(&self, word: &str) -> bool {
        self.may_mean(word.as_bytes())
            && (self.plain.iter().any(|plain| plain.eq_ignore_ascii_case(word.as_bytes()))
                || term(word.to_ascii_lowercase()).is_some_and(|term| self.words.contains(&term)))
    }

    /// Whether the stem of a plain word can be one of the words.
    fn may_mean(&self, word: &[u8]) -> bool {
        if word.first().is_none_or(|first| letter(*first) & self.letters == 0) {
            return false;
        }
        let begins =
            |stem: &Vec<u8>| word.get(..stem.len()).is_some_and(|start| start.eq_ignore_ascii_case(stem));
        self.stems.iter().any(begins)
    }
}

/// A bit for an ASCII letter, whatever its case; none for other bytes.
fn letter(byte: u8) -> u32 {
    if byte.is_ascii_alphabetic() { 1 << (byte.to_ascii_lowercase() - b'a') } else { 0 }
}

/// What a stem has in common with all words that it is the stem of: everything but its last two letters, which the stemmer may have
/// put there (`ability` to `able`, `dying` to `die`), and in any case the first.
fn beginning(stem: &[u8]) -> &[u8] {
    &stem[..stem.len().saturating_sub(2).max(1).min(stem.len())]
}

/// The text between white space. A space beside a letter that is not ASCII may belong to it, and does not count.
fn pieces(text: &str) -> impl Iterator<Item = Range<usize>> {
    let bytes = text.as_bytes();
    let ascii = move |at: usize| bytes.get(at).is_none_or(u8::is_ascii);
    let parts = move |at: usize| {
        bytes[at].is_ascii_whitespace() && ascii(at + 1) && (at == 0 || bytes[at - 1].is_ascii())
    };
    let mut start = 0;
    std::iter::from_fn(move || {
        while start < bytes.len() && parts(start) {
            start += 1;
        }
        let end = (start..bytes.len()).find(|at| parts(*at)).unwrap_or(bytes.len());
        let piece = start..end;
        start = end;
        (!piece.is_empty()).then_some(piece)
    })
}

/// The one word of a piece that is nothing else: ASCII letters, of which only the first may be a capital, between signs that join
/// nothing.
fn plain_word(piece: &[u8]) -> Option<Range<usize>> {
    let start = piece.iter().position(u8::is_ascii_alphabetic)?;
    let length = piece[start + 1..].iter().take_while(|byte| byte.is_ascii_lowercase()).count();
    let end = start + 1 + length;
    let sign = |byte: &u8| byte.is_ascii() && !byte.is_ascii_alphanumeric() && !matches!(byte, b'+' | b'#');
    (piece[..start].iter().all(sign) && piece[end..].iter().all(sign)).then_some(start..end)
}

/// The same bytes in as few ranges as possible.
fn merge(mut spans: Vec<Range<usize>>) -> Vec<Range<usize>> {
    spans.sort_unstable_by_key(|span| (span.start, span.end));
    let mut merged: Vec<Range<usize>> = Vec::with_capacity(spans.len());
    for span in spans {
        match merged.last_mut() {
            Some(last) if span.start <= last.end => last.end = last.end.max(span.end),
            _ => merged.push(span),
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Every token, looked up.
    fn slowly(text: &str, query: &str) -> Vec<Range<usize>> {
        let Highlighter { words, single, .. } = Highlighter::new(query);
        let found = tokens(text).into_iter().filter(|token| words.contains(&token.term));
        let alone = characters(text).into_iter().filter(|token| single.contains(&token.term));
        merge(found.chain(alone).map(|token| token.start..token.end).collect())
    }

    proptest! {
        #[test]
        fn nothing_is_passed_over(
            text in "([a-cA-C]{1,4}(ing|s|ed|'s|ation|_|\\.|,|\\+\\+|#|-| |\n|é|\u{301}|\u{d4e}|차|의){0,2}){0,12}",
            any in any::<String>(),
            query in "[a-c]{1,4}(ing|s|ed| |_|차|의)[a-c]{0,3}",
        ) {
            prop_assert_eq!(highlights(&text, &query), slowly(&text, &query));
            prop_assert_eq!(highlights(&text, &text), slowly(&text, &text));
            let mixed = format!("{text} {any}");
            prop_assert_eq!(highlights(&mixed, &any), slowly(&mixed, &any));
        }

        #[test]
        fn words_begin_as_their_stems_do(
            root in "[a-z]{1,8}",
            endings in prop::collection::vec(prop::sample::select(ENDINGS), 0..4),
        ) {
            let word = root + &endings.concat();
            if let Some(stem) = term(word.clone()) {
                prop_assert!(word.as_bytes().starts_with(beginning(stem.as_bytes())), "{} of {}", stem, word);
            }
        }
    }

    /// What the stemmer knows how to take off.
    const ENDINGS: &[&str] = &[
        "s", "es", "ies", "ied", "sses", "us", "ss", "ed", "edly", "ing", "ingly", "eed", "eedly", "y", "ly",
        "li", "tional", "enci", "ency", "anci", "ancy", "abli", "ably", "entli", "ently", "izer", "ization",
        "ational", "ation", "ator", "alism", "aliti", "ality", "alli", "ally", "fulness", "ousli", "ously",
        "ousness", "iveness", "iviti", "ivity", "biliti", "bility", "bli", "bly", "ogi", "ogy", "fulli",
        "fully", "lessli", "lessly", "alize", "icate", "iciti", "icity", "ical", "ful", "ness", "ative",
        "al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ism", "ate", "iti",
        "ous", "ive", "ize", "sion", "tion", "e", "l",
    ];

    #[test]
    fn irregular_words_begin_as_their_stems_do() {
        for word in [
            "skis", "skies", "dying", "lying", "tying", "idly", "gently", "ugly", "early", "only", "singly",
            "news",
        ] {
            let stem = term(word.to_owned()).unwrap();
            assert!(word.as_bytes().starts_with(beginning(stem.as_bytes())), "{stem} of {word}");
        }
    }
}
