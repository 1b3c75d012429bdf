//! # Neighbours
//!
//! What is relevant is like other relevant things (the *cluster hypothesis*): a hit whose nearest neighbours among the best hits score well
//! deserves some of their score, and one that stands alone among them is more likely to be there by chance.
//!
//! ```text
//! score(d) = (1 − weight) · score(d) + weight · mean of its neighbours' scores, each counting by its cosine
//! ```
//!
//! The neighbours are the `count` items with the greatest positive cosine among the best `top` items; of items with equal scores, all are among
//! them or none. An item without a vector keeps its score and is nobody's neighbour.
//!
//! **Source.** F. Diaz: *Regularizing ad hoc retrieval scores*, CIKM 2005. The stage comes after copies were collapsed: a copy is not a witness.
//!
//! **When not.** One item is right and the others like it are wrong: look-ups by number or name.

use serde::{Deserialize, Serialize};

use super::rows;
use super::run::Running;
use crate::error::Error;
use crate::ledger::Step;

/// The settings of the stage.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct NeighboursSpec {
    /// What the neighbours weigh, from 0 to 1.
    pub weight: f64,
    /// How many neighbours an item has, at least 1.
    pub count: usize,
    /// How many of the best items are looked at, at most 1,000.
    pub top: usize,
}

impl Default for NeighboursSpec {
    fn default() -> Self {
        Self { weight: 0.25, count: 8, top: 50 }
    }
}

/// The most items that are compared with each other.
const MOST: usize = 1000;

impl NeighboursSpec {
    /// Checks the settings.
    ///
    /// # Errors
    /// When one is out of range.
    pub fn check(&self) -> Result<(), Error> {
        if !(0.0..=1.0).contains(&self.weight) {
            return Err(Error::range("`neighbours.weight`", "a number from 0 to 1", self.weight));
        }
        if self.count == 0 {
            return Err(Error::range("`neighbours.count`", "at least 1", 0));
        }
        if self.top > MOST {
            return Err(Error::range("`neighbours.top`", "at most 1,000", self.top));
        }
        Ok(())
    }
}

impl Running<'_> {
    /// Lets the best items take some of the score of those that they are like.
    pub(super) fn neighbours(&mut self) {
        let Some(spec) = self.pipeline.spec.neighbours.filter(|spec| spec.weight > 0.0) else { return };
        let head = head(&self.rows, spec.top);
        let means: Vec<Option<(f64, usize)>> = {
            let of = |row: &rows::Row| self.items[row.slot as usize].vector.as_deref();
            let vectors: Vec<_> =
                self.rows[..head].iter().map(|row| of(row).and_then(Direction::of)).collect();
            let scores: Vec<f64> = self.rows[..head].iter().map(|row| row.score).collect();
            let cosines = cosines(&vectors);
            (0..head).map(|at| mean(&cosines[at * head..(at + 1) * head], &scores, spec.count)).collect()
        };
        let nearest: Vec<Option<String>> = means
            .iter()
            .map(|mean| mean.map(|(_, nearest)| self.candidates.id(self.rows[nearest].slot).clone()))
            .collect();
        for (row, (mean, nearest)) in self.rows.iter_mut().zip(means.into_iter().zip(nearest)) {
            if let Some((mean, _)) = mean {
                row.apply(Step::Neighbours { weight: spec.weight, mean, nearest, score: 0.0 });
            }
        }
        rows::sort(&mut self.rows, &self.candidates);
        self.status.ran("neighbours", self.rows.len(), self.rows.len());
    }
}

/// How many items are looked at. Those that tie with the first one behind them are not: which of them come first is decided by ranks, which a copy
/// of a source changes.
fn head(rows: &[rows::Row], top: usize) -> usize {
    match rows.get(top) {
        Some(next) => rows[..top].partition_point(|row| row.score > next.score),
        None => rows.len(),
    }
}

/// A vector with its length.
struct Direction<'a> {
    vector: &'a [f32],
    length: f32,
}

impl<'a> Direction<'a> {
    fn of(vector: &'a [f32]) -> Option<Self> {
        let length = dot(vector, vector).sqrt();
        (length > 0.0 && length.is_finite()).then_some(Self { vector, length })
    }
}

/// The cosine of every pair that points the same way at all, row by row; 0 for all others.
fn cosines(vectors: &[Option<Direction<'_>>]) -> Vec<f32> {
    let count = vectors.len();
    let mut cosines = vec![0.0; count * count];
    for (a, one) in vectors.iter().enumerate() {
        let Some(one) = one else { continue };
        for (b, other) in vectors.iter().enumerate().skip(a + 1) {
            let same = |other: &&Direction<'_>| other.vector.len() == one.vector.len();
            let Some(other) = other.as_ref().filter(same) else { continue };
            let cosine = (dot(one.vector, other.vector) / (one.length * other.length)).clamp(0.0, 1.0);
            (cosines[a * count + b], cosines[b * count + a]) = (cosine, cosine);
        }
    }
    cosines
}

/// The dot product in a fixed order of eight sums, which is fast and the same on every machine.
fn dot(a: &[f32], b: &[f32]) -> f32 {
    let (a, a_rest) = a.as_chunks::<8>();
    let (b, b_rest) = b.as_chunks::<8>();
    let mut sums = [0.0_f32; 8];
    for (x, y) in a.iter().zip(b) {
        for lane in 0..8 {
            sums[lane] += x[lane] * y[lane];
        }
    }
    let rest: f32 = a_rest.iter().zip(b_rest).map(|(x, y)| x * y).sum();
    sums.iter().sum::<f32>() + rest
}

/// The mean score of the nearest items, and which is the nearest of all.
fn mean(cosines: &[f32], scores: &[f64], count: usize) -> Option<(f64, usize)> {
    let mut near: Vec<(f32, usize)> =
        cosines.iter().copied().zip(0..).filter(|(cosine, _)| *cosine > 0.0).collect();
    let nearer = |a: &(f32, usize), b: &(f32, usize)| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1));
    if count < near.len() {
        near.select_nth_unstable_by(count, nearer);
        near.truncate(count);
    }
    near.sort_unstable_by(nearer);
    let weight: f64 = near.iter().map(|(cosine, _)| f64::from(*cosine)).sum();
    let sum: f64 = near.iter().map(|&(cosine, at)| f64::from(cosine) * scores[at]).sum();
    near.first().map(|&(_, nearest)| (sum / weight, nearest))
}

#[cfg(test)]
mod tests {
    use crate::{Replay, Step};

    fn run(weight: f64) -> Vec<(String, f64)> {
        let json = format!(
            r#"{{"pipeline":{{"fuse":{{"method":"linear","normalise":"none"}},"neighbours":{{"weight":{weight},"count":1}}}},
            "lists":[{{"name":"dense","items":[
              {{"id":"alone","score":0.80,"vector":[0,0,1]}},
              {{"id":"a","score":0.79,"vector":[1,0.1,0]}},
              {{"id":"b","score":0.78,"vector":[1,0,0]}},
              {{"id":"c","score":0.10,"vector":[0,0.1,1]}},
              {{"id":"without","score":0.05}}]}}]}}"#
        );
        let answer = Replay::from_json(json.as_bytes()).unwrap().run().unwrap();
        assert!(answer.hits.iter().all(|hit| hit.ledger.replay() == hit.score));
        answer.hits.into_iter().map(|hit| (hit.id, hit.score)).collect()
    }

    #[test]
    fn good_company_lifts_and_bad_company_lowers() {
        let order = |hits: Vec<(String, f64)>| hits.into_iter().map(|(id, _)| id).collect::<Vec<_>>();
        assert_eq!(order(run(0.0)), ["alone", "a", "b", "c", "without"]);
        assert_eq!(order(run(0.5)), ["a", "b", "alone", "c", "without"]);
    }

    #[test]
    fn of_equal_items_all_are_looked_at_or_none() {
        let run = |top: usize| {
            let json = format!(
                r#"{{"pipeline":{{"fuse":{{"method":"linear","normalise":"none"}},"neighbours":{{"weight":0.5,"top":{top}}}}},
                "lists":[{{"name":"dense","items":[
                  {{"id":"a","score":0.8,"vector":[1,0]}},
                  {{"id":"b","score":0.6,"vector":[1,0]}},
                  {{"id":"c","score":0.2,"vector":[1,0]}},
                  {{"id":"d","score":0.2,"vector":[1,0]}}]}}]}}"#
            );
            Replay::from_json(json.as_bytes()).unwrap().run().unwrap().hits[0].score
        };
        assert_eq!((run(2), run(3)), (0.7, 0.7));
        assert!(run(4) < 0.6);
    }

    #[test]
    fn an_item_without_a_vector_keeps_its_score() {
        assert_eq!(run(0.5).last().unwrap(), &("without".to_owned(), 0.05));
    }

    #[test]
    fn the_ledger_names_the_nearest() {
        let json = br#"{"pipeline":{"fuse":{"method":"linear","normalise":"none"},"neighbours":{}},"lists":[{"name":"dense","items":[
            {"id":"a","score":1.0,"vector":[1,0]},{"id":"b","score":0.5,"vector":[1,0.1]}]}]}"#;
        let answer = Replay::from_json(json).unwrap().run().unwrap();
        let Some(Step::Neighbours { nearest, mean, .. }) = answer.hits[0].ledger.steps.last() else {
            panic!("no such step");
        };
        assert_eq!((nearest.as_deref(), *mean), (Some("b"), 0.5));
    }

    #[test]
    fn settings_have_a_range() {
        for settings in [r#"{"weight":1.1}"#, r#"{"count":0}"#, r#"{"top":1001}"#] {
            let json = format!(r#"{{"pipeline":{{"neighbours":{settings}}},"lists":[]}}"#);
            assert!(Replay::from_json(json.as_bytes()).is_err(), "{settings}");
        }
    }
}
