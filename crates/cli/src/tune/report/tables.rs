//! The tables of the page.

use std::fmt::Write as _;

use mainstem_eval::tune::{Curve, Outcome, Part};

use super::escape;

/// One table; the first cell of a row is its head.
struct Table {
    caption: &'static str,
    head: Vec<&'static str>,
    rows: Vec<(bool, Vec<String>)>,
    words: bool,
}

impl Table {
    fn new(caption: &'static str, head: &[&'static str]) -> Self {
        Self { caption, head: head.to_vec(), rows: Vec::new(), words: false }
    }

    fn push(&mut self, chosen: bool, cells: impl IntoIterator<Item = String>) {
        self.rows.push((chosen, cells.into_iter().collect()));
    }

    fn html(&self) -> String {
        let class = if self.words { " class=\"words\"" } else { "" };
        let mut out =
            format!("<div class=\"scroll\"><table{class}>\n<caption>{}</caption>\n<thead><tr>", self.caption);
        for name in &self.head {
            let _ = write!(out, "<th scope=\"col\">{name}</th>");
        }
        out.push_str("</tr></thead>\n<tbody>\n");
        for (chosen, cells) in &self.rows {
            out.push_str(if *chosen { "<tr class=\"chosen\">" } else { "<tr>" });
            for (at, cell) in cells.iter().enumerate() {
                let (open, close) = if at == 0 { ("<th scope=\"row\">", "</th>") } else { ("<td>", "</td>") };
                let _ = write!(out, "{open}{}{close}", escape(cell));
            }
            out.push_str("</tr>\n");
        }
        out.push_str("</tbody>\n</table></div>\n");
        out
    }
}

pub(super) fn changes(outcome: &Outcome) -> String {
    let mut table = Table::new("Settings that change", &["setting", "now", "new"]);
    table.words = true;
    for change in &outcome.changes {
        table.push(false, [change.axis.clone(), change.from.clone(), change.to.clone()]);
    }
    table.html()
}

pub(super) fn finalists(outcome: &Outcome) -> String {
    let head = [
        "chosen by",
        "changes",
        "mean",
        "gain",
        "95 % interval",
        "p",
        "p adjusted",
        "better/worse/equal",
        "folds that agree",
        "in sample",
    ];
    let mut table = Table::new(
        "On queries that had no say; the last column is the mean on the queries that chose, which is too good to be true",
        &head,
    );
    for one in &outcome.finalists {
        let [wins, losses, ties] = one.tally;
        let cells = [
            if one.better { format!("{} ✓", one.rule) } else { one.rule.to_owned() },
            one.changes.len().to_string(),
            format!("{:.4}", one.out_of_fold),
            format!("{:+.4}", one.gain),
            one.interval.map_or("–".into(), |[low, high]| format!("{low:+.4} to {high:+.4}")),
            format!("{:.3}", one.p),
            format!("{:.3}", one.p_adjusted),
            format!("{wins}/{losses}/{ties}"),
            format!("{} of {}", one.agreement, outcome.folds),
            format!("{:.4}", one.in_sample),
        ];
        table.push(one.better && one.changes == outcome.changes, cells);
    }
    table.html()
}

pub(super) fn guards(outcome: &Outcome) -> String {
    let mut table = Table::new(
        "What must not become worse, on queries that had no say",
        &["guard", "rule", "now", "then", "limit", "holds"],
    );
    for one in &outcome.finalists {
        for guard in &one.guards {
            let numbers = [guard.before, guard.after, guard.limit].map(|value| format!("{value:.4}"));
            let holds = if guard.holds { "yes" } else { "no" };
            let cells = [guard.name.clone(), one.rule.to_owned()]
                .into_iter()
                .chain(numbers)
                .chain([holds.to_owned()]);
            table.push(!guard.holds, cells);
        }
    }
    table.html()
}

pub(super) fn ceiling(outcome: &Outcome) -> String {
    let mut table =
        Table::new("What the candidates allow", &["", "in its own order", "in the best order", "candidates"]);
    let all = [
        "all candidates".into(),
        format!("{:.4}", outcome.after),
        format!("{:.4}", outcome.ceiling.allows),
        String::new(),
    ];
    table.push(true, all);
    let groups = [
        ("source", &outcome.ceiling.sources),
        ("channel", &outcome.ceiling.channels),
        ("list", &outcome.ceiling.lists),
    ];
    for (kind, parts) in groups {
        for Part { name, allows, gets, candidates } in parts {
            let own = gets.map_or(String::new(), |gets| format!("{gets:.4}"));
            table.push(
                false,
                [format!("{kind} {name}"), own, format!("{allows:.4}"), format!("{candidates:.0}")],
            );
        }
    }
    table.html()
}

pub(super) fn curves(curves: &[&Curve]) -> String {
    let mut table = Table::new("The same numbers", &["setting", "value", "mean", ""]);
    for curve in curves {
        for sample in &curve.samples {
            let marks = [("chosen", sample.chosen), ("now", sample.present)];
            let marks: Vec<_> = marks.into_iter().filter(|(_, is)| *is).map(|(name, _)| name).collect();
            let mean = sample.mean.map_or("cannot be run".into(), |mean| format!("{mean:.4}"));
            table.push(sample.chosen, [curve.axis.clone(), sample.label.clone(), mean, marks.join(", ")]);
        }
    }
    format!("<details><summary>All values</summary>\n{}</details>\n", table.html())
}
