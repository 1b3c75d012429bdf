//! `mainstem fuse`: ranked lists in, one explained list out.

pub(crate) mod explain;
pub(crate) mod input;
pub(crate) mod render;
pub(crate) mod settings;

use std::io::IsTerminal as _;
use std::process::ExitCode;

use clap::Args;
use mainstem_core::{Answer, Replay};

use crate::failure::{Failure, Problem};
use crate::output;
use input::{Input, Queries};
use settings::FuseSettings;

const HELP: &str = "\
Examples:
  mainstem fuse bm25.run dense.run -o fused.run
  mainstem fuse bm25.run dense.run --method rsf --weight dense=2 --explain --query 301 --top 5
  mainstem fuse search.json --explain
  mainstem fuse search.json --method dbsf --top 10 --json
  mainstem fuse search.json --compat qdrant
  cat search.json | mainstem fuse - --why-not doc-17

Input:
  TREC runs (`query Q0 document rank score tag`), one file a list. The list's name is the file's
  name without folder and extension. Scores decide; equal scores go by the rank column.
  Or one JSON file with lists, settings and clock:
  {\"now\": \"2026-01-31T00:00:00Z\",
   \"pipeline\": {\"fuse\": {\"method\": \"rrf\", \"k\": 60}, \"dedup\": {\"across\": 0.9}, \"limit\": 10},
   \"lists\": [{\"name\": \"wiki/dense\", \"source\": \"wiki\", \"weight\": 1.0,
              \"items\": [{\"id\": \"a\", \"score\": 0.91, \"text\": \"...\", \"created_at\": \"2026-01-01\"}]}]}
  Options given here win over what the file says. Stages that are not configured do not run.

Output:
  TREC runs give a TREC run, in which equal scores are set apart by the least step that trec_eval
  sees, so that it keeps our order. JSON gives a table. --explain gives a readable account of every
  score, --json everything.

Exit codes: 0 found, 1 nothing found, 2 error";

/// Fuse ranked lists into one, and say why each hit is where it is.
#[derive(Args, Debug)]
#[command(after_help = HELP)]
pub(crate) struct FuseArgs {
    /// TREC runs, or one JSON file; `-` is standard input
    #[arg(value_name = "FILES", default_value = "-")]
    files: Vec<String>,

    #[command(flatten)]
    settings: FuseSettings,

    /// Look at this query only (TREC runs); repeat for several
    #[arg(long, value_name = "ID")]
    query: Vec<String>,

    /// Say why each hit is where it is
    #[arg(long, conflicts_with = "json")]
    explain: bool,

    /// Say what became of this item
    #[arg(long, value_name = "ID", conflicts_with_all = ["json", "explain"])]
    why_not: Option<String>,

    /// Print JSON
    #[arg(long)]
    json: bool,

    /// Write the result to this file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<String>,

    /// Write the lists with all settings and the clock to this file, to run it again later (JSON input)
    #[arg(long, value_name = "FILE")]
    record: Option<String>,

    /// Name of the fused run in its last column (TREC runs)
    #[arg(long, value_name = "NAME", default_value = "mainstem")]
    tag: String,
}

/// Runs the command.
pub(crate) fn run(args: &FuseArgs) -> Result<ExitCode, Failure> {
    Ok(fuse(args)?)
}

fn fuse(args: &FuseArgs) -> Result<ExitCode, Problem> {
    let found = match input::read(&args.files)? {
        Input::Replay { replay, file } => fuse_replay(args, replay, &file)?,
        Input::Runs(runs) => fuse_runs(args, runs)?,
    };
    Ok(if found { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

fn fuse_replay(args: &FuseArgs, mut replay: Box<Replay>, file: &str) -> Result<bool, Problem> {
    if !args.query.is_empty() {
        return Err(Problem::conflict(
            "`--query` chooses among the queries of TREC runs, received a JSON file",
            "leave it out",
        ));
    }
    args.settings.apply(&mut replay)?;
    settings::set_clock(&mut replay);
    if let Some(path) = &args.record {
        output::write(Some(path), &(replay.to_json()? + "\n"))?;
    }
    let answer = replay.run().map_err(|error| Problem::in_file(error, file))?;
    let text = if args.json {
        serde_json::to_string_pretty(&answer)? + "\n"
    } else if let Some(id) = &args.why_not {
        explain::why_not(&answer, id)
    } else if args.explain {
        explain::answer(&answer)
    } else {
        render::table(&answer)
    };
    output::write(args.output.as_deref(), &text)?;
    render::notes(&answer);
    Ok(!answer.hits.is_empty())
}

fn fuse_runs(args: &FuseArgs, runs: Queries) -> Result<bool, Problem> {
    if args.record.is_some() {
        return Err(Problem::conflict(
            "`--record` needs a JSON file, received TREC runs",
            "leave it out: the runs are the record",
        ));
    }
    let queries = runs.chosen(&args.query)?;
    let mut answers: Vec<(String, Answer)> = Vec::with_capacity(queries.len());
    for (query, mut replay) in queries {
        args.settings.apply(&mut replay)?;
        settings::set_clock(&mut replay);
        answers.push((query, replay.run()?));
    }
    let text = if args.json {
        render::json_by_query(&answers)?
    } else if let Some(id) = &args.why_not {
        explain::by_query(&answers, |answer| explain::why_not(answer, id))
    } else if args.explain {
        explain::by_query(&answers, explain::answer)
    } else {
        let run = render::run(&answers, &args.tag)?;
        let seen = args.output.is_none() && std::io::stdout().is_terminal();
        if seen { output::plain(&run).into_owned() } else { run }
    };
    output::write(args.output.as_deref(), &text)?;
    Ok(answers.iter().any(|(_, answer)| !answer.hits.is_empty()))
}
