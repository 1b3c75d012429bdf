//! The pipeline: what happens between the legs' answers and the one list, as configuration and as a run.
//!
//! ```text
//! route → aggregate → collapse within → merge → fuse → collapse across → neighbours → prior → learned → rerank → recency → diversify → guarantee → cut
//! ```
//!
//! A stage that is not configured does not run; there are no hidden ones. `false` or `"off"` in the place of its settings switches a stage off
//! where a file is laid over other settings.

pub mod guarantee;
mod learned;
pub mod merge;
pub mod neighbours;
mod preview;
pub mod prior;
mod rows;
mod run;
mod stages;
mod switch;

use indexmap::IndexMap;
use serde::{Deserialize, Deserializer, Serialize};

use crate::aggregate::Aggregate;
use crate::dedup::DedupSpec;
use crate::diversify::DiversifySpec;
use crate::error::Error;
use crate::fuse::{FuseSpec, Fusion};
use crate::learned::LearnedSpec;
use crate::located;
use crate::recency::RecencySpec;
use crate::rerank::RerankSpec;
use crate::route::{RouteSpec, Router};

pub use guarantee::{GuaranteeSpec, Guarantees};
pub use merge::Across;
pub use neighbours::NeighboursSpec;
pub use prior::PriorSpec;
pub use run::Search;

/// The stages, as written under `pipeline`. What is left out is off, except that lists are always fused.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct PipelineSpec {
    /// Rules that weigh the sources by what the query looks like.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "routes")]
    pub route: Vec<RouteSpec>,
    /// Bring chunks together to documents before fusion: `max`, `mean` or `first`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub aggregate: Option<Aggregate>,
    /// How the lists of different sources meet: `rank` fuses each as a list of its own, `score` merges each channel over all
    /// sources by score first, `calibrated` does so with the scores that each leg gives to what others found.
    #[serde(skip_serializing_if = "Across::is_rank")]
    pub across: Across,
    /// How lists are fused.
    #[serde(deserialize_with = "fuse")]
    pub fuse: FuseSpec,
    /// Collapse duplicates. `false` switches it off, as any of the stages.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "dedup")]
    pub dedup: Option<DedupSpec>,
    /// Let hits take some of the score of those that they are like.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "neighbours")]
    pub neighbours: Option<NeighboursSpec>,
    /// Weigh each hit by the best that its source has to offer.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "prior")]
    pub prior: Option<PriorSpec>,
    /// Order the best hits by a learned model, which leaves freshness to it.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "learned")]
    pub learned: Option<LearnedSpec>,
    /// Merge the scores of a reranker.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "rerank")]
    pub rerank: Option<RerankSpec>,
    /// Weigh freshness, per source; `*` is for all sources that are not named.
    #[serde(skip_serializing_if = "IndexMap::is_empty", deserialize_with = "recency")]
    pub recency: IndexMap<String, RecencySpec>,
    /// Set hits against each other.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "diversify")]
    pub diversify: Option<DiversifySpec>,
    /// Bounds on how many of the first hits are of a source; `*` is for each source that is not named.
    #[serde(skip_serializing_if = "IndexMap::is_empty", deserialize_with = "guarantees")]
    pub guarantee: Guarantees,
    /// Drop hits whose final score is below this.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "min_score")]
    pub min_score: Option<f64>,
    /// How many hits to pass over: page `n` at size `s` is `offset = n · s`.
    #[serde(skip_serializing_if = "is_zero")]
    pub offset: usize,
    /// How many hits to return; all when left out.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "limit")]
    pub limit: Option<usize>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde asks for")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

impl PipelineSpec {
    /// Checks every stage.
    ///
    /// # Errors
    /// When a setting is out of range.
    pub fn check(&self) -> Result<Pipeline, Error> {
        self.dedup.as_ref().map_or(Ok(()), DedupSpec::check)?;
        self.neighbours.as_ref().map_or(Ok(()), NeighboursSpec::check)?;
        self.prior.as_ref().map_or(Ok(()), PriorSpec::check)?;
        self.rerank.as_ref().map_or(Ok(()), RerankSpec::check)?;
        self.diversify.as_ref().map_or(Ok(()), DiversifySpec::check)?;
        check_recency(&self.recency)?;
        guarantee::check(&self.guarantee)?;
        check_min_score(self.min_score)?;
        check_limit(self.limit)?;
        Ok(Pipeline { fusion: self.fuse.check()?, router: Router::new(&self.route)?, spec: self.clone() })
    }
}

/// A pipeline whose settings have been checked, ready to run.
#[derive(Clone, Debug)]
pub struct Pipeline {
    spec: PipelineSpec,
    fusion: Fusion,
    router: Router,
}

impl Pipeline {
    /// The settings.
    pub fn spec(&self) -> &PipelineSpec {
        &self.spec
    }
}

fn check_recency(table: &IndexMap<String, RecencySpec>) -> Result<(), Error> {
    table.iter().try_for_each(|(source, spec)| spec.check(source).map(drop))
}

fn check_min_score(least: Option<f64>) -> Result<(), Error> {
    match least {
        Some(least) if !least.is_finite() => Err(Error::range("`min_score`", "a finite number", least)),
        _ => Ok(()),
    }
}

fn check_limit(limit: Option<usize>) -> Result<(), Error> {
    match limit {
        Some(0) => Err(Error::range("`limit`", "at least 1", 0)),
        _ => Ok(()),
    }
}

/// Reads a setting and checks it at once, while the reader still knows the line.
fn checked<'de, D, T>(deserializer: D, check: impl FnOnce(&T) -> Result<(), Error>) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    let value = T::deserialize(deserializer)?;
    check(&value).map_err(located::refuse)?;
    Ok(value)
}

macro_rules! checked_fields {
    ($($name:ident: $type:ty, $check:expr;)*) => {
        $(fn $name<'de, D: Deserializer<'de>>(deserializer: D) -> Result<$type, D::Error> {
            checked::<D, $type>(deserializer, $check)
        })*
    };
}

/// Stages that can be switched off by a word.
macro_rules! switched_fields {
    ($($name:ident: $type:ty, $check:expr;)*) => {
        $(fn $name<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<$type>, D::Error> {
            let value = switch::read::<D, $type>(deserializer)?;
            value.as_ref().map_or(Ok(()), $check).map_err(located::refuse)?;
            Ok(value)
        })*
    };
}

checked_fields! {
    routes: Vec<RouteSpec>, |routes| Router::new(routes).map(drop);
    fuse: FuseSpec, |fuse| fuse.check().map(drop);
    min_score: Option<f64>, |least| check_min_score(*least);
    limit: Option<usize>, |limit| check_limit(*limit);
}

switched_fields! {
    dedup: DedupSpec, DedupSpec::check;
    neighbours: NeighboursSpec, NeighboursSpec::check;
    prior: PriorSpec, PriorSpec::check;
    learned: LearnedSpec, |_| Ok(());
    rerank: RerankSpec, RerankSpec::check;
    diversify: DiversifySpec, DiversifySpec::check;
}

fn recency<'de, D: Deserializer<'de>>(deserializer: D) -> Result<IndexMap<String, RecencySpec>, D::Error> {
    let table = switch::read::<D, IndexMap<String, RecencySpec>>(deserializer)?.unwrap_or_default();
    check_recency(&table).map_err(located::refuse)?;
    Ok(table)
}

fn guarantees<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Guarantees, D::Error> {
    let table = switch::read::<D, Guarantees>(deserializer)?.unwrap_or_default();
    guarantee::check(&table).map_err(located::refuse)?;
    Ok(table)
}
