//! No marks that promise work: open work belongs where people look for it, not in the source.

use crate::report::Offence;
use crate::source::Source;

/// Written in two parts, so that this file keeps its own rule.
const MARKS: [&str; 3] = [concat!("TO", "DO"), concat!("FIX", "ME"), concat!("X", "XX")];

/// The marks in a file; tests are not exempt.
pub(super) fn check(source: &Source) -> Vec<Offence> {
    let lines = (1..).zip(source.text.lines());
    let marked = lines.flat_map(|(number, text)| marks_in(text).map(move |mark| (number, mark)));
    marked
        .map(|(number, mark)| Offence::new("mark", source.place(number), format!("`{mark}` is not allowed")))
        .collect()
}

fn marks_in(text: &str) -> impl Iterator<Item = &'static str> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    MARKS.into_iter().filter(move |mark| text.split(|c| !is_word(c)).any(|word| word == *mark))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::sample;

    fn offences(text: &str) -> usize {
        check(&sample("crates/a/src/lib.rs", text)).len()
    }

    #[test]
    fn marks_are_found_as_whole_words() {
        for mark in MARKS {
            assert_eq!(offences(&format!("// {mark}: later\nfn a() {{}}")), 1);
            assert_eq!(offences(&format!("// {mark}S\nfn {}() {{}}", mark.to_lowercase())), 0);
        }
    }

    #[test]
    fn clean_text_passes() {
        assert_eq!(offences("// What to do is said here.\nfn a() {}"), 0);
    }
}
