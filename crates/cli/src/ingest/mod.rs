//! `mainstem ingest`: documents of many kinds into a store.

mod input;
mod model;
mod progress;
mod report;
mod there;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::Args;
use mainstem::Error;
use mainstem::ingest::vectors::announce;
use mainstem::ingest::{Ingest, Summary, watch};
use mainstem::store::embedded::EmbeddedStore;
use mainstem_core::contract::Embedder;

use crate::failure::{Failure, Problem};
use crate::remote::Place;
use input::Input;
use progress::Bar;

/// Read documents into a source of the store.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  mainstem ingest docs --source wiki
  mainstem ingest . --source code --watch
  mainstem ingest export.jsonl --source slack --kind slack --sync
  mainstem ingest scifact --source scifact --kind beir --vectors scifact/corpus.npy

PATH is a folder or file of Markdown, text, HTML or source code; a .jsonl or .ndjson file; a BEIR folder, which has a
corpus.jsonl; or - for JSONL from the standard input. Files that .gitignore names, and hidden, binary and generated
files are left out.

A line of JSONL has `id` and `text`, and may have title, url, created_at, updated_at, label, readers, key, metadata,
and either `vector` or `chunks` ([{\"text\": ..., \"vector\": [...]}, ...]); other fields become metadata.

Running it again changes only what has changed. A folder is a source of its own: documents of the source that are not
in it any more are removed, unless it is empty; --no-sync keeps them. For files and JSONL, --sync removes them.

Exit codes: 0 done, 1 nothing found to ingest, 2 error, 130 stopped by Ctrl-C; what was written until then stays.")]
#[allow(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(crate) struct IngestArgs {
    /// What to read: a folder, a file, or - for JSONL from the standard input
    path: PathBuf,

    /// Name of the source that the documents belong to
    #[arg(long, value_name = "NAME")]
    source: String,

    /// Kind of source, such as slack or wiki; files, jsonl and beir also say how to read PATH
    #[arg(long, value_name = "K")]
    kind: Option<String>,

    /// Vectors of the documents, one row for each line of the corpus: .npy of float16 or float32
    #[arg(long, value_name = "FILE")]
    vectors: Option<PathBuf>,

    /// Name of the model that made the vectors which the documents bring
    #[arg(long, value_name = "NAME")]
    vectors_model: Option<String>,

    /// Model that embeds the documents: one that runs here, or a service that `model add` named
    #[arg(long, value_name = "NAME", conflicts_with_all = ["vectors", "no_embed"])]
    model: Option<String>,

    /// Do not embed: search by words, and by the vectors that documents bring
    #[arg(long)]
    no_embed: bool,

    /// Remove documents of the source that are not in PATH any more
    #[arg(long, conflicts_with = "no_sync")]
    sync: bool,

    /// Keep documents of the source that are not in PATH any more
    #[arg(long)]
    no_sync: bool,

    /// Stop at the first malformed document instead of skipping it
    #[arg(long)]
    strict: bool,

    /// Keep the source in step with PATH until Ctrl-C
    #[arg(long)]
    watch: bool,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Whether Ctrl-C was pressed.
static STOP: AtomicBool = AtomicBool::new(false);

/// What a signal ends a program with, by convention of shells.
const STOPPED: u8 = 130;

/// Runs the command.
pub(crate) fn run(args: &IngestArgs, place: &Place<'_>) -> Result<ExitCode, Failure> {
    check(args)?;
    match place {
        Place::Store(store) => here(args, store),
        Place::Server(client) => there::run(args, client),
    }
}

fn here(args: &IngestArgs, store: &Path) -> Result<ExitCode, Failure> {
    let input = Input::detect(args)?;
    let store = EmbeddedStore::init(store).map_err(failure)?;
    let embedder = model::embedder(args, &store)?;
    listen()?;
    let mut job = Job { args, input, store, embedder, quiet: false };
    if args.watch { job.watch() } else { job.once() }
}

fn check(args: &IngestArgs) -> Result<(), Problem> {
    if args.source.trim().is_empty() {
        let hint = "give the source a name, such as `--source wiki`";
        return Err(Problem::argument("`--source`: expected a name, received an empty text", hint));
    }
    if args.watch && args.path == Path::new("-") {
        let hint = "watch a folder or a file, or leave `--watch` out";
        return Err(Problem::conflict("`--watch` and `-`: the standard input cannot be watched", hint));
    }
    Ok(())
}

/// Lets Ctrl-C end the run after the batch in hand; the second time it ends the program.
fn listen() -> Result<(), Failure> {
    let pressed = || {
        if STOP.swap(true, Ordering::Relaxed) {
            std::process::exit(STOPPED.into());
        }
    };
    ctrlc::set_handler(pressed)
        .map_err(|error| failure(Error::Internal(format!("cannot listen for Ctrl-C: {error}"))))
}

fn failure(error: Error) -> Failure {
    Box::new(error)
}

fn exit_code(summary: &Summary) -> ExitCode {
    match summary {
        Summary { interrupted: true, .. } => ExitCode::from(STOPPED),
        Summary { documents: 0, applied, .. } if applied.removed == 0 => ExitCode::from(1),
        _ => ExitCode::SUCCESS,
    }
}

/// Everything that a run needs.
struct Job<'a> {
    args: &'a IngestArgs,
    input: Input,
    store: EmbeddedStore,
    embedder: Option<Arc<dyn Embedder>>,
    /// Whether a run that changes nothing says nothing.
    quiet: bool,
}

impl Job<'_> {
    fn once(&self) -> Result<ExitCode, Failure> {
        let summary = self.ingest()?;
        report::write(self.args, &summary)?;
        Ok(exit_code(&summary))
    }

    fn watch(&mut self) -> Result<ExitCode, Failure> {
        let except = input::except(&self.store);
        let path = self.args.path.clone();
        watch::watch(&path, &except, &STOP, &mut || self.look())?;
        Ok(ExitCode::SUCCESS)
    }

    /// A run while watching.
    fn look(&mut self) -> Result<(), Failure> {
        let summary = self.ingest()?;
        let applied = summary.applied;
        if !self.quiet || applied.added + applied.changed + applied.removed > 0 {
            report::write(self.args, &summary)?;
        }
        self.quiet = true;
        Ok(())
    }

    /// The kind of the source, where the store knows the source.
    fn kind(&self) -> Result<Option<String>, Failure> {
        let sources = self.store.sources().map_err(failure)?;
        Ok(sources.into_iter().find(|source| source.name == self.args.source).map(|source| source.kind))
    }

    fn ingest(&self) -> Result<Summary, Failure> {
        let mut connector = self.input.open(self.args, input::except(&self.store))?;
        let brought = self.args.vectors_model.as_deref();
        let announce = |vectors: mainstem::ingest::Vectors<'_>| announce(&self.store, vectors, brought);
        let mut ingest = Ingest::new(&self.args.source, &self.store);
        ingest.known = Some(&self.store);
        ingest.embedder = self.embedder.as_deref();
        ingest.announce = Some(&announce);
        ingest.missing = self.input.missing(self.args);
        ingest.strict = self.args.strict;
        ingest.stop = Some(&STOP);
        let before = self.kind()?;
        let bar = Bar::new(self.quiet);
        let summary = ingest.run(connector.as_mut(), &mut |progress| bar.show(progress));
        bar.clear();
        let summary = summary?;
        if summary.documents > 0 {
            self.input.name_source(self.args, &self.store, before.as_deref())?;
        }
        // What is written is safe, but who is told that all went well expects to find it.
        self.store.catch_up().map_err(failure)?;
        Ok(summary)
    }
}
