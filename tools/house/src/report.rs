//! What people read: the table of offenders and the summary of a distribution.

use std::fmt::Write as _;

/// One broken rule at one place.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Offence {
    /// The rule in a word or two.
    pub(crate) rule: &'static str,
    /// `path:line`, or the name of a package.
    pub(crate) place: String,
    /// What was found there and what was expected.
    pub(crate) what: String,
}

impl Offence {
    pub(crate) fn new(rule: &'static str, place: impl Into<String>, what: impl Into<String>) -> Self {
        Self { rule, place: place.into(), what: what.into() }
    }
}

/// The offenders in aligned columns, with a closing line that counts them.
pub(crate) fn table(offences: &[Offence]) -> String {
    let rule = offences.iter().map(|offence| offence.rule.len()).max().unwrap_or(0);
    let place = offences.iter().map(|offence| offence.place.len()).max().unwrap_or(0);
    let mut text = String::new();
    for offence in offences {
        let Offence { rule: r, place: p, what } = offence;
        writeln!(text, "{r:rule$}  {p:place$}  {what}").expect("writing to a String cannot fail");
    }
    let noun = if offences.len() == 1 { "offence" } else { "offences" };
    writeln!(text, "{} {noun}", offences.len()).expect("writing to a String cannot fail");
    text
}

/// The value that `share` percent of the sorted `values` do not exceed (nearest rank); 0 when there are none.
pub(crate) fn percentile(sorted: &[usize], share: usize) -> usize {
    let rank = (sorted.len() * share).div_ceil(100).max(1);
    sorted.get(rank - 1).copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_nearest_rank() {
        let values: Vec<usize> = (1..=10).collect();
        assert_eq!(percentile(&values, 50), 5);
        assert_eq!(percentile(&values, 90), 9);
        assert_eq!(percentile(&values, 99), 10);
        assert_eq!(percentile(&[], 50), 0);
        assert_eq!(percentile(&[7], 1), 7);
    }

    #[test]
    fn the_table_is_aligned() {
        let offences = [Offence::new("a", "x:1", "one"), Offence::new("long", "path:10", "two")];
        assert_eq!(table(&offences), "a     x:1      one\nlong  path:10  two\n2 offences\n");
    }
}
