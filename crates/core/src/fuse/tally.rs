//! The part that all methods share: adding up what the lists give, in list order, in f64.

mod cells;

use crate::candidates::{Candidates, RankedList};

pub(crate) use cells::Cells;

/// What a place in a list is worth: the value by the method's formula, and the amount after weighting.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Term {
    /// The normalised score; NaN for methods that look at ranks only.
    pub(crate) value: f64,
    /// What is added up.
    pub(crate) amount: f64,
}

impl Term {
    /// What an item gets from a list that does not hold it, for most methods.
    pub(crate) const NOTHING: Self = Self { value: f64::NAN, amount: 0.0 };

    /// A term of a rank-only method.
    pub(crate) fn of_rank(amount: f64) -> Self {
        Self { value: f64::NAN, amount }
    }

    /// A term of a score-based method.
    pub(crate) fn of_value(value: f64, weight: f64) -> Self {
        Self { value, amount: weight * value }
    }
}

/// How the amounts that the lists give an item become its score.
#[derive(Clone, Debug, PartialEq)]
pub enum Combine {
    /// The sum of the amounts.
    Sum,
    /// The sum divided by the weights of all lists.
    Mean {
        /// The sum of the weights.
        divisor: f64,
    },
    /// The sum times a constant.
    Scaled {
        /// The constant.
        factor: f64,
    },
    /// The sum times the number of lists that hold the item.
    SumTimesLists,
    /// The greatest amount.
    Max,
    /// Inside each variant the mean, clamped; then the mean over the variants that hold the item, plus a bonus for each
    /// further one, clamped.
    Variants {
        /// The sum of the weights, per variant.
        divisors: Vec<f64>,
        /// The bonus per further variant.
        bonus: f64,
    },
    /// Wins and half the draws in the comparison with every other candidate.
    Pairwise {
        /// How many candidates each slot beats.
        wins: Vec<u32>,
        /// How many candidates each slot draws with.
        draws: Vec<u32>,
    },
}

/// The lists that take part, with their indexes among all lists.
pub(crate) struct Field<'a> {
    lists: Vec<(u32, &'a RankedList)>,
    slots: usize,
    candidates: usize,
    weight: f64,
}

impl<'a> Field<'a> {
    pub(crate) fn new<I>(candidates: &'a Candidates<I>) -> Self {
        let lists: Vec<_> = (0..)
            .zip(candidates.lists())
            .filter(|(_, list)| list.leg().weight > 0.0 && list.leg().state.answered())
            .collect();
        let slots = candidates.len();
        let count = distinct(&lists, slots);
        let weight = lists.iter().map(|(_, list)| list.leg().weight).sum();
        Self { lists, slots, candidates: count, weight }
    }

    /// The lists that take part, in order, with their index among all.
    pub(crate) fn lists(&self) -> &[(u32, &'a RankedList)] {
        &self.lists
    }

    /// The same field with its lists in the order of their variants.
    pub(crate) fn by_variant(&self) -> Self {
        let mut lists = self.lists.clone();
        lists.sort_by_key(|(_, list)| list.leg().variant);
        Self { lists, ..*self }
    }

    /// How many slots the candidates have, whether or not a list that takes part holds them.
    pub(crate) fn slots(&self) -> usize {
        self.slots
    }

    /// How many items the lists that take part hold.
    pub(crate) fn candidates(&self) -> usize {
        self.candidates
    }

    /// The sum of the weights of the lists that take part.
    pub(crate) fn weight(&self) -> f64 {
        self.weight
    }
}

fn distinct(lists: &[(u32, &RankedList)], slots: usize) -> usize {
    let mut seen = vec![false; slots];
    let places = lists.iter().flat_map(|(_, list)| list.slots());
    places.filter(|&&slot| !std::mem::replace(&mut seen[slot as usize], true)).count()
}

/// What has been added up for one item.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tally {
    /// The sum (or maximum) so far, and the score in the end.
    pub(crate) score: f64,
    /// The best similarity in any list; −∞ where none gave a score.
    pub(crate) best_raw: f64,
    /// The best rank in any list, from 1.
    pub(crate) best_rank: u32,
    /// How many lists hold the item.
    pub(crate) lists: u32,
}

impl Tally {
    pub(crate) const EMPTY: Self =
        Self { score: 0.0, best_raw: f64::NEG_INFINITY, best_rank: u32::MAX, lists: 0 };

    #[inline]
    pub(crate) fn see(&mut self, rank: u32, raw: f64) {
        self.lists += 1;
        self.best_rank = self.best_rank.min(rank);
        // `max` passes over NaN, which stands for "no score".
        self.best_raw = self.best_raw.max(raw);
    }
}

/// The tallies of all slots, and the cells of the ledger if they were asked for.
pub(crate) struct Tallied {
    pub(crate) tallies: Vec<Tally>,
    pub(crate) cells: Option<Cells>,
    pub(crate) combine: Combine,
}

/// Adds up every list's terms.
pub(crate) fn tally(
    field: &Field<'_>,
    combine: Combine,
    explain: bool,
    mut terms_of: impl FnMut(&RankedList, &mut Vec<Term>) -> Term,
) -> Tallied {
    let greatest = combine == Combine::Max;
    let start = if greatest { f64::NEG_INFINITY } else { 0.0 };
    let mut tallies = vec![Tally { score: start, ..Tally::EMPTY }; field.slots()];
    let (mut kept, mut terms, mut amounts) = (Vec::new(), Vec::new(), Vec::new());
    for (_, list) in field.lists() {
        terms.clear();
        let absent = terms_of(list, &mut terms);
        if absent.amount != 0.0 {
            add_all(list, &terms, absent, &mut tallies, &mut amounts);
        } else if greatest {
            add_held(list, &terms, &mut tallies, f64::max);
        } else {
            add_held(list, &terms, &mut tallies, |sum, amount| sum + amount);
        }
        if explain {
            kept.push((std::mem::take(&mut terms), absent));
        }
    }
    finish(&mut tallies, &combine);
    let cells = explain.then(|| Cells::group(field, &tallies, &kept));
    Tallied { tallies, cells, combine }
}

fn add_held(list: &RankedList, terms: &[Term], tallies: &mut [Tally], add: impl Fn(f64, f64) -> f64) {
    let places = list.slots().iter().zip(list.similarities()).zip(terms);
    for (rank, ((&slot, &raw), term)) in (1..).zip(places) {
        let tally = &mut tallies[slot as usize];
        tally.score = add(tally.score, term.amount);
        tally.see(rank, raw);
    }
}

/// Adds a list that also gives something to the items it does not hold. Only sums come here.
fn add_all(list: &RankedList, terms: &[Term], absent: Term, tallies: &mut [Tally], amounts: &mut Vec<f64>) {
    amounts.clear();
    amounts.resize(tallies.len(), absent.amount);
    let places = list.slots().iter().zip(list.similarities()).zip(terms);
    for (rank, ((&slot, &raw), term)) in (1..).zip(places) {
        amounts[slot as usize] = term.amount;
        tallies[slot as usize].see(rank, raw);
    }
    for (tally, &mut amount) in tallies.iter_mut().zip(amounts) {
        tally.score += amount;
    }
}

fn finish(tallies: &mut [Tally], combine: &Combine) {
    for tally in tallies.iter_mut().filter(|tally| tally.lists > 0) {
        tally.score = match combine {
            Combine::Mean { divisor } => tally.score / divisor,
            Combine::Scaled { factor } => scaled(tally.score, *factor),
            Combine::SumTimesLists => tally.score * f64::from(tally.lists),
            Combine::Sum | Combine::Max | Combine::Variants { .. } | Combine::Pairwise { .. } => tally.score,
        };
    }
}

/// A sum brought to \[0, 1\], which rounding must not lift above 1.
pub(crate) fn scaled(sum: f64, factor: f64) -> f64 {
    (sum * factor).min(1.0)
}
