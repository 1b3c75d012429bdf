//! `mainstem config`: is the configuration right, and what applies.

use std::fmt::Write as _;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use clap::{Args, Subcommand};
use indexmap::IndexMap;
use mainstem::query::{Engine, Settings};
use mainstem::store::EmbeddedStore;
use mainstem_core::{Code, Diagnostic as _, Error, Place};
use mainstem_server::config::{Given, OPTIONS, Origin, Resolved, read_file, resolve};
use serde::Serialize;

use crate::failure::{self, Failure, Problem};
use crate::output;
use crate::search::config::{Config, ConfigArgs};

/// Check the configuration, or show what applies.
#[derive(Args, Debug)]
pub(crate) struct ConfigCommandArgs {
    #[command(subcommand)]
    command: ConfigCommand,
}

#[derive(Debug, Subcommand)]
enum ConfigCommand {
    /// List everything that is wrong with the configuration
    #[command(after_help = "Exit codes: 0 nothing is wrong, 2 something is")]
    Check(CheckArgs),
    /// Show the value of every option of the server, and where it comes from
    Show(ShowArgs),
}

#[derive(Args, Debug)]
struct CheckArgs {
    #[command(flatten)]
    config: ConfigArgs,
}

#[derive(Args, Debug)]
struct ShowArgs {
    #[command(flatten)]
    config: ConfigArgs,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// The options of the server, with everything that is wrong in the file, the environment and the flags.
pub(crate) struct Effective {
    pub(crate) path: Option<String>,
    pub(crate) resolved: Resolved,
    pub(crate) problems: Vec<Problem>,
}

impl Effective {
    /// Reads `[server]` of a file, the environment, and the flags that were given.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub(crate) fn read(path: Option<String>, flags: &[(String, String)]) -> Result<Self, Problem> {
        let text = path.as_deref().map(read_text).transpose()?.unwrap_or_default();
        let (file, broken) = read_file(&text);
        // A variable that is not UTF-8 is none of ours, or refused as the text that is shown.
        let variable = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
            Some((name.into_string().ok()?, value.to_string_lossy().into_owned()))
        };
        let environment = std::env::vars_os().filter_map(variable).collect();
        let resolved = resolve(&Given { file, environment, flags: flags.to_vec() });
        let told = broken.iter().chain(&resolved.problems);
        let problems = told.map(|problem| told_in(problem, path.as_deref())).collect();
        Ok(Self { path, resolved, problems })
    }
}

fn read_text(path: &str) -> Result<String, Problem> {
    let place = || Place::default().in_file(path);
    let bytes = std::fs::read(path).map_err(|source| Problem::Read { place: place(), source })?;
    String::from_utf8(bytes).map_err(|error| {
        let line = error.as_bytes()[..error.utf8_error().valid_up_to()].split(|byte| *byte == b'\n').count();
        let message = "the text is not UTF-8".to_owned();
        let hint = Some("save the file as UTF-8".to_owned());
        let place = Place::line(line as u64);
        Problem::in_file(Error::Parse { message, code: Code::Encoding, hint, place }, path)
    })
}

fn told_in(problem: &mainstem_server::config::Problem, path: Option<&str>) -> Problem {
    let (message, hint) = (problem.message.clone(), problem.hint.clone());
    match (problem.line, path) {
        (Some(line), Some(path)) => {
            let place = Place::line(line);
            Problem::in_file(Error::Parse { message, code: Code::Value, hint: Some(hint), place }, path)
        }
        _ => Problem::argument(message, hint),
    }
}

/// Prints all problems.
pub(crate) fn report(problems: &[Problem]) -> ExitCode {
    let mut exit = ExitCode::SUCCESS;
    for problem in problems {
        exit = failure::report(problem);
    }
    exit
}

/// Runs the command.
pub(crate) fn run(args: &ConfigCommandArgs, store: &Path) -> Result<ExitCode, Failure> {
    match &args.command {
        ConfigCommand::Check(args) => check(args, store),
        ConfigCommand::Show(args) => Ok(show(args, store)?),
    }
}

fn check(args: &CheckArgs, store: &Path) -> Result<ExitCode, Failure> {
    let path = args.config.path(store);
    let Effective { mut problems, .. } = Effective::read(path.clone(), &[])?;
    let read = path.as_deref().map(Config::open).transpose();
    let config = read.unwrap_or_else(|new| {
        // What is no TOML at all has been said already.
        if !problems.iter().any(|old| old.place() == new.place()) {
            problems.push(new);
        }
        None
    });
    if !problems.is_empty() {
        return Ok(report(&problems));
    }
    if let Some(absent) = config.map(|config| absent(&config, store)).transpose()?.flatten() {
        output::warn(&absent);
    }
    let said = path.map_or_else(
        || "there is no `mainstem.toml`; the defaults apply\n".to_owned(),
        |path| format!("nothing is wrong with `{path}`\n"),
    );
    output::write(None, &said)?;
    Ok(ExitCode::SUCCESS)
}

/// What a configuration says about sources that the store does not have; nothing where no store is yet.
fn absent(config: &Config, store: &Path) -> Result<Option<String>, Failure> {
    let Ok(store) = EmbeddedStore::open_read_only(store) else { return Ok(None) };
    config.absent_from(&Engine::new(Arc::new(store), None, Settings::default()))
}

#[derive(Serialize)]
struct Shown {
    file: Option<String>,
    server: IndexMap<&'static str, ShownOption>,
}

#[derive(Serialize)]
struct ShownOption {
    value: String,
    origin: String,
}

fn show(args: &ShowArgs, store: &Path) -> Result<ExitCode, Problem> {
    let Effective { path, resolved, problems } = Effective::read(args.config.path(store), &[])?;
    if !problems.is_empty() {
        return Ok(report(&problems));
    }
    let option = |name: &'static str| {
        let origin = match resolved.origin(name) {
            Some(Origin::File(line)) => format!("{}:{line}", path.as_deref().unwrap_or_default()),
            Some(origin) => origin.to_string(),
            None => String::new(),
        };
        (name, ShownOption { value: resolved.config.show(name).unwrap_or_default(), origin })
    };
    let server = OPTIONS.iter().map(|described| option(described.name)).collect();
    let shown = Shown { file: path.clone(), server };
    let text = if args.json { serde_json::to_string_pretty(&shown)? + "\n" } else { text(&shown) };
    output::write(None, &text)?;
    Ok(ExitCode::SUCCESS)
}

/// As it could stand in the file, with where each value comes from.
fn text(shown: &Shown) -> String {
    let mut out = String::from("[server]\n");
    let lines: Vec<(String, &str)> = shown
        .server
        .iter()
        .map(|(name, option)| (format!("{name} = {}", option.value), option.origin.as_str()))
        .collect();
    let width = lines.iter().map(|(line, _)| line.chars().count()).max().unwrap_or(0);
    for (line, origin) in lines {
        let _ = writeln!(out, "{line:<width$}  # {origin}");
    }
    out
}
