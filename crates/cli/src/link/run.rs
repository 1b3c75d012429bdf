//! `mainstem link run`: looking for links.

use std::fmt::Write as _;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use clap::{Args, ValueEnum};
use mainstem::link::Linker;
use mainstem::rerank::MaxSim;
use mainstem::store::{EmbeddedStore, Options};
use mainstem_client::LinkRequest;
use mainstem_core::contract::Filter;
use mainstem_core::link::{Edge, EdgeStore as _, Edges as _, Judge, LinkRun, LinkSettings, Recorded};
use mainstem_core::linked::ShownRun;
use mainstem_core::time::Moment;
use mainstem_core::{Code, Diagnostic as _};
use serde::Serialize;

use super::{show, there};
use crate::failure::{Failure, Problem};
use crate::output;
use crate::remote::Place;
use crate::search::config::ConfigArgs;
use crate::search::open;

/// Look for documents that belong together, and keep the links under the name of the run.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  mainstem link run --dry-run
  mainstem link run --source guides --source faq --across-only
  mainstem link run --judge words --least 0.25 --per-document 3
  mainstem link undo run-4f2a1

For each document, others are found by meaning, by telling words and by its title. The best of them are judged by their
first parts: token by token (`maxsim`) where the model is here and documents are few, else by their vectors (`cosine`), else by their `words`.
A link is what a run says about a pair; it stays until that run is undone, and it is stale when a document has changed.

Settings are also taken from `[link]` in `mainstem.toml`.

Exit codes: 0 links were found, 1 none were found, 2 error")]
pub(super) struct RunArgs {
    /// Link documents of this source only; repeat for several
    #[arg(long, value_name = "NAME")]
    source: Vec<String>,

    /// The least score of a link, 0 to 1 [default: 0.55 by maxsim, 0.5 by cosine, 0.2 by words]
    #[arg(long, value_name = "SCORE")]
    least: Option<f64>,

    /// How many links a document makes at most; it may get more from others [default: 5]
    #[arg(long, value_name = "N")]
    per_document: Option<usize>,

    /// Link documents of different sources only
    #[arg(long)]
    across_only: bool,

    /// What judges [default: the best that can]
    #[arg(long, value_name = "JUDGE")]
    judge: Option<JudgeName>,

    /// Say what would change, and keep nothing
    #[arg(long)]
    dry_run: bool,

    /// How many links to show
    #[arg(long, value_name = "N", default_value_t = 10)]
    top: usize,

    #[command(flatten)]
    config: ConfigArgs,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
#[value(rename_all = "lowercase")]
enum JudgeName {
    MaxSim,
    Cosine,
    Words,
}

impl RunArgs {
    fn judge(&self) -> Option<Judge> {
        self.judge.map(|judge| match judge {
            JudgeName::MaxSim => Judge::MaxSim,
            JudgeName::Cosine => Judge::Cosine,
            JudgeName::Words => Judge::Words,
        })
    }

    /// What is asked of a server, which has its own settings.
    pub(super) fn request(&self) -> Result<LinkRequest, Failure> {
        if self.config.is_given() {
            let message = "`--config` and `--no-config`: a server has its own settings";
            return Err(Problem::conflict(message, "leave them out, or leave `--server` out").into());
        }
        Ok(LinkRequest {
            sources: (!self.source.is_empty()).then(|| self.source.clone()),
            per_document: self.per_document,
            judge: self.judge(),
            least: self.least,
            within: self.across_only.then_some(false),
            dry_run: self.dry_run,
            ..LinkRequest::default()
        })
    }

    /// The settings of the file, with what was said here laid over them.
    fn settings(&self, store: &Path) -> Result<LinkSettings, Failure> {
        let mut settings = self.config.read(store)?.link;
        if !self.source.is_empty() {
            settings.sources = Some(self.source.clone());
        }
        settings.least = self.least.or(settings.least);
        settings.per_document = self.per_document.unwrap_or(settings.per_document);
        settings.within &= !self.across_only;
        settings.judge = self.judge().or(settings.judge);
        let hint = "see `mainstem link run --help`";
        settings.check().map_err(|error| Problem::argument(error.to_string(), hint))?;
        Ok(settings)
    }
}

/// What a run came to.
pub(super) struct Found {
    pub(super) run: ShownRun,
    /// Not told to everybody.
    pub(super) changes: Option<Recorded>,
    /// All links, best first.
    pub(super) best: Vec<Edge>,
}

/// What is printed as JSON.
#[derive(Serialize)]
struct Outcome<'a> {
    run: &'a ShownRun,
    changes: Option<Recorded>,
    dry_run: bool,
    links: &'a [Edge],
}

/// Runs the command.
pub(super) fn run(args: &RunArgs, place: &Place<'_>) -> Result<ExitCode, Failure> {
    let found = match place {
        Place::Store(dir) => here(args, dir)?,
        Place::Server(client) => Some(there::run(args, client)?),
    };
    found.map_or(Ok(ExitCode::from(1)), |found| print(args, &found))
}

fn here(args: &RunArgs, dir: &Path) -> Result<Option<Found>, Failure> {
    let settings = args.settings(dir)?;
    // A run that keeps nothing does not stand in the way of whoever writes.
    let store = if args.dry_run { open::level(dir)? } else { EmbeddedStore::open(dir, Options::default())? };
    let states = states(&settings)?;
    let linker = Linker { store: &store, states, settings: &settings, filter: &Filter::default() };
    let Some((mut run, edges)) = look(&linker)? else { return Ok(None) };
    let changes = if args.dry_run { store.changes(&run, &edges)? } else { store.record(&run, &edges)? };
    run.edges = changes.added + changes.kept + changes.changed;
    let mut best = edges;
    best.sort_by(|x, y| y.score.total_cmp(&x.score).then_with(|| (&x.a, &x.b).cmp(&(&y.a, &y.b))));
    Ok(Some(Found { run: super::shown(run), changes: Some(changes), best }))
}

fn print(args: &RunArgs, found: &Found) -> Result<ExitCode, Failure> {
    let Found { run, changes, best } = found;
    let text = if args.json {
        let outcome = Outcome { run, changes: *changes, dry_run: args.dry_run, links: best };
        serde_json::to_string_pretty(&outcome).map_err(Problem::from)? + "\n"
    } else {
        text(args, run, *changes, best)
    };
    output::write(None, &text)?;
    if best.is_empty() {
        output::note("no two documents belong together by these settings; a smaller `--least` finds more");
        return Ok(ExitCode::from(1));
    }
    if !(args.dry_run || args.json) {
        output::note(&format!("`mainstem link undo {}` takes them back", run.id));
    }
    Ok(ExitCode::SUCCESS)
}

/// What compares tokens, where it may be asked. That its model is not here is a remark.
fn states(settings: &LinkSettings) -> Result<Option<Arc<MaxSim>>, Failure> {
    if !matches!(settings.judge, None | Some(Judge::MaxSim)) {
        return Ok(None);
    }
    match MaxSim::standard() {
        Ok(states) => Ok(Some(Arc::new(states))),
        Err(error) if error.code() == Code::Unavailable => {
            if settings.judge.is_none() {
                output::note("vectors or words judge; `mainstem model pull` gets what compares tokens");
            }
            Ok(None)
        }
        Err(error) => Err(error.into()),
    }
}

/// Looks, and shows how far it is on a terminal.
fn look(linker: &Linker<'_>) -> Result<Option<(LinkRun, Vec<Edge>)>, Failure> {
    let bar = indicatif::ProgressBar::new(0);
    let found = linker.find(&Moment::now(), &|done, of| {
        bar.set_length(of);
        bar.set_position(done);
        true
    });
    bar.finish_and_clear();
    found
}

fn text(args: &RunArgs, run: &ShownRun, changes: Option<Recorded>, best: &[Edge]) -> String {
    let mut out = String::new();
    let id = output::line(&run.id);
    let (name, would) = if args.dry_run { ("a dry run", "would be ") } else { (id.as_ref(), "") };
    let sources = show::count(run.sources.len() as u64, "source");
    let documents = run.documents.map_or_else(String::new, |count| show::count(count, "document") + " of ");
    let links = run.edges.map_or_else(String::new, |count| format!(", {}", show::count(count, "link")));
    let _ = writeln!(out, "{name}: {documents}{sources}{links}");
    if let Some(Recorded { added, kept, changed, missed }) = changes {
        let _ = writeln!(out, "{added} {would}new, {kept} as before, {changed} with another score");
        if missed > 0 {
            let _ = writeln!(out, "{missed} of other runs not found again; they stay until those are undone");
        }
    }
    if !best.is_empty() {
        let shown = &best[..best.len().min(args.top)];
        let _ = write!(out, "\n{}", show::edges(shown));
        if shown.len() < best.len() {
            let _ = writeln!(out, "… and {} more", best.len() - shown.len());
        }
    }
    out
}
