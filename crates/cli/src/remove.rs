//! `mainstem remove`: documents that are to be found no more.

use std::path::Path;
use std::process::ExitCode;

use clap::Args;
use mainstem::store::{EmbeddedStore, Options};
use mainstem_client::Client;
use mainstem_core::contract::{Change, SourceStats};
use mainstem_core::{Code, Error};
use serde::Serialize;

use crate::failure::{Failure, Problem};
use crate::output;
use crate::remote::Place;

/// Remove documents, or a whole source.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  mainstem remove wiki release notes/2026
  mainstem remove wiki --all

What is removed is gone from the store, and so are its links. The next `mainstem ingest` of the same files brings it back.

Exit codes: 0 removed, 1 none of it was there, 2 error")]
pub(crate) struct RemoveArgs {
    /// The source
    source: String,

    /// The documents, by their ids
    #[arg(value_name = "ID", required_unless_present = "all")]
    ids: Vec<String>,

    /// Remove the source with all its documents
    #[arg(long, conflicts_with = "ids")]
    all: bool,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// What became of it.
#[derive(Serialize)]
struct Removal<'a> {
    source: &'a str,
    /// How many documents were removed.
    removed: u64,
    /// The documents that were not there.
    missing: Vec<&'a str>,
}

/// Runs the command.
pub(crate) fn run(args: &RemoveArgs, place: &Place<'_>) -> Result<ExitCode, Failure> {
    let removal = match place {
        Place::Store(dir) => here(args, dir)?,
        Place::Server(client) => there(args, client)?,
    };
    let text = if args.json {
        serde_json::to_string_pretty(&removal).map_err(Problem::from)? + "\n"
    } else {
        text(args, &removal)
    };
    output::write(None, &text)?;
    if !args.json {
        for id in &removal.missing {
            output::note(&format!("there is no document `{}/{id}`", args.source));
        }
    }
    Ok(if args.all || removal.removed > 0 { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

fn here<'a>(args: &'a RemoveArgs, dir: &Path) -> Result<Removal<'a>, Failure> {
    let store = EmbeddedStore::open(dir, Options::default())?;
    check(&args.source, &store.sources()?)?;
    let mut removal = Removal { source: &args.source, removed: 0, missing: Vec::new() };
    if args.all {
        removal.removed = store.remove_source(&args.source)?.unwrap_or_default();
        return Ok(removal);
    }
    let mut changes = Vec::new();
    for id in &args.ids {
        if store.document(&args.source, id)?.is_some() {
            changes.push(Change::Delete { source: args.source.clone(), id: id.clone() });
        } else {
            removal.missing.push(id);
        }
    }
    removal.removed = store.write(&changes)?.removed as u64;
    Ok(removal)
}

fn there<'a>(args: &'a RemoveArgs, client: &Client) -> Result<Removal<'a>, Failure> {
    if args.all {
        let message = "`--all` is for the folder of a store, received it with a server";
        return Err(Problem::conflict(message, "name the documents, or run it where the store is").into());
    }
    check(&args.source, &client.sources()?)?;
    let mut removal = Removal { source: &args.source, removed: 0, missing: Vec::new() };
    for id in &args.ids {
        match client.delete(&args.source, id) {
            Ok(()) => removal.removed += 1,
            Err(error) if error.code == Code::NotFound => removal.missing.push(id),
            Err(error) => return Err(error.into()),
        }
    }
    Ok(removal)
}

/// Refuses a source that is not there.
fn check(name: &str, known: &[SourceStats]) -> Result<(), Failure> {
    let known: Vec<&str> = known.iter().map(|source| source.name.as_str()).collect();
    if known.contains(&name) {
        return Ok(());
    }
    Err(Box::new(Error::unknown("source", name, known)))
}

fn text(args: &RemoveArgs, removal: &Removal<'_>) -> String {
    let things = if removal.removed == 1 { "document" } else { "documents" };
    let documents = format!("{} {things}", removal.removed);
    match removal.removed {
        _ if args.all => format!("removed the source `{}` with {documents}\n", args.source),
        0 => String::new(),
        _ => format!("removed {documents} from `{}`\n", args.source),
    }
}
