//! The stage of a learned model.

use super::rows::{self, Row};
use super::run::Running;
use crate::answer::Hit;
use crate::candidates::RankedList;
use crate::fuse::Fused;
use crate::learned::{Model, TOP};
use crate::ledger::{Reranking, Step, Unit};

impl Running<'_> {
    /// Orders the best hits by the model, or keeps everything as it is where it cannot be used.
    pub(super) fn learned(&mut self, fused: &Fused) {
        if self.pipeline.spec.learned.is_none() {
            return;
        }
        let count = self.rows.len();
        let model = match self.model {
            None => Err("there is no model".to_owned()),
            Some(model) => self.obstacle(model).map_or(Ok(model), Err),
        };
        let model = match model {
            Ok(model) => model,
            Err(reason) => return self.status.failed("learned", count, reason),
        };
        let scores: Vec<f64> = {
            let head = self.rows.iter().take(TOP).zip(1..);
            let hits: Vec<Hit> = head.map(|(row, rank)| self.hit(row, fused, rank)).collect();
            model.features().rows(&hits, self.now).iter().map(|row| model.score(row)).collect()
        };
        let fused = Unit::for_scores(self.unit, self.rows.iter().map(|row| row.score));
        let mut judged = std::mem::take(&mut self.rows);
        let mut below: Vec<Row> = judged.split_off(scores.len());
        for (row, raw) in judged.iter_mut().zip(scores) {
            let reranking = Reranking::Replace { raw, unit: Unit::AsIs };
            row.apply(Step::Learned { fused, reranking, score: 0.0 });
        }
        rows::sort(&mut judged, &self.candidates);
        let floor = judged.last().map_or(0.0, |row| row.score);
        for row in &mut below {
            row.apply(Step::Learned { fused, reranking: Reranking::Below { floor }, score: 0.0 });
        }
        judged.append(&mut below);
        self.rows = judged;
        (self.unit, self.aged) = (true, true);
        self.status.ran("learned", count, count);
    }

    fn obstacle(&self, model: &Model) -> Option<String> {
        let answered = |list: &&RankedList| list.leg().weight > 0.0 && list.leg().state.answered();
        model.obstacle(&self.pipeline.spec, |channel| {
            self.source_lists().iter().filter(answered).any(|list| list.leg().channel() == channel)
        })
    }
}
