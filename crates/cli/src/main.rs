//! The `mainstem` command: one file or folder per subcommand.
//!
//! Data goes to standard output, messages to standard error. Exit codes: 0 found, 1 nothing found, 2 error.
#![forbid(unsafe_code)]

mod args;
mod demo;
mod eval;
mod failure;
mod fuse;
mod output;
mod recency;
mod table;

use std::process::ExitCode;

use clap::Parser as _;

use args::{Cli, Command};
use failure::Failure;

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return failure::report_usage(&error),
    };
    let done = match &cli.command {
        Command::Demo(args) => demo::run(args),
        Command::Fuse(args) => fuse::run(args),
        Command::Eval(args) => eval::run(args),
        Command::Recency(args) => recency::run(args),
    };
    done.unwrap_or_else(|failure| failure::report(failure.as_ref()))
}
