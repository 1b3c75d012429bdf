//! Where an identifier comes apart.

use std::ops::Range;

use super::letters::{Kind, Letter};

/// More parts than this are no name but a code, such as base64.
const MOST_PARTS: usize = 8;

/// The parts of a run of letters and digits: `HTTPServer` is `HTTP` and `Server`, `sha256` is `sha` and `256`.
///
/// A run whose parts would be shorter than two letters on average stays whole: `x86`, `H5N1`, a hash.
pub(super) fn parts(letters: &[Letter], run: Range<usize>) -> Vec<Range<usize>> {
    let mut parts = Vec::with_capacity(2);
    let mut start = run.start;
    for at in run.start + 1..run.end {
        if comes_apart(&letters[run.start..run.end], at - run.start) {
            parts.push(start..at);
            start = at;
        }
    }
    parts.push(start..run.end);
    if parts.len() > MOST_PARTS || (parts.len() > 1 && parts.len() * 2 > run.len()) {
        parts = vec![run];
    }
    parts
}

/// Whether a new part starts at `at`, which is not the first letter.
fn comes_apart(run: &[Letter], at: usize) -> bool {
    let (before, here) = (run[at - 1], run[at]);
    match (before.kind, here.kind) {
        (Kind::Letter, Kind::Digit) | (Kind::Digit, Kind::Letter) => true,
        (Kind::Letter | Kind::Mark, Kind::Letter) if here.c.is_uppercase() => {
            !before.c.is_uppercase() || starts_word(&run[at..])
        }
        _ => false,
    }
}

/// Whether the last capital of several starts a word: `S` does in `HTTPServer`, `L` does not in the plural `URLs`.
fn starts_word(rest: &[Letter]) -> bool {
    let lower = |at: usize| rest.get(at).is_some_and(|letter| letter.c.is_lowercase());
    lower(1) && (rest[1].c != 's' || lower(2))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::letters::letters;

    fn split(text: &str) -> String {
        let letters = letters(text);
        let text = |part: Range<usize>| letters[part].iter().map(|letter| letter.c).collect::<String>();
        parts(&letters, 0..letters.len()).into_iter().map(text).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn comes_apart_where_a_person_would() {
        for (whole, expected) in [
            ("camelCase", "camel Case"),
            ("PascalCase", "Pascal Case"),
            ("HTTPServer", "HTTP Server"),
            ("parseURLs", "parse URLs"),
            ("sha256", "sha 256"),
            ("utf8", "utf 8"),
            ("x86", "x86"),
            ("H5N1", "H5N1"),
            ("mRNA", "m RNA"),
            ("NASA", "NASA"),
            ("a3f9c2d4", "a3f9c2d4"),
            ("ÜberStraße", "Über Straße"),
            ("aaBbCcDdEeFfGgHhIi", "aaBbCcDdEeFfGgHhIi"),
        ] {
            assert_eq!(split(whole), expected);
        }
    }
}
