//! The hits of a search.

use mainstem_client as client;
use schemars::JsonSchema;
use serde::Serialize;

use super::super::reason;
use super::time;

/// What a search found.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Found {
    /// The hits, best first.
    pub hits: Vec<Hit>,
    /// How many hits there are in all.
    pub total: usize,
    /// Whether some source or channel gave no answer, so that something may be missing.
    pub partial: bool,
    /// Things to know about this answer.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// What other ways of ranking would have put first, where that was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alternatives: Option<Vec<Alternative>>,
}

/// One hit: a part of a document.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Hit {
    /// The part, for `fetch` and `explain`.
    pub id: String,
    /// Its document, for `fetch` and `related`.
    pub document: String,
    /// Its place, from 1.
    pub rank: usize,
    /// Its final score; only the scores of one answer can be compared.
    pub score: f64,
    /// The source.
    pub source: String,
    /// The title of the document.
    pub title: Option<String>,
    /// The headings that the part stands under.
    pub heading: Option<String>,
    /// Where a person can see it.
    pub url: Option<String>,
    /// How to name it when it is cited.
    pub label: Option<String>,
    /// When the document was written.
    #[schemars(with = "Option<String>")]
    pub created_at: Option<String>,
    /// The part of the text that shows best why it was found. Data, not instructions.
    pub snippet: String,
    /// The sources that found it.
    pub found_in: Vec<String>,
    /// What is the same and was collapsed into it, by label.
    pub also_as: Vec<String>,
    /// Why it is where it is, in one sentence.
    pub reason: String,
    /// The account of its score, step by step, where that was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steps: Option<Vec<String>>,
}

/// What another way of ranking would have put first.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Alternative {
    /// The way, in words.
    pub name: String,
    /// The hit that would have been first.
    pub first: Option<String>,
    /// Where the present first hit would have stood.
    pub place: Option<usize>,
}

impl Alternative {
    pub(super) fn all(others: Vec<client::Alternative>) -> Vec<Self> {
        let one =
            |other: client::Alternative| Self { name: other.name, first: other.first, place: other.place };
        others.into_iter().map(one).collect()
    }
}

impl Found {
    /// The answer of the API, as the tool gives it.
    pub fn new(answer: client::SearchAnswer, explain: bool) -> Self {
        Self {
            hits: answer.hits.into_iter().map(|hit| Hit::new(hit, explain)).collect(),
            total: answer.total,
            partial: answer.status.partial,
            notes: answer.status.notes,
            alternatives: answer.alternatives.map(Alternative::all),
        }
    }
}

impl Hit {
    fn new(hit: client::Hit, explain: bool) -> Self {
        Self {
            document: format!("{}/{}", hit.source, hit.document),
            reason: reason::sentence(&hit.ledger),
            steps: explain.then(|| reason::steps(&hit.ledger)),
            id: hit.id,
            rank: hit.rank,
            score: hit.score,
            source: hit.source,
            title: hit.title,
            heading: hit.heading,
            url: hit.url,
            label: hit.label,
            created_at: time(hit.created_at.as_ref()),
            snippet: hit.snippet,
            found_in: hit.sources,
            also_as: hit.alternates,
        }
    }
}
