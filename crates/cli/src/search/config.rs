//! `mainstem.toml`: what a search does otherwise than by default.
//!
//! The table `[pipeline]` is laid over the default settings: what it does not name stays as it is. A `[pipeline.fuse]` that names its
//! method takes the place of the default one as a whole.

use std::path::{Path, PathBuf};

use clap::Args;
use mainstem::query::{PAGE, Settings};
use mainstem_core::PipelineSpec;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::failure::Problem;
use crate::fuse::settings::{no_pipeline, read_toml};

/// The name of the file that is read without being asked for.
const FILE: &str = "mainstem.toml";

/// Where settings come from.
#[derive(Args, Debug)]
pub(crate) struct ConfigArgs {
    /// Take settings from the `[pipeline]` of this TOML file [default: `mainstem.toml` in the store, else in this folder]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,

    /// Read no `mainstem.toml`
    #[arg(long, conflicts_with = "config")]
    no_config: bool,
}

/// The settings of a file, or none.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Config {
    /// The file.
    pub(crate) path: Option<String>,
    /// What it changes in the pipeline.
    pub(crate) pipeline: Map<String, Value>,
}

/// The file, checked. Whatever else is in it is a slip.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Checked {
    pipeline: Option<PipelineSpec>,
}

/// The same file as it is written.
#[derive(Deserialize)]
struct Written {
    #[serde(default)]
    pipeline: Map<String, Value>,
}

impl ConfigArgs {
    /// Whether anything was said about settings.
    pub(crate) fn is_given(&self) -> bool {
        self.config.is_some() || self.no_config
    }

    /// Reads the file that was named, or the one that is there.
    pub(crate) fn read(&self, store: &Path) -> Result<Config, Problem> {
        let there = || [store.join(FILE), PathBuf::from(FILE)].into_iter().find(|path| path.is_file());
        let path = if self.no_config { None } else { self.config.clone().or_else(there) };
        path.map_or_else(|| Ok(Config::default()), |path| Config::open(&path.display().to_string()))
    }
}

impl Config {
    /// Reads a file.
    pub(crate) fn open(path: &str) -> Result<Self, Problem> {
        let Written { pipeline } = read_toml(path)?;
        let fuse = pipeline.get("fuse");
        if fuse.is_some_and(|fuse| fuse.is_object() && fuse.get("method").is_none()) {
            check_with_default_method(&pipeline, path)?;
        } else {
            let checked: Checked = read_toml(path)?;
            checked.pipeline.ok_or_else(|| no_pipeline(path))?;
        }
        Ok(Self { path: Some(path.to_owned()), pipeline })
    }

    /// How many hits are wanted.
    pub(crate) fn limit(&self) -> usize {
        self.count("limit").unwrap_or(PAGE)
    }

    /// How many hits are passed over.
    pub(crate) fn offset(&self) -> usize {
        self.count("offset").unwrap_or(0)
    }

    fn count(&self, name: &str) -> Option<usize> {
        self.pipeline.get(name).and_then(Value::as_u64).and_then(|count| count.try_into().ok())
    }

    /// What tells a reader where the settings are from.
    pub(crate) fn note(&self) -> Option<String> {
        self.path.as_ref().map(|path| format!("settings of `{path}`"))
    }
}

/// Options of the fusion without its method are those of the method that searches use.
fn check_with_default_method(pipeline: &Map<String, Value>, path: &str) -> Result<(), Problem> {
    let mut pipeline = pipeline.clone();
    let method = Settings::default().pipeline.fuse.method.as_str();
    if let Some(Value::Object(fuse)) = pipeline.get_mut("fuse") {
        fuse.insert("method".to_owned(), method.into());
    }
    let checked: Result<PipelineSpec, _> = serde_json::from_value(Value::Object(pipeline));
    let refused = |error: serde_json::Error| {
        Problem::in_file(mainstem_core::error::from_deserialiser(&error.to_string(), None), path)
    };
    checked.map(drop).map_err(refused)
}
