//! `mainstem link`: which documents belong together, kept so that it can be taken back.

mod list;
mod run;
pub(crate) mod show;
mod there;
mod undo;

use std::process::ExitCode;

use clap::{Args, Subcommand};
use mainstem::store::EmbeddedStore;
use mainstem_core::Error;
use mainstem_core::link::{Edges as _, LinkRun};
use mainstem_core::linked::ShownRun;

use crate::failure::Failure;
use crate::remote::Place;

/// Link documents that belong together, and take links back.
#[derive(Args, Debug)]
pub(crate) struct LinkArgs {
    #[command(subcommand)]
    command: LinkCommand,
}

#[derive(Debug, Subcommand)]
enum LinkCommand {
    /// Look for documents that belong together, and keep the links under the name of the run
    Run(Box<run::RunArgs>),
    /// Show the runs, or the links of a run or of a document
    List(list::ListArgs),
    /// Take back what a run said, and nothing else
    Undo(undo::UndoArgs),
}

/// Runs the command.
pub(crate) fn run(args: &LinkArgs, place: &Place<'_>) -> Result<ExitCode, Failure> {
    match &args.command {
        LinkCommand::Run(args) => run::run(args, place),
        LinkCommand::List(args) => list::run(args, place),
        LinkCommand::Undo(args) => undo::run(args, place),
    }
}

/// A run of a store, of which everything is told.
fn shown(run: LinkRun) -> ShownRun {
    ShownRun::new(run, true, true)
}

/// The runs of a store.
fn runs(store: &EmbeddedStore) -> Result<Vec<ShownRun>, Failure> {
    Ok(store.runs()?.into_iter().map(shown).collect())
}

/// The run of a name.
fn known_run(runs: Vec<ShownRun>, name: &str) -> Result<ShownRun, Failure> {
    let names: Vec<String> = runs.iter().map(|run| run.id.clone()).collect();
    let found = runs.into_iter().find(|run| run.id == name);
    found.ok_or_else(|| Box::new(Error::unknown("run", name, names.iter().map(String::as_str))) as Failure)
}
