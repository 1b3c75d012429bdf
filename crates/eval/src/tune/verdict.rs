//! Is it really better? What each rule's choice gains on queries that had no say in it, and what it costs.

use serde::Serialize;

use super::board::Row;
use super::choose::{Ballot, Change, Rule, Tally as _, Voters, describe};
use super::flips::Differences;
use super::space::Space;
use crate::Measure;
use crate::compare::{ALPHA, bootstrap, detectable, holm};

/// A measure that must not fall, and by how much it may.
#[derive(Clone, Debug, PartialEq)]
pub struct Guard {
    /// The measure.
    pub measure: Measure,
    /// The mean may fall by this much.
    pub margin: f64,
}

/// How a guard came out.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Guarded {
    /// What is guarded.
    pub name: String,
    /// What it is under the present settings.
    pub before: f64,
    /// What it becomes.
    pub after: f64,
    /// The limit that `after` must keep.
    pub limit: f64,
    /// Whether it does.
    pub holds: bool,
}

/// The choice of one rule.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Finalist {
    /// The rule.
    pub rule: &'static str,
    /// What the choice on all queries changes; empty where the present settings were chosen.
    pub changes: Vec<Change>,
    /// The mean on the queries that chose: too good to be true.
    pub in_sample: f64,
    /// The mean on queries that had no say.
    pub out_of_fold: f64,
    /// The gain over the present settings on queries that had no say.
    pub gain: f64,
    /// Its 95 % interval (bootstrap).
    pub interval: Option<[f64; 2]>,
    /// The chance of such a gain if there were none (randomisation of the whole procedure); 1 where there is no gain.
    pub p: f64,
    /// The same, corrected for all finalists (Holm).
    pub p_adjusted: f64,
    /// How many folds chose exactly these settings.
    pub agreement: usize,
    /// Queries that gain, lose and stay.
    pub tally: [usize; 3],
    /// The guards.
    pub guards: Vec<Guarded>,
    /// Whether it is taken to be better.
    pub better: bool,
    /// The gain of each query, in query order.
    #[serde(skip)]
    pub differences: Vec<f64>,
    /// The row of the choice on all queries.
    #[serde(skip)]
    pub(super) row: usize,
}

/// Everything a verdict rests on.
pub(super) struct Evidence<'a> {
    pub(super) space: &'a Space,
    pub(super) rows: &'a [Row],
    pub(super) home: usize,
    /// What may be chosen on all queries.
    pub(super) pool: &'a [usize],
    /// For each fold, what may be chosen without it.
    pub(super) pools: &'a [Vec<usize>],
    /// The fold of each query.
    pub(super) folds: &'a [usize],
    pub(super) measures: &'a [Measure],
    /// By how much each measure may fall; the first is the one to improve.
    pub(super) margins: &'a [f64],
    /// How much dearer a search may become.
    pub(super) dearer: f64,
    pub(super) threads: usize,
}

impl Evidence<'_> {
    fn all(&self) -> Vec<usize> {
        (0..self.folds.len()).collect()
    }

    /// The choice of every rule, tested.
    pub(super) fn finalists(&self) -> Vec<Finalist> {
        let mut finalists: Vec<Finalist> = Rule::ALL.into_iter().map(|rule| self.finalist(rule)).collect();
        let differences = Differences::new(self.rows, self.home, self.pools, self.folds);
        let p = differences.p_values(&Rule::ALL, self.threads);
        for (finalist, (p, adjusted)) in finalists.iter_mut().zip(p.iter().zip(holm(&p))) {
            finalist.p = *p;
            finalist.p_adjusted = adjusted;
            let guarded = finalist.guards.iter().all(|guard| guard.holds);
            let above = finalist.interval.is_some_and(|[low, _]| low > 0.0);
            let shown = adjusted < ALPHA && above && finalist.gain > 0.0;
            finalist.better = shown && guarded && finalist.row != self.home;
        }
        finalists
    }

    fn finalist(&self, rule: Rule) -> Finalist {
        let all = self.all();
        let everyone = Voters { rows: self.rows, queries: &all };
        let row = Ballot { rows: self.rows, pool: self.pool, tally: &everyone }.choose(rule, self.home);
        let chosen: Vec<usize> = (0..self.pools.len()).map(|fold| self.without(fold, rule)).collect();
        let values = |measure: usize| -> Vec<f64> {
            self.folds
                .iter()
                .enumerate()
                .map(|(at, &fold)| self.rows[chosen[fold]].values[measure][at])
                .collect()
        };
        let (before, after) = (&self.rows[self.home].values[0], values(0));
        let differences: Vec<f64> = after.iter().zip(before).map(|(after, before)| after - before).collect();
        let gain = mean(&differences);
        Finalist {
            rule: rule.as_str(),
            changes: describe(self.space, &self.rows[row]),
            in_sample: everyone.mean(row),
            out_of_fold: mean(&after),
            gain,
            interval: bootstrap(&differences).map(|interval| [interval.low, interval.high]),
            p: 1.0,
            p_adjusted: 1.0,
            agreement: chosen.iter().filter(|&&other| other == row).count(),
            tally: tally(&differences),
            guards: self.guards(&chosen, row, values),
            better: false,
            differences,
            row,
        }
    }

    /// What is chosen without a fold.
    fn without(&self, fold: usize, rule: Rule) -> usize {
        let queries: Vec<usize> = (0..self.folds.len()).filter(|&at| self.folds[at] != fold).collect();
        let voters = Voters { rows: self.rows, queries: &queries };
        Ballot { rows: self.rows, pool: &self.pools[fold], tally: &voters }.choose(rule, self.home)
    }

    fn guards(&self, chosen: &[usize], row: usize, values: impl Fn(usize) -> Vec<f64>) -> Vec<Guarded> {
        let home = &self.rows[self.home];
        let mut guards = Vec::new();
        for (at, measure) in self.measures.iter().enumerate().skip(1) {
            let (before, after) = (mean(&home.values[at]), mean(&values(at)));
            guards.push(Guarded::at_least(measure.name().to_owned(), before, after, self.margins[at]));
        }
        let (before, after) = (worst_tenth(&home.values[0]), worst_tenth(&values(0)));
        let name = format!("{}, worst tenth of queries", self.measures[0].name());
        guards.push(Guarded::at_least(name, before, after, self.margins[0]));
        // The final choice counts too: it is what will be paid for.
        let costs = chosen.iter().chain([&row]).map(|&row| self.rows[row].cost);
        let after = costs.fold(0.0, f64::max);
        let limit = home.cost * self.dearer;
        let name = "candidates looked at".to_owned();
        guards.push(Guarded { name, before: home.cost, after, limit, holds: after <= limit });
        guards
    }

    /// The smallest gain that these queries can show: by the spread of the best challenger's differences.
    pub(super) fn detectable(&self, finalists: &[Finalist]) -> Option<f64> {
        let out_of_fold = finalists.iter().rev().find_map(|finalist| detectable(&finalist.differences));
        out_of_fold.or_else(|| {
            let all = self.all();
            let others: Vec<usize> = self.pool.iter().copied().filter(|&row| row != self.home).collect();
            let voters = Voters { rows: self.rows, queries: &all };
            let row = Ballot { rows: self.rows, pool: &others, tally: &voters }.choose(Rule::Best, self.home);
            let pairs = self.rows[row].values[0].iter().zip(&self.rows[self.home].values[0]);
            detectable(&pairs.map(|(one, other)| one - other).collect::<Vec<_>>())
        })
    }
}

impl Guarded {
    fn at_least(name: String, before: f64, after: f64, margin: f64) -> Self {
        let limit = before - margin;
        Self { name, before, after, limit, holds: after >= limit }
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// The mean of the tenth of queries (at least one) with the least values.
fn worst_tenth(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let count = sorted.len().div_ceil(10).max(1);
    mean(&sorted[..count.min(sorted.len())])
}

fn tally(differences: &[f64]) -> [usize; 3] {
    let count = |wanted: fn(f64) -> bool| differences.iter().filter(|value| wanted(**value)).count();
    [count(|value| value > 0.0), count(|value| value < 0.0), count(|value| value == 0.0)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_tenth_is_at_least_one_query() {
        assert_eq!(worst_tenth(&[0.5, 0.1, 0.9]), 0.1);
        let many: Vec<f64> = (0..20).map(f64::from).collect();
        assert_eq!(worst_tenth(&many), 0.5);
        assert_eq!(worst_tenth(&[]), 0.0);
    }

    #[test]
    fn a_guard_has_a_margin() {
        assert!(Guarded::at_least("R".into(), 0.5, 0.4921875, 0.0078125).holds);
        assert!(!Guarded::at_least("R".into(), 0.5, 0.49, 0.005).holds);
    }
}
