//! Times for people: how long ago, and "since 30 days ago".

use mainstem_core::time::Moment;

use crate::failure::Problem;

/// A time, or how long before now it was: `2026-01-31`, `12h`, `30d`, `2w`.
pub(crate) fn moment(option: &str, text: &str, now: &Moment) -> Result<Moment, Problem> {
    mainstem::query::moment_or_span(text, now).ok_or_else(|| {
        Problem::argument(
            format!("`{option}` is `{text}`, expected a time or a time span"),
            "such as `2026-01-31`, `2026-01-31T09:00:00Z` or `30d`",
        )
    })
}

/// The units of an age, in days, the longest first.
const UNITS: [(&str, f64); 6] = [
    ("year", 365.0),
    ("month", 30.44),
    ("week", 7.0),
    ("day", 1.0),
    ("hour", 1.0 / 24.0),
    ("minute", 1.0 / 1440.0),
];

/// How long ago something was: `3 days ago`.
pub(crate) fn words(days: f64) -> String {
    let size = days.abs();
    // Weeks are said for two of them and more: "9 days" is clearer than "1 week".
    let fits = |unit: &&(&str, f64)| size >= unit.1 * if unit.0 == "week" { 2.0 } else { 1.0 };
    let Some((unit, length)) = UNITS.iter().find(fits) else { return "just now".to_owned() };
    let count = (size / length + 1e-6) as u64;
    let plural = if count == 1 { "" } else { "s" };
    if days < 0.0 { format!("in {count} {unit}{plural}") } else { format!("{count} {unit}{plural} ago") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_are_said_in_the_largest_unit_that_fits() {
        let expected = [
            (0.0, "just now"),
            (0.5 / 24.0, "30 minutes ago"),
            (1.0 / 24.0, "1 hour ago"),
            (1.0, "1 day ago"),
            (9.0, "9 days ago"),
            (21.0, "3 weeks ago"),
            (62.0, "2 months ago"),
            (800.0, "2 years ago"),
            (-3.0, "in 3 days"),
        ];
        for (days, text) in expected {
            assert_eq!(words(days), text);
        }
    }

    #[test]
    fn a_span_is_counted_back_from_now() {
        let now = Moment::parse("2026-01-31").unwrap();
        assert_eq!(moment("--since", "30d", &now).unwrap().to_string(), "2026-01-01T00:00:00Z");
        assert_eq!(moment("--since", "2025-05-01", &now).unwrap().to_string(), "2025-05-01T00:00:00Z");
        assert!(moment("--since", "lately", &now).is_err());
    }
}
