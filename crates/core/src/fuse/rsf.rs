//! # Relative score fusion
//!
//! ```text
//! value(d, list) = (s − min) / (max − min)            all scores equal → 1;  no score → 1 − rank0 / n
//! score(d)       = Σ w · value / Σ w                  over all lists, also empty ones; clamped to [0, 1]
//! ```
//!
//! With equal weights this is the mean over the lists that hold the item, times the share of the lists that do. For two
//! lists: `(a + b) / 2`, or `a / 2` for an item in one of them only.
//!
//! **Across variants** (rewrites of the query):
//!
//! ```text
//! score(d) = mean over the variants that hold d of its score there  +  0.10 × (those variants − 1)     clamped to [0, 1]
//! ```
//!
//! **Source.** Weaviate's `relativeScoreFusion` (2023) is the two-list form; min-max normalisation for metasearch goes back
//! to J. H. Lee: *Analyses of multiple evidence combination*, SIGIR 1997.
//!
//! **When to use it.** Scores within a list are honest (cosine, BM25), and the fused score shall be in \[0, 1\] and be
//! comparable between queries: thresholds, blending with recency or a reranker. On most judged collections it beats RRF.
//!
//! **When not.** A list with one outlier flattens all others (see [`super::dbsf`]); a list of one item gives it 1.0 however
//! bad it is; across sources, since every source's best gets 1.0.

use super::normalise::Normalise;
use super::tally::{Cells, Combine, Field, Tallied, Tally, Term};
use crate::candidates::RankedList;

/// What each further variant that holds an item adds.
pub const VARIANT_BONUS: f64 = 0.10;

pub(super) fn tally(field: &Field<'_>, explain: bool) -> Tallied {
    let variants = field.lists().iter().map(|(_, list)| list.leg().variant + 1).max().unwrap_or(0);
    let mut divisors = vec![0.0; variants as usize];
    for (_, list) in field.lists() {
        divisors[list.leg().variant as usize] += list.leg().weight;
    }
    let mut tallies = vec![Tally::EMPTY; field.slots()];
    let mut holding = vec![0_u32; field.slots()];
    let (mut kept, mut terms) = (Vec::new(), Vec::new());
    for (variant, &divisor) in (0..).zip(&divisors) {
        let mut sums = vec![f64::NAN; field.slots()];
        for (_, list) in field.lists().iter().filter(|(_, list)| list.leg().variant == variant) {
            terms.clear();
            Normalise::default().terms(list, &mut terms);
            add_list(list, &terms, &mut sums, &mut tallies);
            if explain {
                kept.push((std::mem::take(&mut terms), Term::NOTHING));
            }
        }
        for ((sum, tally), count) in sums.iter().zip(&mut tallies).zip(&mut holding) {
            if !sum.is_nan() {
                tally.score += unit(sum / divisor);
                *count += 1;
            }
        }
    }
    for (tally, &count) in tallies.iter_mut().zip(&holding).filter(|(_, count)| **count > 0) {
        tally.score = across(tally.score, count);
    }
    let cells = explain.then(|| Cells::group(&field.by_variant(), &tallies, &kept));
    Tallied { tallies, cells, combine: Combine::Variants { divisors, bonus: VARIANT_BONUS } }
}

fn add_list(list: &RankedList, terms: &[Term], sums: &mut [f64], tallies: &mut [Tally]) {
    let places = list.slots().iter().zip(list.similarities()).zip(terms);
    for (rank, ((&slot, &raw), term)) in (1..).zip(places) {
        let sum = &mut sums[slot as usize];
        *sum = if sum.is_nan() { term.amount } else { *sum + term.amount };
        tallies[slot as usize].see(rank, raw);
    }
}

/// The score of an item from the sum of its scores in the variants that hold it.
pub(crate) fn across(sum: f64, variants: u32) -> f64 {
    let variants = f64::from(variants);
    unit(sum / variants + VARIANT_BONUS * (variants - 1.0))
}

/// Clamps to \[0, 1\].
pub(crate) fn unit(score: f64) -> f64 {
    score.clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use crate::fuse::Fusion;
    use crate::fuse::tests::{assert_ranking, two_lists};
    use crate::{Candidates, Leg};

    #[test]
    fn two_lists_give_the_mean_or_half() {
        // bm25: a 1, b 6/11, c 0; dense: b 1, c .72, d 0
        let expected = [("b", 0.772727), ("a", 0.5), ("c", 0.36), ("d", 0.0)];
        assert_ranking(&Fusion::Rsf, &two_lists(), &expected);
    }

    #[test]
    fn empty_lists_count_in_all_lists() {
        let mut candidates = two_lists();
        candidates.scored(Leg::new("empty"), []).unwrap();
        let expected = [("b", 0.515151), ("a", 0.333333), ("c", 0.24), ("d", 0.0)];
        assert_ranking(&Fusion::Rsf, &candidates, &expected);
    }

    #[test]
    fn equal_scores_are_one_and_the_result_is_clamped() {
        let mut candidates = Candidates::new();
        for variant in 0..3 {
            let leg = Leg { variant, ..Leg::new("a") };
            candidates.scored(leg, [("x", 4.0), ("y", 4.0)]).unwrap();
        }
        assert_ranking(&Fusion::Rsf, &candidates, &[("x", 1.0), ("y", 1.0)]);
    }

    #[test]
    fn variants_are_averaged_over_those_that_hold_the_item_with_a_bonus() {
        let mut candidates = Candidates::new();
        let leg = |variant| Leg { variant, ..Leg::new("a") };
        candidates.scored(leg(0), [("x", 4.0), ("y", 2.0), ("z", 0.0)]).unwrap();
        candidates.scored(leg(1), [("y", 3.0), ("x", 2.0), ("w", 1.0)]).unwrap();
        // x: (1 + .5)/2 + .1, y: (.5 + 1)/2 + .1
        let expected = [("x", 0.85), ("y", 0.85), ("w", 0.0), ("z", 0.0)];
        assert_ranking(&Fusion::Rsf, &candidates, &expected);
    }
}
