//! A text as normalised letters that know where they came from.

use std::ops::Range;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;
use unicode_segmentation::UnicodeSegmentation;

/// What a letter can be part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A word of letters.
    Letter,
    /// A number.
    Digit,
    /// Whatever it follows: an accent, a vowel sign.
    Mark,
    /// A script that is written without spaces.
    Wide,
    /// No word.
    Other,
}

/// A letter after normalisation, before lower-casing.
#[derive(Clone, Copy, Debug)]
pub(super) struct Letter {
    pub(super) c: char,
    pub(super) kind: Kind,
    /// The bytes of the original text that it came from.
    pub(super) start: usize,
    pub(super) end: usize,
}

/// The scripts that are written without spaces, as ranges of characters in NFKC.
const WIDE: [(char, char); 21] = [
    ('\u{0e00}', '\u{0e3e}'), // Thai
    ('\u{0e40}', '\u{0e4e}'),
    ('\u{0e80}', '\u{0ece}'), // Lao
    ('\u{0edc}', '\u{0eff}'),
    ('\u{1000}', '\u{103f}'), // Myanmar
    ('\u{1100}', '\u{11ff}'), // Hangul letters
    ('\u{1780}', '\u{17d3}'), // Khmer
    ('\u{2e80}', '\u{2fdf}'), // Han radicals
    ('\u{3005}', '\u{3007}'), // 々〆〇
    ('\u{3021}', '\u{3029}'), // Hangzhou numerals
    ('\u{3041}', '\u{3096}'), // Hiragana
    ('\u{309d}', '\u{309f}'),
    ('\u{30a1}', '\u{30fa}'), // Katakana
    ('\u{30fc}', '\u{30ff}'),
    ('\u{3105}', '\u{318f}'), // Bopomofo, Hangul letters
    ('\u{31a0}', '\u{31ff}'), // Bopomofo, Katakana
    ('\u{3400}', '\u{4dbf}'), // Han
    ('\u{4e00}', '\u{9fff}'),
    ('\u{a960}', '\u{a97f}'), // Hangul
    ('\u{ac00}', '\u{d7ff}'),
    ('\u{20000}', '\u{3ffff}'), // Han
];

fn kind(c: char) -> Kind {
    if c.is_ascii() {
        return match c {
            'a'..='z' | 'A'..='Z' => Kind::Letter,
            '0'..='9' => Kind::Digit,
            _ => Kind::Other,
        };
    }
    let at = WIDE.partition_point(|&(_, last)| last < c);
    match c {
        _ if WIDE.get(at).is_some_and(|&(first, _)| first <= c) => Kind::Wide,
        _ if is_combining_mark(c) => Kind::Mark,
        _ if c.is_numeric() => Kind::Digit,
        _ if c.is_alphabetic() => Kind::Letter,
        _ => Kind::Other,
    }
}

/// Characters that change how text looks and not what it says: soft hyphen, joiners, variation selectors.
fn is_silent(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{200c}' | '\u{200d}' | '\u{2060}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}')
}

fn push(letters: &mut Vec<Letter>, c: char, span: Range<usize>) {
    let c = match c {
        '\u{2019}' => '\'',
        '\u{2010}' => '-',
        c => c,
    };
    if !is_silent(c) {
        letters.push(Letter { c, kind: kind(c), start: span.start, end: span.end });
    }
}

/// The letters of a text, in order.
pub(super) fn letters(text: &str) -> Vec<Letter> {
    let bytes = text.as_bytes();
    let mut letters = Vec::with_capacity(text.len());
    let mut at = 0;
    while at < bytes.len() {
        // An ASCII letter that no mark can follow stands for itself.
        if bytes[at].is_ascii() && bytes.get(at + 1).is_none_or(u8::is_ascii) {
            push(&mut letters, char::from(bytes[at]), at..at + 1);
            at += 1;
            continue;
        }
        let cluster = text[at..].graphemes(true).next().unwrap_or_default();
        let span = at..at + cluster.len();
        cluster.nfkc().for_each(|c| push(&mut letters, c, span.clone()));
        at = span.end;
    }
    letters
}
