//! What counts as a word, on any text and query: spans are bytes of the text on character boundaries, nothing goes back, and what is in
//! a text is found in it.
//!
//! The query is what stands before the first line break.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mainstem::words::{Token, WordQuery, characters, highlights, tokens};

fuzz_target!(|data: &[u8]| {
    let data = String::from_utf8_lossy(data);
    let (query, text) = data.split_once('\n').unwrap_or(("", &data));
    let found = tokens(text);
    check_tokens(text, &found);
    let single = characters(text);
    check_tokens(text, &single);
    check_spans(text, query);
    let whole = highlights(text, text);
    assert_eq!(whole.is_empty(), found.is_empty() && single.is_empty(), "a text is found by itself");
    check_query(query);
    check_query(text);
    pairs_are_found(text);
});

fn check_tokens(text: &str, tokens: &[Token]) {
    let (mut start, mut position) = (0, 0);
    for token in tokens {
        assert!(token.start < token.end && text.get(token.start..token.end).is_some(), "{token:?}");
        assert!(token.start >= start && token.position >= position, "{token:?} goes back");
        assert!(!token.term.is_empty() && token.term.len() <= 512, "{token:?}");
        (start, position) = (token.start, token.position);
    }
}

fn check_spans(text: &str, query: &str) {
    let spans = highlights(text, query);
    for span in &spans {
        assert!(!span.is_empty() && text.get(span.clone()).is_some(), "{span:?}");
    }
    for pair in spans.windows(2) {
        assert!(pair[0].end < pair[1].start, "{pair:?}");
    }
}

fn check_query(text: &str) {
    let query = WordQuery::parse(text);
    let mut seen = std::collections::HashSet::new();
    for term in &query.terms {
        assert!(seen.insert((&term.term, term.scope)), "{term:?} twice");
        assert!(term.weight.is_finite() && term.weight > 0.0, "{term:?}");
    }
    for phrase in &query.phrases {
        assert!(phrase.words.is_sorted_by_key(|(place, _)| *place), "{phrase:?}");
        assert!(!phrase.words.is_empty() || !phrase.characters.is_empty(), "an empty phrase");
    }
}

/// Two neighbouring characters of a script without spaces are found, whatever stands around them: `회의` in `주간회의록`.
fn pairs_are_found(text: &str) {
    let all: Vec<(usize, char)> = text.char_indices().collect();
    let plain = |at: usize| all.get(at).is_none_or(|(_, c)| is_wide(*c) || c.is_ascii());
    let pairs = (0..all.len().saturating_sub(1)).filter(|at| is_wide(all[*at].1) && is_wide(all[at + 1].1));
    // A mark behind a character would make it another one.
    for at in pairs.filter(|at| plain(at + 2) && at.checked_sub(1).is_none_or(plain)).take(8) {
        let end = all.get(at + 2).map_or(text.len(), |(end, _)| *end);
        let (start, pair) = (all[at].0, &text[all[at].0..end]);
        let spans = highlights(text, pair);
        assert!(
            spans.iter().any(|span| span.start <= start && span.end >= end),
            "`{pair}` is not found: {spans:?}"
        );
    }
}

/// Syllables of Hangul, kana, and the common Han characters: those that normalising leaves alone.
fn is_wide(c: char) -> bool {
    matches!(c, '가'..='힣' | 'あ'..='ん' | 'ア'..='ン' | '一'..='鿿')
}
