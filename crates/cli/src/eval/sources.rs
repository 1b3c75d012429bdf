//! `mainstem eval sources`: what each source and each channel gives, and what merging them makes of it.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;
use std::process::ExitCode;

use clap::Args;
use mainstem_core::contract::Channel;
use mainstem_eval::JudgedQuery;
use mainstem_eval::compare::Verdict;

use super::ask::{self, AskArgs, Counter};
use super::files::FileArgs;
use super::notes::{note, queries};
use super::report;
use super::ways::{Judged, Kind, Table};
use crate::failure::Failure;
use crate::table::{Cell, Table as Columns};
use crate::{output, reports};

const EXAMPLES: &str = "\
Examples:
  mainstem eval sources --queries queries.jsonl --qrels qrels.tsv
  mainstem eval sources --queries queries.jsonl --qrels qrels.tsv --sources wiki,chat --json
  mainstem eval sources --queries queries.jsonl --qrels qrels.tsv --config mainstem.toml

Rows:
  each source that holds something relevant alone, each channel alone over all sources, all lists merged by rank alone (RRF), and
  the search as it is by default; with a configuration also the search as it says

Columns:
  diff     mean difference to the default
  p adj    chance of such a difference if the two were interchangeable (randomisation test),
           corrected for all comparisons of the table (Holm); the verdict goes by it, at 0.05
  +/-/=    queries on which the row is better, worse, equal

The judgements call documents `source/id`, unless --judged-source says that all are of one source.

Exit codes: 0 evaluated, 1 no judged query has a result, 2 error";

/// Arguments of `mainstem eval sources`.
#[derive(Args, Debug)]
#[command(
    after_help = EXAMPLES,
    mut_arg("queries", |arg| arg.required(true)),
    mut_arg("measures", |arg| arg.default_values(["nDCG@10", "SourceRecall@10"]))
)]
pub(super) struct SourcesArgs {
    #[command(flatten)]
    ask: AskArgs,

    #[command(flatten)]
    files: FileArgs,
}

/// Runs the command.
pub(super) fn run(args: &SourcesArgs, store: &Path) -> Result<ExitCode, Failure> {
    args.files.refuse_source_map()?;
    let measures = args.files.measures()?;
    let qrels = args.files.judgements()?;
    let questions = args.ask.questions(&qrels)?;
    let config = args.ask.settings(store, None)?;
    let engine = args.ask.engine(store, true)?;
    let configured = config.on(engine.clone())?;
    questions.check(&qrels, &engine)?;
    let judged = Judged {
        engine: &engine,
        configured: &configured,
        questions: &questions,
        qrels: &qrels,
        measures: &measures,
        rel: args.files.rel,
    };
    let mut kinds = alone(&judged)?;
    kinds.extend(channels(&judged)?.into_iter().map(Kind::Channel));
    kinds.extend([Kind::Rank, Kind::Default]);
    kinds.extend(config.path.clone().map(Kind::Configured));
    let mut counter = Counter::new(kinds.len() * questions.queries.len());
    let answers = judged.ask(&kinds, &config.pipeline, &mut || counter.step())?;
    let default = kinds.iter().position(|kind| *kind == Kind::Default);
    if let Some(at) = default {
        ask::warn(&answers[at], questions.queries.len());
    }
    let table = judged.table(kinds, &answers)?;
    reports::keep(store, "sources", &table);
    print(args, &table)
}

/// The sources that hold something relevant; the others cannot answer alone.
fn alone(judged: &Judged<'_>) -> Result<Vec<Kind>, Failure> {
    let searched = judged.questions.searched(judged.engine)?;
    let known = judged.questions.sources(judged.qrels, [], &searched);
    let relevant = |query: &JudgedQuery| -> Vec<String> {
        let docs = query.docs().filter(|doc| query.relevance(doc).is_some_and(|grade| grade > 0));
        docs.filter_map(|doc| known.source_of(doc).map(str::to_owned)).collect()
    };
    let holding: BTreeSet<_> = judged.qrels.queries().iter().flat_map(relevant).collect();
    let (useful, idle): (Vec<_>, Vec<_>) = searched.into_iter().partition(|name| holding.contains(name));
    if !idle.is_empty() {
        note(&format!(
            "nothing relevant is in {}; they are searched with the others, not alone",
            idle.join(", ")
        ));
    }
    Ok(useful.into_iter().map(Kind::Source).collect())
}

/// The channels that can be searched.
fn channels(judged: &Judged<'_>) -> Result<Vec<Channel>, Failure> {
    let Some(query) = judged.questions.queries.first() else { return Ok(Vec::new()) };
    judged.questions.channels(judged.engine, query)
}

fn print(args: &SourcesArgs, table: &Table) -> Result<ExitCode, Failure> {
    let text = if args.files.json { report::json(table)? } else { text(table) };
    output::write(None, &text)?;
    let any = table.ways.iter().any(|row| row.evaluation.any_result());
    Ok(if any { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// One block for each measure.
fn text(table: &Table) -> String {
    let measures = table.ways.first().map_or(&[][..], |row| row.evaluation.measures());
    let blocks = measures.iter().map(|measure| block(table, measure) + &remark(table, measure));
    blocks.collect::<Vec<_>>().join("\n")
}

fn block(table: &Table, measure: &str) -> String {
    let head = format!("{measure}, {}", queries(table.queries, "judged "));
    let mut columns = Columns::new(1, [head.as_str(), "mean", "diff", "p adj", "+/-/="]);
    let mean = |row: &super::ways::Row| row.evaluation.mean(measure).unwrap_or(0.0);
    let best = table.ways.iter().map(mean).fold(0.0, f64::max);
    for row in &table.ways {
        let comparison = table.comparison(&row.kind, measure);
        let [diff, p, tally] = comparison.map_or_else(
            || [const { String::new() }; 3],
            |comparison| {
                let tally = comparison.tally;
                [
                    format!("{:+.4}", comparison.difference),
                    super::compare::p_value(comparison.p_adjusted),
                    format!("{}/{}/{}", tally.wins, tally.losses, tally.ties),
                ]
            },
        );
        let value = mean(row);
        let mut cells = vec![Cell::new(row.kind.name())];
        cells.push(Cell::new(format!("{value:.4}")).best(value > 0.0 && value >= best));
        cells.extend([diff, p, tally].map(Cell::new));
        columns.push(cells);
    }
    columns.render()
}

/// What is shown by the numbers, in a sentence: which ways are really better or worse than the default.
fn remark(table: &Table, measure: &str) -> String {
    let verdicts = |wanted: Verdict| -> Vec<String> {
        let of = |row: &&super::ways::Row| {
            table.comparison(&row.kind, measure).is_some_and(|comparison| comparison.verdict() == wanted)
        };
        table.ways.iter().filter(of).map(|row| format!("`{}`", row.kind.name())).collect()
    };
    let (better, worse) = (verdicts(Verdict::Better), verdicts(Verdict::Worse));
    let mut out = String::new();
    if !better.is_empty() {
        let _ = writeln!(out, "shown to be better than the default: {}", better.join(", "));
    }
    if !worse.is_empty() {
        let _ = writeln!(out, "shown to be worse than the default: {}", worse.join(", "));
    }
    if better.is_empty() && worse.is_empty() {
        out.push_str("no difference to the default is shown\n");
    }
    out
}
