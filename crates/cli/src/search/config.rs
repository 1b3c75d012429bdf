//! `mainstem.toml`: what a search does otherwise than by default.
//!
//! The table `[pipeline]` is laid over the default settings: what it does not name stays as it is. A `[pipeline.fuse]` that names its
//! method takes the place of the default one as a whole. `[weights]` multiplies what channels and sources weigh, and `candidates` says
//! how many of each list are taken: what `mainstem tune` writes can be read here. `[deadline]` says how long to wait: `soft` and `hard`.
//! `[pipeline.learned]` names a model that it trained. `[rerank]` says who reads the best hits once more, and
//! `[link]` how documents are linked.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use indexmap::{IndexMap, IndexSet};
use mainstem::ask::AskSettings;
use mainstem::query::{Engine, PAGE, Request};
use mainstem::rerank::RerankConfig;
use mainstem_core::Error;
use mainstem_core::contract::Channel;
use mainstem_core::diagnostic::Place;
use mainstem_core::learned::Model;
use mainstem_core::link::LinkSettings;
use serde_json::{Map, Value};

use super::written::{Patience, Written};
use crate::failure::{Failure, Problem};
use crate::fuse::settings::read_text;

/// What `[weights]` may name besides sources.
const CHANNELS: [&str; 2] = ["dense", "lexical"];

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
    /// How long it waits.
    pub(crate) deadline: Patience,
    /// How questions are answered.
    pub(crate) ask: AskSettings,
    /// How documents are linked.
    pub(crate) link: LinkSettings,
}

impl ConfigArgs {
    /// Whether anything was said about settings.
    pub(crate) fn is_given(&self) -> bool {
        self.config.is_some() || self.no_config
    }

    /// Reads the file that was named, or the one that is there.
    pub(crate) fn read(&self, store: &Path) -> Result<Config, Problem> {
        self.path(store).map_or_else(|| Ok(Config::default()), |path| Config::open(&path))
    }

    /// The file that was named, or the one that is there.
    pub(crate) fn path(&self, store: &Path) -> Option<String> {
        let there = || [store.join(FILE), PathBuf::from(FILE)].into_iter().find(|path| path.is_file());
        let path = if self.no_config { None } else { self.config.clone().or_else(there) };
        path.map(|path| path.display().to_string())
    }
}

impl Config {
    /// Reads a file.
    pub(crate) fn open(path: &str) -> Result<Self, Problem> {
        let written = Written::read(&read_text(path)?).map_err(|error| Problem::in_file(error, path))?;
        let Written { pipeline, weights, candidates, deadline, rerank, ask, link, .. } = written;
        let (pipeline, ask, link) =
            (pipeline.unwrap_or_default(), ask.unwrap_or_default(), link.unwrap_or_default());
        if rerank.is_some() && pipeline.contains_key("rerank") {
            let message = format!("`{path}` has both `[rerank]` and `[pipeline.rerank]`, expected one");
            return Err(Problem::conflict(
                message,
                "keep `[rerank]`: it takes the same settings, and a `model`",
            ));
        }
        Self { path: Some(path.to_owned()), pipeline, weights, candidates, rerank: None, deadline, ask, link }
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
        let model = self.model()?;
        self.refuse_absent(&engine, model.as_ref())?;
        self.settled(engine, model)
    }

    /// The same for a store that others write to meanwhile: settings of a source count from when it is there. Says which sources are named and
    /// absent.
    ///
    /// # Errors
    /// When the reranker is not here.
    pub(crate) fn on_growing(&self, engine: Engine) -> Result<(Engine, Option<String>), Failure> {
        let model = self.model()?;
        let absent = self.absent(&sources(&engine)?, model.as_ref());
        Ok((self.settled(engine, model)?, absent))
    }

    /// One sentence about the sources that are named here and not in the store.
    ///
    /// # Errors
    /// When the store or a file that is named here cannot be read.
    pub(crate) fn absent_from(&self, engine: &Engine) -> Result<Option<String>, Failure> {
        Ok(self.absent(&sources(engine)?, self.model()?.as_ref()))
    }

    fn absent(&self, known: &IndexSet<String>, model: Option<&(String, Model)>) -> Option<String> {
        let weighed = self.weights.keys().filter(|name| !CHANNELS.contains(&name.as_str()));
        let per_source = ["recency", "guarantee"].into_iter().filter_map(|stage| self.pipeline.get(stage));
        let staged = per_source.filter_map(Value::as_object).flat_map(Map::keys).filter(|name| *name != "*");
        let rules = self.pipeline.get("route").and_then(Value::as_array).into_iter().flatten();
        let routed = rules.filter_map(|rule| rule.get("weights")?.as_object()).flat_map(Map::keys);
        let learned = model.iter().flat_map(|(_, model)| model.features().sources());
        let named: IndexSet<&String> = weighed.chain(staged).chain(routed).chain(learned).collect();
        let absent: Vec<String> =
            named.into_iter().filter(|name| !known.contains(*name)).map(|name| format!("`{name}`")).collect();
        let (path, all) = (self.path.as_deref().unwrap_or_default(), absent.join(", "));
        match absent.len() {
            0 => None,
            1 => Some(format!("`{path}` names the source {all}, which the store does not have yet")),
            _ => Some(format!("`{path}` names the sources {all}, which the store does not have yet")),
        }
    }

    /// Refuses settings of sources that are not there: in a store that stays as it is, they are slips.
    fn refuse_absent(&self, engine: &Engine, model: Option<&(String, Model)>) -> Result<(), Failure> {
        if self.weights.is_empty() && model.is_none() {
            return Ok(());
        }
        let known = sources(engine)?;
        if let Some((file, model)) = model
            && let Some(absent) = model.features().sources().iter().find(|source| !known.contains(*source))
        {
            let error = Error::Missing {
                what: format!("the source `{absent}`"),
                why: "the learned model was trained on it, and the store does not have it".into(),
                hint: "train the model on this store with `mainstem tune --learn`".into(),
            };
            return Err(Problem::in_file(error, file).into());
        }
        let all = || CHANNELS.into_iter().chain(known.iter().map(String::as_str));
        match self.weights.keys().find(|name| !all().any(|known| known == *name)) {
            None => Ok(()),
            Some(other) => {
                let error = Error::unknown("channel or source", other, all());
                Err(Problem::in_file(error, self.path.as_deref().unwrap_or_default()).into())
            }
        }
    }

    fn settled(&self, engine: Engine, model: Option<(String, Model)>) -> Result<Engine, Failure> {
        let reranking = self.rerank.as_ref().map(RerankConfig::open).transpose();
        let reranking = reranking.map_err(|error| Box::new(error) as Failure)?;
        let mut settings = engine.settings().clone();
        settings.candidates = self.candidates.unwrap_or(settings.candidates);
        settings.learned = model.map(|(_, model)| Arc::new(model)).or(settings.learned);
        for (name, factor) in &self.weights {
            let usual = |channel| settings.channel_weight(channel, &settings.pipeline) * factor;
            match name.as_str() {
                "dense" => settings.dense = Some(usual(Channel::Dense)),
                "lexical" => settings.lexical = Some(usual(Channel::Lexical)),
                source => drop(settings.sources.insert(source.to_owned(), *factor)),
            }
        }
        Ok(engine.with_settings(settings).with_reranker(reranking))
    }

    /// The model that `[pipeline.learned]` names, with its file, which is looked for beside this one.
    fn model(&self) -> Result<Option<(String, Model)>, Problem> {
        let named = self.pipeline.get("learned").and_then(|learned| learned.get("model"));
        let Some(named) = named.and_then(Value::as_str) else { return Ok(None) };
        let file = self.folder().join(named).display().to_string();
        let place = || Place::default().in_file(&file);
        let text = fs::read_to_string(&file).map_err(|source| Problem::Read { place: place(), source })?;
        let model = Model::from_json(&text).map_err(|error| Problem::in_file(error, &file))?;
        Ok(Some((file, model)))
    }

    /// The folder of the file, where the files are that it names.
    pub(crate) fn folder(&self) -> &Path {
        self.path.as_deref().and_then(|path| Path::new(path).parent()).unwrap_or(Path::new(""))
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

/// The sources of the store.
fn sources(engine: &Engine) -> Result<IndexSet<String>, Failure> {
    let plan = engine.plan(&Request { channels: Some(vec![Channel::Lexical]), ..Request::new("-") })?;
    Ok(plan.legs.into_iter().map(|leg| leg.source).collect())
}
