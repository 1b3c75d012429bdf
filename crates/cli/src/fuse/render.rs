//! The fused list as a table, as a TREC run, as JSON.

use std::fmt::Write as _;

use mainstem_core::{Answer, Hit, LegState, Step};
use mainstem_eval::format::{Descending, RunWriter};

use crate::failure::Problem;
use crate::output;
use crate::table::{Cell, Table};

/// How much of a title or text a table shows.
const SHOWN_CHARS: usize = 48;

/// The hits as a table.
pub(super) fn table(answer: &Answer) -> String {
    if answer.hits.is_empty() {
        return String::new();
    }
    let named = answer.hits.iter().any(|hit| title(hit).is_some());
    let mut table = Table::new(0, ["#", "score"]);
    table.add_name("id");
    if named {
        table.add_name("title");
    }
    table.add_name("sources");
    table.add_name("found by");
    for hit in &answer.hits {
        let mut row =
            vec![Cell::new(hit.rank.to_string()), Cell::new(format!("{:.6}", hit.score)), Cell::new(&hit.id)];
        row.extend(named.then(|| Cell::new(title(hit).unwrap_or_default())));
        row.push(Cell::new(hit.sources.join(", ")));
        row.push(Cell::new(found_by(hit)));
        table.push(row);
    }
    table.render()
}

/// What to call a hit beside its id.
pub(crate) fn title(hit: &Hit) -> Option<String> {
    let item = &hit.item;
    let name = item.title.as_ref().or(item.label.as_ref()).or(item.text.as_ref())?;
    let name = output::plain(name);
    let line = name.split_whitespace().collect::<Vec<_>>().join(" ");
    let cut = line.chars().count() > SHOWN_CHARS;
    let short: String = line.chars().take(SHOWN_CHARS - usize::from(cut)).collect();
    Some(if cut { short.trim_end().to_owned() + "…" } else { short })
}

fn found_by(hit: &Hit) -> String {
    let lists = hit.ledger.steps.iter().find_map(|step| match step {
        Step::Fuse { lists, .. } => Some(lists),
        _ => None,
    });
    let mut parts: Vec<String> = lists
        .into_iter()
        .flatten()
        .filter_map(|list| list.rank.map(|rank| format!("{} #{rank}", list.list)))
        .collect();
    if !hit.alternates.is_empty() {
        parts.push(format!("also {}", few(&hit.alternates)));
    }
    parts.join(" · ")
}

/// So many copies are named to people.
const NAMED: usize = 5;

/// The first names of a list, each as it may be shown, and how many more there are.
pub(crate) fn few(names: &[String]) -> String {
    let shown: Vec<_> = names.iter().take(NAMED).map(|name| output::line(name)).collect();
    let more = names.len().saturating_sub(NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    shown.join(", ") + &more
}

/// A number as people read it: six decimals, or six digits of one that is small.
pub(super) fn figure(number: f64) -> String {
    if number != 0.0 && number.abs() < 1e-3 {
        return trimmed(&format!("{number:.8}"))
            .filter(|text| text.parse() == Ok(number))
            .unwrap_or_else(|| format!("{number:.5e}"));
    }
    let text = format!("{number:.6}");
    trimmed(&text).unwrap_or(text)
}

/// Decimals without the zeros at their end.
fn trimmed(text: &str) -> Option<String> {
    text.contains('.').then(|| text.trim_end_matches('0').trim_end_matches('.').to_owned())
}

/// A number of things, in words.
pub(super) fn count(number: usize, thing: &str) -> String {
    format!("{number} {thing}{}", if number == 1 { "" } else { "s" })
}

/// Tells on standard error what an answer does not show by itself.
pub(super) fn notes(answer: &Answer) {
    for leg in &answer.status.legs {
        match leg.state {
            LegState::TimedOut | LegState::Failed => {
                let state = if leg.state == LegState::Failed { "failed" } else { "did not answer in time" };
                let bound =
                    leg.could_add.map(|most| format!("; it could have added at most {most:.6} to a hit"));
                output::note(&format!("list `{}` {state}{}", leg.name, bound.unwrap_or_default()));
            }
            LegState::Skipped => output::note(&format!("list `{}` has weight 0 and was left out", leg.name)),
            LegState::Ok | LegState::Empty | LegState::Slow => {}
        }
        if leg.repeated > 0 {
            output::note(&format!(
                "list `{}` repeats {}; the first place counts",
                leg.name,
                count(leg.repeated, "id")
            ));
        }
    }
    for stage in
        answer.status.stages.iter().filter_map(|stage| stage.reason.as_ref().map(|why| (stage.stage, why)))
    {
        output::note(&format!("{} was left out: {}", stage.0, stage.1));
    }
    answer.status.notes.iter().for_each(|note| output::note(note));
}

/// The fused lists as a TREC run.
pub(super) fn run(answers: &[(String, Answer)], tag: &str) -> Result<String, Problem> {
    let mut writer = RunWriter::new(Vec::new(), tag);
    for (query, answer) in answers {
        let mut scores = Descending::default();
        for hit in &answer.hits {
            let score = scores.next(hit.score);
            let written = writer.write(query, &hit.id, hit.rank as u64, score);
            written.map_err(|source| Problem::Write { place: mainstem_core::Place::default(), source })?;
        }
    }
    Ok(String::from_utf8_lossy(&writer.into_inner()).into_owned())
}

/// The answers by query, as JSON.
pub(super) fn json_by_query(answers: &[(String, Answer)]) -> Result<String, Problem> {
    let mut out = String::from("{\"queries\":{");
    for (at, (query, answer)) in answers.iter().enumerate() {
        let comma = if at == 0 { "" } else { "," };
        let (query, answer) = (serde_json::to_string(query)?, serde_json::to_string(answer)?);
        let _ = write!(out, "{comma}\n{query}:{answer}");
    }
    Ok(out + "\n}}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_no_noise() {
        let written = [
            (1.722_277_905_705_766_9, "1.722278"),
            (3.599_999_999_999_999_6, "3.6"),
            (60.0, "60"),
            (0.0, "0"),
            (-0.25, "-0.25"),
            (0.0005, "0.0005"),
            (0.000_012_345_678_9, "1.23457e-5"),
        ];
        for (number, text) in written {
            assert_eq!(figure(number), text);
        }
    }

    #[test]
    fn a_long_list_of_names_is_cut() {
        let names: Vec<String> = (0..100).map(|at| format!("c{at}")).collect();
        assert_eq!(few(&names), "c0, c1, c2, c3, c4 and 95 more");
        assert_eq!(few(&names[..5]), "c0, c1, c2, c3, c4");
    }
}
