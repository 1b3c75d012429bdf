//! # Which source the query is about
//!
//! A source whose best hit is far behind the best hit of all is hardly what was asked for; its lesser hits are there by chance. So every hit is
//! weighed by the best that its source has to offer:
//!
//! ```text
//! score(d) = score(d) · (best score of d's source / best score of all)^power
//! ```
//!
//! The first hit of the right source keeps its score, sources that answer equally well are not told apart, and a source that has nothing to
//! say cannot push anything out. An item of several sources, or one that stands for its copies in others, goes by the best of them: a copy of a
//! source weighs what its original does.
//!
//! **When not.** Scores that say nothing across sources: those of rank fusion, where every source's first hit looks the same.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use super::rows::{self, Row};
use super::run::Running;
use crate::error::Error;
use crate::fuse::Fused;
use crate::ledger::Step;
use crate::leg::Leg;

/// The settings of the stage.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct PriorSpec {
    /// How much it counts: 0 is not at all, 1 in proportion. At most 10, 0.4 when left out.
    pub power: f64,
}

impl Default for PriorSpec {
    /// Less than in proportion: where one source has all the answers more would be better still, but where the answers are spread over several,
    /// as explanations and examples are, more would silence the one that uses other words.
    fn default() -> Self {
        Self { power: 0.4 }
    }
}

impl PriorSpec {
    /// Checks the settings.
    ///
    /// # Errors
    /// When the power is out of range.
    pub fn check(&self) -> Result<(), Error> {
        if (0.0..=10.0).contains(&self.power) {
            return Ok(());
        }
        Err(Error::range("`prior.power`", "a number from 0 to 10", self.power))
    }
}

impl Running<'_> {
    /// Weighs every hit by the best that its source has to offer.
    pub(super) fn prior(&mut self, fused: &Fused) {
        let Some(spec) = self.pipeline.spec.prior.filter(|spec| spec.power > 0.0) else { return };
        let mut rows = std::mem::take(&mut self.rows);
        let ran = {
            let of = |row: &Row| -> Vec<&Leg> {
                let slots = std::iter::once(row.slot).chain(row.absorbed.iter().copied());
                slots.flat_map(|slot| self.holders(fused, slot)).collect()
            };
            let holders: Vec<Vec<&Leg>> = rows.iter().map(of).collect();
            weigh(&mut rows, &holders, spec.power)
        };
        if ran {
            rows::sort(&mut rows, &self.candidates);
            self.status.ran("prior", rows.len(), rows.len());
        }
        self.rows = rows;
    }
}

/// Weighs rows by the sources that hold them; whether there was anything to weigh.
fn weigh(rows: &mut [Row], holders: &[Vec<&Leg>], power: f64) -> bool {
    let mut best: IndexMap<&str, f64> = IndexMap::new();
    for (row, legs) in rows.iter().zip(holders) {
        for leg in legs {
            let known = best.entry(&leg.source).or_insert(row.score);
            *known = known.max(row.score);
        }
    }
    let of = best.values().copied().fold(0.0, f64::max);
    if best.len() < 2 || of <= 0.0 {
        return false;
    }
    for (row, legs) in rows.iter_mut().zip(holders) {
        let better = |a: &&&Leg, b: &&&Leg| best[a.source.as_str()].total_cmp(&best[b.source.as_str()]);
        // The first of equals.
        let Some(leg) = legs.iter().rev().max_by(better) else { continue };
        let best = best[leg.source.as_str()].max(0.0);
        let factor = (best / of).powf(power);
        row.apply(Step::Prior { source: leg.source.clone(), best, of, power, factor, score: 0.0 });
    }
    true
}

#[cfg(test)]
mod tests {
    use crate::Replay;

    fn run(power: f64) -> Vec<(String, f64)> {
        let json = format!(
            r#"{{"pipeline":{{"across":"score","fuse":{{"method":"linear","normalise":"none"}},"prior":{{"power":{power}}}}},
            "lists":[
              {{"name":"wiki/dense","items":[{{"id":"w1","score":0.8}},{{"id":"w2","score":0.5}}]}},
              {{"name":"chat/dense","items":[{{"id":"c1","score":0.6}},{{"id":"c2","score":0.55}}]}}]}}"#
        );
        let answer = Replay::from_json(json.as_bytes()).unwrap().run().unwrap();
        assert!(answer.hits.iter().all(|hit| hit.ledger.replay() == hit.score));
        answer.hits.into_iter().map(|hit| (hit.id, hit.score)).collect()
    }

    #[test]
    fn the_best_of_a_source_speaks_for_the_rest() {
        let order = |power| run(power).into_iter().map(|(id, _)| id).collect::<Vec<_>>();
        assert_eq!(order(0.0), ["w1", "c1", "c2", "w2"]);
        assert_eq!(order(1.0), ["w1", "w2", "c1", "c2"]);
        assert_eq!(run(1.0)[2].1, 0.6 * (0.6 / 0.8));
    }

    #[test]
    fn one_source_is_left_alone() {
        let json = br#"{"pipeline":{"prior":{},"fuse":{"method":"linear","normalise":"none"}},"lists":[{"name":"a","items":[{"id":"x","score":0.5}]}]}"#;
        let answer = Replay::from_json(json).unwrap().run().unwrap();
        assert_eq!((answer.hits[0].score, answer.hits[0].ledger.steps.len()), (0.5, 1));
    }

    #[test]
    fn the_power_has_a_range() {
        for power in ["-1", "11"] {
            let json = format!(r#"{{"pipeline":{{"prior":{{"power":{power}}}}},"lists":[]}}"#);
            assert!(Replay::from_json(json.as_bytes()).is_err(), "{power}");
        }
    }
}
