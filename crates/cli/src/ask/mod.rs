//! `mainstem ask`: the best hits, packed for a language model, and its answer.

mod render;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use mainstem::ask::{Asker, BUDGET, CONSIDERED, Context, Reply, Stages};
use mainstem::query::{Request, Response};

use crate::failure::{Failure, Problem};
use crate::output;
use crate::search::config::{Config, ConfigArgs};
use crate::search::open;
use crate::search::settings::{RankArgs, WaitArgs, WhatArgs};

const HELP: &str = "\
Examples:
  mainstem ask \"how do we roll back a release\"
  mainstem ask \"how do we roll back a release\" --context --budget 2000
  mainstem ask \"why four attempts\" --source reviews --source wiki --template recipes/code-review/prompt.jinja
  mainstem ask \"what changed since May\" --since 30d --stages 3 --json

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

/// Runs the command on the store in this folder.
pub(crate) fn run(args: &AskArgs, store: &Path) -> Result<ExitCode, Failure> {
    let config = args.config.read(store)?;
    let asker = args.asker(&config)?;
    let request = args.request(&config)?;
    let engine = config.on(open::engine(store, open::needs_model(&request))?)?;
    let response = engine.search(&request)?;
    remarks(&response, &config);
    let context = asker.context(&response, None)?;
    if response.hits.is_empty() {
        if args.json {
            output::write(None, &(to_json(&Reply::new(context, None))? + "\n"))?;
        }
        output::note("nothing was found");
        return Ok(ExitCode::from(1));
    }
    answer(args, &asker, context)?;
    Ok(ExitCode::SUCCESS)
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
        let mut request = Request::new(&self.query);
        request.limit = self.limit.unwrap_or(CONSIDERED);
        self.rank.apply(&mut request, config)?;
        self.wait.apply(&mut request, config)?;
        self.what.apply(&mut request)?;
        Ok(request)
    }
}

fn answer(args: &AskArgs, asker: &Asker, context: Context) -> Result<(), Failure> {
    let chat = asker.chat()?;
    let Some(chat) = chat else { return print_context(args, asker, context) };
    let mut shown = render::Shown::new(!args.json);
    let answered = asker.answer(&chat, (&args.query, &context), None, &mut |said| shown.show(said));
    shown.end()?;
    let answer = answered?;
    if args.json {
        output::write(None, &(to_json(&Reply::new(context, Some(answer)))? + "\n"))?;
        return Ok(());
    }
    output::write(None, &render::sources(&context, &answer.citations))?;
    render::receipt(&context);
    render::unknown(&answer.citations);
    Ok(())
}

fn print_context(args: &AskArgs, asker: &Asker, context: Context) -> Result<(), Failure> {
    let text = if args.json {
        to_json(&Reply::new(context, None))? + "\n"
    } else {
        render::receipt(&context);
        if args.context {
            context.text + "\n"
        } else {
            output::note("no model is configured in `[ask]`: this is the prompt, ready to paste");
            asker.prompt(&args.query, &context)?
        }
    };
    Ok(output::write(None, &text)?)
}

fn to_json(reply: &Reply) -> Result<String, Problem> {
    Ok(serde_json::to_string_pretty(reply)?)
}

/// What a reader should know about the search.
fn remarks(response: &Response, config: &Config) {
    for note in response.status.notes.iter().cloned().chain(config.note()) {
        output::note(&note);
    }
}
