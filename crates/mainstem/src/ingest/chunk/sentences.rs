//! Sentences, as [UAX #29](https://www.unicode.org/reports/tr29/) finds them, which knows the full stops of Korean, Japanese and Chinese.
//!
//! It also ends a sentence at every line break; in prose that is wrapped by hand, a line without a full stop goes on in the next.

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation as _;

/// What ends a sentence, in any script that we are asked for.
const STOPS: [char; 11] = ['.', '!', '?', '…', ':', '。', '！', '？', '．', '｡', '।'];
/// What may stand behind a full stop.
const CLOSERS: [char; 12] = ['"', '\'', ')', ']', '”', '’', '»', '」', '』', '）', '】', '*'];

/// The sentences of a span, with the white space behind them, so that they follow each other without gaps.
pub(super) fn sentences(text: &str, span: Range<usize>) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    let mut goes_on = false;
    for (at, part) in text[span.clone()].split_sentence_bound_indices() {
        let blank = part.trim().is_empty();
        let here = span.start + at..span.start + at + part.len();
        match found.last_mut() {
            Some(last) if blank || (goes_on && !opens_line(part)) => last.end = here.end,
            _ => found.push(here),
        }
        goes_on = !blank && wraps(part);
    }
    found
}

/// Whether a part ends with its line, but not with its sentence.
fn wraps(part: &str) -> bool {
    let bare = part.trim_end();
    let breaks = part[bare.len()..].matches('\n').count();
    breaks == 1 && !bare.trim_end_matches(CLOSERS).ends_with(STOPS)
}

/// Whether a line starts something of its own: an item of a list, a row, a quotation.
fn opens_line(part: &str) -> bool {
    let bare = part.trim_start();
    let numbered = bare.trim_start_matches(|char: char| char.is_ascii_digit());
    bare.starts_with(['-', '*', '+', '|', '>', '#', '•'])
        || (numbered.len() < bare.len() && numbered.starts_with(['.', ')']))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(text: &str) -> Vec<&str> {
        sentences(text, 0..text.len()).into_iter().map(|span| text[span].trim()).collect()
    }

    #[test]
    fn ends_are_found_in_many_scripts() {
        assert_eq!(split("One is 3.5 m. Two? Three!"), ["One is 3.5 m.", "Two?", "Three!"]);
        assert_eq!(split("검색을 합니다. 결과가 나옵니다."), ["검색을 합니다.", "결과가 나옵니다."]);
        assert_eq!(split("東京に行く。雨だ！"), ["東京に行く。", "雨だ！"]);
        assert_eq!(split("他来了。你呢？"), ["他来了。", "你呢？"]);
    }

    #[test]
    fn wrapped_lines_are_one_sentence_and_items_are_not() {
        assert_eq!(split("a sentence that\nwraps here. Next"), ["a sentence that\nwraps here.", "Next"]);
        assert_eq!(split("items\n- one\n- two\n\ntext"), ["items", "- one", "- two", "text"]);
    }
}
