//! `mainstem search`: one query, all sources, one list.

pub(crate) mod age;
pub(crate) mod config;
mod found;
pub(crate) mod open;
pub(crate) mod render;
pub(crate) mod settings;
pub(crate) mod there;
mod why_not;
pub(crate) mod written;

use std::path::Path;
use std::process::ExitCode;

use clap::Args;
use mainstem::query::{Plan, Request};

use crate::failure::{Failure, Problem};
use crate::fuse::explain;
use crate::output;
use crate::remote::Place;
use config::{Config, ConfigArgs};
use found::Found;
use settings::{PageArgs, RankArgs, WaitArgs, WhatArgs};
use why_not::Standing;

const HELP: &str = "\
Examples:
  mainstem search \"how do we roll back a release\"
  mainstem search \"rollback\" --source wiki --source chat --since 30d
  mainstem search \"rollback\" --variant \"undo a deployment\" --explain
  mainstem search \"rollback\" --where status=open --json
  mainstem search \"rollback\" --plan
  mainstem search \"rollback\" --soft 100ms --hard 1s
  mainstem search \"rollback\" --config mainstem.toml
  mainstem search \"rollback\" --rerank maxsim --explain

Every source is searched by meaning and by words at once. A channel that does not answer in time is
left out, and the answer says so. Slack, Gmail, Linear and Notion weigh freshness.

The `[pipeline]` of a `mainstem.toml` in the store's folder, else in the current folder, is laid over
the default settings; what it does not name stays as it is. Its `[deadline]` has `soft` and `hard`, such
as \"200ms\". The answer says which file was read. Options given here win over the file.

A reranker (`--rerank`, or `[rerank]` in the file) reads the best hits with the query beside them. One
that fails or is late changes nothing, and the answer says so.

Exit codes: 0 found, 1 nothing found, 2 error";

/// Search all sources at once.
#[derive(Args, Debug)]
#[command(after_help = HELP)]
pub(crate) struct SearchArgs {
    /// What to look for
    query: String,

    #[command(flatten)]
    what: WhatArgs,

    #[command(flatten)]
    page: PageArgs,

    #[command(flatten)]
    rank: RankArgs,

    #[command(flatten)]
    wait: WaitArgs,

    #[command(flatten)]
    config: ConfigArgs,

    /// Say why each hit is where it is, and what else could have come first
    #[arg(long)]
    explain: bool,

    /// Print what the search would do, and do nothing
    #[arg(long, conflicts_with_all = ["explain", "why_not"])]
    plan: bool,

    /// Say what became of this document, or of one chunk of it, such as `wiki/release#2`
    #[arg(long, value_name = "ID", conflicts_with = "explain")]
    why_not: Option<String>,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub(crate) fn run(args: &SearchArgs, place: &Place<'_>) -> Result<ExitCode, Failure> {
    match place {
        Place::Store(store) => here(args, store),
        Place::Server(client) => there::run(args, client),
    }
}

/// Searches the store in this folder.
fn here(args: &SearchArgs, store: &Path) -> Result<ExitCode, Failure> {
    let config = args.config.read(store)?.reranked(args.rank.rerank.as_deref())?;
    let request = args.request(&config)?;
    let (stored, engine) = open::with_store(store, open::needs_model(&request))?;
    let engine = config.on(engine)?;
    if args.plan {
        let mut plan = engine.plan(&request)?;
        plan.notes.extend(config.note());
        return Ok(print_plan(&plan, args.json)?);
    }
    let mut outcome = engine.search(&request);
    // The other legs may have answered, but not with all that there is.
    if stored.is_suspect() && open::mend(store) {
        let engine = open::engine(store, open::needs_model(&request))?;
        outcome = config.on(engine)?.search(&request);
    }
    let mut response = outcome?;
    response.status.notes.extend(config.note());
    let json = if args.json {
        serde_json::to_string_pretty(&response).map_err(Problem::from)?
    } else {
        String::new()
    };
    let found = Found::from(response);
    let standing = match found.why_not.as_ref().filter(|_| !args.json) {
        Some(asked) => why_not::here(store, asked, &request)?,
        None => Standing::default(),
    };
    Ok(print(args, &request, &found, json, standing)?)
}

impl SearchArgs {
    fn request(&self, config: &Config) -> Result<Request, Failure> {
        settings::refuse_none(self.page.page().0)?;
        let mut request = Request {
            why_not: self.why_not.clone(),
            alternatives: self.explain,
            ..Request::new(&self.query)
        };
        self.page.apply(&mut request, config);
        self.rank.apply(&mut request, config)?;
        self.wait.apply(&mut request, config)?;
        self.what.apply(&mut request)?;
        Ok(request)
    }
}

fn print_plan(plan: &Plan, json: bool) -> Result<ExitCode, Problem> {
    let text = if json {
        serde_json::to_string_pretty(plan)? + "\n"
    } else {
        output::plain(&plan.to_string()).into_owned()
    };
    output::write(None, &text)?;
    Ok(ExitCode::SUCCESS)
}

/// Prints what was found; `json` is all of it as JSON, where that is wanted. `standing` is of what was asked about.
fn print(
    args: &SearchArgs,
    request: &Request,
    response: &Found,
    json: String,
    standing: Standing,
) -> Result<ExitCode, Problem> {
    let text = if args.json {
        json + "\n"
    } else if let Some(asked) = &response.why_not {
        why_not::text(response, asked, standing)
    } else if args.explain {
        explain::answer(&response.answer) + &render::alternatives(response)
    } else {
        render::hits(response, request.now.as_ref())
    };
    output::write(None, &text)?;
    if !args.json {
        render::remarks(request, response);
    }
    Ok(if response.hits.is_empty() || standing == Standing::Missing {
        ExitCode::from(1)
    } else {
        ExitCode::SUCCESS
    })
}
