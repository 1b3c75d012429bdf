//! A learned ranker: trees over what the ledger says.
//!
//! `mainstem tune --learn` trains one and writes it as JSON. In a pipeline, it looks at the best [`TOP`] hits as the settings rank them, after
//! `prior` and before `rerank`, and gives each a score from 0 to 1: what its trees add up to, through the logistic function. It knows the age of a
//! hit, so that freshness is left to it.
//!
//! **When not.** A model knows the channels and the way to fuse that it was trained with. Where a search lacks a channel or fuses otherwise,
//! the stage leaves everything as it is and the status says so.

mod features;
mod tree;

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::answer::Answer;
use crate::error::Error;
use crate::pipeline::{PipelineSpec, Search};

pub use features::Features;
pub use tree::{Node, Tree};

/// How many hits are ordered anew.
pub const TOP: usize = 50;

/// The version of the format.
const VERSION: u32 = 2;

/// The settings of the stage.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct LearnedSpec {
    /// The file that `mainstem tune --learn` wrote; relative to the folder of the configuration file.
    pub model: String,
}

/// A trained model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Model {
    /// The version of this format.
    version: u32,
    /// What it looks at.
    features: Features,
    /// The settings whose hits it orders anew.
    pipeline: PipelineSpec,
    /// The trees; a score is the sum of what they say.
    trees: Vec<Tree>,
}

impl Model {
    /// A model of these trees.
    pub fn new(features: Features, pipeline: PipelineSpec, trees: Vec<Tree>) -> Self {
        Self { version: VERSION, features, pipeline, trees }
    }

    /// Reads a model.
    ///
    /// # Errors
    /// When it is not of this form, was trained on other features, or a tree asks for what is not there.
    pub fn from_json(text: &str) -> Result<Self, Error> {
        let model: Self = serde_json::from_str(text).map_err(|error| {
            let error = crate::error::from_deserialiser(&error.to_string(), Some(error.line() as u64));
            unusable(format!("it cannot be read: {error}"))
        })?;
        if model.version != VERSION {
            return Err(unusable(format!(
                "expected a model of version {VERSION}, received {}",
                model.version
            )));
        }
        if !model.features.are_ours() {
            return Err(unusable("it was trained on other features than this version computes".to_owned()));
        }
        if !model.trees.iter().all(|tree| tree.is_sound(model.features.len())) {
            return Err(unusable("a tree of it asks for a feature or a branch that is not there".to_owned()));
        }
        Ok(model)
    }

    /// What it looks at.
    pub fn features(&self) -> &Features {
        &self.features
    }

    /// The score of a hit, from 0 to 1.
    pub(crate) fn score(&self, row: &[f64]) -> f64 {
        let sum: f64 = self.trees.iter().map(|tree| tree.value(row)).sum();
        1.0 / (1.0 + (-sum).exp())
    }

    /// Why it cannot be used on hits of these settings and channels, if so.
    pub(crate) fn obstacle(&self, spec: &PipelineSpec, searched: impl Fn(&str) -> bool) -> Option<String> {
        if (spec.across, &spec.fuse) != (self.pipeline.across, &self.pipeline.fuse) {
            return Some(
                "the model was trained on hits that were merged and fused in another way".to_owned(),
            );
        }
        let missing = self.features.channels().iter().find(|channel| !searched(channel))?;
        Some(format!("the model looks at the channel `{missing}`, which did not answer"))
    }

    /// Runs a search under the settings that the model was trained with, and with it.
    ///
    /// # Errors
    /// As [`Pipeline::run`](crate::Pipeline::run).
    pub fn run(&self, search: &Search) -> Result<Answer, Error> {
        let learned = Some(LearnedSpec { model: String::new() });
        let spec = PipelineSpec { learned, rerank: None, ..self.pipeline.clone() };
        let search = Search { learned: Some(Arc::new(self.clone())), ..search.clone() };
        spec.check()?.run(&search)
    }
}

fn unusable(why: String) -> Error {
    Error::Missing {
        what: "a learned model that can be used".to_owned(),
        why,
        hint: "train it anew with `mainstem tune --learn`, or take `learned` out of the configuration"
            .to_owned(),
    }
}
