//! Judged questions: asking them, and what the answers are worth.
//!
//! As in `mainstem eval`, copies are not collapsed, freshness is left out, chunks are joined to documents by their best score, and nothing
//! is hurried. Documents are called `source/id`, questions `set/id`.

use std::collections::BTreeSet;
use std::time::Duration;

use mainstem::query::{Engine, Request};
use mainstem_core::contract::{Channel, Filter};
use mainstem_core::deadline::Deadline;
use mainstem_eval::{Evaluation, Measure, Qrels, RunBuilder, Settings, evaluate};
use serde_json::{Value, json};

pub(crate) struct Question {
    pub(crate) id: String,
    pub(crate) text: String,
    pub(crate) vector: Vec<f32>,
    /// The source that it is about, where there is one.
    pub(crate) own: Option<String>,
}

/// A way to answer.
#[derive(Default)]
pub(crate) struct Way {
    /// Only the question's own source.
    pub(crate) own: bool,
    /// Only this channel.
    pub(crate) channel: Option<Channel>,
    /// What is different from the default.
    pub(crate) pipeline: Value,
}

impl Way {
    /// The own source alone, in one channel or both.
    pub(crate) fn own(channel: Option<Channel>) -> Self {
        Self { own: true, channel, pipeline: Value::Null }
    }

    /// Another way to merge.
    pub(crate) fn across(across: &str) -> Self {
        Self { pipeline: json!({ "across": across }), ..Self::default() }
    }
}

pub(crate) struct Judged {
    pub(crate) questions: Vec<Question>,
    pub(crate) qrels: Qrels,
}

impl Judged {
    /// nDCG@10 of every question, answered in this way.
    pub(crate) fn ask(&self, engine: &Engine, way: &Way) -> Scores {
        let answer = |question: &Question| {
            let response = engine.search(&request(question, way)).unwrap();
            assert!(!response.status.partial, "{}: {:?}", question.id, response.status.notes);
            response.hits.iter().map(|hit| format!("{}/{}", hit.source, hit.document)).collect()
        };
        self.score(&self.questions.iter().map(answer).collect::<Vec<_>>())
    }

    /// nDCG@10 of these answers, one for each question, best document first.
    pub(crate) fn score(&self, answers: &[Vec<String>]) -> Scores {
        let mut run = RunBuilder::default();
        for (question, documents) in self.questions.iter().zip(answers) {
            // Ranks instead of scores: 32-bit floats would tie what we do not.
            for (document, rank) in documents.iter().zip(1..) {
                run.push(&question.id, document, -f64::from(rank));
            }
        }
        let measure = Measure::parse("nDCG@10").unwrap();
        Scores(evaluate(&self.qrels, &run.finish(), &[measure], &Settings::default()))
    }
}

fn request(question: &Question, way: &Way) -> Request {
    let mut pipeline = json!({ "aggregate": "max", "dedup": null, "recency": null });
    for (name, value) in way.pipeline.as_object().into_iter().flatten() {
        pipeline[name] = value.clone();
    }
    let own = question.own.clone().filter(|_| way.own);
    Request {
        filter: Filter { sources: own.map(|own| vec![own]), ..Filter::default() },
        channels: way.channel.map(|channel| vec![channel]),
        pipeline,
        ..unhurried(question)
    }
}

/// The default search, with all the time it wants.
pub(crate) fn unhurried(question: &Question) -> Request {
    let hour = Duration::from_secs(3600);
    Request {
        vector: Some(question.vector.clone()),
        deadline: Some(Deadline { soft: hour, hard: hour }),
        ..Request::new(&question.text)
    }
}

/// The values of all questions.
pub(crate) struct Scores(Evaluation);

impl Scores {
    /// The mean over the questions of one set.
    pub(crate) fn of_set(&self, set: &str) -> f64 {
        let of = self.0.queries().iter().filter(|scores| set_of(&scores.query) == set);
        let values: Vec<f64> = of.map(|scores| scores.values[0]).collect();
        values.iter().sum::<f64>() / values.len().max(1) as f64
    }

    /// The mean over the sets: one with many questions counts no more than one with few.
    pub(crate) fn mean(&self) -> f64 {
        let sets: BTreeSet<&str> = self.0.queries().iter().map(|scores| set_of(&scores.query)).collect();
        sets.iter().map(|set| self.of_set(set)).sum::<f64>() / sets.len() as f64
    }
}

fn set_of(question: &str) -> &str {
    question.split('/').next().unwrap_or_default()
}
