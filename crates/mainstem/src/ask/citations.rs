//! What an answer cites: `[1]`, `[Source 1]`, `[1, 3]`, `[Sources 1 and 3]`.
//!
//! What stands in backticks is code, where `[1]` is an index.

use serde::Serialize;

/// What an answer cites, held against the passages that there are.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Citations {
    /// Passages that are cited, each once, in the order of their numbers.
    pub cited: Vec<usize>,
    /// Numbers that are cited and are no passages.
    pub unknown: Vec<usize>,
}

impl Citations {
    /// Looks through an answer to a context of so many passages.
    pub fn of(answer: &str, passages: usize) -> Self {
        let mut numbers = cited(answer);
        numbers.sort_unstable();
        numbers.dedup();
        let (cited, unknown) = numbers.into_iter().partition(|number| (1..=passages).contains(number));
        Self { cited, unknown }
    }
}

/// The numbers that are cited, as they come.
pub fn cited(answer: &str) -> Vec<usize> {
    let prose = without_code(answer);
    let mut numbers = Vec::new();
    let mut rest = prose.as_str();
    while let Some(start) = rest.find('[') {
        rest = &rest[start + 1..];
        let inside = rest.split([']', '[', '\n']).next().unwrap_or_default();
        if rest[inside.len()..].starts_with(']') {
            numbers.extend(listed(inside).unwrap_or_default());
        }
    }
    numbers
}

/// The numbers of a list such as `1`, `Source 1`, `1, Source 3`, `Sources 1 and 3`; nothing if it is none.
fn listed(inside: &str) -> Option<Vec<usize>> {
    if inside.starts_with(char::is_whitespace) {
        return None;
    }
    let lower = inside.to_lowercase();
    // A model may repeat the whole heading, with a title that has commas.
    let named = lower.split_once(':').map(|(named, _)| named).filter(|named| named.starts_with("source"));
    let lower = named.unwrap_or(&lower).replace(" and ", ",");
    lower.split([',', ';', '&']).map(number).collect()
}

fn number(part: &str) -> Option<usize> {
    let part = part.trim();
    let named = part.strip_prefix("source").map(|rest| rest.strip_prefix('s').unwrap_or(rest));
    let digits = named.map_or(part, |rest| rest.trim().trim_start_matches('#'));
    // So many digits fit into a number; more are none that we gave.
    let fine = (1..=9).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit());
    fine.then(|| digits.parse().ok()).flatten()
}

/// The text without what stands between backticks. A run without its partner is plain text.
fn without_code(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find('`') {
        out.push_str(&rest[..start]);
        rest = &rest[start..];
        let run = rest.len() - rest.trim_start_matches('`').len();
        let behind = &rest[run..];
        if let Some(end) = closing(behind, run) {
            out.push(' ');
            rest = &behind[end..];
        } else {
            out.push_str(&rest[..run]);
            rest = behind;
        }
    }
    out + rest
}

/// Where the run of exactly so many backticks ends that closes what is open.
fn closing(text: &str, run: usize) -> Option<usize> {
    let mut at = 0;
    while let Some(start) = text[at..].find('`') {
        at += start;
        let length = text[at..].len() - text[at..].trim_start_matches('`').len();
        at += length;
        if length == run {
            return Some(at);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_ways_to_cite_are_read() {
        assert_eq!(
            cited("a [1] b[2], [Source 3], [4, 5]; [Sources 6 and 7] [1][8] [Source 9: Wiki - 'x']"),
            [1, 2, 3, 4, 5, 6, 7, 1, 8, 9]
        );
        assert_eq!(cited("[Source 1, Source 3]"), [1, 3]);
        assert_eq!(cited("[Source 2: Mail - \"Boxes, and more: 3\"] [Sources 4 and 5]"), [2, 4, 5]);
        assert!(cited("[x] [ 1] [1 [a, 1] [] [99999999999] [1-3] [link](u) [-1] [1\n]").is_empty());
    }

    #[test]
    fn code_cites_nothing() {
        assert_eq!(cited("`a[1]` says [2]\n```\nb[3]\n```\nand [4], `open [5]"), [2, 4, 5]);
    }

    #[test]
    fn unknown_numbers_are_told_apart() {
        let found = Citations::of("[3] [1] [9] [1] [0]", 3);
        assert_eq!(found, Citations { cited: vec![1, 3], unknown: vec![0, 9] });
    }
}
