//! Counting tokens.

use std::collections::HashSet;

use mainstem_core::nearest;
use serde::{Deserialize, Serialize};
use tiktoken_rs::o200k_base_singleton;

use crate::Error;

/// How many bytes are a token where only bytes are counted.
const PLAIN: usize = 3;
/// No token has more bytes than this: the longest of `o200k` are 128 spaces.
pub(super) const WIDEST: usize = 128;

/// What counts tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "&'static str")]
pub enum Counter {
    /// `o200k`: the vocabulary of GPT-4o and of what came after it.
    #[default]
    O200k,
    /// `plain`: a token for every three bytes, for models whose vocabulary is not here. Most need fewer.
    Plain,
}

impl Counter {
    const ALL: [Self; 2] = [Self::O200k, Self::Plain];

    /// The name in the configuration.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::O200k => "o200k",
            Self::Plain => "plain",
        }
    }

    /// The counter of this name.
    ///
    /// # Errors
    /// When there is none.
    pub fn parse(name: &str) -> Result<Self, Error> {
        let known = || Self::ALL.iter().map(|counter| counter.as_str());
        Self::ALL.into_iter().find(|counter| counter.as_str() == name).ok_or_else(|| {
            let message = format!("expected `tokens` as `o200k` or `plain`, received `{name}`");
            let near = nearest(name, known()).map(|near| format!("did you mean `{near}`?"));
            Error::input(message, near.unwrap_or_else(|| "`plain` is for any model".to_owned()))
        })
    }

    /// How many tokens a text is.
    pub fn count(self, text: &str) -> usize {
        match self {
            Self::O200k => {
                let counted = o200k_base_singleton().encode(text, &HashSet::new());
                // A megabyte of spaces is beyond the pattern that splits words. No text has more tokens than bytes.
                counted.map_or(text.len(), |(tokens, _)| tokens.len())
            }
            Self::Plain => text.len().div_ceil(PLAIN),
        }
    }

    /// How many tokens a text is, where they are no more than `limit`.
    pub fn within(self, text: &str, limit: usize) -> Option<usize> {
        // What cannot fit is not counted.
        let possible = text.len() <= limit.saturating_mul(WIDEST);
        possible.then(|| self.count(text)).filter(|count| *count <= limit)
    }
}

impl TryFrom<String> for Counter {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        Self::parse(&name).map_err(|error| error.to_string())
    }
}

impl From<Counter> for &'static str {
    fn from(counter: Counter) -> Self {
        counter.as_str()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_those_of_the_published_vocabularies() {
        // As `tiktoken` counts them.
        assert_eq!(Counter::O200k.count("hello world"), 2);
        assert_eq!(Counter::O200k.count("안녕하세요"), 2);
        assert_eq!(Counter::O200k.count(" x  y\n\n z"), 5);
        assert_eq!(Counter::O200k.count("<|endoftext|>"), Counter::O200k.count("<|endoftext|> ") - 1);
        assert_eq!(Counter::Plain.count("hello world"), 4);
        assert_eq!(Counter::O200k.count(""), 0);
    }

    #[test]
    fn a_limit_is_met_or_not() {
        for counter in Counter::ALL {
            let text = "One sentence, and [another] one. 왜? ".repeat(20);
            let count = counter.count(&text);
            assert_eq!(counter.within(&text, count), Some(count), "{counter:?}");
            assert_eq!(counter.within(&text, count - 1), None, "{counter:?}");
            assert_eq!(counter.within("", 0), Some(0), "{counter:?}");
        }
    }

    #[test]
    fn hostile_texts_are_counted() {
        assert_eq!(Counter::O200k.count(&"a".repeat(100_000)), 12_500);
        // Too much for the pattern: the answer is too large, never too small.
        assert!(Counter::O200k.count(&" ".repeat(1 << 20)) >= 1 << 13);
    }

    #[test]
    fn names_are_read_and_slips_are_told() {
        assert_eq!(Counter::parse("plain").unwrap(), Counter::Plain);
        let error = Counter::parse("o200").unwrap_err().to_string();
        assert!(error.contains("`o200k` or `plain`") && error.contains("`o200`"), "{error}");
    }
}
