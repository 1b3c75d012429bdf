//! `mainstem eval rerank`: is a reranker worth its time?

use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use mainstem::query::Engine;
use mainstem::rerank::maxsim;
use mainstem_eval::{Comparison, Settings, compare, evaluate};
use serde::Serialize;
use serde_json::Value;

use super::ask::{self, Answers, AskArgs, Counter, Questions, Way};
use super::compare::{table, verdicts};
use super::files::FileArgs;
use super::{notes, report};
use crate::failure::Failure;
use crate::output;
use crate::search::config::Config;

const EXAMPLES: &str = "\
Examples:
  mainstem eval rerank --queries queries.jsonl --qrels qrels.tsv --judged-source wiki
  mainstem eval rerank --queries queries.jsonl --qrels qrels.tsv --rerank rerank-v3.5 --json

Every query is searched twice, without the reranker and with it; nothing else differs. The columns
are those of `mainstem eval compare`. The time is that of this machine, now: run it where you serve.

Exit codes: 0 evaluated, 1 no judged query has a result, 2 error";

/// Arguments of `mainstem eval rerank`.
#[derive(Args, Debug)]
#[command(
    after_help = EXAMPLES,
    mut_arg("queries", |arg| arg.required(true)),
    mut_arg("measures", |arg| arg.default_values(["nDCG@10"]))
)]
pub(super) struct RerankArgs {
    #[command(flatten)]
    ask: AskArgs,

    /// The reranker: `maxsim`, one that was added, or a folder with a cross-encoder [default: as configured, else maxsim]
    #[arg(long, value_name = "NAME")]
    rerank: Option<String>,

    #[command(flatten)]
    files: FileArgs,
}

/// What was found.
#[derive(Serialize)]
struct Report {
    reranker: String,
    queries: usize,
    /// How many searches were not reranked, though they should have been.
    not_reranked: usize,
    comparisons: Vec<Comparison>,
    latency_ms: Latency,
}

/// Milliseconds.
#[derive(Serialize)]
struct Latency {
    without: Times,
    with: Times,
    added: Times,
}

#[derive(Serialize)]
struct Times {
    p50: f64,
    p95: f64,
}

impl Times {
    fn of(mut times: Vec<f64>) -> Self {
        times.sort_by(f64::total_cmp);
        let at = |part: f64| {
            let last = times.len().saturating_sub(1);
            times.get((part * last as f64).round() as usize).copied().unwrap_or(0.0)
        };
        Self { p50: at(0.5), p95: at(0.95) }
    }
}

/// Runs the command.
pub(super) fn run(args: &RerankArgs, store: &Path) -> Result<ExitCode, Failure> {
    args.files.refuse_source_map()?;
    let measures = args.files.measures()?;
    let qrels = args.files.judgements()?;
    let questions = args.ask.questions(&qrels)?;
    let mut config = args.ask.settings(store, args.rerank.as_deref())?;
    if config.rerank.is_none() {
        config = config.reranked(Some(maxsim::NAME))?.unhurried();
    }
    let engine = config.on(args.ask.engine(store, true)?)?;
    questions.check(&qrels, &engine)?;
    let (plain, reranked) = ask_twice(&questions, &engine, &config)?;
    let sources = questions.sources(&qrels, [&plain, &reranked], &questions.searched(&engine)?);
    let settings = Settings { rel: args.files.rel, sources };
    let name = engine.reranker().map_or("reranker", |reranking| reranking.name());
    let [before, after] =
        [&plain, &reranked].map(|answers| evaluate(&qrels, &answers.run, &measures, &settings));
    let report = Report {
        reranker: name.to_owned(),
        queries: qrels.queries().len(),
        not_reranked: reranked.not_reranked.0,
        comparisons: compare(("without", &before), &[(name, &after)]),
        latency_ms: latency(&plain, &reranked),
    };
    let evaluations = [("without", before), (name, after)];
    notes::print(&evaluations, report.queries);
    let text = if args.files.json { report::json(&report)? } else { text(&report) };
    output::write(None, &text)?;
    Ok(super::exit_code(&evaluations))
}

/// The answers without the reranker, and those with it.
fn ask_twice(questions: &Questions, engine: &Engine, config: &Config) -> Result<(Answers, Answers), Failure> {
    let with = Way { pipeline: config.pipeline.clone(), ..Way::default() };
    let mut without = with.clone();
    without.pipeline.insert("rerank".to_owned(), Value::Null);
    // The first search of a process pays for things that have nothing to do with the reranker.
    let first = questions.queries.iter().take(1).cloned().collect();
    Questions { queries: first, ..questions.clone() }.ask(engine, &without, &mut || ())?;
    let mut counter = Counter::new(2 * questions.queries.len());
    let plain = questions.ask(engine, &without, &mut || counter.step())?;
    let reranked = questions.ask(engine, &with, &mut || counter.step())?;
    ask::warn(&reranked, questions.queries.len());
    Ok((plain, reranked))
}

fn latency(plain: &Answers, reranked: &Answers) -> Latency {
    let milliseconds = |took: &Duration| took.as_secs_f64() * 1000.0;
    let all = |answers: &Answers| answers.took.iter().map(milliseconds).collect::<Vec<_>>();
    let (without, with) = (all(plain), all(reranked));
    let added = with.iter().zip(&without).map(|(with, without)| with - without).collect();
    Latency { without: Times::of(without), with: Times::of(with), added: Times::of(added) }
}

fn text(report: &Report) -> String {
    let Latency { without, with, added } = &report.latency_ms;
    format!(
        "{}\n{}a search takes {:.1} ms without `{}` and {:.1} ms with it (median); it adds {:.1} ms, or {:.1} ms at the 95th percentile\n",
        table(&report.comparisons),
        verdicts(&report.comparisons),
        without.p50,
        report.reranker,
        with.p50,
        added.p50,
        added.p95,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_those_of_the_middle_and_of_the_tail() {
        let times = Times::of((0..=100).rev().map(f64::from).collect());
        assert_eq!((times.p50, times.p95), (50.0, 95.0));
        assert_eq!(Times::of(Vec::new()).p50, 0.0);
    }
}
