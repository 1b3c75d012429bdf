//! Rows: hits on their way through the stages after fusion.

use crate::candidates::{Candidates, Slot};
use crate::ledger::Step;

/// One hit on its way.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) slot: Slot,
    pub(super) score: f64,
    pub(super) best_rank: u32,
    pub(super) best_raw: f64,
    /// What the stages after fusion did.
    pub(super) steps: Vec<Step>,
    /// The labels of what was collapsed into it.
    pub(super) alternates: Vec<String>,
    /// What was collapsed into it after fusion.
    pub(super) absorbed: Vec<Slot>,
}

impl Row {
    /// Applies a step. The ledger's own arithmetic is the only one: the step says what the score becomes.
    pub(super) fn apply(&mut self, step: Step) {
        self.score = step.apply(self.score);
        self.steps.push(step.with_score(self.score));
    }

    /// Adds a label, unless it is there already.
    pub(super) fn add_alternate(&mut self, label: String) {
        if !self.alternates.contains(&label) {
            self.alternates.push(label);
        }
    }
}

/// Puts rows in the total order: score, best rank, best raw score, id.
pub(super) fn sort(rows: &mut [Row], candidates: &Candidates<String>) {
    rows.sort_by(|a, b| {
        b.score
            .total_cmp(&a.score)
            .then(a.best_rank.cmp(&b.best_rank))
            .then(b.best_raw.total_cmp(&a.best_raw))
            .then_with(|| candidates.id(a.slot).cmp(candidates.id(b.slot)))
    });
}
