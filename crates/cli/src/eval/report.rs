//! Numbers as text.

use mainstem_eval::Evaluation;
use serde::Serialize;

use crate::failure::Problem;
use crate::table::{Cell, Table};

/// One row per run with the means; with several runs, the best of each column is marked.
pub(super) fn means(evaluations: &[(&str, Evaluation)]) -> String {
    let mut table = Table::new(1, head(&["run"], evaluations));
    let all: Vec<_> = evaluations.iter().map(|(_, evaluation)| evaluation.means()).collect();
    for ((name, _), means) in evaluations.iter().zip(&all) {
        let mut row = vec![Cell::new(*name)];
        for (column, value) in means.iter().enumerate() {
            let best = all.len() > 1 && all.iter().all(|other| other[column] <= *value);
            row.push(Cell::new(format!("{value:.4}")).best(best));
        }
        table.push(row);
    }
    table.render()
}

/// One row per query and run, then the means.
pub(super) fn per_query(evaluations: &[(&str, Evaluation)]) -> String {
    let names: &[&str] = if evaluations.len() > 1 { &["query", "run"] } else { &["query"] };
    let mut table = Table::new(names.len(), head(names, evaluations));
    let mut push = |query: &str, run: &str, values: &[f64]| {
        let ids = [query, run].into_iter().take(names.len()).map(Cell::new);
        table.push(ids.chain(values.iter().map(|value| Cell::new(format!("{value:.4}")))).collect());
    };
    let count = evaluations.first().map_or(0, |(_, evaluation)| evaluation.queries().len());
    for index in 0..count {
        for (run, evaluation) in evaluations {
            let scores = &evaluation.queries()[index];
            push(&scores.query, run, &scores.values);
        }
    }
    for (run, evaluation) in evaluations {
        push("all", run, &evaluation.means());
    }
    table.render()
}

fn head<'a>(names: &[&'a str], evaluations: &'a [(&str, Evaluation)]) -> Vec<&'a str> {
    let measures = evaluations.first().map_or(&[][..], |(_, evaluation)| evaluation.measures());
    names.iter().copied().chain(measures.iter().map(String::as_str)).collect()
}

/// A value as one line of JSON.
pub(super) fn json(value: &impl Serialize) -> Result<String, Problem> {
    let mut text = serde_json::to_string(value)?;
    text.push('\n');
    Ok(text)
}
