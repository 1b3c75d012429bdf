//! `mainstem bench`: how fast searches are, on this machine and this store.

mod made_up;
mod questions;
mod render;

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::Args;
use mainstem::query::{Engine, Request, Settings, Timings};
use mainstem::store::EmbeddedStore;
use mainstem_core::contract::{Channel, Ctx};
use mainstem_core::time::Moment;
use serde::Serialize;

use crate::failure::{Failure, Problem};
use crate::output;
use crate::search::open;
use crate::temporary::Temporary;
use questions::Question;

const HELP: &str = "\
Examples:
  mainstem bench
  mainstem bench --queries questions.txt --json
  mainstem bench --chunks 100000

Questions are a few words of documents in the store, with the vectors of these; those of a file are
embedded first, if the model is here. One is asked after another, each once to get warm, then once
for the measurement. p50 means that half of the searches took no longer, p99 that one in a hundred did.

With `--chunks` the store is a new one of made-up texts and vectors, which is removed at the end; then
filling and opening it is measured, too.

Times of different machines, or of a busy one, cannot be compared.

Exit codes: 0 measured, 1 the store holds nothing, 2 error";

/// Measure how fast this machine searches the store.
#[derive(Args, Debug)]
#[command(after_help = HELP)]
pub(crate) struct BenchArgs {
    /// Ask the questions of this file, one a line [default: words of the store's own documents]
    #[arg(long, value_name = "FILE", conflicts_with = "chunks")]
    queries: Option<std::path::PathBuf>,

    /// How many questions to ask
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    count: u32,

    /// Measure on this many made-up chunks in place of the store
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1000..=2_000_000))]
    chunks: Option<u32>,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// What was measured. Times are in milliseconds.
#[derive(Serialize)]
struct Report {
    chunks: u64,
    vectors: u64,
    sources: usize,
    questions: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    ingest: Option<Ingested>,
    open_ms: f64,
    searches: Vec<Times>,
    /// What the parts of a search by default take.
    parts_ms: Parts,
    /// What searches wait for at most before they go on with what is there.
    soft_limit_ms: f64,
}

/// How a new store was filled.
#[derive(Clone, Copy, Serialize)]
struct Ingested {
    seconds: f64,
    chunks_per_second: f64,
}

/// How long one kind of search takes.
#[derive(Serialize)]
struct Times {
    what: &'static str,
    p50_ms: f64,
    p95_ms: f64,
    p99_ms: f64,
}

impl Times {
    fn of(what: &'static str, mut times: Vec<Duration>) -> Option<Self> {
        times.sort_unstable();
        let at = |share: f64| times.get((times.len().saturating_sub(1) as f64 * share).round() as usize);
        let [p50_ms, p95_ms, p99_ms] = [0.5, 0.95, 0.99].map(|share| at(share).copied().map(milliseconds));
        Some(Self { what, p50_ms: p50_ms?, p95_ms: p95_ms?, p99_ms: p99_ms? })
    }
}

#[derive(Clone, Copy, Serialize)]
struct Parts {
    plan: f64,
    retrieve: f64,
    rank: f64,
    present: f64,
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// Runs the command.
pub(crate) fn run(args: &BenchArgs, store: &Path) -> Result<ExitCode, Failure> {
    let report = match args.chunks {
        Some(chunks) => {
            // Removed when it is dropped.
            let folder = Temporary::new("bench")?;
            let ingest = made_up::fill(folder.path(), chunks)?;
            measure(args, folder.path(), Some(ingest))?
        }
        None => measure(args, store, None)?,
    };
    let Some(report) = report else {
        output::note(
            "the store holds nothing to ask for; `mainstem ingest PATH --source NAME` fills it, `--chunks N` makes something up",
        );
        return Ok(ExitCode::from(1));
    };
    let text = if args.json {
        serde_json::to_string_pretty(&report).map_err(Problem::from)? + "\n"
    } else {
        report.render()
    };
    output::write(None, &text)?;
    Ok(ExitCode::SUCCESS)
}

/// Asks everything; nothing where there is nothing to ask.
fn measure(args: &BenchArgs, folder: &Path, ingest: Option<Ingested>) -> Result<Option<Report>, Failure> {
    // What catches up first is not opening.
    drop(open::level(folder)?);
    let start = Instant::now();
    let store = Arc::new(EmbeddedStore::open_read_only(folder)?);
    let open_ms = milliseconds(start.elapsed());
    let sources = store.sources()?;
    let mut embedding = Vec::new();
    let questions = match &args.queries {
        None => questions::of_store(&store, args.count as usize)?,
        Some(file) => {
            let engine = open::engine(folder, true)?;
            let mut questions = questions::of_file(file, args.count as usize)?;
            embed(&engine, &mut questions, &mut embedding)?;
            questions
        }
    };
    if questions.is_empty() {
        return Ok(None);
    }
    let engine = Engine::new(Arc::clone(&store) as _, None, Settings::default());
    let has_vectors = questions.iter().any(|question| question.vector.is_some());
    let mut searches = Vec::new();
    let mut timings = Vec::new();
    let kinds =
        [("search", None), ("by words", Some(Channel::Lexical)), ("by meaning", Some(Channel::Dense))];
    for (what, channel) in
        kinds.into_iter().filter(|(_, channel)| has_vectors || *channel != Some(Channel::Dense))
    {
        let (times, parts) = ask(&engine, &questions, channel)?;
        searches.extend(Times::of(what, times));
        if channel.is_none() {
            timings = parts;
        }
    }
    searches.extend(Times::of("embed a question", embedding));
    Ok(Some(Report {
        chunks: sources.iter().map(|source| source.chunks).sum(),
        vectors: sources.iter().map(|source| source.vectors).sum(),
        sources: sources.len(),
        questions: questions.len(),
        ingest,
        open_ms,
        searches,
        parts_ms: parts(&timings),
        soft_limit_ms: milliseconds(engine.settings().deadline.soft),
    }))
}

/// Gives questions their vectors, where the model is here.
fn embed(engine: &Engine, questions: &mut [Question], times: &mut Vec<Duration>) -> Result<(), Failure> {
    let Some(model) = engine.embedder() else { return Ok(()) };
    let ctx = Ctx::unhurried(Moment::now());
    for question in questions {
        let start = Instant::now();
        let embedded = model.embed(&[&question.text], &ctx)?;
        times.push(start.elapsed());
        question.vector = embedded.into_iter().next().map(|embedded| embedded.vector);
    }
    Ok(())
}

/// Asks all questions in one way, once to get warm and once for the times.
fn ask(
    engine: &Engine,
    questions: &[Question],
    channel: Option<Channel>,
) -> Result<(Vec<Duration>, Vec<Timings>), Failure> {
    let wants_vector = channel == Some(Channel::Dense);
    let asked = questions.iter().filter(|question| !wants_vector || question.vector.is_some());
    let requests: Vec<Request> = asked.map(|question| question.request(channel)).collect();
    for request in &requests {
        engine.search(request)?;
    }
    let (mut times, mut timings) = (Vec::new(), Vec::new());
    for request in &requests {
        let start = Instant::now();
        let response = engine.search(request)?;
        times.push(start.elapsed());
        timings.push(response.timings);
    }
    Ok((times, timings))
}

fn parts(timings: &[Timings]) -> Parts {
    let median = |of: fn(&Timings) -> Duration| {
        let mut times: Vec<_> = timings.iter().map(of).collect();
        times.sort_unstable();
        times.get(times.len() / 2).copied().map(milliseconds).unwrap_or_default()
    };
    Parts {
        plan: median(|timings| timings.plan),
        retrieve: median(|timings| timings.retrieve),
        rank: median(|timings| timings.rank),
        present: median(|timings| timings.present),
    }
}
