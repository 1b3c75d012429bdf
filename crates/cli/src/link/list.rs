//! `mainstem link list`: the runs, and what they say.

use std::process::ExitCode;

use clap::Args;
use mainstem::store::EmbeddedStore;
use mainstem_client::Client;
use mainstem_core::contract::Filter;
use mainstem_core::link::{DocumentName, Edges as _, Link, LinkQuery};
use mainstem_core::linked::ShownRun;
use serde::Serialize;

use super::{known_run, show, there};
use crate::failure::{Failure, Problem};
use crate::output;
use crate::related;
use crate::remote::Place;
use crate::table::{Cell, Table};

/// Show the runs, or the links of a run or of a document.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  mainstem link list
  mainstem link list run-4f2a1 --top 50
  mainstem link list --document guides/domains

Of a document, each pair is shown once, as the newest run says that was not undone. Of a run, what it said is shown, whatever
others said later.

Exit codes: 0 found, 1 nothing found, 2 error")]
pub(super) struct ListArgs {
    /// Show what this run says
    run: Option<String>,

    /// Show the links of this document, `source/id`
    #[arg(long, value_name = "DOCUMENT", conflicts_with = "run")]
    document: Option<String>,

    /// How many links to show
    #[arg(long, value_name = "N", default_value_t = 20)]
    top: usize,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Runs<'a> {
    runs: &'a [ShownRun],
}

#[derive(Serialize)]
struct Links<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    run: Option<&'a ShownRun>,
    links: &'a [Link],
}

/// Runs the command.
pub(super) fn run(args: &ListArgs, place: &Place<'_>) -> Result<ExitCode, Failure> {
    let store = match place {
        Place::Store(dir) => EmbeddedStore::open_read_only(dir)?,
        Place::Server(client) => return elsewhere(args, client),
    };
    match (&args.run, &args.document) {
        (Some(name), _) => {
            let run = known_run(super::runs(&store)?, name)?;
            let filter = Filter::default();
            let query =
                LinkQuery { document: None, run: Some(name), among: None, filter: &filter, limit: args.top };
            of_run(args, &run, &store.links(&query)?)
        }
        (None, Some(name)) => {
            let (document, links) = linked_here(args, &store, name)?;
            of_document(args, &document, &links)
        }
        (None, None) => runs(args, &super::runs(&store)?),
    }
}

/// The same, from a server.
fn elsewhere(args: &ListArgs, client: &Client) -> Result<ExitCode, Failure> {
    match (&args.run, &args.document) {
        (Some(name), _) => {
            let run = known_run(there::runs(client)?, name)?;
            let links = there::links(client, &run, args.top)?;
            of_run(args, &run, &links)
        }
        (None, Some(name)) => {
            let (document, links) = there::linked(client, name, args.top)?;
            of_document(args, &document, &links)
        }
        (None, None) => runs(args, &there::runs(client)?),
    }
}

fn runs(args: &ListArgs, runs: &[ShownRun]) -> Result<ExitCode, Failure> {
    let text = if args.json { json(&Runs { runs })? } else { table(runs) };
    output::write(None, &text)?;
    if runs.is_empty() {
        output::note("nothing was linked yet; `mainstem link run` looks for links");
        return Ok(ExitCode::from(1));
    }
    Ok(ExitCode::SUCCESS)
}

/// What a cell says: counts are not told to everybody.
fn told(value: Option<impl ToString>) -> String {
    value.map_or_else(|| "–".to_owned(), |value| value.to_string())
}

fn table(runs: &[ShownRun]) -> String {
    let mut table = Table::new(2, ["run", "when", "sources", "documents", "links"]);
    table.add_name("undone");
    for run in runs {
        table.push(vec![
            Cell::new(&run.id),
            Cell::new(run.made_at.to_string()),
            Cell::new(run.sources.len().to_string()),
            Cell::new(told(run.documents)),
            Cell::new(told(run.edges)),
            Cell::new(told(run.undone_at.as_ref())),
        ]);
    }
    if runs.is_empty() { String::new() } else { table.render() }
}

fn of_run(args: &ListArgs, run: &ShownRun, links: &[Link]) -> Result<ExitCode, Failure> {
    let name = &run.id;
    let nothing = match &run.undone_at {
        Some(when) => format!("`{name}` was undone at {when}"),
        None => format!("`{name}` says nothing about documents that are there"),
    };
    answer(args, Some(run), links, &nothing)
}

fn linked_here(
    args: &ListArgs,
    store: &EmbeddedStore,
    name: &str,
) -> Result<(DocumentName, Vec<Link>), Failure> {
    let document = related::find(store, name)?;
    let document = DocumentName { source: document.source, id: document.id };
    let filter = Filter::default();
    let query =
        LinkQuery { document: Some(&document), run: None, among: None, filter: &filter, limit: args.top };
    let links = store.links(&query)?;
    Ok((document, links))
}

fn of_document(args: &ListArgs, document: &DocumentName, links: &[Link]) -> Result<ExitCode, Failure> {
    answer(args, None, links, &format!("`{document}` is linked to nothing"))
}

fn answer(
    args: &ListArgs,
    run: Option<&ShownRun>,
    links: &[Link],
    nothing: &str,
) -> Result<ExitCode, Failure> {
    let text = match (args.json, links.is_empty()) {
        (true, _) => json(&Links { run, links })?,
        (false, true) => String::new(),
        (false, false) => show::links(links),
    };
    output::write(None, &text)?;
    if links.is_empty() {
        output::note(nothing);
        return Ok(ExitCode::from(1));
    }
    Ok(ExitCode::SUCCESS)
}

fn json(value: &impl Serialize) -> Result<String, Problem> {
    Ok(serde_json::to_string_pretty(value)? + "\n")
}
