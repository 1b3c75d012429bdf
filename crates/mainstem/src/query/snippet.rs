//! Snippets: the part of a text that shows best why it was found.

use std::ops::Range;

use rustc_hash::FxHashMap;
use serde::Serialize;

/// How long a snippet is, in characters.
const LENGTH: usize = 240;

/// How much of the text before its first highlighted word a snippet shows, in characters.
const LEAD: usize = 40;

/// A part of a text on one line, with the words of the query highlighted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Snippet {
    /// The text; white space is folded, and `…` stands where the text goes on.
    pub text: String,
    /// The bytes of the text that match the query, in order.
    pub highlights: Vec<Range<usize>>,
}

impl Snippet {
    /// The best window of a text, given the bytes that match the query, in order.
    pub fn of(text: &str, matches: &[Range<usize>]) -> Self {
        let matches: Vec<_> =
            matches.iter().filter(|range| text.get((*range).clone()).is_some()).cloned().collect();
        let window = window(text, &matches);
        let mut snippet = Self::default();
        if !text[..window.start].trim().is_empty() {
            snippet.text.push('…');
        }
        snippet.fold(text, window.clone(), &matches);
        if !text[window.end..].trim().is_empty() {
            snippet.text.truncate(snippet.text.trim_end().len());
            snippet.text.push('…');
        }
        snippet
    }

    /// Takes over a part of the text with its highlights, white space folded.
    fn fold(&mut self, text: &str, window: Range<usize>, matches: &[Range<usize>]) {
        let mut open =
            matches.iter().filter(|range| range.start >= window.start && range.end <= window.end).peekable();
        let mut start = None;
        for (at, character) in
            text[window.clone()].char_indices().map(|(at, character)| (window.start + at, character))
        {
            if start.is_some() && open.peek().is_some_and(|range| range.end <= at) {
                self.close(&mut start);
                open.next();
            }
            if start.is_none() && open.peek().is_some_and(|range| range.start == at) {
                start = Some(self.text.len());
            }
            if !character.is_whitespace() {
                self.text.push(character);
            } else if !self.text.is_empty() && !self.text.ends_with([' ', '…']) {
                self.text.push(' ');
            }
        }
        self.close(&mut start);
    }

    fn close(&mut self, start: &mut Option<usize>) {
        if let Some(start) = start.take().filter(|start| *start < self.text.len()) {
            self.highlights.push(start..self.text.len());
        }
    }
}

/// The bytes to show: from a little before the matches that lie closest together, at the borders of words.
fn window(text: &str, matches: &[Range<usize>]) -> Range<usize> {
    let first = densest(text, matches).map_or(0, |index| matches[index].start);
    let start = if first == 0 { 0 } else { word_start(text, before(text, first, LEAD)) };
    let end = text[start..].char_indices().nth(LENGTH).map_or(text.len(), |(at, _)| start + at);
    if end == text.len() {
        // The text ends inside the window: show more of what is before.
        let start = before(text, end, LENGTH).min(start);
        return word_start(text, start)..end;
    }
    start..word_end(text, start, end)
}

/// The match from which on a window shows the most different words, then the most matches.
fn densest(text: &str, matches: &[Range<usize>]) -> Option<usize> {
    // Each word by the first match that says it.
    let mut firsts = FxHashMap::default();
    let words = matches.iter().map(|range| text[range.clone()].to_lowercase());
    let words: Vec<usize> = words.zip(0..).map(|(word, at)| *firsts.entry(word).or_insert(at)).collect();
    let worth = |index: &usize| {
        let end = matches[*index].start + (LENGTH - LEAD);
        let all = matches[*index..].iter().take_while(|range| range.end <= end).count();
        let inside = &words[*index..][..all];
        let different = (0..all).filter(|at| !inside[..*at].contains(&inside[*at])).count();
        (different, all, std::cmp::Reverse(*index))
    };
    (0..matches.len()).max_by_key(worth)
}

/// The byte that is this many characters before another.
fn before(text: &str, at: usize, characters: usize) -> usize {
    text[..at].char_indices().rev().nth(characters.saturating_sub(1)).map_or(0, |(at, _)| at)
}

/// The start of the first whole word from here on; here, where words are not set apart by spaces.
fn word_start(text: &str, at: usize) -> usize {
    if at == 0 || text[..at].ends_with(char::is_whitespace) {
        return at;
    }
    let rest = text[at..].char_indices().take(LEAD);
    rest.into_iter().find(|(_, character)| character.is_whitespace()).map_or(at, |(space, _)| at + space)
}

/// The end of the last whole word before `end`; `end`, where words are not set apart by spaces.
fn word_end(text: &str, start: usize, end: usize) -> usize {
    if text[end..].starts_with(char::is_whitespace) {
        return end;
    }
    let space = text[start..end].rfind(char::is_whitespace).map(|space| start + space);
    space.filter(|space| end - space < LENGTH / 4).unwrap_or(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(text: &str, words: &[&str]) -> Vec<Range<usize>> {
        let mut found: Vec<_> = words
            .iter()
            .flat_map(|word| text.match_indices(word))
            .map(|(at, word)| at..at + word.len())
            .collect();
        found.sort_by_key(|range| range.start);
        found
    }

    fn shown(snippet: &Snippet) -> Vec<&str> {
        snippet.highlights.iter().map(|range| &snippet.text[range.clone()]).collect()
    }

    #[test]
    fn a_short_text_is_shown_whole_and_on_one_line() {
        let text = "  The rook\n\tlift, explained ";
        let snippet = Snippet::of(text, &find(text, &["rook", "lift"]));
        assert_eq!(snippet.text.trim_end(), "The rook lift, explained");
        assert_eq!(shown(&snippet), ["rook", "lift"]);
    }

    #[test]
    fn the_window_lies_where_most_words_are() {
        let text =
            format!("rook {} the rook lift wins {}", "filler words ".repeat(60), "more filler ".repeat(60));
        let snippet = Snippet::of(&text, &find(&text, &["rook", "lift"]));
        assert!(snippet.text.starts_with('…') && snippet.text.ends_with('…'), "{}", snippet.text);
        assert_eq!(shown(&snippet), ["rook", "lift"]);
        assert!(snippet.text.chars().count() <= LENGTH + 2);
    }

    #[test]
    fn without_matches_the_text_is_shown_from_its_start() {
        let text = "word ".repeat(100);
        let snippet = Snippet::of(&text, &[]);
        assert!(snippet.text.starts_with("word word") && snippet.text.ends_with("word…"));
    }

    #[test]
    fn text_without_spaces_is_cut_between_characters() {
        let text = "東京都の検索".repeat(100);
        let snippet = Snippet::of(&text, &find(&text, &["検索"])[50..51]);
        assert_eq!(shown(&snippet), ["検索"]);
        assert!(Snippet::of("", &[]).text.is_empty());
        assert!(Snippet::of("ab", std::slice::from_ref(&(1..9))).highlights.is_empty());
    }
}
