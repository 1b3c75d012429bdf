//! What a search found, here or elsewhere, as it is shown.

use std::time::Duration;

use mainstem::query::{Alternative, Response, SearchHit, Snippet};
use mainstem_client::{Hit, SearchAnswer, WhyNot};
use mainstem_core::status::Status;
use mainstem_core::{Answer, Item};

/// What a search found.
pub(super) struct Found {
    /// The hits, best first.
    pub(super) hits: Vec<SearchHit>,
    /// How many hits there were before the cut to a page.
    pub(super) total: usize,
    /// What each leg and each stage did.
    pub(super) status: Status,
    /// What else could have come first, where that was asked.
    pub(super) alternatives: Option<Vec<Alternative>>,
    /// What became of what was asked about.
    pub(super) why_not: Option<WhyNot>,
    /// How many candidates each list had room for, where that is known.
    pub(super) candidates: Option<usize>,
    /// How long it took.
    pub(super) took: Duration,
    /// The answer of the ranking core; a server does not tell what was dropped.
    pub(super) answer: Answer,
}

impl From<Response> for Found {
    fn from(response: Response) -> Self {
        let Response { hits, total, status, why_not, alternatives, plan, took, answer, .. } = response;
        Self { hits, total, status, alternatives, why_not, candidates: Some(plan.candidates), took, answer }
    }
}

impl Found {
    /// What a server found in so much time.
    pub(super) fn told(answer: SearchAnswer, took: Duration) -> Self {
        let SearchAnswer { hits, total, status, why_not, alternatives, .. } = answer;
        let answer = Answer {
            hits: hits.iter().map(core_hit).collect(),
            total,
            status: status.clone(),
            dropped: Vec::new(),
        };
        let hits = hits.into_iter().map(shown).collect();
        Self { hits, total, status, alternatives, why_not, candidates: None, took, answer }
    }
}

fn core_hit(hit: &Hit) -> mainstem_core::Hit {
    let item = Item {
        title: hit.title.clone(),
        label: hit.label.clone(),
        text: Some(hit.text.clone()),
        ..Item::default()
    };
    mainstem_core::Hit {
        id: hit.id.clone(),
        rank: hit.rank,
        score: hit.score,
        sources: hit.sources.clone(),
        alternates: hit.alternates.clone(),
        ledger: hit.ledger.clone(),
        item,
    }
}

fn shown(hit: Hit) -> SearchHit {
    SearchHit {
        id: hit.id,
        rank: hit.rank,
        score: hit.score,
        source: hit.source,
        document: hit.document,
        title: hit.title,
        heading: hit.heading,
        url: hit.url,
        label: hit.label,
        snippet: Snippet { text: hit.snippet, highlights: hit.highlights },
        // Nothing that is shown here looks at its place.
        order: 0,
        span: 0..0,
        text: hit.text,
        created_at: hit.created_at,
        updated_at: hit.updated_at,
        metadata: hit.metadata,
        sources: hit.sources,
        alternates: hit.alternates,
        ledger: hit.ledger,
    }
}
