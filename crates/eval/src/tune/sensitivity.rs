//! How flat the optimum is: one setting at a time moves away from the choice, and the mean follows or does not.

use serde::Serialize;

use super::board::{Board, Row};
use super::choose::{Tally as _, Voters};

/// One value of a setting.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Sample {
    /// The value.
    pub label: String,
    /// The value as a number, where it is one.
    pub number: Option<f64>,
    /// The mean on all queries; nothing where the settings are refused.
    pub mean: Option<f64>,
    /// Whether it is what the settings say now.
    pub present: bool,
    /// Whether it is what was chosen.
    pub chosen: bool,
}

/// What moving one setting does.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Curve {
    /// The axis.
    pub axis: String,
    /// Its values: numbers in their order, then the others.
    pub samples: Vec<Sample>,
    /// The most that any value loses against the best of them. Small means that the setting does not matter.
    pub range: f64,
    /// The most that a step to the next value loses.
    pub step: f64,
}

/// The curves around a row. Axes that have no meaning there are left out.
pub(super) fn curves(board: &mut Board<'_>, centre: usize) -> Vec<Curve> {
    let space = board.space;
    let centre: Row = board.rows[centre].clone();
    let mut curves = Vec::new();
    for (at, axis) in space.axes().iter().enumerate() {
        let point = |choice: u16| {
            let mut point = centre.point.clone();
            point[at] = choice;
            point
        };
        let count = axis.choices.len() as u16;
        let moved = (1..count).any(|choice| space.at(board.base, &point(choice)).0[at] == choice);
        if !moved {
            continue;
        }
        let points: Vec<_> = (0..count).map(point).collect();
        board.rows_of(&points);
        let mut samples: Vec<Sample> = Vec::new();
        for (choice, point) in (0..count).zip(&points) {
            let row = board.row(point).filter(|&row| board.rows[row].refused.is_none());
            let value = &axis.choices[usize::from(choice)];
            samples.push(Sample {
                label: value.label.clone(),
                number: value.number,
                mean: row.map(|row| mean(board, row)),
                present: choice == 0,
                chosen: choice == centre.point[at],
            });
        }
        samples.sort_by(|a, b| {
            let key = |sample: &Sample| sample.number.unwrap_or(f64::INFINITY);
            key(a).total_cmp(&key(b))
        });
        curves.push(curve(axis.name.clone(), samples));
    }
    curves
}

fn mean(board: &Board<'_>, row: usize) -> f64 {
    let all: Vec<usize> = (0..board.queries.len()).collect();
    Voters { rows: &board.rows, queries: &all }.mean(row)
}

fn curve(axis: String, samples: Vec<Sample>) -> Curve {
    let means = || samples.iter().filter_map(|sample| sample.mean);
    let best = means().fold(f64::NEG_INFINITY, f64::max);
    let least = means().fold(f64::INFINITY, f64::min);
    let ordered: Vec<&Sample> = samples.iter().filter(|sample| sample.number.is_some()).collect();
    let chosen = ordered.iter().position(|sample| sample.chosen);
    let beside = chosen.map(|at| [at.checked_sub(1), Some(at + 1)]).into_iter().flatten().flatten();
    let beside = beside.filter_map(|at| ordered.get(at)?.mean);
    let own = samples.iter().find(|sample| sample.chosen).and_then(|sample| sample.mean).unwrap_or(best);
    let step = beside.map(|mean| own - mean).fold(0.0, f64::max);
    Curve { axis, range: (best - least).max(0.0), step, samples }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_is_to_the_next_number() {
        let sample = |number: f64, mean: f64, chosen| Sample {
            label: number.to_string(),
            number: Some(number),
            mean: Some(mean),
            present: false,
            chosen,
        };
        let curve = curve(
            "k".into(),
            vec![
                sample(1.0, 0.2, false),
                sample(2.0, 0.5, true),
                sample(3.0, 0.45, false),
                sample(9.0, 0.1, false),
            ],
        );
        assert!((curve.step - 0.3).abs() < 1e-12 && (curve.range - 0.4).abs() < 1e-12);
    }
}
