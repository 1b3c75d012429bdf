//! Could the gain be luck? A randomisation test of the whole procedure, its choice included.
//!
//! Measuring each query by settings that it had no say in makes the *gain* honest, but not its spread: the folds share most of
//! their queries, so that a lucky point is lucky in all of them. A test that takes the differences as they are and flips their signs
//! finds "better" settings on random judgements in 8 of 100 cases instead of 2.5. So the choice is made again under
//! every pattern of signs:
//!
//! ```text
//! 1. take each point's mean off its differences from the present settings: now nothing is better than they are
//! 2. for each of 999 random patterns, flip the signs of some queries (of all points together), choose anew in every fold,
//!    and measure on the others
//! 3. p = 2 · (patterns that gain as much as was observed + 1) / (999 + 1)       the 2 because only gains count
//! ```
//!
//! Points that are clearly worse than the present settings (by more than √(2 ln ln n) standard errors) stay as much worse as
//! they are: a space with many bad values must not hide a good one.
//!
//! The points are those that were found on the true signs: looking for them anew would take a thousand times as long. Half of them
//! or more are a sample that no query had a say in.
//!
//! Westfall and Young, *Resampling-based multiple testing*, 1993; White, *A reality check for data snooping*, Econometrica 68(5), 2000;
//! Hansen, *A test for superior predictive ability*, J. Business & Economic Statistics 23(4), 2005; Phipson and Smyth, *Permutation
//! p-values should never be zero*, 2010.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};

use super::board::Row;
use super::choose::{Ballot, Rule, Tally};
use crate::compare::SEED;

/// How many sign patterns are drawn.
pub const PATTERNS: u64 = 999;

/// The differences of all points from the present settings.
pub(super) struct Differences<'a> {
    rows: &'a [Row],
    home: usize,
    /// For each fold, the points that may be chosen without it, nearest first.
    pools: &'a [Vec<usize>],
    /// As they are.
    observed: Sheet,
    /// As they would be if nothing were better.
    level: Sheet,
    /// Where each fold begins, and the end.
    bounds: Vec<usize>,
}

/// Values by row, with queries ordered by fold.
struct Sheet {
    values: Vec<Vec<f64>>,
    /// What is added to each value of a row after its sign was flipped.
    shift: Vec<f64>,
}

impl Sheet {
    /// Takes the means off, and leaves clearly bad points bad.
    fn level(&self) -> Self {
        let mut level = Self { values: Vec::new(), shift: Vec::new() };
        for values in &self.values {
            let count = values.len() as f64;
            let mean = values.iter().sum::<f64>() / count.max(1.0);
            // Values whose own mean was taken off spread a little less than those they stand for.
            let wider = (count / (count - 1.0).max(1.0)).sqrt();
            let centred: Vec<f64> = values.iter().map(|value| (value - mean) * wider).collect();
            let error = (centred.iter().map(|value| value * value).sum::<f64>() / count.max(1.0)).sqrt()
                / count.sqrt();
            let far = (2.0 * count.max(3.0).ln().ln()).max(0.0).sqrt();
            level.shift.push(if mean < -far * error { mean } else { 0.0 });
            level.values.push(centred);
        }
        level
    }
}

impl<'a> Differences<'a> {
    pub(super) fn new(rows: &'a [Row], home: usize, pools: &'a [Vec<usize>], folds: &[usize]) -> Self {
        let mut order: Vec<usize> = (0..folds.len()).collect();
        order.sort_by_key(|&at| folds[at]);
        let before = &rows[home].values[0];
        let differences = |row: &Row| order.iter().map(|&at| row.values[0][at] - before[at]).collect();
        let observed = Sheet { values: rows.iter().map(differences).collect(), shift: vec![0.0; rows.len()] };
        let bounds = (0..=pools.len()).map(|fold| folds.iter().filter(|&&other| other < fold).count());
        Self { rows, home, pools, level: observed.level(), observed, bounds: bounds.collect() }
    }

    fn count(&self) -> usize {
        self.bounds.last().copied().unwrap_or(0)
    }

    /// The p-value of each rule's gain.
    pub(super) fn p_values(&self, rules: &[Rule], threads: usize) -> Vec<f64> {
        let observed = self.gains(&self.observed, rules, &vec![1.0; self.count()]);
        if observed.iter().all(|gain| *gain <= 0.0) {
            return vec![1.0; rules.len()];
        }
        let share = PATTERNS.div_ceil(threads.max(1) as u64);
        let observed = &observed;
        let counts: Vec<Vec<u64>> = std::thread::scope(|scope| {
            let count = |from: u64| self.as_great(rules, observed, from..(from + share).min(PATTERNS));
            let starts = (0..PATTERNS).step_by(share as usize);
            let handles: Vec<_> = starts.map(|from| scope.spawn(move || count(from))).collect();
            handles.into_iter().map(|handle| handle.join().expect("counting does not panic")).collect()
        });
        let p = |(at, gain): (usize, &f64)| {
            let count: u64 = counts.iter().map(|counts| counts[at]).sum();
            let p = (2.0 * (count + 1) as f64 / (PATTERNS + 1) as f64).min(1.0);
            if *gain > 0.0 { p } else { 1.0 }
        };
        observed.iter().enumerate().map(p).collect()
    }

    /// How many of these patterns gain as much, by rule.
    fn as_great(&self, rules: &[Rule], observed: &[f64], patterns: std::ops::Range<u64>) -> Vec<u64> {
        let mut counts = vec![0; rules.len()];
        let mut signs = vec![1.0; self.count()];
        for pattern in patterns {
            // A generator for each pattern: threads cannot change what is drawn.
            let mut random = Xoshiro256PlusPlus::seed_from_u64(SEED ^ (pattern << 32));
            for chunk in signs.chunks_mut(64) {
                let bits = random.next_u64();
                (0..).zip(chunk).for_each(|(at, sign)| *sign = if bits >> at & 1 == 0 { 1.0 } else { -1.0 });
            }
            let gains = self.gains(&self.level, rules, &signs);
            for ((count, gain), observed) in counts.iter_mut().zip(gains).zip(observed) {
                // Sums that differ by rounding only are equal.
                *count += u64::from(gain >= observed - 1e-12);
            }
        }
        counts
    }

    /// The mean gain of each rule on queries that had no say, under these signs.
    fn gains(&self, sheet: &Sheet, rules: &[Rule], signs: &[f64]) -> Vec<f64> {
        let folds = self.pools.len();
        let part = |fold: usize| self.bounds[fold]..self.bounds[fold + 1];
        let sum = |values: &[f64], signs: &[f64]| {
            values.iter().zip(signs).map(|(value, sign)| value * sign).sum::<f64>()
        };
        let by_fold = |values: &Vec<f64>| {
            (0..folds).map(|fold| sum(&values[part(fold)], &signs[part(fold)])).collect::<Vec<f64>>()
        };
        let sums: Vec<Vec<f64>> = sheet.values.iter().map(by_fold).collect();
        let totals: Vec<f64> = sums.iter().map(|sums| sums.iter().sum()).collect();
        let gain = |rule: Rule| {
            let chosen = (0..folds).map(|fold| {
                let flipped = Flipped { all: self, sheet, sums: &sums, totals: &totals, fold };
                let ballot = Ballot { rows: self.rows, pool: &self.pools[fold], tally: &flipped };
                let row = ballot.choose(rule, self.home);
                sums[row][fold] + sheet.shift[row] * part(fold).len() as f64
            });
            chosen.sum::<f64>() / signs.len().max(1) as f64
        };
        rules.iter().map(|rule| gain(*rule)).collect()
    }
}

/// The queries outside one fold, under some signs.
struct Flipped<'a> {
    all: &'a Differences<'a>,
    sheet: &'a Sheet,
    sums: &'a [Vec<f64>],
    totals: &'a [f64],
    fold: usize,
}

impl Flipped<'_> {
    /// The mean without the shift.
    fn flipped_mean(&self, row: usize) -> f64 {
        (self.totals[row] - self.sums[row][self.fold]) / self.count()
    }
}

impl Tally for Flipped<'_> {
    fn mean(&self, row: usize) -> f64 {
        self.flipped_mean(row) + self.sheet.shift[row]
    }

    fn count(&self) -> f64 {
        let bounds = &self.all.bounds;
        (self.all.count() - (bounds[self.fold + 1] - bounds[self.fold])) as f64
    }

    /// Signs fall away in a square, and a shift moves no spread.
    fn spread(&self, a: usize, b: usize) -> f64 {
        let (one, two) = (&self.sheet.values[a], &self.sheet.values[b]);
        let (from, to) = (self.all.bounds[self.fold], self.all.bounds[self.fold + 1]);
        let squares = |part: std::ops::Range<usize>| {
            one[part.clone()].iter().zip(&two[part]).map(|(a, b)| (a - b) * (a - b)).sum::<f64>()
        };
        let difference = self.flipped_mean(a) - self.flipped_mean(b);
        squares(0..from) + squares(to..one.len()) - self.count() * difference * difference
    }
}
