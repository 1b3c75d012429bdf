//! `mainstem link undo`: taking back what a run said.

use std::process::ExitCode;

use clap::Args;
use mainstem::store::{EmbeddedStore, Options};
use mainstem_core::link::{EdgeStore as _, Edges as _, LinkRun, Undone};
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
            let run = known_run(store.runs()?, &args.run)?;
            let undone = store.undo(&run.id, &Moment::now())?;
            (run, undone)
        }
        Place::Server(client) => there::undo(client, &args.run)?,
    };
    print(args, run, undone)
}

fn print(args: &UndoArgs, run: LinkRun, undone: Option<Undone>) -> Result<ExitCode, Failure> {
    let Some(undone) = undone else {
        let when = run.undone_at.map_or_else(String::new, |when| format!(", at {when}"));
        output::note(&format!("`{}` was undone before{when}", run.id));
        return Ok(ExitCode::from(1));
    };
    let text = if args.json {
        serde_json::to_string_pretty(&undone).map_err(Problem::from)? + "\n"
    } else {
        let removed = show::count(undone.removed, "link");
        let kept = match undone.kept {
            0 => String::new(),
            kept => format!(", {} stay because another run says so", show::count(kept, "link")),
        };
        format!("{} is undone: {removed} taken back{kept}\n", run.id)
    };
    output::write(None, &text)?;
    Ok(ExitCode::SUCCESS)
}
