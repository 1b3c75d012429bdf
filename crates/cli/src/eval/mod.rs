//! `mainstem eval`: measures of ranked lists and of the live engine, and comparisons between them.

pub(crate) mod ask;
mod compare;
mod files;
mod live;
mod notes;
mod report;
mod rerank;
mod sources;
pub(crate) mod ways;

use std::path::Path;
use std::process::ExitCode;

use clap::{Args, Subcommand};
use mainstem_eval::Evaluation;
use serde::Serialize;

use crate::failure::Problem;
use crate::{output, reports};
use files::{FileArgs, Loaded};
use live::LiveArgs;

const EXAMPLES: &str = "\
Examples:
  mainstem eval --qrels qrels.tsv --run bm25.run
  mainstem eval --qrels qrels.tsv --run bm25.run --run fused.run -m nDCG@10 -m R@100
  mainstem eval --qrels qrels.tsv --run fused.run -m MRR@10 --per-query
  mainstem eval --qrels qrels.tsv --run fused.run --json
  mainstem eval compare bm25.run fused.run --qrels qrels.tsv --plot differences.svg
  mainstem eval --queries queries.jsonl --qrels qrels.tsv --judged-source wiki -m nDCG@10
  mainstem eval sources --queries queries.jsonl --qrels qrels.tsv
  mainstem eval rerank --queries queries.jsonl --qrels qrels.tsv --rerank maxsim

Measures:
  nDCG@k       are the most relevant documents at the top? (gain = relevance)
  nDCGexp@k    the same with gain 2^relevance - 1
  MRR, MRR@k   how far down is the first relevant document? (also RR)
  AP, AP@k     are all relevant documents near the top? (also MAP)
  P@k          how much of the first k is relevant?
  R@k          how much of what is relevant is in the first k? (also Recall@k)
  Success@k    is anything relevant in the first k?
  Judged@k     how much of the first k was judged at all?
  Coverage@k   how many of the sources are in the first k?
  SourceRecall@k  how many of the sources that have something relevant show it in the first k?
  nDCG, nDCGexp and Judged without @k look at the whole list. The names of trec_eval
  (ndcg_cut_10, recip_rank) and parameters such as AP(rel=2) work too.

Files:
  A run has lines `query Q0 document rank score tag`. The rank is ignored: scores decide,
  and ties go to the greater document id, as in trec_eval.
  Judgements are TREC (`query iteration document relevance`) or BEIR (`query-id corpus-id
  score`); the format is detected.
  Means run over all judged queries; a query without results counts as 0.

Live searches (--queries):
  The store is searched as `mainstem search` does, with the settings of `mainstem.toml` where there
  is one, but without its deadline, its collapsing of copies and, unless --now is given, its
  freshness. Chunks count as their documents, at their best. The judgements call documents
  `source/id`; with --judged-source, all are of one source and called by their ids.

Exit codes: 0 evaluated, 1 no judged query has a result, 2 error";

/// Measure ranked lists against relevance judgements.
#[derive(Args, Debug)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    after_help = EXAMPLES
)]
pub(crate) struct EvalArgs {
    #[command(subcommand)]
    command: Option<EvalCommand>,

    /// TREC run to measure; repeat to see several side by side; `-` is standard input
    #[arg(
        long = "run",
        value_name = "FILE",
        required_unless_present = "queries",
        conflicts_with = "queries"
    )]
    runs: Vec<String>,

    #[command(flatten)]
    live: LiveArgs,

    /// Show every query, not only the means (JSON always has them)
    #[arg(long)]
    per_query: bool,

    #[command(flatten)]
    files: FileArgs,
}

#[derive(Debug, Subcommand)]
enum EvalCommand {
    /// Say whether runs are really better than a baseline
    Compare(compare::CompareArgs),
    /// Say what each source and each channel gives alone, and what merging makes of them
    Sources(Box<sources::SourcesArgs>),
    /// Say whether a reranker is worth its time: the same queries with it and without
    Rerank(Box<rerank::RerankArgs>),
}

/// Several evaluations as JSON.
#[derive(Serialize)]
struct Evaluations<'a> {
    runs: Vec<NamedEvaluation<'a>>,
}

#[derive(Serialize)]
struct NamedEvaluation<'a> {
    run: &'a str,
    #[serde(flatten)]
    evaluation: &'a Evaluation,
}

/// Runs the command; live searches look into the store in this folder.
pub(crate) fn run(args: &EvalArgs, store: &Path) -> Result<ExitCode, crate::Failure> {
    let done = match &args.command {
        Some(EvalCommand::Compare(compare)) => compare::run(compare),
        Some(EvalCommand::Sources(sources)) => return sources::run(sources, store),
        Some(EvalCommand::Rerank(rerank)) => return rerank::run(rerank, store),
        None if args.live.is_given() => {
            let loaded = args.files.load_live("search", |qrels| args.live.search(store, qrels))?;
            measure(args, loaded, Some(store))
        }
        None => {
            args.live.refuse_settings()?;
            measure(args, args.files.load(&args.runs)?, None)
        }
    };
    Ok(done?)
}

/// Measures, and keeps the outcome beside the store that was searched.
fn measure(args: &EvalArgs, loaded: Loaded<'_>, store: Option<&Path>) -> Result<ExitCode, Problem> {
    let evaluations = loaded.evaluate();
    if let (Some(store), Some((_, evaluation))) = (store, evaluations.first()) {
        reports::keep(store, "eval", evaluation);
    }
    notes::print(&evaluations, loaded.qrels.queries().len());
    let text = match evaluations.as_slice() {
        [(_, evaluation)] if args.files.json => report::json(evaluation)?,
        several if args.files.json => {
            let named = several.iter().map(|(run, evaluation)| NamedEvaluation { run, evaluation });
            report::json(&Evaluations { runs: named.collect() })?
        }
        several if args.per_query => report::per_query(several),
        several => report::means(several),
    };
    output::write(None, &text)?;
    Ok(exit_code(&evaluations))
}

/// 1 when no run has a result for any judged query.
fn exit_code(evaluations: &[(&str, Evaluation)]) -> ExitCode {
    let any = evaluations.iter().any(|(_, evaluation)| evaluation.any_result());
    if any { ExitCode::SUCCESS } else { ExitCode::from(1) }
}
