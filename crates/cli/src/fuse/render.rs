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
        parts.push(format!("also {}", hit.alternates.join(", ")));
    }
    parts.join(" · ")
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
