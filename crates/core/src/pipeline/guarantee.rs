//! # Source guarantees
//!
//! A ranking by score alone can leave a source out that the reader wants to hear of, or let one source fill the page. A guarantee sets
//! bounds on how many hits of a source are among the first `top`:
//!
//! * `min`: the best hits of the source that are behind the first `top` are lifted into it, in place of the lowest-ranked ones that no
//!   guarantee needs;
//! * `max`: what is over the ceiling moves behind the first `top`, in its order.
//!
//! Scores do not change, and neither does the order, among the first `top` as among the rest. The ledger of each hit that was lifted or
//! displaced says from where to where, and what the exchange cost in score; the status has the sums. The stage looks at `top` and never at
//! the page that is wanted.
//!
//! **Hits of several sources.** For `min`, a hit counts for every source that found it, and for those of the copies that were collapsed into
//! it: the reader gets what the source has to say. For `max` it counts for its first source only, as it shows up once. A ceiling goes before a
//! floor where such a hit makes them meet.
//!
//! **What cannot be held.** A source with too few hits gets those it has, and a ceiling gives way where nothing else was found: no hit is lost
//! for a guarantee. The status says so. Hits below `min_score` are never lifted.
//!
//! **When not.** To say that one source is better than another: that is what weights are for.

mod choice;

use indexmap::{IndexMap, IndexSet};
use serde::{Deserialize, Serialize};

use super::rows::Row;
use super::run::Running;
use crate::error::Error;
use crate::fuse::Fused;
use crate::ledger::{Bound, Step};
use choice::{Choice, Limits, Move};

/// How many of the first hits a guarantee is about, unless it says otherwise.
pub const TOP: usize = 10;

/// The name that stands for every source that is not named.
const OTHERS: &str = "*";

/// What is guaranteed for one source, as written: `min`, `max` or both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct GuaranteeSpec {
    /// At least so many hits of the source, as far as there are that many.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min: Option<usize>,
    /// At most so many hits of the source, as far as others were found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max: Option<usize>,
    /// Among how many of the first hits. One number for all sources, which need be written only once. Default 10.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub top: Option<usize>,
}

/// The guarantees, by source; `*` is for every source that is not named.
pub type Guarantees = IndexMap<String, GuaranteeSpec>;

/// Among how many of the first hits the guarantees hold.
pub fn top(table: &Guarantees) -> usize {
    table.values().find_map(|spec| spec.top).unwrap_or(TOP)
}

/// Checks the guarantees, each by itself and all together.
///
/// # Errors
/// When they contradict each other.
pub fn check(table: &Guarantees) -> Result<(), Error> {
    let top = top(table);
    table.iter().try_for_each(|(source, spec)| spec.check(source, top))?;
    let sum = table.values().filter_map(|spec| spec.min).fold(0, usize::saturating_add);
    if sum > top {
        return Err(Error::range(
            "the sum of `min` in `guarantee`",
            format!("at most `top`, which is {top}"),
            sum,
        ));
    }
    Ok(())
}

impl GuaranteeSpec {
    fn check(self, source: &str, top: usize) -> Result<(), Error> {
        let setting = |name: &str| format!("`guarantee.{source}.{name}`");
        let top_as = |expected: String| Err(Error::range(setting("top"), expected, self.top.unwrap_or(TOP)));
        let min_as = |expected: String| Err(Error::range(setting("min"), expected, self.min.unwrap_or(0)));
        match self {
            Self { min: None, max: None, .. } => Err(Error::Missing {
                what: format!("`min` or `max` of `guarantee.{source}`"),
                why: "a guarantee needs one of them".into(),
                hint: "give `min = 0` to leave a source without a guarantee".into(),
            }),
            Self { top: Some(0), .. } => top_as("at least 1".into()),
            Self { top: Some(own), .. } if own != top => top_as(format!("{top}, as for the other sources")),
            Self { min: Some(min), max: Some(max), .. } if min > max => {
                min_as(format!("at most `max`, which is {max}"))
            }
            Self { min: Some(min), .. } if min > top => min_as(format!("at most `top`, which is {top}")),
            _ => Ok(()),
        }
    }
}

impl Running<'_> {
    /// Lifts and displaces hits until the guarantees hold.
    pub(super) fn guarantee(&mut self, fused: &Fused) {
        let table = &self.pipeline.spec.guarantee;
        if table.is_empty() {
            return;
        }
        let mut rows = std::mem::take(&mut self.rows);
        let least = self.pipeline.spec.min_score.unwrap_or(f64::NEG_INFINITY);
        let (mut open, mut below): (Vec<Row>, Vec<Row>) = rows.drain(..).partition(|row| row.score >= least);
        let limits = self.limits();
        let sources = |row: &Row| {
            let sources = self.counted(fused, row).into_iter();
            sources.filter_map(|source| limits.get_index_of(&source)).collect()
        };
        let sources: Vec<Vec<usize>> = open.iter().map(sources).collect();
        let limits: Vec<_> = limits.into_values().collect();
        let choice = Choice::new(&limits, &sources, top(table));
        let moves = choice.moves();
        record(&mut open, &limits, &choice, &moves);
        let notes = notes(&limits, &choice, &costs(&open, &moves));
        let mut open: Vec<Option<Row>> = open.into_iter().map(Some).collect();
        self.rows = choice.order().into_iter().filter_map(|at| open[at].take()).collect();
        self.rows.append(&mut below);
        let unknown = table.keys().filter(|name| *name != OTHERS && self.lists_of(name).next().is_none());
        let unknown = unknown.map(|name| format!("a guarantee is set for `{name}`, which has no list"));
        let notes: Vec<_> = unknown.chain(notes).collect();
        self.status.notes.extend(notes);
        self.status.ran("guarantee", self.rows.len(), self.rows.len());
    }

    /// The bounds of every source that has a list.
    fn limits(&self) -> IndexMap<String, Limits> {
        let table = &self.pipeline.spec.guarantee;
        let limits = |source: &String| {
            let named = table.get(source);
            let spec = named.or_else(|| table.get(OTHERS)).copied().unwrap_or_default();
            let min = spec.min.unwrap_or(0);
            Limits { source: source.clone(), named: named.is_some(), min, max: spec.max }
        };
        let sources = self.source_lists().iter().map(|list| &list.leg().source);
        sources.map(|source| (source.clone(), limits(source))).collect()
    }

    /// The sources that a row counts for, the first one first.
    fn counted(&self, fused: &Fused, row: &Row) -> IndexSet<String> {
        let copies = row.steps.iter().flat_map(|step| match step {
            Step::Collapse { absorbed, .. } => absorbed.as_slice(),
            _ => &[],
        });
        let copies = copies.map(|copy| copy.source.clone());
        self.sources(fused, row.slot).into_iter().chain(copies).collect()
    }
}

/// Writes into the ledgers which hits were moved, by whose guarantee, and what that cost.
fn record(rows: &mut [Row], limits: &[Limits], choice: &Choice<'_>, moves: &[Move]) {
    let mut ranks = vec![0; rows.len()];
    choice.order().into_iter().enumerate().for_each(|(rank, at)| ranks[at] = rank + 1);
    for exchange in moves {
        let cost = exchange.cost(rows);
        for (at, cause) in
            [(exchange.lifted, exchange.lifted_by()), (exchange.displaced, exchange.displaced_by())]
        {
            let Some((source, rule)) = cause else { continue };
            let source = limits[source].source.clone();
            rows[at].apply(Step::Guarantee { source, rule, from: at + 1, to: ranks[at], cost, score: 0.0 });
        }
    }
}

impl Move {
    fn cost(&self, rows: &[Row]) -> f64 {
        rows[self.displaced].score - rows[self.lifted].score
    }

    /// The floor that needs the lifted hit, else the ceiling that made room for it.
    fn lifted_by(&self) -> Option<(usize, Bound)> {
        self.min.map(|source| (source, Bound::Min)).or(self.max.map(|source| (source, Bound::Max)))
    }

    /// The ceiling that the displaced hit is over, else the floor that took its place.
    fn displaced_by(&self) -> Option<(usize, Bound)> {
        self.max.map(|source| (source, Bound::Max)).or(self.min.map(|source| (source, Bound::Min)))
    }
}

/// The floor and the ceiling that made for an exchange, and what all such exchanges cost.
type Costs = IndexMap<(Option<usize>, Option<usize>), f64>;

fn costs(rows: &[Row], moves: &[Move]) -> Costs {
    let mut costs = Costs::new();
    for exchange in moves {
        *costs.entry((exchange.min, exchange.max)).or_default() += exchange.cost(rows);
    }
    costs
}

/// What the guarantees cost, and what could not be held.
fn notes(limits: &[Limits], choice: &Choice<'_>, costs: &Costs) -> Vec<String> {
    let top = choice.top;
    let rule = |(min, max): (Option<usize>, Option<usize>)| {
        let min = min.map(|source| limits[source].floor());
        let max = max.map(|source| limits[source].ceiling());
        min.into_iter().chain(max).collect::<Vec<_>>().join(" and ")
    };
    let cost = |(causes, cost): (&(_, _), &f64)| {
        format!("{} cost {cost:.4} of the score of the first {top}", rule(*causes))
    };
    let mut notes: Vec<String> = costs.iter().map(cost).collect();
    notes.extend(floors(limits, choice));
    for (source, limits) in limits.iter().enumerate() {
        let shown = choice.shown(source);
        if limits.max.is_some_and(|max| shown > max) {
            let rule = limits.ceiling();
            notes.push(format!("{rule} does not hold, {shown} in the first {top}: nothing else was found"));
        }
    }
    notes
}

/// The floors that do not hold: one note for each source that is named, one for all others.
fn floors(limits: &[Limits], choice: &Choice<'_>) -> Vec<String> {
    let top = choice.top;
    let short = |source: &usize| choice.held(*source) < limits[*source].min;
    let (named, others): (Vec<_>, Vec<_>) =
        (0..limits.len()).filter(short).partition(|source| limits[*source].named);
    let note = |source: usize| {
        let (floor, held, found) = (limits[source].floor(), choice.held(source), choice.found(source));
        let why = match found {
            _ if found >= limits[source].min => "other guarantees are in the way".to_owned(),
            0 => "it has no hits".to_owned(),
            _ => format!("it has no more than {found}"),
        };
        format!("{floor} does not hold, {held} in the first {top}: {why}")
    };
    let count = |source: &usize| format!("{} ({})", limits[*source].source, choice.held(*source));
    let rest = others.first().map(|source| {
        let (min, sources) = (limits[*source].min, others.iter().map(count).collect::<Vec<_>>());
        format!(
            "`min = {min}` of each other source does not hold in the first {top} for {}",
            sources.join(", ")
        )
    });
    named.into_iter().map(note).chain(rest).collect()
}
