//! What a reader of the numbers should know, on stderr.

use anstream::eprintln;
use anstyle::{AnsiColor, Style};
use mainstem_eval::Evaluation;

const LABEL: Style = AnsiColor::Cyan.on_default().bold();

/// Prints one note.
pub(super) fn note(text: &str) {
    eprintln!("{LABEL}note{LABEL:#}: {text}");
}

/// Says what did not match between the judgements and the runs.
pub(super) fn print(evaluations: &[(&str, Evaluation)], judged: usize) {
    for (name, evaluation) in evaluations {
        let gaps = evaluation.gaps();
        if gaps.without_results == judged {
            note(&format!(
                "none of the {} has a result in `{name}`; do the query ids match?",
                queries(judged, "judged ")
            ));
        } else if gaps.without_results > 0 {
            let missing = gaps.without_results;
            let (has, counts) = if missing == 1 { ("has", "it counts") } else { ("have", "they count") };
            note(&format!(
                "{missing} of {} {has} no result in `{name}`; {counts} as 0",
                queries(judged, "judged ")
            ));
        }
        if gaps.not_judged > 0 {
            let is = if gaps.not_judged == 1 { "is" } else { "are" };
            note(&format!("{} {is} in `{name}` but not judged; ignored", queries(gaps.not_judged, "")));
        }
    }
    let empty = evaluations.first().map_or(0, |(_, evaluation)| evaluation.gaps().without_relevant);
    if empty > 0 {
        let have = if empty == 1 { "has" } else { "have" };
        note(&format!(
            "{} {have} no relevant document; no run can find one there",
            queries(empty, "judged ")
        ));
    }
}

/// "1 judged query", "7 judged queries".
pub(super) fn queries(count: usize, kind: &str) -> String {
    format!("{count} {kind}{}", if count == 1 { "query" } else { "queries" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_not_many() {
        assert_eq!(queries(1, "judged "), "1 judged query");
        assert_eq!(queries(2, ""), "2 queries");
    }
}
