//! The command line as a whole.

use clap::{Parser, Subcommand};

/// Many sources, one stream: fuse ranked lists into one, explain every score, and measure the result.
#[derive(Debug, Parser)]
#[command(
    name = "mainstem",
    version,
    max_term_width = 100,
    after_help = "Exit codes: 0 found, 1 nothing found, 2 error. Data goes to standard output, messages to standard error."
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// See it at work on sample lists: fuse, explain, evaluate
    Demo(crate::demo::DemoArgs),
    /// Fuse ranked lists (TREC runs or JSON) into one, and say why each hit is where it is
    Fuse(Box<crate::fuse::FuseArgs>),
    /// Measure ranked lists against relevance judgements, and compare them
    Eval(crate::eval::EvalArgs),
    /// Preview what a recency rule does at each age
    Recency(crate::recency::RecencyArgs),
}
