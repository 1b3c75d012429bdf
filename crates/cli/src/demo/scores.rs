//! The part of the page that says whether the answers are any good.

use std::fmt::Write as _;

use anstyle::Style;
use mainstem_core::contract::Channel;
use mainstem_eval::Comparison;
use mainstem_eval::compare::Verdict;

use super::measure::{Alone, Report, Row};
use super::page::{heading, paragraph};
use crate::eval::ways::Kind;
use crate::search::render;
use crate::table::{Cell, Table};

const FAINT: Style = Style::new().dimmed();

/// What the columns are called: the recipes, shortened.
const COLUMNS: [&str; 5] = ["review", "memory", "desktop", "docs", "chess"];

/// Each source alone, then all ways side by side, then what that shows.
pub(super) fn section(out: &mut String, report: &Report, meaning: bool) {
    heading(out, &format!("Is it any good? {} judged questions, ten of each user", report.questions));
    paragraph(out, "nDCG@10: are the best documents at the top? 1 is perfect, 0 is nothing found.\n");
    report.alone.iter().for_each(|alone| line(out, alone));
    out.push('\n');
    out.push_str(&table(report));
    out.push('\n');
    remarks(out, report, meaning);
}

fn line(out: &mut String, alone: &Alone) {
    let sources: Vec<_> = alone.sources.iter().map(|(name, value)| format!("{name} {value:.2}")).collect();
    let _ = writeln!(
        out,
        "  {:<13} alone: {:<55} all: {:.2} {FAINT}{}{FAINT:#}",
        alone.recipe,
        sources.join(" · "),
        alone.together,
        render::bar(alone.together).trim_end()
    );
}

/// What the table calls a way.
fn name(kind: &Kind) -> String {
    match kind {
        Kind::Channel(Channel::Lexical) => "words alone".to_owned(),
        Kind::Channel(Channel::Dense) => "meaning alone".to_owned(),
        Kind::Rank => "lists merged by rank".to_owned(),
        Kind::Default => "MAINSTEM".to_owned(),
        Kind::Fresh => "MAINSTEM + freshness".to_owned(),
        other => other.name(),
    }
}

fn table(report: &Report) -> String {
    let head = ["nDCG@10"].into_iter().chain(COLUMNS).chain(["all 50", "reach", "+/-/="]);
    let mut table = Table::new(1, head);
    let best = |value: &dyn Fn(&Row) -> f64| report.ways.iter().map(value).fold(0.0, f64::max);
    for row in &report.ways {
        let mut cells = vec![Cell::new(name(&row.kind))];
        for at in 0..COLUMNS.len() {
            let value = row.recipes[at];
            cells.push(Cell::new(format!("{value:.3}")).best(value >= best(&|row| row.recipes[at])));
        }
        cells.push(Cell::new(format!("{:.3}", row.all)).best(row.all >= best(&|row| row.all)));
        cells.push(Cell::new(format!("{:.2}", row.reach)).best(row.reach >= best(&|row| row.reach)));
        cells.push(Cell::new(row.comparison.as_ref().map(tally).unwrap_or_default()));
        table.push(cells);
    }
    table.render()
}

fn tally(comparison: &Comparison) -> String {
    let tally = comparison.tally;
    format!("{}/{}/{}", tally.wins, tally.losses, tally.ties)
}

/// What the table shows, and what it cannot.
fn remarks(out: &mut String, report: &Report, meaning: bool) {
    paragraph(
        out,
        "The best of each column is marked (*). “reach”: of the sources that have an answer, how many have one \
         among the first ten. MAINSTEM: the default search, all sources at once; freshness is left out, and added \
         in the last row. “+/-/=”: questions on which a row is better, worse and equal. A difference is called \
         sure when chance explains it less than once in 20 times, all rows counted.\n",
    );
    let of = |row: Option<&Row>, what: &str| Some(sentence(what, row?.comparison.as_ref()?));
    let lists =
        report.alone.iter().map(|alone| alone.sources.len()).sum::<usize>() * if meaning { 2 } else { 1 };
    let mut sentences = vec![
        of(report.best_alone(), "Asking only the best source, were it known"),
        of(report.way(&Kind::Rank), &format!("Merging {lists} lists by rank, as is usual")),
        of(report.own_sources(), "Asking only the sources of the user who asks, not all 16"),
        of(
            report.way(&Kind::Fresh),
            "Weighing freshness, as `search` does for chat, mail, tickets and pages",
        ),
    ];
    if meaning {
        sentences.push(of(report.way(&Kind::Channel(Channel::Lexical)), "Words alone"));
        sentences.push(of(report.way(&Kind::Channel(Channel::Dense)), "Meaning alone"));
    }
    for sentence in sentences.into_iter().flatten() {
        let _ = writeln!(out, "  {sentence}");
    }
    if let Some(losses) = losses(report) {
        out.push('\n');
        paragraph(out, &losses);
    }
}

fn sentence(what: &str, comparison: &Comparison) -> String {
    let size = comparison.difference.abs();
    let better = if comparison.difference > 0.0 { "gains" } else { "costs" };
    match comparison.verdict() {
        Verdict::NotShown if size < 0.0005 => format!("{what}: no difference."),
        Verdict::NotShown => format!("{what}: {better} {size:.3}, not sure."),
        Verdict::Better | Verdict::Worse => format!("{what}: {better} {size:.3}, sure."),
    }
}

/// Where MAINSTEM is not the best.
fn losses(report: &Report) -> Option<String> {
    let default = report.way(&Kind::Default)?;
    let mut lost = Vec::new();
    for (at, column) in COLUMNS.iter().enumerate() {
        let others =
            report.ways.iter().filter(|row| !matches!(row.kind, Kind::Default | Kind::Own(_) | Kind::Fresh));
        let best = others.max_by(|a, b| a.recipes[at].total_cmp(&b.recipes[at]))?;
        if best.recipes[at] > default.recipes[at] + 0.0005 {
            lost.push(format!("in “{column}” to {}", name(&best.kind)));
        }
    }
    let where_ = (!lost.is_empty()).then(|| lost.join(", "))?;
    Some(format!(
        "MAINSTEM is not the best everywhere: it loses {where_}. Which row is best for a user is known only \
         after judging. Judge your own questions; the measuring is built in."
    ))
}
