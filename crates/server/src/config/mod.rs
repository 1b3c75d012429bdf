//! How the server is configured: `[server]` in `mainstem.toml`, the environment, flags.
//!
//! A flag wins over the environment, the environment over the file, the file over the default. [`OPTIONS`] is the one table of all options:
//! names, defaults, meanings, flags and the reference page are made from it.

mod file;
mod options;
mod resolve;
mod setting;

pub use file::{Entry, read_file};
pub use options::{OPTIONS, ServerConfig};
pub use resolve::{Given, Origin, Problem, Resolved, resolve, variable};
pub use setting::{Bytes, LogFormat, LogLevel, Origins, Raw, Seconds, Setting};

/// One option, as the reference page and the help of the command line show it.
#[derive(Clone, Copy, Debug)]
pub struct Described {
    /// The name in the file.
    pub name: &'static str,
    /// What it takes, in words.
    pub takes: &'static str,
    /// What it means.
    pub meaning: &'static str,
}

impl Described {
    /// The name of the flag, without the dashes.
    pub fn flag(&self) -> String {
        self.name.replace('_', "-")
    }
}

/// The reference page.
pub fn reference() -> String {
    use std::fmt::Write as _;
    let mut out = String::from(
        "# Configuration\n\nGenerated from the code. A `mainstem.toml` in the store's folder, else in the current folder, is read; \
         `--config` names another.\n`mainstem config check` lists everything that is wrong with it, `mainstem config show` what \
         applies and where it comes from.\n\n\
         The settings of searches are `[pipeline]` ([reference](reference/pipeline.md)), `[weights]` by channel or source, and \
         `candidates`. How questions are answered is `[ask]` ([ask.md](ask.md)), and how documents are linked `[link]` ([links.md](links.md)).\n\n## `[server]`\n\nA flag of `mainstem serve` wins over the environment, the environment over the file, the \
         file over the default.\n\n| option | flag | environment | takes | default | meaning |\n|---|---|---|---|---|---|\n",
    );
    let default = ServerConfig::default();
    for option in OPTIONS {
        let (name, flag, variable) = (option.name, option.flag(), variable(option.name));
        let _ = writeln!(
            out,
            "| `{name}` | `--{flag}` | `{variable}` | {} | `{}` | {} |",
            option.takes,
            default.show(name).unwrap_or_default(),
            option.meaning
        );
    }
    out.push_str(
        "\nSizes are bytes, or have a unit: `512KiB`, `16MiB`, `1GiB`. Times are seconds, or have a unit: `500ms`, `10s`, `5m`.\n",
    );
    out
}
