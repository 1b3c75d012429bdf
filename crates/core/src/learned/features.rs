//! What a model looks at: only what the ledger and the item say.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::answer::Hit;
use crate::ledger::Step;
use crate::replay::Replay;
use crate::time::Moment;

/// The names of the features, which say how they are computed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Features {
    common: Vec<String>,
    channels: Vec<String>,
    sources: Vec<String>,
}

/// Features that every model has.
const COMMON: [&str; 6] = ["score", "rank", "agreement", "copies", "age", "words"];

impl Features {
    /// The features that these recordings have.
    pub fn of<'a>(replays: impl Iterator<Item = &'a Replay>) -> Self {
        let (mut channels, mut sources) = (BTreeSet::new(), BTreeSet::new());
        for replay in replays {
            for list in replay.search.candidates.lists() {
                channels.insert(list.leg().channel().to_owned());
                sources.insert(list.leg().source.clone());
            }
        }
        let common = COMMON.map(str::to_owned).to_vec();
        Self { common, channels: channels.into_iter().collect(), sources: sources.into_iter().collect() }
    }

    /// Whether they are computed as they are here.
    pub(super) fn are_ours(&self) -> bool {
        self.common == COMMON
    }

    /// The channels that they look at.
    pub fn channels(&self) -> &[String] {
        &self.channels
    }

    /// The sources that they look at.
    pub fn sources(&self) -> &[String] {
        &self.sources
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        COMMON.len() + 2 * self.channels.len() + self.sources.len()
    }

    /// Never: some are there always.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// One row for each hit.
    pub fn rows(&self, hits: &[Hit], now: Option<&Moment>) -> Vec<Vec<f64>> {
        let best = hits.first().map_or(1.0, |hit| hit.score.abs().max(f64::MIN_POSITIVE));
        let scales: Vec<(f64, f64)> = self.channels.iter().map(|channel| range(hits, channel)).collect();
        hits.iter().map(|hit| self.row(hit, best, &scales, now)).collect()
    }

    fn row(&self, hit: &Hit, best: f64, scales: &[(f64, f64)], now: Option<&Moment>) -> Vec<f64> {
        let held = places(hit).filter(|place| place.rank.is_some()).count();
        let age = hit.item.created_at.as_ref().zip(now).map(|(at, now)| at.age_days(now).max(0.0));
        let words = hit.item.text.as_deref().map_or(0, |text| text.split_whitespace().count());
        let mut row = vec![
            hit.score / best,
            1.0 / hit.rank as f64,
            held as f64,
            hit.alternates.len() as f64,
            // Half fresh where nothing is known, as in recency.
            age.map_or(0.5, |age| 1.0 / (1.0 + age / 30.0)),
            (words as f64).ln_1p(),
        ];
        for (channel, (low, high)) in self.channels.iter().zip(scales) {
            let place = places(hit).find(|place| place.channel == channel);
            let rank = place.as_ref().and_then(|place| place.rank);
            let score = place.and_then(|place| place.score);
            row.push(rank.map_or(0.0, |rank| 1.0 / f64::from(rank)));
            row.push(score.map_or(0.0, |score| if high > low { (score - low) / (high - low) } else { 1.0 }));
        }
        row.extend(self.sources.iter().map(|source| f64::from(u8::from(hit.sources.contains(source)))));
        row
    }
}

/// What one list says about a hit.
struct Placed<'a> {
    channel: &'a str,
    rank: Option<u32>,
    score: Option<f64>,
}

fn places(hit: &Hit) -> impl Iterator<Item = Placed<'_>> {
    let fused = hit.ledger.steps.iter().filter_map(|step| match step {
        Step::Fuse { lists, .. } => Some(lists),
        _ => None,
    });
    fused.flatten().map(|list| Placed {
        channel: list.list.rsplit_once('/').map_or(list.list.as_str(), |(_, channel)| channel),
        rank: list.rank,
        score: list.score,
    })
}

/// The least and the greatest score of a channel among these hits.
fn range(hits: &[Hit], channel: &str) -> (f64, f64) {
    let scores =
        hits.iter().flat_map(places).filter(|place| place.channel == channel).filter_map(|place| place.score);
    scores.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), score| (low.min(score), high.max(score)))
}
