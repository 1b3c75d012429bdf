//! `mainstem demo`.
use crate::failure::Failure;
use clap::Args;
use std::process::ExitCode;
/// See it at work.
#[derive(Args, Debug)]
pub(crate) struct DemoArgs {}
/// Runs.
pub(crate) fn run(_args: &DemoArgs) -> Result<ExitCode, Failure> {
    Ok(ExitCode::SUCCESS)
}
