//! `mainstem serve`: the engine behind HTTP.

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use clap::{Arg, ArgMatches, Args, Command, FromArgMatches};
use mainstem::ask::Asker;
use mainstem::query::{Engine, Settings};
use mainstem::store::EmbeddedStore;
use mainstem_server::config::{OPTIONS, ServerConfig};
use mainstem_server::{Setup, run as server};

use crate::config::{Effective, report};
use crate::failure::Failure;
use crate::output;
use crate::search::config::ConfigArgs;

const HELP: &str = "\
Examples:
  mainstem serve
  mainstem --store notes serve --address 127.0.0.1:8080
  MAINSTEM_SERVER_LOG_FORMAT=json mainstem serve

  curl -s 127.0.0.1:7700/v1/search -H 'content-type: application/json' -d '{\"query\": \"rollback\"}'

The store is made when it is not there, and no other process can write to it meanwhile. `/` is a web page to search
with, `/docs` describes all routes, `/openapi.json` does for programs. Options also stand in `[server]` of
`mainstem.toml`, or in variables such as MAINSTEM_SERVER_SEARCHES; a flag wins over a variable, and that over the
file. `mainstem key create` makes keys, without which only this machine may ask.

SIGTERM and SIGINT let running requests finish. Exit codes: 0 stopped, 2 error";

/// Answer over HTTP.
#[derive(Args, Debug)]
#[command(after_help = HELP)]
pub(crate) struct ServeArgs {
    #[command(flatten)]
    config: ConfigArgs,

    #[command(flatten)]
    flags: OptionFlags,
}

/// A flag for each option of the server, made from the table of options.
#[derive(Clone, Debug, Default)]
pub(crate) struct OptionFlags {
    /// Name and value of those that were given.
    pub(crate) given: Vec<(String, String)>,
}

impl FromArgMatches for OptionFlags {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut flags = Self::default();
        flags.update_from_arg_matches(matches)?;
        Ok(flags)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        let value = |name: &str| Some((name.to_owned(), matches.get_one::<String>(name)?.clone()));
        self.given = OPTIONS.iter().filter_map(|option| value(option.name)).collect();
        Ok(())
    }
}

impl Args for OptionFlags {
    fn augment_args(command: Command) -> Command {
        let default = ServerConfig::default();
        OPTIONS.iter().fold(command, |command, option| {
            let usual = default.show(option.name).unwrap_or_default();
            let help = format!("{} [default: {}]", option.meaning, usual.trim_matches('"'));
            command.arg(Arg::new(option.name).long(option.flag()).value_name("VALUE").help(help))
        })
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

/// Runs the command.
pub(crate) fn run(args: &ServeArgs, store: &Path) -> Result<ExitCode, Failure> {
    let effective = Effective::read(args.config.path(store), &args.flags.given)?;
    if !effective.problems.is_empty() {
        return Ok(report(&effective.problems));
    }
    let searches = args.config.read(store)?;
    let asker =
        Asker::new(searches.ask.clone(), searches.folder()).map_err(|error| Box::new(error) as Failure)?;
    let store = Arc::new(EmbeddedStore::init(store)?);
    let engine = Engine::new(Arc::clone(&store) as _, None, Settings::default());
    let (engine, absent) = searches.on_growing(engine)?;
    if let Some(absent) = absent {
        output::warn(&absent);
    }
    let (settings, reranking) = (engine.settings().clone(), engine.reranker().cloned());
    let (config, pipeline) = (effective.resolved.config, searches.pipeline);
    let asker = Some(Arc::new(asker));
    // A request that names no deadline waits as long as the file says.
    let settings = Settings { deadline: searches.deadline.over(settings.deadline), ..settings };
    let link = searches.link;
    let setup = Setup { store, settings, pipeline, reranking, config, keys: true, asker, link };
    let mut told = Ok(());
    server::run(setup, |address| told = output::write(None, &format!("listening on http://{address}\n")))
        .map_err(|error| Box::new(error) as Failure)?;
    told?;
    Ok(ExitCode::SUCCESS)
}
