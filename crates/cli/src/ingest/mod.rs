//! `mainstem ingest`: documents of many kinds into a store.

mod input;
mod model;
mod origin;
mod progress;
mod report;
mod there;
mod told;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use clap::Args;
use mainstem::Error;
use mainstem::ingest::vectors::announce;
use mainstem::ingest::{Ingest, Summary, watch};
use mainstem::store::embedded::EmbeddedStore;
use mainstem_core::contract::Embedder;

use crate::failure::{Failure, Problem};
use crate::output;
use crate::remote::Place;
use input::Input;
use origin::Origin;
use progress::Bar;
use told::Told;

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
and either `vector` or `chunks` ([{\"text\": ..., \"vector\": [...]}, ...]); other fields become metadata. docs/jsonl.md
says what each of them means.

Running it again changes only what has changed; the time of a file by itself is no change. Documents that are gone from
a folder are removed from its source, unless the folder is empty; --no-sync keeps them. A source that was also filled
from elsewhere, such as a second folder, keeps all of its documents. --sync removes everything that is not in PATH.

--watch runs again after each change, and leaves the store to others between runs. A folder that becomes empty while it
is watched empties its source.

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

/// How long a watch waits before it tries again to open a store that is busy.
const BUSY: Duration = Duration::from_millis(200);

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
    listen()?;
    let mut job = Job { args, input, dir: store, embedder: None, quiet: false, followed: false };
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
    /// The folder of the store. It is opened for each run: between those of a watch, others may write.
    dir: &'a Path,
    embedder: Option<Arc<dyn Embedder>>,
    /// Whether a run that changes nothing says nothing.
    quiet: bool,
    /// Whether a run of a watch has seen documents.
    followed: bool,
}

/// What a run did, and where else the source was filled from, if documents were kept for that.
type Outcome = (Summary, Option<String>);

impl Job<'_> {
    fn once(&mut self) -> Result<ExitCode, Failure> {
        let store = EmbeddedStore::init(self.dir).map_err(failure)?;
        self.embedder = model::embedder(self.args, &store)?;
        let (summary, elsewhere) = self.ingest(&store)?;
        report::write(self.args, &summary, elsewhere.as_deref())?;
        Ok(exit_code(&summary))
    }

    fn watch(&mut self) -> Result<ExitCode, Failure> {
        let Some(store) = self.open()? else { return Ok(ExitCode::SUCCESS) };
        self.embedder = model::embedder(self.args, &store)?;
        drop(store);
        let except = input::except(self.dir);
        let path = self.args.path.clone();
        watch::watch(&path, &except, &STOP, &mut || self.look())?;
        Ok(ExitCode::SUCCESS)
    }

    /// Opens the store for a run of a watch; whoever writes to it is waited for. Nothing when Ctrl-C came first.
    fn open(&self) -> Result<Option<EmbeddedStore>, Failure> {
        let mut told = false;
        while !STOP.load(Ordering::Relaxed) {
            match EmbeddedStore::init(self.dir) {
                Err(Error::Busy { .. }) => {
                    if !std::mem::replace(&mut told, true) {
                        output::note("another process writes to the store: waiting for it to finish");
                    }
                    std::thread::sleep(BUSY);
                }
                outcome => return outcome.map(Some).map_err(failure),
            }
        }
        Ok(None)
    }

    /// A run while watching.
    fn look(&mut self) -> Result<(), Failure> {
        let Some(store) = self.open()? else { return Ok(()) };
        let (summary, elsewhere) = self.ingest(&store)?;
        drop(store);
        let applied = summary.applied;
        if !self.quiet || applied.added + applied.changed + applied.removed > 0 {
            report::write(self.args, &summary, elsewhere.as_deref())?;
        }
        if self.followed && summary.documents == 0 && applied.removed > 0 {
            output::note("nothing is left in what is watched, so that nothing is left of its documents");
        }
        if !self.quiet {
            output::note(&format!("watching `{}` for changes; Ctrl-C ends it", self.args.path.display()));
        }
        self.quiet = true;
        self.followed |= summary.documents > 0;
        Ok(())
    }

    fn ingest(&self, store: &EmbeddedStore) -> Result<Outcome, Failure> {
        let args = self.args;
        let mut connector = self.input.open(args, Some(store))?;
        let origin = Origin::of(args, store)?;
        let before = kind_of(&args.source, store)?;
        let begin = || {
            self.input.name_source(args, store, before.as_deref())?;
            origin.begin(args, store)
        };
        let told = Told::new(store, &begin);
        let announce =
            |vectors: mainstem::ingest::Vectors<'_>| announce(store, vectors, args.vectors_model.as_deref());
        let mut ingest = Ingest::new(&args.source, &told);
        ingest.known = Some(store);
        ingest.embedder = self.embedder.as_deref();
        ingest.announce = Some(&announce);
        ingest.missing = origin.missing(self.input, args, self.followed);
        ingest.strict = args.strict;
        ingest.stop = Some(&STOP);
        let bar = Bar::new(self.quiet);
        let summary = ingest.run(connector.as_mut(), &mut |progress| bar.show(progress));
        bar.clear();
        let summary = summary?;
        if summary.documents > 0 {
            // Where nothing was written, it has not been said yet.
            begin()?;
        }
        origin.end(args, store, (ingest.missing, &summary))?;
        // What is written is safe, but who is told that all went well expects to find it.
        store.catch_up().map_err(failure)?;
        report::keep(args, &summary, store.dir());
        Ok((summary, origin.kept_for(ingest.missing)))
    }
}

/// The kind of a source, where the store knows the source.
fn kind_of(source: &str, store: &EmbeddedStore) -> Result<Option<String>, Failure> {
    let sources = store.sources().map_err(failure)?;
    Ok(sources.into_iter().find(|known| known.name == source).map(|known| known.kind))
}
