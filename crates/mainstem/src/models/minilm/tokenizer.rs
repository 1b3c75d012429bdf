//! From a text to the numbers of its tokens: BERT's `WordPiece`.

use std::fs;
use std::path::Path;

use rustc_hash::FxHashMap;

use super::normal;
use crate::Error;

/// A word of more characters is unknown.
const LONGEST_WORD: usize = 100;
/// Tokens that are not words. Where a text has one to the letter, it counts as that token, as in the reference.
const SPECIAL: [&str; 5] = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"];

/// A text as the model reads it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Tokens {
    /// The numbers, with those that mark the start and the end.
    pub(super) ids: Vec<u32>,
    /// Whether the text had more than fit.
    pub(super) cut: bool,
}

/// The vocabulary: pieces that start a word, pieces that go on with one, and special tokens.
pub(super) struct Tokenizer {
    starts: FxHashMap<Box<str>, u32>,
    rests: FxHashMap<Box<str>, u32>,
    special: [u32; SPECIAL.len()],
    longest: usize,
}

impl Tokenizer {
    /// Reads a vocabulary: one token in each line, `##` before pieces that go on with a word.
    pub(super) fn load(path: &Path) -> Result<Self, Error> {
        let text = fs::read_to_string(path).map_err(|e| Error::io("cannot read the vocabulary", path, e))?;
        Self::parse(&text).map_err(|missing| {
            let what = format!("expected a line `{missing}` in the vocabulary");
            Error::damaged(what, path, "remove the file and run `mainstem model pull`")
        })
    }

    fn parse(text: &str) -> Result<Self, &'static str> {
        let (mut starts, mut rests) = (FxHashMap::default(), FxHashMap::default());
        for (id, token) in (0..).zip(text.lines()) {
            match token.strip_prefix("##").filter(|rest| !rest.is_empty()) {
                Some(rest) => rests.insert(rest.into(), id),
                None => starts.insert(Box::from(token), id),
            };
        }
        let mut special = [0; SPECIAL.len()];
        for (place, name) in special.iter_mut().zip(SPECIAL) {
            *place = *starts.get(name).ok_or(name)?;
        }
        let longest = starts.keys().chain(rests.keys()).map(|piece| piece.len()).max().unwrap_or(0);
        Ok(Self { starts, rests, special, longest })
    }

    /// The tokens of a text, at most `limit` with the marks at both ends.
    pub(super) fn encode(&self, text: &str, limit: usize) -> Tokens {
        let [_, _, start, end, _] = self.special;
        let mut ids = vec![start];
        let mut rest = text;
        // One piece more than fits is enough to know that the text is cut.
        while let Some((at, which)) = next_special(rest).filter(|_| ids.len() < limit) {
            self.encode_plain(&rest[..at], limit, &mut ids);
            ids.push(self.special[which]);
            rest = &rest[at + SPECIAL[which].len()..];
        }
        self.encode_plain(rest, limit, &mut ids);
        let cut = ids.len() + 1 > limit;
        ids.truncate(limit - 1);
        ids.push(end);
        Tokens { ids, cut }
    }

    fn encode_plain(&self, text: &str, limit: usize, ids: &mut Vec<u32>) {
        normal::words(text, |word| {
            if ids.len() < limit {
                self.encode_word(word, ids);
            }
        });
    }

    /// The longest known piece, again and again; a word with a part that is not known is unknown as a whole.
    fn encode_word(&self, word: &str, ids: &mut Vec<u32>) {
        let before = ids.len();
        let mut rest = if word.chars().count() > LONGEST_WORD { None } else { Some(word) };
        let mut pieces = &self.starts;
        while let Some(part) = rest.filter(|part| !part.is_empty()) {
            rest = self.longest_piece(part, pieces).map(|(id, length)| {
                ids.push(id);
                &part[length..]
            });
            pieces = &self.rests;
        }
        if rest.is_none() {
            ids.truncate(before);
            ids.push(self.special[1]);
        }
    }

    fn longest_piece(&self, part: &str, pieces: &FxHashMap<Box<str>, u32>) -> Option<(u32, usize)> {
        let mut ends = (1..=part.len().min(self.longest)).rev().filter(|end| part.is_char_boundary(*end));
        ends.find_map(|end| pieces.get(&part[..end]).map(|id| (*id, end)))
    }
}

fn next_special(text: &str) -> Option<(usize, usize)> {
    let found = |(which, name): (usize, &&str)| text.find(name).map(|at| (at, which));
    SPECIAL.iter().enumerate().filter_map(found).min()
}

#[cfg(test)]
mod tests {
    use super::*;

    const VOCABULARY: &str = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nun\n##aff\n##able\naff\n!\nü\n##";

    fn ids(text: &str, limit: usize) -> (Vec<u32>, bool) {
        let tokens = Tokenizer::parse(VOCABULARY).unwrap().encode(text, limit);
        (tokens.ids, tokens.cut)
    }

    #[test]
    fn words_are_cut_into_the_longest_pieces() {
        assert_eq!(ids("Unaffable!", 16), (vec![2, 5, 6, 7, 9, 3], false));
        assert_eq!(ids("unaffx un", 16), (vec![2, 1, 5, 3], false));
        assert_eq!(ids("", 16), (vec![2, 3], false));
        assert_eq!(ids(&"un".repeat(51), 16), (vec![2, 1, 3], false));
    }

    #[test]
    fn a_text_that_is_too_long_is_cut_and_says_so() {
        assert_eq!(ids("un un un", 5), (vec![2, 5, 5, 5, 3], false));
        assert_eq!(ids("un un un un", 5), (vec![2, 5, 5, 5, 3], true));
        assert_eq!(ids("un unaffable", 5), (vec![2, 5, 5, 6, 3], true));
        assert_eq!(ids("[SEP][SEP] un [SEP]", 5), (vec![2, 3, 3, 5, 3], true));
    }

    #[test]
    fn special_tokens_are_found_to_the_letter() {
        assert_eq!(ids("un[MASK]aff [mask]", 16), (vec![2, 5, 4, 8, 1, 1, 1, 3], false));
    }

    #[test]
    fn a_vocabulary_without_special_tokens_is_refused() {
        assert_eq!(Tokenizer::parse("a\nb").err(), Some("[PAD]"));
    }
}
