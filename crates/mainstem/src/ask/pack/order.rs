//! Which hits are worth it, and in which order they come in.

use std::collections::BTreeMap;

use super::context::{Included, Omitted};
use super::{Chosen, Packer};
use crate::ask::piece::Piece;

/// A text that is part of another is a copy of it from this length on, in bytes.
const TELLING: usize = 40;

/// The hits that are worth it, in the order in which they come in.
pub(super) fn choose<'a>(
    hits: &'a [Piece],
    packer: &Packer,
    omitted: &mut Vec<(&'a Piece, Omitted)>,
) -> Vec<Chosen<'a>> {
    let best = hits.iter().map(|hit| hit.score).fold(f64::NEG_INFINITY, f64::max);
    let mut kept: Vec<(&Piece, String)> = Vec::new();
    for hit in hits {
        let plain = plain(&hit.text);
        let reason = if plain.is_empty() {
            Some(Omitted::Empty)
        } else if !is_worth_it(hit.score, best, packer.worth) {
            Some(Omitted::BelowFloor { score: hit.score, least: packer.worth * best })
        } else {
            let copy = kept.iter().find(|(_, other)| is_copy(&plain, other));
            copy.map(|(other, _)| Omitted::Duplicate { of: other.id.clone() })
        };
        match reason {
            Some(reason) => omitted.push((hit, reason)),
            None => kept.push((hit, plain)),
        }
    }
    in_order(kept.into_iter().map(|(hit, _)| hit), packer.floor)
}

/// Where the best score says nothing about shares, everything is worth it.
fn is_worth_it(score: f64, best: f64, worth: f64) -> bool {
    best <= 0.0 || !best.is_finite() || score >= worth * best
}

fn plain(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}

fn is_copy(text: &str, other: &str) -> bool {
    text == other || (text.len() >= TELLING && other.contains(text))
}

/// First the floor of every kind, by turns, then the rest by rank.
fn in_order<'a>(hits: impl Iterator<Item = &'a Piece>, floor: usize) -> Vec<Chosen<'a>> {
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    let mut turns: Vec<(usize, Chosen<'a>)> = Vec::new();
    for hit in hits {
        let nth = seen.entry(hit.kind.as_str()).and_modify(|count| *count += 1).or_insert(1);
        let (rank, score) = (hit.rank, hit.score);
        let chosen = if *nth <= floor {
            (*nth, (hit, Included::Floor { rank, score, kind: hit.kind.clone(), nth: *nth, of: floor }))
        } else {
            (usize::MAX, (hit, Included::Best { rank, score }))
        };
        turns.push(chosen);
    }
    // The sort is stable: within a turn, hits stay in the order of their ranks.
    turns.sort_by_key(|(turn, _)| *turn);
    turns.into_iter().map(|(_, chosen)| chosen).collect()
}
