//! `mainstem link undo`: taking back what a run said.

use std::process::ExitCode;

use clap::Args;
use mainstem::store::{EmbeddedStore, Options};
use mainstem_core::link::EdgeStore as _;
use mainstem_core::linked::{ShownRun, UndoneRun};
use mainstem_core::time::Moment;

use super::{known_run, show, there};
use crate::failure::{Failure, Problem};
use crate::output;
use crate::remote::Place;

/// Take back what a run said, and nothing else.
#[derive(Args, Debug)]
#[command(after_help = "\
Pairs that another run has linked too stay linked, with what that run says. It does not matter which run came first.

Exit codes: 0 undone, 1 it was undone before, 2 error")]
pub(super) struct UndoArgs {
    /// The run, as `mainstem link list` names it
    run: String,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub(super) fn run(args: &UndoArgs, place: &Place<'_>) -> Result<ExitCode, Failure> {
    let (run, undone) = match place {
        Place::Store(dir) => {
            let store = EmbeddedStore::open(dir, Options::default())?;
            let run = known_run(super::runs(&store)?, &args.run)?;
            let undone = store.undo(&run.id, &Moment::now())?;
            (run, undone.map(UndoneRun::from))
        }
        Place::Server(client) => there::undo(client, &args.run)?,
    };
    print(args, run, undone)
}

fn print(args: &UndoArgs, run: ShownRun, undone: Option<UndoneRun>) -> Result<ExitCode, Failure> {
    let Some(undone) = undone else {
        let when = run.undone_at.map_or_else(String::new, |when| format!(", at {when}"));
        output::note(&format!("`{}` was undone before{when}", run.id));
        return Ok(ExitCode::from(1));
    };
    let text = if args.json {
        serde_json::to_string_pretty(&undone).map_err(Problem::from)? + "\n"
    } else {
        text(&run.id, undone)
    };
    output::write(None, &text)?;
    Ok(ExitCode::SUCCESS)
}

/// How many links that were is not told to everybody.
fn text(name: &str, undone: UndoneRun) -> String {
    let name = output::line(name);
    let Some(removed) = undone.removed else { return format!("{name} is undone\n") };
    let kept = match undone.kept.unwrap_or_default() {
        0 => String::new(),
        kept => format!(", {} stay because another run says so", show::count(kept, "link")),
    };
    format!("{name} is undone: {} taken back{kept}\n", show::count(removed, "link"))
}
