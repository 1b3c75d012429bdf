//! `mainstem mcp`: the engine as tools of an agent, over standard input and output.

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use clap::Args;
use mainstem::query::{Engine, Settings};
use mainstem_client::Client;
use mainstem_core::link::LinkSettings;
use mainstem_server::mcp::{Answer, Door, Extensions, Here, Question, stdio};
use mainstem_server::{ApiError, App, ServerConfig, Setup};

use crate::failure::{Failure, Problem};
use crate::output;
use crate::remote::Place;
use crate::search::config::ConfigArgs;
use crate::search::open;

const HELP: &str = "\
Examples:
  mainstem --store notes mcp
  mainstem mcp --server http://127.0.0.1:7700

For clients of the Model Context Protocol, which start this command themselves; docs/mcp.md says how each is told. The
tools are search, fetch, related, sources and explain; none of them changes anything. A store may be written to by
another process meanwhile. `mainstem serve` has the same tools at /mcp.

Exit codes: 0 the client has gone, 2 error";

/// Offer the engine to an agent as tools (Model Context Protocol).
#[derive(Args, Debug)]
#[command(after_help = HELP)]
pub(crate) struct McpArgs {
    #[command(flatten)]
    config: ConfigArgs,

    /// Act with this access key, and see no more than it allows; else with `MAINSTEM_KEY` for a server, and with everything for a store
    #[arg(long, value_name = "KEY")]
    key: Option<String>,
}

/// Runs the command.
pub(crate) fn run(args: &McpArgs, place: &Place<'_>) -> Result<ExitCode, Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(|source| {
        Problem::Read { place: mainstem_core::Place::default().in_file("threads"), source }
    })?;
    let door: Arc<dyn Door> = match place {
        Place::Store(store) => Arc::new(here(args, store)?),
        Place::Server(client) => Arc::new(elsewhere(args, client)?),
    };
    runtime.block_on(stdio::serve(door)).map_err(boxed)?;
    Ok(ExitCode::SUCCESS)
}

/// The engine over a store in this process, which only reads.
fn here(args: &McpArgs, store: &Path) -> Result<Here, Failure> {
    let config = args.config.read(store)?;
    let store = Arc::new(open::level(store).map_err(|error| Box::new(error) as Failure)?);
    let engine = Engine::new(Arc::clone(&store) as _, None, Settings::default());
    let (engine, absent) = config.on_growing(engine)?;
    if let Some(absent) = absent {
        output::warn(&absent);
    }
    let (settings, reranking) = (engine.settings().clone(), engine.reranker().cloned());
    let (pipeline, keys) = (config.pipeline, args.key.is_some());
    let setup = Setup {
        store,
        settings,
        pipeline,
        reranking,
        config: ServerConfig::default(),
        keys,
        asker: None,
        link: LinkSettings::default(),
    };
    let app = App::new(setup).map_err(boxed)?;
    Here::outside(&app, args.key.as_deref()).map_err(boxed)
}

fn boxed(error: ApiError) -> Failure {
    Box::new(error)
}

/// A server elsewhere, which has its own settings.
fn elsewhere(args: &McpArgs, client: &Client) -> Result<There, Failure> {
    if args.config.is_given() {
        let message = "`--config` and `--no-config`: a server has its own settings";
        return Err(Problem::conflict(message, "leave them out, or leave `--server` out").into());
    }
    Ok(There(match &args.key {
        Some(key) => Client::new(client.url(), Some(key.clone()))?,
        None => client.clone(),
    }))
}

struct There(Client);

impl Door for There {
    fn ask(&self, question: Question, _: Extensions) -> Answer {
        let client = self.0.clone();
        Box::pin(async move {
            let asked = tokio::task::spawn_blocking(move || {
                client.call(question.method, &question.path, question.body.as_ref())
            });
            asked.await.unwrap_or_else(|_| Err(mainstem_client::Error::refused(500, b"")))
        })
    }
}
