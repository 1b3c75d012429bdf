//! A few questions that show what happens when many sources answer one.

use mainstem::query::{Engine, Request, Response};
use mainstem_core::deadline::Deadline;
use mainstem_core::time::Moment;
use serde::Serialize;
use std::time::Duration;

use crate::failure::{Failure, Problem};

/// The clock of the demo. The samples end in January 2026; with a fixed clock they stay as fresh as they are.
pub(super) const NOW: &str = "2026-01-31T00:00:00Z";

/// How many hits are shown.
const SHOWN: usize = 3;

/// A question, and what is to be seen in its answer.
pub(super) struct Stop {
    /// Who asks.
    pub(super) recipe: &'static str,
    /// The question, one of the judged ones.
    pub(super) query: &'static str,
    /// What it means, where that is not English.
    pub(super) english: Option<&'static str>,
    /// What is to be seen.
    pub(super) point: &'static str,
    /// Whether it takes the search by meaning to see it.
    pub(super) meaning: bool,
    /// The document that must come first.
    pub(super) first: &'static str,
}

pub(super) const STOPS: [Stop; 6] = [
    Stop {
        recipe: "code-review",
        query: "how do I add an index to a big table without blocking writes",
        english: None,
        point: "Review, wiki and code belong together, and 13 other sources do not get in the way. \
                The wiki page was pasted into a review: that copy is folded into it.",
        meaning: false,
        first: "reviews/r1134",
    },
    Stop {
        recipe: "desktop",
        query: "when do we move to the new office",
        english: None,
        point: "Mail, Slack and Notion announce the same thing: one hit, which names the others.",
        meaning: false,
        first: "gmail/g-office-move",
    },
    Stop {
        recipe: "desktop",
        query: "배포 일정",
        english: Some("deployment schedule"),
        point: "Two releases have a schedule. Korean is found by pairs of characters, and freshness \
                prefers next week's release to December's.",
        meaning: false,
        first: "notion/n-release-48",
    },
    Stop {
        recipe: "docs-team",
        query: "FM-1207",
        english: None,
        point: "Words win: an error code means nothing to an embedding.",
        meaning: false,
        first: "api/errors",
    },
    Stop {
        recipe: "agent-memory",
        query: "how should I write a summary for her",
        english: None,
        point: "Meaning wins: words prefer a note about letters, which is not the answer.",
        meaning: true,
        first: "facts/summaries",
    },
    Stop {
        recipe: "chess-tutor",
        query: "how do I win with a pawn on the seventh when the rook keeps checking",
        english: None,
        point: "The answer is called “Lucena position”, which the question does not know.",
        meaning: false,
        first: "books/kw-2-1",
    },
];

/// A question and its answer.
#[derive(Serialize)]
pub(super) struct Stopped {
    recipe: &'static str,
    query: &'static str,
    #[serde(skip)]
    pub(super) stop: &'static Stop,
    point: &'static str,
    #[serde(rename = "answer")]
    pub(super) response: Response,
}

/// The clock.
pub(super) fn now() -> Result<Moment, Problem> {
    Ok(Moment::parse(NOW)?)
}

/// Asks all questions, as a user would: with every default.
pub(super) fn take(engine: &Engine, meaning: bool) -> Result<Vec<Stopped>, Failure> {
    let stops = STOPS.iter().filter(|stop| meaning || !stop.meaning);
    stops.map(|stop| ask(engine, stop)).collect()
}

fn ask(engine: &Engine, stop: &'static Stop) -> Result<Stopped, Failure> {
    // On a busy machine the demo waits rather than show half an answer.
    let patient = Duration::from_secs(60);
    let request = Request {
        limit: SHOWN,
        now: Some(now()?),
        deadline: Some(Deadline { soft: patient, hard: patient }),
        ..Request::new(stop.query)
    };
    let response = engine.search(&request)?;
    Ok(Stopped { recipe: stop.recipe, query: stop.query, stop, point: stop.point, response })
}
