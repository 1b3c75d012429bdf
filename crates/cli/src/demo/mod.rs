//! `mainstem demo`: the engine at work on sample documents that are part of the program.

mod folder;
mod measure;
mod open;
mod page;
mod samples;
mod scores;
mod store;
mod tour;
mod vectors;

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use mainstem_core::contract::{Embedder, SourceStats};
use serde::Serialize;

use crate::failure::{Failure, Problem};
use crate::output;
use measure::Report;
use store::DemoStore;
use tour::Stopped;
use vectors::Sampled;

const HELP: &str = "\
Examples:
  mainstem demo
  mainstem demo --open
  mainstem demo --keep demo-store
  mainstem demo --words
  mainstem demo --json
  mainstem demo --write recipes

The samples and their vectors are built in: the demo needs no network, no model and no set-up, and
its clock stands still, so that it shows the same every day.

With `--open` the page is on this machine only, until Ctrl-C. It knows the meaning of the judged
questions; others are searched by words, and by meaning after `mainstem model pull`.

Exit codes: 0 shown or written, 2 error";

/// See it at work: index 16 sample sources, search them at once, explain and measure the answers.
#[derive(Args, Debug)]
#[command(after_help = HELP)]
pub(crate) struct DemoArgs {
    /// Keep the store in this folder, to go on with `mainstem --store DIR search` [default: it is removed]
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,

    /// Search by words alone, without the vectors that come with the samples
    #[arg(long)]
    words: bool,

    /// Write the sample files to this folder instead, to try other commands on them
    #[arg(long, value_name = "DIR", conflicts_with_all = ["keep", "words"])]
    write: Option<PathBuf>,

    /// Open the web page on the samples, in the browser if there is one
    #[arg(long, conflicts_with_all = ["write", "json"])]
    open: bool,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// A recipe and what its sources hold.
#[derive(Serialize)]
struct Held {
    recipe: &'static str,
    sources: Vec<SourceStats>,
}

/// Everything that the demo shows.
#[derive(Serialize)]
struct Demo {
    about: &'static str,
    documents: u64,
    /// Whether the search by meaning takes part.
    meaning: bool,
    now: &'static str,
    recipes: Vec<Held>,
    questions: Vec<Stopped>,
    evaluation: Report,
    next: Vec<String>,
}

/// Runs the command.
pub(crate) fn run(args: &DemoArgs) -> Result<ExitCode, Failure> {
    if let Some(path) = &args.write {
        output::write(None, &folder::write(path)?.text(args.json)?)?;
        return Ok(ExitCode::SUCCESS);
    }
    let store = args.keep.as_deref().map_or_else(DemoStore::temporary, DemoStore::kept)?;
    let sampled = if args.words { None } else { Some(Arc::new(Sampled::new()?)) };
    let demo = Demo::new(args, &store, sampled.clone().map(|model| model as _))?;
    if args.open {
        return open::serve(store.embedded(), &demo, sampled.as_deref());
    }
    output::write(None, &demo.text(args.json)?)?;
    Ok(ExitCode::SUCCESS)
}

impl Demo {
    /// For people, or as JSON.
    fn text(&self, json: bool) -> Result<String, Problem> {
        Ok(if json { serde_json::to_string_pretty(self)? + "\n" } else { page::text(self) })
    }

    fn new(args: &DemoArgs, store: &DemoStore, model: Option<Arc<dyn Embedder>>) -> Result<Self, Failure> {
        let meaning = model.is_some();
        let started = Instant::now();
        fill(store, model.as_deref())?;
        let recipes = held(store)?;
        let documents = recipes.iter().flat_map(|held| &held.sources).map(|source| source.documents).sum();
        output::note(&format!("indexed {documents} documents in {:.1} s", started.elapsed().as_secs_f64()));
        let engine = store.engine(model);
        let questions = tour::take(&engine, meaning)?;
        let bar = bar(measure::searches(meaning)?, "judged questions, asked in every way");
        let evaluation = measure::report(&engine, meaning, &mut || bar.inc(1))?;
        bar.finish_and_clear();
        let next = folder::commands(args.keep.as_deref());
        Ok(Self {
            about: page::ABOUT,
            documents,
            meaning,
            now: tour::NOW,
            recipes,
            questions,
            evaluation,
            next,
        })
    }
}

/// Indexes the samples, and shows how far it is on a terminal.
fn fill(store: &DemoStore, model: Option<&dyn Embedder>) -> Result<(), Failure> {
    let all = samples::documents()?;
    let bar = bar(all, "documents");
    store.fill(model, &mut |documents| bar.set_position(documents))?;
    bar.finish_and_clear();
    Ok(())
}

fn bar(length: u64, what: &'static str) -> ProgressBar {
    let bar = ProgressBar::new(length).with_message(what);
    if let Ok(style) = ProgressStyle::with_template("{bar:24} {pos}/{len} {msg}") {
        bar.set_style(style);
    }
    bar
}

fn held(store: &DemoStore) -> Result<Vec<Held>, Failure> {
    let all = store.sources()?;
    let of = |recipe: &samples::Recipe| {
        let named = |name: &str| all.iter().find(|source| source.name == name).cloned();
        let sources = recipe.sources.iter().filter_map(|(name, _)| named(name)).collect();
        Held { recipe: recipe.name, sources }
    };
    Ok(samples::RECIPES.iter().map(of).collect())
}
