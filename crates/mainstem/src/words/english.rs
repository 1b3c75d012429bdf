//! English: stop words and stems.

use std::cell::RefCell;

use rust_stemmers::{Algorithm, Stemmer};
use rustc_hash::FxHashMap;

/// The stop words of Lucene's `EnglishAnalyzer`, in order.
const STOP_WORDS: [&str; 33] = [
    "a", "an", "and", "are", "as", "at", "be", "but", "by", "for", "if", "in", "into", "is", "it", "no",
    "not", "of", "on", "or", "such", "that", "the", "their", "then", "there", "these", "they", "this", "to",
    "was", "will", "with",
];

/// The longest term in bytes. What is longer is cut, in the index and in the query alike.
const LONGEST: usize = 255;

/// What is compared in place of a lower-case word; nothing for a stop word.
pub(super) fn term(mut word: String) -> Option<String> {
    if word.contains('\'') {
        let kept = word.strip_suffix("'s").unwrap_or(&word).len();
        word.truncate(kept);
        word.retain(|c| c != '\'');
    }
    let long = word.len() > LONGEST;
    if long {
        let kept = (0..=LONGEST).rev().find(|at| word.is_char_boundary(*at));
        word.truncate(kept.unwrap_or(0));
    }
    if word.is_empty() || STOP_WORDS.binary_search(&word.as_str()).is_ok() {
        return None;
    }
    if long || !word.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return Some(word);
    }
    Some(stem(word))
}

/// How many stems a thread remembers.
const REMEMBERED: usize = 1 << 14;

/// The stem of a word. Texts use few words again and again, and looking one up is much faster than cutting it.
fn stem(word: String) -> String {
    thread_local! {
        static STEMS: RefCell<FxHashMap<String, Box<str>>> = RefCell::default();
    }
    STEMS.with_borrow_mut(|stems| {
        if let Some(stem) = stems.get(&word) {
            return stem.to_string();
        }
        let stem = Stemmer::create(Algorithm::English).stem(&word).into_owned();
        if stems.len() == REMEMBERED {
            stems.clear();
        }
        stems.insert(word, stem.as_str().into());
        stem
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stop_words_are_sorted() {
        assert!(STOP_WORDS.is_sorted());
    }

    #[test]
    fn possessives_contractions_and_stems() {
        for (word, expected) in [
            ("dog's", Some("dog")),
            ("don't", Some("dont")),
            ("indexing", Some("index")),
            ("the", None),
            ("sha256", Some("sha256")),
            ("müller", Some("müller")),
            ("'s", None),
        ] {
            assert_eq!(term(word.to_owned()).as_deref(), expected, "{word}");
        }
    }
}
