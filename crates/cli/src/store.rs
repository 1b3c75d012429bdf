//! `mainstem init`, `sources`, `reindex` and `doctor`: looking after a store.

use std::path::Path;
use std::process::ExitCode;

use clap::Args;
use mainstem::store::embedded::EmbeddedStore;
use mainstem_core::Failure;
use mainstem_core::contract::SourceStats;
use mainstem_core::time::Moment;
use serde::Serialize;

use crate::failure::Problem;
use crate::link::show::count;
use crate::output;
use crate::remote::Place;
use crate::search::open;
use crate::table::{Cell, Table};

/// Make an empty store.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  mainstem init
  mainstem --store notes init

A store is one folder. What is in it already stays.")]
pub(crate) struct InitArgs {}

/// Show what each source holds.
#[derive(Args, Debug)]
pub(crate) struct SourcesArgs {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Build the indexes anew from the stored documents.
#[derive(Args, Debug)]
#[command(
    after_help = "Searches go on with the old indexes until the new ones are ready. Documents are not touched."
)]
pub(crate) struct ReindexArgs {}

/// Look for anything in the store that is not as it should be.
#[derive(Args, Debug)]
#[command(after_help = "\
Indexes that are behind the documents, because whoever wrote was stopped, catch up first. Nothing else is changed.

Exit codes: 0 all is well, 1 something was found, 2 error")]
pub(crate) struct DoctorArgs {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Makes a store.
pub(crate) fn init(_: &InitArgs, store: &Path) -> Result<ExitCode, Failure> {
    let opened = EmbeddedStore::init(store)?;
    let documents: u64 = opened.sources()?.iter().map(|source| source.documents).sum();
    let shown = store.display();
    let next = format!("next: mainstem --store {shown} ingest PATH --source NAME\n");
    let state = if documents == 0 {
        "is ready and empty".to_owned()
    } else {
        format!("holds {}", count(documents, "document"))
    };
    output::write(None, &format!("the store `{shown}` {state}\n{next}"))?;
    Ok(ExitCode::SUCCESS)
}

/// Shows the sources.
pub(crate) fn sources(args: &SourcesArgs, place: &Place<'_>) -> Result<ExitCode, Failure> {
    let sources = match place {
        Place::Store(store) => EmbeddedStore::open_read_only(store)?.sources()?,
        Place::Server(client) => client.sources()?,
    };
    let text = if args.json { json(&sources)? } else { table(&sources) };
    output::write(None, &text)?;
    if sources.is_empty() {
        output::note("the store holds no source yet; `mainstem ingest PATH --source NAME` adds one");
        return Ok(ExitCode::from(1));
    }
    Ok(ExitCode::SUCCESS)
}

fn json(value: &impl Serialize) -> Result<String, Problem> {
    Ok(serde_json::to_string_pretty(value)? + "\n")
}

fn table(sources: &[SourceStats]) -> String {
    let mut table =
        Table::new(2, ["source", "kind", "documents", "chunks", "vectors", "newest", "last written"]);
    let time =
        |moment: &Option<Moment>| Cell::new(moment.as_ref().map_or("–".to_owned(), ToString::to_string));
    for source in sources {
        let count = |number: u64| Cell::new(number.to_string());
        table.push(vec![
            Cell::new(&source.name),
            Cell::new(&source.kind),
            count(source.documents),
            count(source.chunks),
            count(source.vectors),
            time(&source.newest),
            time(&source.written_at),
        ]);
    }
    if sources.is_empty() { String::new() } else { table.render() }
}

/// Builds the indexes anew.
pub(crate) fn reindex(_: &ReindexArgs, store: &Path) -> Result<ExitCode, Failure> {
    let opened = EmbeddedStore::open(store, mainstem::store::embedded::Options::default())?;
    let bar = indicatif::ProgressBar::new(0);
    opened.reindex(&mut |done, all| {
        bar.set_length(all);
        bar.set_position(done);
    })?;
    bar.finish_and_clear();
    output::write(None, &format!("the indexes of `{}` are new\n", store.display()))?;
    Ok(ExitCode::SUCCESS)
}

#[derive(Serialize)]
struct Health<'a> {
    documents: u64,
    chunks: u64,
    vectors: u64,
    findings: Vec<Ailment<'a>>,
    notes: &'a [String],
}

#[derive(Serialize)]
struct Ailment<'a> {
    what: &'a str,
    fix: &'a str,
}

/// Looks at everything.
pub(crate) fn doctor(args: &DoctorArgs, store: &Path) -> Result<ExitCode, Failure> {
    let behind = EmbeddedStore::open_read_only(store).and_then(|store| store.is_behind());
    // What cannot be opened, the report tells.
    let level = behind.unwrap_or_default().then(|| match open::catch_up(store) {
        Ok(()) => "the indexes were behind the documents, and have caught up".to_owned(),
        Err(error) => format!("the indexes cannot follow the documents: {error}"),
    });
    let mut report = EmbeddedStore::examine(store)?;
    report.notes.extend(level);
    let findings =
        report.findings.iter().map(|finding| Ailment { what: &finding.what, fix: &finding.fix }).collect();
    let (documents, chunks, vectors) = (report.documents, report.chunks, report.vectors);
    let health = Health { documents, chunks, vectors, findings, notes: &report.notes };
    let text = if args.json { json(&health)? } else { output::plain(&diagnosis(&health)).into_owned() };
    output::write(None, &text)?;
    if !args.json {
        report.notes.iter().for_each(|note| output::note(note));
    }
    Ok(if report.is_healthy() { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

fn diagnosis(health: &Health<'_>) -> String {
    let seen = [(health.documents, "document"), (health.chunks, "chunk"), (health.vectors, "vector")];
    let seen = seen.map(|(number, thing)| count(number, thing)).join(", ");
    if health.findings.is_empty() {
        return format!("all is well: {seen}\n");
    }
    let one = |finding: &Ailment<'_>| format!("- {}\n  fix: {}\n", finding.what, finding.fix);
    format!("looked at {seen}; found\n{}", health.findings.iter().map(one).collect::<String>())
}
