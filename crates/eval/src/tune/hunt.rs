//! Looking for good points: all of them where they are few, otherwise a seeded sample and then steps uphill.
//!
//! The sample depends on the seed alone. The steps depend on the queries that decide, so that each fold takes its own: what a fold
//! may choose from has been found without the queries that it is measured on. Random sampling before local steps: Bergstra and
//! Bengio, *Random search for hyper-parameter optimization*, JMLR 13, 2012.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};
use rustc_hash::FxHashSet;

use super::board::Board;
use super::choose::{Tally as _, Voters, nearest_first};
use super::space::{Point, Space};

/// How points are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Strategy {
    /// Every point is tried.
    Exhaustive,
    /// A sample is tried, then the neighbours of the best.
    SampleAndSteps,
}

/// All points, where there are no more than the budget.
pub(super) fn strategy(space: &Space, budget: usize) -> Strategy {
    if space.size() <= budget as f64 { Strategy::Exhaustive } else { Strategy::SampleAndSteps }
}

/// The points that everyone may choose from: the present settings, every single change, and a sample.
pub(super) fn common(space: &Space, budget: usize, seed: u64) -> Vec<Point> {
    let mut points = vec![space.home()];
    if strategy(space, budget) == Strategy::Exhaustive {
        return every(space);
    }
    for (at, axis) in space.axes().iter().enumerate() {
        for choice in 1..axis.choices.len() as u16 {
            let mut point = space.home();
            point[at] = choice;
            points.push(point);
        }
    }
    points.truncate(budget.max(1));
    let wanted = (budget / 2).max(points.len());
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut known: FxHashSet<Point> = points.iter().cloned().collect();
    // A small space with many equal points could never fill the sample.
    for _ in 0..20 * budget {
        if points.len() >= wanted {
            break;
        }
        let point = sample(space, &mut random);
        if known.insert(point.clone()) {
            points.push(point);
        }
    }
    points
}

fn every(space: &Space) -> Vec<Point> {
    let mut points = vec![Point::new()];
    for axis in space.axes() {
        let longer = |point: &Point| {
            let point = point.clone();
            (0..axis.choices.len() as u16).map(move |choice| [point.clone(), vec![choice]].concat())
        };
        points = points.iter().flat_map(longer).collect();
    }
    points
}

/// Half of the axes stay as they are: good settings are more often near than far.
fn sample(space: &Space, random: &mut Xoshiro256PlusPlus) -> Point {
    let choice = |count: usize, random: &mut Xoshiro256PlusPlus| {
        let bits = random.next_u64();
        let stays = bits & 1 == 0;
        if stays { 0 } else { (((bits >> 32) * count as u64) >> 32) as u16 }
    };
    space.axes().iter().map(|axis| choice(axis.choices.len(), random)).collect()
}

/// Steps uphill from the best points that these queries know, until nothing near is better or the allowance is used up. Gives all
/// rows that may be chosen: the common ones and those found.
pub(super) fn climb(
    board: &mut Board<'_>,
    common: &[usize],
    queries: &[usize],
    allowance: usize,
) -> Vec<usize> {
    let mut pool = common.to_vec();
    let mut left = allowance;
    let mut climbed: FxHashSet<usize> = FxHashSet::default();
    while left > 0 {
        let Some(from) = best_not_climbed(board, &pool, queries, &climbed) else { break };
        climbed.insert(from);
        let near = neighbours(board.space, &board.rows[from].point);
        let mut fresh: Vec<Point> = Vec::new();
        for point in near {
            // What another fold has tried is charged all the same: its luck must not reach further than ours.
            let ours = board.row(&point).is_some_and(|row| pool.contains(&row));
            if !ours && left > 0 {
                left -= 1;
                fresh.push(point);
            }
        }
        for row in board.rows_of(&fresh) {
            if !pool.contains(&row) {
                pool.push(row);
            }
        }
    }
    nearest_first(&board.rows, &mut pool);
    pool
}

/// The best few points are climbed from; when all have been, the search is over.
const PEAKS: usize = 8;

fn best_not_climbed(
    board: &Board<'_>,
    pool: &[usize],
    queries: &[usize],
    climbed: &FxHashSet<usize>,
) -> Option<usize> {
    let voters = Voters { rows: &board.rows, queries };
    let usable = pool.iter().copied().filter(|&row| board.rows[row].refused.is_none());
    let mut ranked: Vec<(f64, usize)> = usable.map(|row| (voters.mean(row), row)).collect();
    ranked.sort_by(|a, b| {
        let points = || board.rows[a.1].point.cmp(&board.rows[b.1].point);
        b.0.total_cmp(&a.0).then_with(points)
    });
    ranked.into_iter().take(PEAKS).map(|(_, row)| row).find(|row| !climbed.contains(row))
}

fn neighbours(space: &Space, point: &[u16]) -> Vec<Point> {
    let mut near = Vec::new();
    for (at, axis) in space.axes().iter().enumerate() {
        for choice in axis.neighbours(point[at]) {
            let mut other = point.to_vec();
            other[at] = choice;
            near.push(other);
        }
    }
    near
}
