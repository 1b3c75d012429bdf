//! The outcome as one HTML page: self-contained, without scripts or requests, for light and dark.
//!
//! Every plot has the same numbers in a table beside it or in its hover text, so that nothing is told by colour or shape alone.

mod plots;
mod tables;

use mainstem_eval::tune::{Outcome, Strategy};

use super::page;

const STYLE: &str = include_str!("style.css");

/// The whole page.
pub(super) fn html(outcome: &Outcome) -> String {
    let title = if outcome.better { "Better settings found" } else { "Keep the present settings" };
    let tone = if outcome.better { "good" } else { "calm" };
    let sections = [
        section("The gain, honestly", &gain(outcome)),
        if outcome.better { section("What changes", &tables::changes(outcome)) } else { String::new() },
        section("Guards", &tables::guards(outcome)),
        section("How good could it be?", &ceiling(outcome)),
        section("How much each setting matters", &sensitivity(outcome)),
        section("How this was done", &method(outcome)),
    ];
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>Mainstem · {title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n\
         <header class=\"{tone}\">\n<p class=\"brand\">mainstem tune</p>\n<h1>{title}</h1>\n<p class=\"why\">{}</p>\n{}</header>\n{}</main>\n</body>\n</html>\n",
        escape(&outcome.reason),
        figures(outcome),
        sections.concat()
    )
}

fn section(title: &str, body: &str) -> String {
    format!("<section>\n<h2>{title}</h2>\n{body}</section>\n")
}

/// The numbers at the top.
fn figures(outcome: &Outcome) -> String {
    let figure =
        |name: &str, value: String| format!("<div><dt>{}</dt><dd>{value}</dd></div>\n", escape(name));
    let gain = outcome.after - outcome.before;
    [
        "<dl class=\"figures\">\n".to_owned(),
        figure(&format!("{} now", outcome.measure), format!("{:.4}", outcome.before)),
        figure(
            "with the new settings",
            if outcome.better { format!("{:.4}", outcome.after) } else { "–".into() },
        ),
        figure("gain", if outcome.better { format!("{gain:+.4}") } else { "–".into() }),
        figure("judged queries", outcome.used.queries.to_string()),
        figure(
            "smallest gain they can show",
            outcome.detectable.map_or("–".into(), |gain| format!("{gain:.4}")),
        ),
        "</dl>\n".to_owned(),
    ]
    .concat()
}

fn gain(outcome: &Outcome) -> String {
    let intro = "<p>Each query is measured by settings that were chosen without it. Three rules choose: the settings nearest to \
                 the present ones that cannot be told from the best (<em>plateau</em>), the best that differ in one place \
                 (<em>one change</em>), and the <em>best</em>.</p>\n";
    let query = "<h3>Query by query</h3>\n<p>The challenger with the greatest gain, each bar one query. Hover over a bar for its name.</p>\n";
    format!(
        "{intro}{}{}{query}{}",
        plots::intervals(outcome),
        tables::finalists(outcome),
        plots::differences(outcome)
    )
}

fn ceiling(outcome: &Outcome) -> String {
    format!(
        "<p>{}</p>\n{}{}",
        escape(&page::advice(outcome)),
        plots::ceiling(outcome),
        tables::ceiling(outcome)
    )
}

fn sensitivity(outcome: &Outcome) -> String {
    if outcome.sensitivity.is_empty() {
        return "<p>There is nothing to change.</p>\n".into();
    }
    let intro = "<p>One setting at a time moves away from the choice; the mean is that of all queries. Flat curves are settings \
                 that need no care. The ring is the choice, the square what the settings are now.</p>\n";
    let mut curves: Vec<_> = outcome.sensitivity.iter().collect();
    curves.sort_by(|a, b| b.range.total_cmp(&a.range));
    let plots: String = curves.iter().map(|curve| plots::curve(curve)).collect();
    format!("{intro}<div class=\"grid\">\n{plots}</div>\n{}", tables::curves(&curves))
}

fn method(outcome: &Outcome) -> String {
    let tried = match outcome.strategy {
        Strategy::Exhaustive => format!("All {} different settings of the space were tried.", outcome.tried),
        Strategy::SampleAndSteps => format!(
            "{} of about {:.0} settings were tried: every single change, a sample (seed {}), and steps uphill from the best, for each fold \
             without looking at the queries that it is measured on.",
            outcome.tried, outcome.points, outcome.seed
        ),
    };
    format!(
        "<p>{tried} The queries were split into {} folds. The gain's interval is a bootstrap of 10,000 resamples; its p-value is a \
         randomisation test of the whole procedure, the choice included, with {} sign patterns, corrected for the three rules (Holm). New \
         settings are taken only if the corrected p-value is below 0.05, the interval is above 0, and every guard holds.</p>\n\
         <p>{} recorded searches; {} judged queries without one, {} recordings without a judgement and {} queries without a relevant document \
         were left out.</p>\n",
        outcome.folds,
        mainstem_eval::tune::PATTERNS,
        outcome.used.recorded,
        outcome.used.not_recorded,
        outcome.used.not_judged,
        outcome.used.nothing_relevant
    )
}

/// Text that is safe in HTML, also inside quotes.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            c if c.is_control() => out.push('\u{FFFD}'),
            c => out.push(c),
        }
    }
    out
}
