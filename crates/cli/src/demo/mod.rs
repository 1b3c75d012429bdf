//! `mainstem demo`: a first look, on sample lists that are part of the program.

mod folder;
mod measure;
mod page;
mod samples;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use mainstem_core::fuse::{FuseSpec, Method};
use mainstem_core::{Answer, Replay};
use serde::Serialize;

use crate::failure::{Failure, Problem};
use crate::output;
use measure::Report;

const HELP: &str = "\
Examples:
  mainstem demo
  mainstem demo --json
  mainstem demo --write first-look

The samples are built in: the demo reads no file, asks no clock and needs no network.

Exit codes: 0 shown or written, 2 error";

/// See it at work on sample lists: fuse, explain, evaluate.
#[derive(Args, Debug)]
#[command(after_help = HELP)]
pub(crate) struct DemoArgs {
    /// Write the sample files to this folder instead, to try other commands on them
    #[arg(long, value_name = "DIR")]
    write: Option<PathBuf>,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Everything that the demo shows.
#[derive(Serialize)]
struct Demo {
    about: &'static str,
    /// How many texts the sources hold together.
    texts: usize,
    query: String,
    /// The search as the file says.
    search: Answer,
    /// The same lists, merged by rank alone.
    by_rank: Answer,
    evaluation: Report,
    next: Vec<String>,
}

/// Runs the command.
pub(crate) fn run(args: &DemoArgs) -> Result<ExitCode, Failure> {
    Ok(show(args)?)
}

fn show(args: &DemoArgs) -> Result<ExitCode, Problem> {
    let text = match &args.write {
        Some(path) => folder::write(path)?.text(args.json)?,
        None if args.json => serde_json::to_string_pretty(&Demo::new()?)? + "\n",
        None => page::text(&Demo::new()?),
    };
    output::write(None, &text)?;
    Ok(ExitCode::SUCCESS)
}

impl Demo {
    fn new() -> Result<Self, Problem> {
        let replay = samples::search()?;
        let mut next: Vec<_> = folder::commands(samples::FOLDER).into();
        next.push(format!("mainstem demo --write {}", samples::FOLDER));
        Ok(Self {
            about: page::ABOUT,
            texts: samples::texts()?,
            query: replay.search.query.clone().unwrap_or_default(),
            search: replay.run()?,
            by_rank: by_rank(&replay)?,
            evaluation: measure::report(&replay)?,
            next,
        })
    }
}

fn by_rank(replay: &Replay) -> Result<Answer, Problem> {
    let mut replay = replay.clone();
    replay.pipeline.fuse = FuseSpec::new(Method::Rrf);
    Ok(replay.run()?)
}
