//! The status: what each leg and each stage did, so that an answer never hides a gap.

use serde::{Deserialize, Serialize};

use crate::leg::LegState;
use crate::route::Route;
use crate::word::{Word, word};

/// What one leg did.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LegStatus {
    /// The list.
    pub name: String,
    /// Its source.
    pub source: String,
    /// Which rewrite of the query it answers, from 0.
    pub variant: u32,
    /// What happened to it.
    pub state: LegState,
    /// Its weight in this search, after routing.
    pub weight: f64,
    /// How many items it gave.
    pub items: usize,
    /// How many repeated ids were passed over.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub repeated: usize,
    /// How many items were dropped because their score was NaN or infinite.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub dropped: usize,
    /// For a leg that did not answer: the most it could have added to a hit, where the method has such a bound.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub could_add: Option<f64>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde asks for")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// How a stage ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StageState {
    /// It ran.
    Ok,
    /// It could not run; the answer is what it was before.
    Failed,
}

/// What one stage did.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StageStatus {
    /// The stage.
    #[serde(deserialize_with = "word")]
    pub stage: Word,
    /// How it ended.
    pub state: StageState,
    /// How many hits went in.
    pub before: usize,
    /// How many came out.
    pub after: usize,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// What each leg and each stage did.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Status {
    /// Whether some leg did not answer.
    pub partial: bool,
    /// How lists were fused, in words.
    pub formula: String,
    /// The clock that recency used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub now: Option<String>,
    /// What each leg did.
    pub legs: Vec<LegStatus>,
    /// What each stage did, in order.
    pub stages: Vec<StageStatus>,
    /// What the routing rules made of the query.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub route: Option<Route>,
    /// Things to know that are no errors.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

impl Status {
    pub(crate) fn ran(&mut self, stage: &'static str, before: usize, after: usize) {
        self.stages.push(StageStatus { stage, state: StageState::Ok, before, after, reason: None });
    }

    pub(crate) fn failed(&mut self, stage: &'static str, hits: usize, reason: String) {
        self.stages.push(StageStatus {
            stage,
            state: StageState::Failed,
            before: hits,
            after: hits,
            reason: Some(reason),
        });
    }
}
