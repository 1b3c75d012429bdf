//! The `mainstem` command: one file or folder per subcommand.
//!
//! Data goes to standard output, messages to standard error. Exit codes: 0 found, 1 nothing found, 2 error.
#![forbid(unsafe_code)]

mod args;
mod ask;
mod bench;
mod config;
mod demo;
mod eval;
mod failure;
mod fuse;
mod ingest;
mod key;
mod link;
mod mcp;
mod model;
mod output;
mod recency;
mod related;
mod remote;
mod remove;
mod reports;
mod search;
mod serve;
mod store;
mod table;
mod temporary;
mod tune;

use std::process::ExitCode;

use clap::Parser as _;

use args::{Cli, Command};
use failure::Failure;
use mainstem_core::Code;

/// A server allocates in some threads what others free. That of the system holds on to more and more then, and gets slower.
#[cfg(all(unix, target_pointer_width = "64"))]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return failure::report_usage(&error),
    };
    run(&cli)
        .or_else(|failure| {
            // Nothing was printed yet: what only reads may begin again, once the damage is mended.
            let damaged = failure.code() == Code::Damaged && cli.command.only_searches();
            if damaged && search::open::mend(cli.place.folder()) { run(&cli) } else { Err(failure) }
        })
        .unwrap_or_else(|failure| failure::report(failure.as_ref()))
}

fn run(cli: &Cli) -> Result<ExitCode, Failure> {
    let (place, store) = (&cli.place, cli.place.folder());
    if !cli.command.asks_servers() {
        place.refuse_server()?;
    }
    match &cli.command {
        Command::Ingest(args) => ingest::run(args, &place.place()?),
        Command::Remove(args) => remove::run(args, &place.place()?),
        Command::Sources(args) => store::sources(args, &place.place()?),
        Command::Search(args) => search::run(args, &place.place()?),
        Command::Related(args) => related::run(args, &place.place()?),
        Command::Link(args) => link::run(args, &place.place()?),
        Command::Mcp(args) => mcp::run(args, &place.place()?),
        Command::Demo(args) => demo::run(args),
        Command::Init(args) => store::init(args, store),
        Command::Ask(args) => ask::run(args, &place.place()?),
        Command::Fuse(args) => fuse::run(args),
        Command::Eval(args) => eval::run(args, store),
        Command::Tune(args) => tune::run(args, store),
        Command::Recency(args) => recency::run(args),
        Command::Serve(args) => serve::run(args, store),
        Command::Key(args) => key::run(args, store),
        Command::Config(args) => config::run(args, store),
        Command::Model(args) => model::run(args),
        Command::Reindex(args) => store::reindex(args, store),
        Command::Doctor(args) => store::doctor(args, store),
        Command::Bench(args) => bench::run(args, store),
    }
}
