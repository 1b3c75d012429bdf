//! Asking the reranker: between what the legs brought and the stages that rank it.

use mainstem_core::rerank::{Passage, Verdict};
use mainstem_core::time::Moment;
use mainstem_core::{Failure, Search};

use super::plan::Plan;
use super::{Engine, boxed};
use crate::rerank::Reranking;

impl Engine {
    /// The same engine with a reranker, or without one. It is asked where the stages of a search have `rerank`; its time is its own and
    /// starts when the legs are home.
    #[must_use]
    pub fn with_reranker(self, reranking: Option<Reranking>) -> Self {
        Self { reranking, ..self }
    }

    /// The reranker.
    pub fn reranker(&self) -> Option<&Reranking> {
        self.reranking.as_ref()
    }

    /// Has the reranker read the best hits, where one is to be asked. What comes of it is a verdict in any case, and never an error: a
    /// reranker that fails leaves the answer as it is, and the status says so.
    pub(super) fn rerank(&self, plan: &Plan, search: &mut Search) -> Result<(), Failure> {
        let Some(reranking) = self.reranking.as_ref().filter(|_| plan.pipeline.rerank.is_some()) else {
            return Ok(());
        };
        let pipeline = plan.pipeline.check().map_err(boxed)?;
        let passages = pipeline.shortlist(search).map_err(boxed)?;
        if !passages.is_empty() {
            let now = search.now.clone().unwrap_or_else(Moment::now);
            search.verdict = Some(verdict(reranking, plan.query(), passages, &now));
        }
        Ok(())
    }
}

fn verdict(reranking: &Reranking, query: &str, passages: Vec<Passage>, now: &Moment) -> Verdict {
    if query.is_empty() {
        return Verdict::Error(format!("`{}`: the query has a vector but no words", reranking.name()));
    }
    let (ids, texts): (Vec<_>, Vec<_>) =
        passages.into_iter().map(|passage| (passage.id, passage.text)).unzip();
    match reranking.scores(query, texts, now) {
        Ok(scores) => Verdict::Scores(ids.into_iter().zip(scores).collect()),
        Err(failure) => Verdict::Error(failure.to_string()),
    }
}
