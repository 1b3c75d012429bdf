//! A few questions that show what happens when many sources answer one.

use std::time::Duration;

use mainstem::query::{Engine, Request, Response};
use mainstem_core::deadline::Deadline;
use mainstem_core::time::Moment;
use serde::Serialize;

use crate::failure::{Failure, Problem};

/// The clock of the demo. The samples end in January 2026; with a fixed clock they stay as fresh as they are.
pub(super) const NOW: &str = "2026-01-31T00:00:00Z";

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
    /// How many hits are shown.
    pub(super) shown: usize,
    /// Whether it takes the search by meaning to see it.
    pub(super) meaning: bool,
    /// The document that comes first, or the point is not made.
    pub(super) first: &'static str,
}

pub(super) const STOPS: [Stop; 7] = [
    Stop {
        recipe: "code-review",
        query: "how do I add an index to a big table without blocking writes",
        english: None,
        point: "Review, wiki and code belong together, and 13 other sources do not get in the way. \
                The wiki page was pasted into a review: that copy is folded into it.",
        shown: 3,
        meaning: false,
        first: "reviews/r1134",
    },
    Stop {
        recipe: "code-review",
        query: "픽업 코드는 언제 만료되나",
        english: Some("when do pickup codes expire"),
        point: "Words win: the model has learnt English only and puts the answer far down. By words, Korean is \
                found by pairs of characters.",
        shown: 2,
        meaning: false,
        first: "wiki/pickup-code-policy-ko",
    },
    Stop {
        recipe: "agent-memory",
        query: "why did we stop using Quickbill",
        english: None,
        point: "Meaning wins: “why”, “stop” and “using” are in many documents, and words alone prefer \
                another one.",
        shown: 2,
        meaning: true,
        first: "episodes/e1020-quickbill",
    },
    Stop {
        recipe: "desktop",
        query: "when do we move to the new office",
        english: None,
        point: "Mail, Slack and Notion announce the same thing: one hit, which names the others.",
        shown: 2,
        meaning: false,
        first: "gmail/g-office-move",
    },
    Stop {
        recipe: "desktop",
        query: "배포 일정",
        english: Some("deployment schedule"),
        point: "Two releases have a schedule, and words alone put December's second. Freshness prefers \
                what is about next week's.",
        shown: 3,
        meaning: true,
        first: "notion/n-release-48",
    },
    Stop {
        recipe: "docs-team",
        query: "how do I rotate a webhook secret without losing events",
        english: None,
        point: "The guide says how, the changelog since when, the reference by which call.",
        shown: 3,
        meaning: false,
        first: "guides/webhook-security",
    },
    Stop {
        recipe: "chess-tutor",
        query: "how do I win with a pawn on the seventh when the rook keeps checking",
        english: None,
        point: "The answer is called “Lucena position”, which the question does not know.",
        shown: 2,
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
    /// The document that the judges wanted first.
    expected: &'static str,
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
        limit: stop.shown,
        now: Some(now()?),
        deadline: Some(Deadline { soft: patient, hard: patient }),
        ..Request::new(stop.query)
    };
    let response = engine.search(&request)?;
    let Stop { recipe, query, point, first, .. } = *stop;
    Ok(Stopped { recipe, query, stop, point, expected: first, response })
}
