//! A server in the place of a store: `--server URL`, or the variable `MAINSTEM_SERVER`.

use std::path::{Path, PathBuf};

use clap::Args;
use mainstem_client::Client;

use crate::failure::{Failure, Problem};

/// Where the store is when nothing is said.
const STORE: &str = ".mainstem";

/// The variables of the environment.
const SERVER: &str = "MAINSTEM_SERVER";
pub(crate) const KEY: &str = "MAINSTEM_KEY";

/// Where documents are.
#[derive(Args, Debug)]
pub(crate) struct PlaceArgs {
    /// Folder of the store [default: .mainstem]
    #[arg(long, global = true, value_name = "DIR")]
    store: Option<PathBuf>,

    /// Ask the server at this URL instead of opening a store; its key is in `MAINSTEM_KEY` [env: `MAINSTEM_SERVER`]
    #[arg(long, global = true, value_name = "URL")]
    server: Option<String>,
}

/// Where documents are: in a folder, or behind a server.
pub(crate) enum Place<'a> {
    /// A folder.
    Store(&'a Path),
    /// A server.
    Server(Client),
}

impl PlaceArgs {
    /// Refuses a server that was named, for commands that no server can do; one of the environment is for the others.
    pub(crate) fn refuse_server(&self) -> Result<(), Problem> {
        match &self.server {
            None => Ok(()),
            Some(_) => Err(Problem::conflict(
                "`--server` is for `search`, `ask`, `sources`, `related`, `link`, `ingest`, `remove` and `mcp`",
                "leave it out, and name the folder of the store with `--store`",
            )),
        }
    }

    /// The server, if one is named, else the folder. What is said on the command line wins over the environment.
    pub(crate) fn place(&self) -> Result<Place<'_>, Failure> {
        let named = match (&self.store, &self.server) {
            (Some(_), Some(_)) => {
                let message = "`--store` and `--server`: expected one of them, received both";
                return Err(Problem::conflict(message, "leave one of them out").into());
            }
            (Some(_), None) => None,
            (None, Some(url)) => Some(url.clone()),
            (None, None) => variable(SERVER),
        };
        match named {
            Some(url) => Ok(Place::Server(Client::new(&url, variable(KEY))?)),
            None => Ok(Place::Store(self.folder())),
        }
    }

    /// The folder of the store.
    pub(crate) fn folder(&self) -> &Path {
        self.store.as_deref().unwrap_or(Path::new(STORE))
    }
}

/// A variable that says something.
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.trim().is_empty())
}
