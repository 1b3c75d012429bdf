//! What tuning gave.

use serde::Serialize;

use super::Task;
use super::board::Board;
use super::ceiling::Ceiling;
use super::choose::Change;
use super::hunt::{self, Strategy};
use super::sensitivity::{self, Curve};
use super::setting::Setting;
use super::verdict::Finalist;

/// Which queries were used, and which not.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Used {
    /// Queries that settings were chosen and measured on.
    pub queries: usize,
    /// Recorded searches.
    pub recorded: usize,
    /// Judged queries without a recording.
    pub not_recorded: usize,
    /// Recordings without a judgement.
    pub not_judged: usize,
    /// Judged queries without a relevant document: no settings can do anything for them.
    pub nothing_relevant: usize,
}

/// What tuning gave.
#[derive(Clone, Debug, Serialize)]
pub struct Outcome {
    /// Whether better settings were found; the present ones are kept otherwise.
    pub better: bool,
    /// Why, in one sentence.
    pub reason: String,
    /// What was to become better.
    pub measure: String,
    /// Its mean under the present settings.
    pub before: f64,
    /// Its honest mean under the new ones: on queries that had no say. That of the present settings where they are kept.
    pub after: f64,
    /// What changes.
    pub changes: Vec<Change>,
    /// The settings to use from now on.
    pub settings: serde_json::Value,
    /// Which queries were used.
    pub used: Used,
    /// The choices of the three rules, tested.
    pub finalists: Vec<Finalist>,
    /// The smallest gain that these queries could have shown, four times out of five.
    pub detectable: Option<f64>,
    /// How good the answer could be with these candidates.
    pub ceiling: Ceiling,
    /// How much each setting matters, around the settings to use from now on.
    pub sensitivity: Vec<Curve>,
    /// How points were found.
    pub strategy: Strategy,
    /// How many points the space has, counting those that mean the same.
    pub points: f64,
    /// How many different settings were tried.
    pub tried: usize,
    /// How many of them could not be run.
    pub refused: usize,
    /// The seed.
    pub seed: u64,
    /// How many folds the queries were split into.
    pub folds: usize,
    /// The queries in the order of the finalists' differences.
    #[serde(skip)]
    pub queries: Vec<String>,
}

/// What is known before the last look.
pub(super) struct Draft<'a> {
    pub(super) task: &'a Task<'a>,
    pub(super) used: Used,
    pub(super) finalists: Vec<Finalist>,
    pub(super) detectable: Option<f64>,
    pub(super) home: usize,
}

impl Draft<'_> {
    /// The winner: the greatest gain on queries that had no say; of equals the one whose rule prefers small changes.
    fn winner(&self) -> Option<&Finalist> {
        let better = self.finalists.iter().rev().filter(|finalist| finalist.better);
        better.max_by(|a, b| a.gain.total_cmp(&b.gain))
    }

    pub(super) fn finish(self, mut board: Board<'_>) -> Outcome {
        let winner = self.winner();
        let row = winner.map_or(self.home, |finalist| finalist.row);
        let values = &board.rows[self.home].values[0];
        let before = values.iter().sum::<f64>() / values.len() as f64;
        let (after, changes) = match winner {
            Some(finalist) => (finalist.out_of_fold, finalist.changes.clone()),
            None => (before, Vec::new()),
        };
        let tried = board.rows.len();
        let sensitivity = sensitivity::curves(&mut board, row);
        let settings: Setting = board.rows[row].setting.clone();
        let options = &self.task.options;
        Outcome {
            better: winner.is_some(),
            reason: self.reason(winner),
            measure: self.task.measure.name().to_owned(),
            before,
            after,
            changes,
            settings: settings.json().clone(),
            ceiling: Ceiling::of(&board.queries, &self.task.measure),
            sensitivity,
            strategy: hunt::strategy(board.space, options.budget),
            points: board.space.size(),
            tried,
            refused: board.rows[..tried].iter().filter(|row| row.refused.is_some()).count(),
            seed: options.seed,
            folds: options.folds,
            queries: board.queries.iter().map(|query| query.id.clone()).collect(),
            used: self.used,
            finalists: self.finalists,
            detectable: self.detectable,
        }
    }

    fn reason(&self, winner: Option<&Finalist>) -> String {
        if let Some(finalist) = winner {
            return format!(
                "{:+.4} on queries that had no say, p = {:.4} after correction, and every guard holds",
                finalist.gain, finalist.p_adjusted
            );
        }
        let challengers = || self.finalists.iter().filter(|finalist| finalist.row != self.home);
        let Some(best) = challengers().max_by(|a, b| a.gain.total_cmp(&b.gain)) else {
            return "nothing that was tried is better on all queries together".into();
        };
        let shown = challengers().find(|one| one.p_adjusted < crate::compare::ALPHA && one.gain > 0.0);
        let broken = shown.and_then(|one| one.guards.iter().find(|guard| !guard.holds));
        match broken {
            Some(guard) => format!(
                "better settings would break a guard: {} goes from {:.4} to {:.4}, the limit is {:.4}",
                guard.name, guard.before, guard.after, guard.limit
            ),
            // What is written with four digits must not be `-0.0000`.
            None if best.gain.abs() < 0.00005 => {
                "settings that look better gain nothing on queries that had no say".into()
            }
            None if best.gain <= 0.0 => {
                format!("settings that look better lose {:.4} on queries that had no say", -best.gain)
            }
            None => format!(
                "the best challenger gains {:+.4} on queries that had no say, which may be luck (p = {:.4} after correction)",
                best.gain, best.p_adjusted
            ),
        }
    }
}
