//! Why something is where it is.

use mainstem_client as client;
use mainstem_core::answer::Why;
use schemars::JsonSchema;
use serde::Serialize;

use super::super::reason;
use super::found::Alternative;

/// Why something is where it is.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Explained {
    /// The part that this is about.
    pub id: String,
    /// Whether it is a hit, was found and dropped, or was not found at all.
    pub fate: Fate,
    /// Why, in one sentence.
    pub reason: String,
    /// Its place, from 1, where it has one.
    pub rank: Option<usize>,
    /// Its score, where it has one.
    pub score: Option<f64>,
    /// The account of its score, step by step, where it is a hit.
    pub steps: Vec<String>,
    /// The formula that lists were fused with.
    pub formula: String,
    /// What other ways of ranking would have put first.
    pub alternatives: Vec<Alternative>,
}

/// What became of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Fate {
    /// It is a hit.
    Hit,
    /// It was found, and something else came of it.
    Dropped,
    /// No source and no channel found it.
    NotFound,
}

impl Explained {
    /// A hit.
    pub fn hit(hit: &client::Hit) -> Self {
        Self {
            id: hit.id.clone(),
            fate: Fate::Hit,
            reason: reason::sentence(&hit.ledger),
            rank: Some(hit.rank),
            score: Some(hit.score),
            steps: reason::steps(&hit.ledger),
            formula: String::new(),
            alternatives: Vec::new(),
        }
    }

    /// Something that is no hit.
    pub fn missing(id: String, why: Option<&Why>) -> Self {
        let (rank, score) = match why {
            Some(Why::BehindLimit { rank, score } | Why::BeforeOffset { rank, score }) => {
                (Some(*rank), Some(*score))
            }
            Some(Why::BelowMinScore { score, .. } | Why::NotChosen { score }) => (None, Some(*score)),
            Some(Why::Collapsed { .. }) | None => (None, None),
        };
        Self {
            id,
            fate: if why.is_some() { Fate::Dropped } else { Fate::NotFound },
            reason: reason::why_not(why),
            rank,
            score,
            steps: Vec::new(),
            formula: String::new(),
            alternatives: Vec::new(),
        }
    }

    /// With what is true of the whole answer.
    #[must_use]
    pub fn of(self, answer: client::SearchAnswer) -> Self {
        let alternatives = Alternative::all(answer.alternatives.unwrap_or_default());
        Self { formula: answer.status.formula, alternatives, ..self }
    }
}
