//! `mainstem ask`: the best hits, packed for a language model, and its answer.

mod render;
mod there;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use mainstem::ask::{Asker, BUDGET, CONSIDERED, PATIENCE, Reply, Stages};
use mainstem::query::Request;
use serde::Serialize;

use crate::failure::{Failure, Problem};
use crate::output;
use crate::remote::Place;
use crate::search::config::{Config, ConfigArgs};
use crate::search::settings::{RankArgs, WaitArgs, WhatArgs};
use crate::search::{open, render as search};
use render::Packed;

const HELP: &str = "\
Examples:
  mainstem ask \"how do we roll back a release\"
  mainstem ask \"how do we roll back a release\" --context --budget 2000
  mainstem ask \"why four attempts\" --source reviews --source wiki --template recipes/code-review/prompt.jinja
  mainstem ask \"what changed since May\" --since 30d --stages 3 --json
  mainstem --server http://127.0.0.1:7700 ask \"how do we roll back a release\"

The best hits are packed into a context that keeps to a budget of tokens, with a heading for each passage. A
model answers from it and cites passages by number; what it cites is checked. Any service with the interface of
OpenAI will do, named in `mainstem.toml`:

  [ask]
  url = \"http://127.0.0.1:8080/v1\"
  model = \"qwen3\"
  key_env = \"MY_KEY\"

Without one, the whole prompt is printed, ready to paste. See docs/ask.md.

Exit codes: 0 answered, or packed; 1 nothing found; 2 error";

/// Pack the best hits for a language model, and have it answer.
#[derive(Args, Debug)]
#[command(after_help = HELP)]
pub(crate) struct AskArgs {
    /// What to ask
    query: String,

    #[command(flatten)]
    what: WhatArgs,

    #[arg(short = 'n', long, value_name = "N", help = format!("How many hits to consider [default: {CONSIDERED}]"))]
    limit: Option<usize>,

    #[command(flatten)]
    rank: RankArgs,

    #[command(flatten)]
    wait: WaitArgs,

    #[command(flatten)]
    config: ConfigArgs,

    #[arg(long, value_name = "TOKENS", help = format!("How many tokens the context has at most [default: as configured, else {BUDGET}]"))]
    budget: Option<usize>,

    /// In how many passes the answer is written: 1, or 3 (outline, expand, assemble) [default: as configured, else 1]
    #[arg(long, value_name = "N")]
    stages: Option<u8>,

    /// Prompt template [default: as configured, else the built-in one]
    #[arg(long, value_name = "FILE")]
    template: Option<PathBuf>,

    /// Print the packed context alone, and ask nobody
    #[arg(long)]
    context: bool,

    /// Print JSON: the context with its receipts, the answer, and what it cites
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub(crate) fn run(args: &AskArgs, place: &Place<'_>) -> Result<ExitCode, Failure> {
    match place {
        Place::Store(store) => here(args, store),
        Place::Server(client) => there::run(args, client),
    }
}

/// Asks about the store in this folder.
fn here(args: &AskArgs, store: &Path) -> Result<ExitCode, Failure> {
    let config = args.config.read(store)?.reranked(args.rank.rerank.as_deref())?;
    let asker = args.asker(&config)?;
    let request = args.request(&config)?;
    let engine = config.on(open::engine(store, open::needs_model(&request))?)?;
    let mut response = engine.search(&request)?;
    response.status.notes.extend(config.note());
    let (context, found) = (asker.context(&response, None)?, !response.hits.is_empty());
    let reply = Reply::new(context, response.status);
    if !found {
        return nothing(args, &request, &reply);
    }
    answer(args, &asker, reply)?;
    Ok(ExitCode::SUCCESS)
}

/// Says that nothing was found, and what to try next.
fn nothing(args: &AskArgs, request: &Request, reply: &Reply) -> Result<ExitCode, Failure> {
    if args.json {
        output::write(None, &to_json(reply)?)?;
    } else {
        render::nothing(request, &reply.status);
    }
    Ok(ExitCode::from(1))
}

impl AskArgs {
    /// The settings of the file, with what was said here laid over them.
    fn asker(&self, config: &Config) -> Result<Asker, Failure> {
        let mut settings = config.ask.clone();
        settings.budget = self.budget.unwrap_or(settings.budget);
        if let Some(count) = self.stages {
            let hint = "1 is a single pass; 3 is outline, expand, assemble";
            settings.stages = Stages::try_from(count).map_err(|message| Problem::argument(message, hint))?;
        }
        if let Some(template) = &self.template {
            // A path that is given here is one of the current folder, not of the file's.
            let absolute = std::path::absolute(template).unwrap_or_else(|_| template.clone());
            settings.template = Some(absolute);
        }
        if self.context {
            // Nobody is asked, so that no key is needed.
            (settings.url, settings.model, settings.key_env) = (None, None, None);
        }
        Asker::new(settings, config.folder()).map_err(|error| Box::new(error) as Failure)
    }

    fn request(&self, config: &Config) -> Result<Request, Failure> {
        crate::search::settings::refuse_none(self.limit)?;
        let mut request = Request::new(&self.query);
        request.limit = self.limit.unwrap_or(CONSIDERED);
        self.rank.apply(&mut request, config)?;
        self.wait.apply_over(PATIENCE, &mut request, config)?;
        self.what.apply(&mut request)?;
        Ok(request)
    }
}

fn answer(args: &AskArgs, asker: &Asker, mut reply: Reply) -> Result<(), Failure> {
    let packed = Packed::from(&reply.context);
    if !args.json {
        search::gaps(&reply.status);
    }
    let Some(chat) = asker.chat()? else {
        reply.prompt = if args.context { None } else { Some(asker.prompt(&args.query, &reply.context)?) };
        if args.json {
            return Ok(output::write(None, &to_json(&reply)?)?);
        }
        return Ok(render::unanswered(&packed, reply.prompt.as_deref())?);
    };
    let mut shown = render::Shown::new(!args.json);
    let question = (args.query.as_str(), &reply.context);
    let (answer, ended) = asker.answer(&chat, question, None, &mut |said| shown.show(said));
    shown.end()?;
    if !args.json && (ended.is_ok() || !answer.text.is_empty()) {
        render::answered(&packed, &answer.citations.cited, &answer.citations.unknown)?;
    }
    ended?;
    if args.json {
        output::write(None, &to_json(&reply.answered(answer))?)?;
    }
    Ok(())
}

fn to_json(reply: &impl Serialize) -> Result<String, Problem> {
    Ok(serde_json::to_string_pretty(reply)? + "\n")
}
