//! The demo as a page of text for people.

use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};
use mainstem_core::ledger::Freshness;
use mainstem_core::{Answer, Hit, Step};
use mainstem_eval::Comparison;
use mainstem_eval::compare::Verdict;

use super::Demo;
use super::measure::{DENSE, RANK_ONLY, Report};
use crate::fuse::{explain, render};
use crate::table::{Cell, Table};

/// What this is, in one line.
pub(super) const ABOUT: &str =
    "Mainstem merges ranked lists from many sources into one, explains each score, measures the result.";

const HEADING: Style = AnsiColor::Cyan.on_default().bold();
const STRONG: Style = Style::new().bold();

/// How many hits are explained, and how many of the other order are shown.
const EXPLAINED: usize = 2;
const COMPARED: usize = 3;

/// The whole page.
pub(super) fn text(demo: &Demo) -> String {
    let mut out = format!("{STRONG}{ABOUT}{STRONG:#}\n\n");
    let _ = writeln!(
        out,
        "The samples, made up for this demo: a small team that warns of floods. {} short texts in three\n\
         sources (code, reviews, wiki), each searched by words (lexical) and by meaning (dense).",
        demo.texts
    );
    heading(&mut out, &format!("Six lists in, one out: “{}”", demo.query));
    out.push_str(&hits(&demo.search));
    out.push_str(
        "\nReview 403 repeats the wiki page, so it is folded into it. Old texts count a little less.\n",
    );
    heading(&mut out, "Why is the first hit first?");
    explained(&mut out, &demo.search);
    out.push_str(
        "Redoing these steps gives the score exactly. BM25 is read from 0 to 12, cosine from 0 to 1.\n",
    );
    heading(&mut out, "The same lists, merged by rank alone");
    reordered(&mut out, demo);
    heading(&mut out, &format!("Is it better? {} judged questions", demo.evaluation.questions));
    out.push_str(&measures(&demo.evaluation));
    remarks(&mut out, &demo.evaluation);
    heading(&mut out, "Try it");
    next(&mut out, &demo.next);
    out
}

fn heading(out: &mut String, text: &str) {
    let _ = writeln!(out, "\n{HEADING}== {text}{HEADING:#}\n");
}

/// The hits with where they were found.
fn hits(answer: &Answer) -> String {
    let mut table = Table::new(0, ["#", "score", "age"]);
    for name in ["source", "hit", "found by", "folded in"] {
        table.add_name(name);
    }
    for hit in &answer.hits {
        let mut row = vec![Cell::new(hit.rank.to_string()), Cell::new(format!("{:.4}", hit.score))];
        row.push(Cell::new(age(hit).map(|days| format!("{days:.0} d")).unwrap_or_default()));
        row.push(Cell::new(hit.sources.join(", ")));
        row.push(Cell::new(title(hit)));
        row.push(Cell::new(channels(hit)));
        row.push(Cell::new(hit.alternates.join(", ")));
        table.push(row);
    }
    table.render()
}

fn title(hit: &Hit) -> String {
    render::title(hit).unwrap_or_else(|| hit.id.clone())
}

/// The ranks by channel: the source has a column of its own.
fn channels(hit: &Hit) -> String {
    let lists = hit.ledger.steps.iter().find_map(|step| match step {
        Step::Fuse { lists, .. } => Some(lists),
        _ => None,
    });
    let found = lists.into_iter().flatten().filter_map(|list| {
        let channel = list.list.rsplit('/').next()?;
        list.rank.map(|rank| format!("{channel} #{rank}"))
    });
    found.collect::<Vec<_>>().join(", ")
}

fn age(hit: &Hit) -> Option<f64> {
    hit.ledger.steps.iter().find_map(|step| match step {
        Step::Recency { freshness: Freshness::Decay { age_days, .. }, .. } => *age_days,
        _ => None,
    })
}

fn explained(out: &mut String, answer: &Answer) {
    for hit in answer.hits.iter().take(EXPLAINED) {
        explain::hit(out, hit, &answer.status.formula);
        out.push('\n');
    }
}

/// The order by rank alone, beside the places that the hits had.
fn reordered(out: &mut String, demo: &Demo) {
    let mut table = Table::new(0, ["#", "was"]);
    for name in ["source", "hit", "found by"] {
        table.add_name(name);
    }
    for hit in demo.by_rank.hits.iter().take(COMPARED) {
        let before = demo.search.hits.iter().find(|other| other.id == hit.id);
        let was = before.map_or("–".to_owned(), |hit| hit.rank.to_string());
        let numbers = [hit.rank.to_string(), was];
        let names = [hit.sources.join(", "), title(hit), channels(hit)];
        table.push(numbers.into_iter().chain(names).map(Cell::new).collect());
    }
    out.push_str(&table.render());
    let Some(first) = demo.by_rank.hits.first() else { return };
    let _ = writeln!(
        out,
        "\nNow `{}` is first:\n  “{}”\n\
         Only one word of it is in the question, “called”. But no other code has even that, and rank 1 in\n\
         a list without an answer weighs as much as rank 1 in a list with one. Rank 3 is nearly rank 1,\n\
         too, so a newer review passes the page that answers. Scores tell them apart.",
        title(first),
        first.item.text.as_deref().unwrap_or_default()
    );
}

fn measures(report: &Report) -> String {
    let names = report.ways.first().map_or(&[][..], |row| row.evaluation.measures());
    let mut table = Table::new(1, ["lists"].into_iter().chain(names.iter().map(String::as_str)));
    let all: Vec<_> = report.ways.iter().map(|row| row.evaluation.means()).collect();
    for (row, means) in report.ways.iter().zip(&all) {
        let best = |column: usize, value: f64| all.iter().all(|other| other[column] <= value);
        let values = means.iter().enumerate();
        let cells = values.map(|(column, &value)| Cell::new(format!("{value:.3}")).best(best(column, value)));
        table.push([Cell::new(row.name)].into_iter().chain(cells).collect());
    }
    table.render()
}

/// What the table shows, and what it cannot.
fn remarks(out: &mut String, report: &Report) {
    let (rank, dense) = (report.against_common_scale(RANK_ONLY), report.against_common_scale(DENSE));
    let (Some(rank), Some(dense)) = (rank, dense) else { return };
    let _ = writeln!(
        out,
        "\nThe best is marked (*). By nDCG@10, the six lists on a common scale are\n\
         {:>7.3} above the same lists by rank alone: {},\n\
         {:>7.3} below dense over all sources: {}.\n\
         So this is an illustration, not a result. Judge your own questions; the measuring is built in.",
        -rank.difference,
        limit(rank, report.questions),
        dense.difference,
        limit(dense, report.questions),
    );
}

fn limit(comparison: &Comparison, questions: usize) -> String {
    let verdict = match comparison.verdict() {
        Verdict::NotShown => "not shown",
        Verdict::Better | Verdict::Worse => "shown",
    };
    let Some(smallest) = comparison.detectable else { return verdict.to_owned() };
    format!("{verdict}, {questions} questions can show {smallest:.3} or more")
}

fn next(out: &mut String, commands: &[String]) {
    let what = [
        "every score of the search above",
        "where did the review go?",
        "the same lists as Qdrant merges them",
        "one list against the judgements, question by question",
        "no clone at hand? this writes the files, then the lines above work",
    ];
    for (command, what) in commands.iter().zip(what) {
        let _ = writeln!(out, "  {STRONG}{command}{STRONG:#}\n      {what}");
    }
    out.push_str("\nIn a clone, `cargo run --release --` stands for `mainstem`.\n");
}
