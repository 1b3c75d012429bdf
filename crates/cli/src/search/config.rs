//! `mainstem.toml`: what a search does otherwise than by default.
//!
//! The table `[pipeline]` is laid over the default settings: what it does not name stays as it is. A `[pipeline.fuse]` that names its
//! method takes the place of the default one as a whole. `[weights]` multiplies what channels and sources weigh, and `candidates` says
//! how many of each list are taken: what `mainstem tune` writes can be read here. `[rerank]` says who reads the best hits once more.

use std::path::{Path, PathBuf};

use clap::Args;
use indexmap::{IndexMap, IndexSet};
use mainstem::query::{Engine, PAGE, Request, Settings};
use mainstem::rerank::RerankConfig;
use mainstem_core::contract::Channel;
use mainstem_core::{Error, PipelineSpec};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::failure::{Failure, Problem};
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
    weights: IndexMap<String, f64>,
    candidates: Option<usize>,
    /// Who reranks.
    pub(crate) rerank: Option<RerankConfig>,
}

/// The file, checked. Whatever else is in it is a slip.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Checked {
    pipeline: Option<PipelineSpec>,
    #[serde(default, rename = "weights")]
    _weights: IndexMap<String, f64>,
    #[serde(rename = "candidates")]
    _candidates: Option<usize>,
    #[serde(rename = "rerank")]
    _rerank: Option<RerankConfig>,
}

/// The same file as it is written.
#[derive(Deserialize)]
struct Written {
    #[serde(default)]
    pipeline: Map<String, Value>,
    #[serde(default)]
    weights: IndexMap<String, f64>,
    candidates: Option<usize>,
    rerank: Option<RerankConfig>,
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
        let Written { pipeline, weights, candidates, rerank } = read_toml(path)?;
        if let Some((name, weight)) =
            weights.iter().find(|(_, weight)| !(**weight >= 0.0 && weight.is_finite()))
        {
            let error = Error::range(format!("`weights.{name}`"), "a finite number ≥ 0", weight);
            return Err(Problem::in_file(error, path));
        }
        let fuse = pipeline.get("fuse");
        if fuse.is_some_and(|fuse| fuse.is_object() && fuse.get("method").is_none()) {
            check_with_default_method(&pipeline, path)?;
        } else {
            let checked: Checked = read_toml(path)?;
            checked.pipeline.map(drop).or(rerank.as_ref().map(|_| ())).ok_or_else(|| no_pipeline(path))?;
        }
        if rerank.is_some() && pipeline.contains_key("rerank") {
            let message = format!("`{path}` has both `[rerank]` and `[pipeline.rerank]`, expected one");
            return Err(Problem::conflict(
                message,
                "keep `[rerank]`: it takes the same settings, and a `model`",
            ));
        }
        Self { path: Some(path.to_owned()), pipeline, weights, candidates, rerank: None }
            .with_reranker(rerank)
    }

    /// The same settings with this reranker in place of the file's; `off` is none.
    pub(crate) fn reranked(mut self, name: Option<&str>) -> Result<Self, Problem> {
        match name {
            None => Ok(self),
            Some("off") => {
                self.rerank = None;
                // `null` turns off what the settings below may have.
                self.pipeline.insert("rerank".to_owned(), Value::Null);
                Ok(self)
            }
            Some(name) => {
                let before = self.rerank.take();
                if before.is_some() {
                    self.pipeline.remove("rerank");
                }
                let same = before.filter(|rerank| rerank.model == name);
                self.with_reranker(Some(same.unwrap_or_else(|| RerankConfig::new(name))))
            }
        }
    }

    /// The same settings, where a reranker may take as long as it needs.
    pub(crate) fn unhurried(mut self) -> Self {
        if let Some(rerank) = &mut self.rerank {
            rerank.timeout = Some(3600.0);
        }
        self
    }

    fn with_reranker(mut self, rerank: Option<RerankConfig>) -> Result<Self, Problem> {
        if let Some(rerank) = &rerank {
            let path = self.path.clone();
            let refused = |error: Error| match &path {
                Some(path) => Problem::in_file(error, path),
                None => error.into(),
            };
            let mut spec = serde_json::to_value(rerank.spec().map_err(refused)?)?;
            // A `[pipeline.rerank]` says how, whoever it is.
            if let (Value::Object(spec), Some(Value::Object(how))) = (&mut spec, self.pipeline.get("rerank"))
            {
                spec.extend(how.clone());
            }
            self.pipeline.insert("rerank".to_owned(), spec);
        }
        self.rerank = rerank;
        Ok(self)
    }

    /// The engine under these settings, with their reranker.
    ///
    /// # Errors
    /// When a weight names neither a channel nor a source, or the reranker is not here.
    pub(crate) fn on(&self, engine: Engine) -> Result<Engine, Failure> {
        let reranking = self.rerank.as_ref().map(RerankConfig::open).transpose();
        let reranking = reranking.map_err(|error| Box::new(error) as Failure)?;
        self.weighed(engine).map(|engine| engine.with_reranker(reranking))
    }

    fn weighed(&self, engine: Engine) -> Result<Engine, Failure> {
        if self.weights.is_empty() && self.candidates.is_none() {
            return Ok(engine);
        }
        let plan = engine.plan(&Request { vector: Some(Vec::new()), ..Request::new("-") })?;
        let known: IndexSet<&str> = plan.legs.iter().map(|leg| leg.source.as_str()).collect();
        let mut settings = engine.settings().clone();
        settings.candidates = self.candidates.unwrap_or(settings.candidates);
        for (name, factor) in &self.weights {
            let usual = |channel| settings.channel_weight(channel, &settings.pipeline) * factor;
            match name.as_str() {
                "dense" => settings.dense = Some(usual(Channel::Dense)),
                "lexical" => settings.lexical = Some(usual(Channel::Lexical)),
                source if known.contains(source) => drop(settings.sources.insert(source.to_owned(), *factor)),
                other => {
                    let all = ["dense", "lexical"].into_iter().chain(known.iter().copied());
                    let error = Error::unknown("channel or source", other, all);
                    return Err(Problem::in_file(error, self.path.as_deref().unwrap_or_default()).into());
                }
            }
        }
        Ok(engine.with_settings(settings))
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
