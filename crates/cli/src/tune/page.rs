//! The outcome for people, on a terminal.

use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};
use mainstem_eval::tune::learn::Learned;
use mainstem_eval::tune::{Ceiling, Curve, Finalist, Outcome, Part, Strategy};

use crate::output::note;
use crate::table::{Cell, Table};

const HEADING: Style = AnsiColor::Cyan.on_default().bold();
const STRONG: Style = Style::new().bold();

/// What a reader should know about the queries.
pub(super) fn notes(outcome: &Outcome) {
    let used = &outcome.used;
    let count = |number: usize, what: &str| {
        if number > 0 {
            note(&format!("{number} {what}"));
        }
    };
    count(used.not_recorded, "judged queries are not recorded; they are left out");
    count(used.not_judged, "recorded queries are not judged; they are left out");
    count(used.nothing_relevant, "judged queries have no relevant document; they are left out");
    count(outcome.refused, "settings could not be run on these recordings; they are left out");
}

/// The whole page.
pub(super) fn text(outcome: &Outcome) -> String {
    let mut out = String::new();
    let verdict = if outcome.better { "Better settings found." } else { "Keep the present settings." };
    let _ = writeln!(out, "{STRONG}{verdict}{STRONG:#} {}", sentence(&outcome.reason));
    if outcome.better {
        heading(&mut out, "What changes");
        out.push_str(&changes(outcome));
    }
    let measured = "Measured on queries that had no say in the choice";
    heading(&mut out, &format!("{measured}: {}, {} queries", outcome.measure, outcome.used.queries));
    out.push_str(&finalists(outcome));
    out.push_str(&limits(outcome));
    heading(&mut out, "How good could it be?");
    out.push_str(&ceiling(&outcome.ceiling, outcome));
    heading(&mut out, "How much each setting matters");
    out.push_str(&curves(&outcome.sensitivity));
    out
}

/// What a learned ranker adds.
pub(super) fn learned(learned: &Learned) -> String {
    let mut out = String::new();
    heading(&mut out, "A learned ranker over these settings");
    let verdict = if learned.better { "It is better still." } else { "It is not taken." };
    let interval = learned
        .interval
        .map_or(String::new(), |[low, high]| format!(", 95 % interval {low:+.4} to {high:+.4}"));
    let _ = writeln!(
        out,
        "{STRONG}{verdict}{STRONG:#} {:.4} on queries that it was not trained on, the settings alone {:.4}: {:+.4}{interval}, p {}.",
        learned.out_of_fold,
        learned.settings,
        learned.gain,
        if learned.p < 0.0001 { "< 0.0001".to_owned() } else { format!("= {:.4}", learned.p) }
    );
    out
}

fn heading(out: &mut String, text: &str) {
    let _ = writeln!(out, "\n{HEADING}== {text}{HEADING:#}\n");
}

fn sentence(text: &str) -> String {
    let mut chars = text.chars();
    let first: String = chars.next().into_iter().flat_map(char::to_uppercase).collect();
    format!("{first}{}.", chars.as_str())
}

fn changes(outcome: &Outcome) -> String {
    let mut table = Table::new(3, ["setting", "now", "new"]);
    for change in &outcome.changes {
        table.push([&change.axis, &change.from, &change.to].map(|text| Cell::new(text.as_str())).into());
    }
    table.render()
}

fn finalists(outcome: &Outcome) -> String {
    let mut table = Table::new(
        1,
        ["chosen by", "changes", "mean", "gain", "95 % interval", "p adj", "+/-/=", "folds", "guards"],
    );
    let mut present =
        vec![Cell::new("present settings"), Cell::new(""), Cell::new(format!("{:.4}", outcome.before))];
    present.extend(std::iter::repeat_n(Cell::new(""), 6));
    table.push(present);
    for one in &outcome.finalists {
        let [wins, losses, ties] = one.tally;
        let row = [
            one.rule.to_owned(),
            one.changes.len().to_string(),
            format!("{:.4}", one.out_of_fold),
            format!("{:+.4}", one.gain),
            one.interval.map_or("–".into(), |[low, high]| format!("{low:+.4} to {high:+.4}")),
            format!("{:.4}", one.p_adjusted),
            format!("{wins}/{losses}/{ties}"),
            format!("{}/{}", one.agreement, outcome.folds),
            guards(one),
        ];
        let best = one.better && one.changes == outcome.changes;
        let cells = row.into_iter().enumerate().map(|(at, text)| Cell::new(text).best(best && at == 0));
        table.push(cells.collect());
    }
    table.render()
}

fn guards(finalist: &Finalist) -> String {
    let broken = finalist.guards.iter().filter(|guard| !guard.holds).count();
    if broken == 0 { "hold".into() } else { format!("{broken} broken") }
}

fn limits(outcome: &Outcome) -> String {
    let mut out = String::new();
    for finalist in &outcome.finalists {
        for guard in finalist.guards.iter().filter(|guard| !guard.holds) {
            let _ = writeln!(
                out,
                "{}: {} goes from {:.4} to {:.4}, the limit is {:.4}",
                finalist.rule, guard.name, guard.before, guard.after, guard.limit
            );
        }
    }
    if !out.is_empty() {
        out.push_str("A guard that asks too much can be given a margin: `--guard NAME=MARGIN`.\n");
    }
    let how = match outcome.strategy {
        Strategy::Exhaustive => "all settings of the space".to_owned(),
        Strategy::SampleAndSteps => format!("{} of about {:.0} settings", outcome.tried, outcome.points),
    };
    let smallest =
        outcome.detectable.map_or("how small a gain they could show is not known".into(), |gain| {
            format!("gains under {gain:.4} can hardly be shown with so many")
        });
    let _ = writeln!(out, "\nTried {how} on {} queries; {smallest}.", outcome.used.queries);
    out
}

fn ceiling(ceiling: &Ceiling, outcome: &Outcome) -> String {
    let mut table = Table::new(1, ["", "in its own order", "in the best order", "candidates"]);
    let own = |part: &Part| part.gets.map_or(String::new(), |gets| format!("{gets:.4}"));
    table.push(
        [
            "all candidates".into(),
            format!("{:.4}", outcome.after),
            format!("{:.4}", ceiling.allows),
            String::new(),
        ]
        .map(Cell::new)
        .into(),
    );
    let several = |parts: &[Part]| parts.len() > 1;
    let groups = [("source ", &ceiling.sources), ("channel ", &ceiling.channels), ("list ", &ceiling.lists)];
    for (kind, parts) in groups.into_iter().filter(|(_, parts)| several(parts)) {
        for part in parts.iter().take(24) {
            let row = [
                format!("{kind}{}", part.name),
                own(part),
                format!("{:.4}", part.allows),
                format!("{:.0}", part.candidates),
            ];
            table.push(row.map(Cell::new).into());
        }
    }
    format!("{}\n{}\n", table.render(), advice(outcome))
}

/// Where the next hour is spent best.
pub(super) fn advice(outcome: &Outcome) -> String {
    let (missed, misplaced) = (1.0 - outcome.ceiling.allows, outcome.ceiling.allows - outcome.after);
    let (more, what) = if missed > misplaced {
        (
            "retrieval",
            "relevant documents are not among the candidates; better settings cannot bring them back",
        )
    } else {
        ("ranking", "relevant documents are among the candidates, but stand too low")
    };
    format!("Most is lost in {more}: {what} (retrieval loses {missed:.4}, ranking {misplaced:.4}).")
}

fn curves(curves: &[Curve]) -> String {
    if curves.is_empty() {
        return "There is nothing to change.\n".into();
    }
    let mut sorted: Vec<&Curve> = curves.iter().collect();
    sorted.sort_by(|a, b| b.range.total_cmp(&a.range));
    let mut table = Table::new(1, ["setting", "range", "next step", "best", "worst"]);
    for curve in sorted {
        let by_mean = |a: &&mainstem_eval::tune::Sample, b: &&mainstem_eval::tune::Sample| {
            a.mean.unwrap_or(-1.0).total_cmp(&b.mean.unwrap_or(-1.0))
        };
        let label = |sample: Option<&mainstem_eval::tune::Sample>| {
            sample.map_or(String::new(), |sample| sample.label.clone())
        };
        let known = || curve.samples.iter().filter(|sample| sample.mean.is_some());
        let row = [
            curve.axis.clone(),
            format!("{:.4}", curve.range),
            format!("{:.4}", curve.step),
            label(known().max_by(by_mean)),
            label(known().min_by(by_mean)),
        ];
        table.push(row.map(Cell::new).into());
    }
    table.render()
        + "\nrange: best minus worst value of this setting alone; next step: what the next value costs.\n"
}
