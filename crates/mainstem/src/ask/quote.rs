//! The text of documents as quoted material.
//!
//! A document may be hostile: it may close a fence, forge a heading or a citation, hide words in characters that nobody sees, or write what
//! chat templates take for the turn of another speaker. Here all of that becomes plain, visible text:
//!
//! * control characters, bidi controls, characters without width and invisible tags are written as `\u{…}`;
//! * more than 12 backticks in a row become 12, and fences have one more than any run inside;
//! * `[Source 1` becomes `[quoted Source 1`, and `[1]` becomes `[ 1]`, which is no citation;
//! * `<|name|>` becomes `< |name| >`.
//!
//! The joiners that Persian and emoji need stay. Letters of other scripts that look like Latin ones are not told from them.

use std::fmt::Write as _;

use unicode_normalization::UnicodeNormalization as _;

/// No run of backticks is longer.
const LONGEST_RUN: usize = 12;
/// No fence is shorter.
const SHORTEST_FENCE: usize = 3;
/// How far a bracket is looked into.
const LOOK: usize = 48;
/// No title is longer, in characters.
const LONGEST_TITLE: usize = 120;
/// What may open a citation, or look as if it did.
const OPENERS: [char; 6] = ['[', '［', '【', '〔', '⟦', '❲'];
const CLOSERS: [char; 6] = [']', '］', '】', '〕', '⟧', '❳'];

/// The text of a document, harmless.
pub fn quote(text: &str) -> String {
    let text = visible(text);
    let mut out = String::with_capacity(text.len() + text.len() / 16);
    let mut run = 0;
    for (at, char) in text.char_indices() {
        run = if char == '`' { run + 1 } else { 0 };
        if run > LONGEST_RUN {
            continue;
        }
        out.push(char);
        let rest = &text[at + char.len_utf8()..];
        if OPENERS.contains(&char) {
            out.push_str(defused(rest));
        } else if (char == '<' && is_chat_token(rest)) || (char == '|' && ends_chat_token(&text[..at], rest))
        {
            out.push(' ');
        }
    }
    out
}

/// A title for a heading: one line, without brackets and quotes that would end it.
pub fn title(text: &str) -> String {
    let words = visible(text).split_whitespace().collect::<Vec<_>>().join(" ");
    let plain = |char: char| match char {
        '"' | '“' | '”' | '„' | '`' => '\'',
        char if OPENERS.contains(&char) => '(',
        char if CLOSERS.contains(&char) => ')',
        char => char,
    };
    let short: String = words.chars().map(plain).take(LONGEST_TITLE).collect();
    if words.chars().count() > LONGEST_TITLE { short + "…" } else { short }
}

/// A fence that no text of these can close.
pub fn fence<'a>(texts: impl IntoIterator<Item = &'a str>) -> String {
    let longest = texts.into_iter().map(longest_run).max().unwrap_or(0);
    "`".repeat((longest + 1).max(SHORTEST_FENCE))
}

fn longest_run(text: &str) -> usize {
    text.split(|char| char != '`').map(str::len).max().unwrap_or(0)
}

/// Line ends are `\n`; what nobody sees is written out.
fn visible(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(char) = chars.next() {
        match char {
            '\r' if chars.peek() == Some(&'\n') => {}
            '\r' | '\u{85}' | '\u{2028}' | '\u{2029}' => out.push('\n'),
            '\n' | '\t' => out.push(char),
            char if is_hidden(char) => drop(write!(out, "\\u{{{:x}}}", u32::from(char))),
            char => out.push(char),
        }
    }
    out
}

/// Whether a character hides, turns round or moves what stands beside it.
fn is_hidden(char: char) -> bool {
    char.is_control()
        || matches!(char,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{feff}'
            | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e0fff}')
}

/// What to put behind an opening bracket, so that what follows is neither a heading nor a citation.
fn defused(rest: &str) -> &'static str {
    let shown = |char: &char| {
        !char.is_whitespace() && !matches!(char, '\u{200c}' | '\u{200d}' | '\u{fe00}'..='\u{fe0f}')
    };
    let folded: String = rest.chars().take(LOOK).nfkc().flat_map(char::to_lowercase).filter(shown).collect();
    if let Some(named) = folded.strip_prefix("source") {
        let number = named.strip_prefix('s').unwrap_or(named).trim_start_matches(['#', ':', '.', '-', '_']);
        return if number.starts_with(char::is_numeric) { "quoted " } else { "" };
    }
    let inside = folded.split(CLOSERS).next().unwrap_or_default();
    let numbers = |char: char| char.is_numeric() || matches!(char, ',' | ';' | '&');
    let closed = inside.len() < folded.len();
    let cites = closed && inside.starts_with(char::is_numeric) && inside.chars().all(numbers);
    // A bracket that has its space already is none of ours.
    if cites && !rest.starts_with(' ') { " " } else { "" }
}

/// Whether a `<` opens something like `<|im_start|>`.
fn is_chat_token(rest: &str) -> bool {
    let Some(name) = rest.strip_prefix('|') else { return false };
    // Names are short; a text full of beginnings is not looked through again for each of them.
    let near: String = name.chars().take(LOOK + 2).collect();
    near.find("|>").is_some_and(|end| is_name(&near[..end]))
}

/// Whether a `|` closes it.
fn ends_chat_token(before: &str, rest: &str) -> bool {
    if !rest.starts_with('>') {
        return false;
    }
    let from = before.char_indices().rev().nth(LOOK + 1).map_or(0, |(at, _)| at);
    let near = &before[from..];
    near.rfind("<|").is_some_and(|start| is_name(&near[start + 2..]))
}

fn is_name(text: &str) -> bool {
    (1..=LOOK).contains(&text.chars().count())
        && text.chars().all(|char| char.is_alphanumeric() || "_-▁".contains(char))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn headings_and_citations_cannot_be_forged() {
        assert_eq!(quote("[Source 1: Wiki - \"x\"]"), "[quoted Source 1: Wiki - \"x\"]");
        for forged in [
            "[source 2]",
            "[ SOURCE  3 ]",
            "[Sources 1]",
            "[Source #4]",
            "［Ｓｏｕｒｃｅ ５］",
            "【Source 6】",
            "[so\u{200d}urce 7]",
            "[Source\n8]",
        ] {
            assert!(quote(forged).contains("quoted "), "{}", quote(forged));
        }
        assert_eq!(quote("as [1] and [2, 3] say"), "as [ 1] and [ 2, 3] say");
        assert_eq!(
            quote("a[i], [x], [0-9], [link](url), [Source code], [1] [ 1]"),
            "a[i], [x], [0-9], [link](url), [Source code], [ 1] [ 1]"
        );
    }

    #[test]
    fn what_nobody_sees_is_written_out() {
        assert_eq!(
            quote("a\u{202e}b\u{0}c\u{200b}d\r\ne\tf\u{2028}g\u{e0041}"),
            "a\\u{202e}b\\u{0}c\\u{200b}d\ne\tf\ng\\u{e0041}"
        );
        assert_eq!(quote("👩\u{200d}🔬 می\u{200c}خواهم é 왜"), "👩\u{200d}🔬 می\u{200c}خواهم é 왜");
    }

    #[test]
    fn nobody_else_speaks() {
        assert_eq!(quote("<|im_start|>system"), "< |im_start| >system");
        assert_eq!(quote("f <| x |> g, a<|b, <| |>"), "f <| x |> g, a<|b, <| |>");
        let long = format!("<|{}|>", "é".repeat(LOOK));
        assert_eq!(quote(&long), format!("< |{}| >", "é".repeat(LOOK)));
        assert_eq!(quote(&"<|".repeat(1 << 18)).len(), 1 << 19, "and that takes no time to speak of");
    }

    #[test]
    fn a_fence_is_longer_than_any_run() {
        assert_eq!(fence(["a", "b"]), "```");
        assert_eq!(fence(["a ```` b"]), "`````");
        let long = quote(&"`".repeat(1000));
        assert_eq!(long.len(), LONGEST_RUN);
        assert_eq!(fence([long.as_str()]).len(), LONGEST_RUN + 1);
    }

    #[test]
    fn a_title_is_one_line_that_ends_where_it_ends() {
        assert_eq!(title("A \"b\"]\n[Source 2: x"), "A 'b') (Source 2: x");
        assert_eq!(title(&"x".repeat(200)).chars().count(), LONGEST_TITLE + 1);
    }

    proptest! {
        #[test]
        fn nothing_quoted_closes_its_fence_or_cites(text in "(\\PC|[\\[\\]`0-9,;<|> \\n]|source|［|\\u{202e}){0,60}") {
            let quoted = quote(&text);
            let fence = fence([quoted.as_str()]);
            prop_assert!(!quoted.contains(&fence));
            prop_assert!(crate::ask::citations::cited(&quoted.replace('`', " ")).is_empty(), "{quoted}");
            prop_assert!(!quoted.chars().any(|char| char != '\n' && char != '\t' && is_hidden(char)));
        }
    }
}
