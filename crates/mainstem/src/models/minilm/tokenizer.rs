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

/// A text, or a pair of texts, as a model reads it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Tokens {
    /// The numbers, with those that mark the start and the ends.
    pub(crate) ids: Vec<u32>,
    /// Where the second text of a pair starts; the end, where there is none.
    pub(crate) second: usize,
    /// Whether there was more than fits.
    pub(crate) cut: bool,
}

/// The vocabulary: pieces that start a word, pieces that go on with one, and special tokens.
pub(crate) struct Tokenizer {
    starts: FxHashMap<Box<str>, u32>,
    rests: FxHashMap<Box<str>, u32>,
    special: [u32; SPECIAL.len()],
    longest: usize,
}

impl Tokenizer {
    /// Reads a vocabulary: one token in each line, `##` before pieces that go on with a word.
    pub(crate) fn load(path: &Path) -> Result<Self, Error> {
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
    pub(crate) fn encode(&self, text: &str, limit: usize) -> Tokens {
        let [_, _, start, end, _] = self.special;
        let mut ids = vec![start];
        self.append(text, limit, &mut ids);
        let cut = ids.len() + 1 > limit;
        ids.truncate(limit - 1);
        ids.push(end);
        Tokens { second: ids.len(), ids, cut }
    }

    /// The tokens of two texts that are read together, at most `limit` with the marks: the longer one is cut first.
    pub(crate) fn encode_pair(&self, first: &str, second: &str, limit: usize) -> Tokens {
        let [_, _, start, end, _] = self.special;
        let (mut ids, mut rest) = (Vec::new(), Vec::new());
        // As a whole: which of them is the longer one decides what is cut.
        self.append(first, usize::MAX, &mut ids);
        self.append(second, usize::MAX, &mut rest);
        let room = limit.saturating_sub(3);
        let cut = ids.len() + rest.len() > room;
        if cut {
            let least = ids.len().min(rest.len()).min(room / 2);
            let most = room - least;
            let (a, b) = if ids.len() > rest.len() { (most, least) } else { (least, most) };
            ids.truncate(a);
            rest.truncate(b);
        }
        ids.insert(0, start);
        ids.push(end);
        let second = ids.len();
        ids.append(&mut rest);
        ids.push(end);
        Tokens { ids, second, cut }
    }

    /// The greatest number of a token.
    pub(crate) fn greatest(&self) -> u32 {
        self.starts.values().chain(self.rests.values()).copied().max().unwrap_or(0)
    }

    /// Adds the tokens of a text. One more than fits is enough to know that the text is cut, so it stops there.
    fn append(&self, text: &str, limit: usize, ids: &mut Vec<u32>) {
        let mut rest = text;
        while let Some((at, which)) = next_special(rest).filter(|_| ids.len() < limit) {
            self.encode_plain(&rest[..at], limit, ids);
            ids.push(self.special[which]);
            rest = &rest[at + SPECIAL[which].len()..];
        }
        self.encode_plain(rest, limit, ids);
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
    fn of_a_pair_the_longer_text_is_cut_first() {
        let pair = |a: &str, b: &str, limit| {
            let tokens = Tokenizer::parse(VOCABULARY).unwrap().encode_pair(a, b, limit);
            (tokens.ids, tokens.second, tokens.cut)
        };
        assert_eq!(pair("un", "aff !", 16), (vec![2, 5, 3, 8, 9, 3], 3, false));
        assert_eq!(pair("un", "aff aff aff aff", 6), (vec![2, 5, 3, 8, 8, 3], 3, true));
        assert_eq!(pair("un un un un", "aff", 6), (vec![2, 5, 5, 3, 8, 3], 4, true));
        assert_eq!(pair("un un un un", "aff aff aff aff", 8), (vec![2, 5, 5, 3, 8, 8, 8, 3], 4, true));
        assert_eq!(pair("", "", 8), (vec![2, 3, 3], 2, false));
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
