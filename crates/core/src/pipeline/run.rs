//! A run: from the legs' lists to the answer.

use std::borrow::Cow;
use std::sync::Arc;

use indexmap::IndexMap;
use rustc_hash::FxHashMap;

use super::Pipeline;
use super::merge::Unmerged;
use super::rows::Row;
use crate::aggregate;
use crate::answer::{Answer, Dropped, Hit, Why};
use crate::candidates::{Candidates, Slot};
use crate::error::Error;
use crate::fuse::{Combine, Fused};
use crate::item::Item;
use crate::learned::Model;
use crate::ledger::{Contribution, Ledger, Rule, Step};
use crate::leg::LegState;
use crate::rerank::{Passage, Verdict};
use crate::similarity::{Words, WordsBySlot};
use crate::status::{LegStatus, Status};
use crate::time::Moment;

/// Everything that a run looks at: no clock, no store, no network.
#[derive(Clone, Debug, Default)]
pub struct Search {
    /// The query, for routing.
    pub query: Option<String>,
    /// The clock, for recency.
    pub now: Option<Moment>,
    /// The legs' lists.
    pub candidates: Candidates<String>,
    /// What is known about each candidate, by slot.
    pub items: Vec<Item>,
    /// The words of the items' texts, by slot, where they were read before the run; those of others are read when a stage asks for them.
    pub words: Vec<Option<Arc<Words>>>,
    /// What the reranker said.
    pub verdict: Option<Verdict>,
    /// The model for the stage `learned`.
    pub learned: Option<Arc<Model>>,
    /// What was noticed when the lists were read.
    pub notes: Vec<String>,
}

/// A run on its way.
pub(super) struct Running<'a> {
    pub(super) pipeline: &'a Pipeline,
    pub(super) query: Option<&'a str>,
    pub(super) now: Option<&'a Moment>,
    pub(super) verdict: Option<&'a Verdict>,
    pub(super) model: Option<&'a Model>,
    /// Whether age has been weighed already.
    pub(super) aged: bool,
    /// Borrowed until a stage changes them.
    pub(super) candidates: Cow<'a, Candidates<String>>,
    pub(super) items: Cow<'a, [Item]>,
    pub(super) words: WordsBySlot,
    /// The sources' lists, where they were merged.
    pub(super) unmerged: Option<Unmerged>,
    /// What the stages before fusion did to an item.
    pub(super) before: FxHashMap<Slot, Vec<Step>>,
    /// The labels of what was collapsed into an item before fusion.
    pub(super) alternates: FxHashMap<Slot, Vec<String>>,
    pub(super) rows: Vec<Row>,
    /// Whether scores are in \[0, 1\] by construction.
    pub(super) unit: bool,
    pub(super) status: Status,
    pub(super) dropped: Vec<Dropped>,
}

impl Pipeline {
    /// Runs the stages.
    ///
    /// # Errors
    /// When a list lacks what the fusion needs, or recency is on and there is no clock.
    pub fn run(&self, search: &Search) -> Result<Answer, Error> {
        let (mut running, fused) = self.fused(search)?;
        running.rerank();
        running.recency(&fused)?;
        running.diversify();
        running.guarantee(&fused);
        let total = running.rows.len();
        running.cut();
        Ok(running.answer(&fused, total))
    }

    /// What a reranker is asked about: the best hits before it, best first. Nothing where the pipeline has no `rerank`.
    ///
    /// # Errors
    /// When a list lacks what the fusion needs.
    pub fn shortlist(&self, search: &Search) -> Result<Vec<Passage>, Error> {
        let Some(spec) = self.spec.rerank else { return Ok(Vec::new()) };
        let (running, _) = self.fused(search)?;
        let passage = |row: &Row| Passage {
            id: running.candidates.id(row.slot).clone(),
            text: spec.passage(&running.items[row.slot as usize]),
        };
        Ok(running.rows.iter().take(spec.top).map(passage).collect())
    }

    /// All stages before the reranker.
    fn fused<'a>(&'a self, search: &'a Search) -> Result<(Running<'a>, Fused), Error> {
        let mut running = Running::new(self, search);
        running.route();
        running.aggregate();
        running.collapse_within()?;
        running.merge();
        let fused = running.fuse()?;
        running.collapse_across(&fused);
        running.neighbours();
        running.prior(&fused);
        running.learned(&fused);
        Ok((running, fused))
    }
}

impl<'a> Running<'a> {
    fn new(pipeline: &'a Pipeline, search: &'a Search) -> Self {
        Self {
            pipeline,
            query: search.query.as_deref(),
            now: search.now.as_ref(),
            verdict: search.verdict.as_ref(),
            model: search.learned.as_deref(),
            aged: false,
            candidates: Cow::Borrowed(&search.candidates),
            items: Cow::Borrowed(&search.items),
            words: WordsBySlot::with(search.items.len(), &search.words),
            unmerged: None,
            before: FxHashMap::default(),
            alternates: FxHashMap::default(),
            rows: Vec::new(),
            unit: false,
            status: Status { notes: search.notes.clone(), ..Status::default() },
            dropped: Vec::new(),
        }
    }

    fn route(&mut self) {
        if self.pipeline.spec.route.is_empty() {
            return;
        }
        let route = self.pipeline.router.route(self.query.unwrap_or_default());
        let unknown = route.weights.keys().filter(|source| self.lists_of(source).next().is_none());
        let notes: Vec<_> =
            unknown.map(|source| format!("the route weighs `{source}`, which has no list")).collect();
        self.status.notes.extend(notes);
        self.candidates
            .to_mut()
            .reweigh(|leg| leg.weight * route.weights.get(&leg.source).copied().unwrap_or(1.0));
        self.status.route = Some(route);
    }

    fn aggregate(&mut self) {
        let Some(method) = self.pipeline.spec.aggregate else {
            return;
        };
        let documents = aggregate::documents(&self.candidates, &self.items, method);
        let before = self.candidates.len();
        self.candidates = Cow::Owned(documents.candidates);
        self.words = WordsBySlot::new(documents.items.len());
        self.items = Cow::Owned(documents.items);
        for (slot, chunks) in (0..).zip(documents.chunks) {
            self.before.entry(slot).or_default().push(Step::Aggregate { method: method.as_str(), chunks });
        }
        self.status.ran("aggregate", before, self.candidates.len());
    }

    fn fuse(&mut self) -> Result<Fused, Error> {
        let fused = self.pipeline.fusion.fuse_explained(&self.candidates)?;
        self.legs();
        self.status.formula = self.pipeline.fusion.formula();
        self.unit = self.pipeline.fusion.is_unit();
        let row = |hit: &crate::FusedHit| Row {
            slot: hit.slot,
            score: hit.score,
            best_rank: hit.best_rank,
            best_raw: hit.best_raw,
            steps: Vec::new(),
            alternates: self.alternates.get(&hit.slot).cloned().unwrap_or_default(),
            absorbed: Vec::new(),
        };
        self.rows = fused.hits().iter().map(row).collect();
        let before = self.candidates.lists().iter().map(crate::RankedList::len).sum();
        self.status.ran("fuse", before, self.rows.len());
        Ok(fused)
    }

    /// Reports what each leg did.
    fn legs(&mut self) {
        let total: f64 = self.candidates.lists().iter().map(|list| list.leg().weight).sum();
        let status = |list: &crate::RankedList| {
            let leg = list.leg();
            let state = if leg.weight > 0.0 { leg.state } else { LegState::Skipped };
            let missing = matches!(state, LegState::TimedOut | LegState::Failed);
            LegStatus {
                name: leg.name.clone(),
                source: leg.source.clone(),
                variant: leg.variant,
                state,
                weight: leg.weight,
                items: list.len(),
                repeated: list.repeated(),
                dropped: list.dropped(),
                could_add: missing
                    .then(|| self.pipeline.fusion.most(self.fused_weight(leg), total))
                    .flatten(),
            }
        };
        let legs: Vec<_> = self.source_lists().iter().map(status).collect();
        self.status.partial =
            legs.iter().any(|leg| matches!(leg.state, LegState::TimedOut | LegState::Failed));
        self.status.legs = legs;
    }

    fn cut(&mut self) {
        let spec = &self.pipeline.spec;
        let before = self.rows.len();
        if let Some(least) = spec.min_score {
            let (kept, lost) = std::mem::take(&mut self.rows).into_iter().partition(|row| row.score >= least);
            self.rows = kept;
            self.drop_rows(lost, |row| Why::BelowMinScore { score: row.score, min_score: least });
        }
        let end = spec
            .limit
            .map_or(self.rows.len(), |limit| self.rows.len().min(spec.offset.saturating_add(limit)));
        let tail = self.rows.split_off(end);
        let mut rank = end;
        self.drop_rows(tail, |row| {
            rank += 1;
            Why::BehindLimit { rank, score: row.score }
        });
        let head = self.rows.drain(..spec.offset.min(end)).collect();
        let mut rank = 0;
        self.drop_rows(head, |row| {
            rank += 1;
            Why::BeforeOffset { rank, score: row.score }
        });
        if before != self.rows.len() {
            self.status.ran("cut", before, self.rows.len());
        }
    }

    pub(super) fn drop_rows(&mut self, rows: Vec<Row>, mut why: impl FnMut(&Row) -> Why) {
        for row in rows {
            let why = why(&row);
            self.dropped.push(Dropped { id: self.candidates.id(row.slot).clone(), why });
        }
    }

    fn answer(mut self, fused: &Fused, total: usize) -> Answer {
        let offset = self.pipeline.spec.offset;
        let rows = std::mem::take(&mut self.rows);
        let hits = rows.iter().enumerate().map(|(at, row)| self.hit(row, fused, offset + at + 1)).collect();
        Answer { hits, total, status: self.status, dropped: self.dropped }
    }

    /// The hit that a row is so far.
    pub(super) fn hit(&self, row: &Row, fused: &Fused, rank: usize) -> Hit {
        let mut steps = self.before.get(&row.slot).cloned().unwrap_or_default();
        steps.push(self.fuse_step(fused, row.slot));
        steps.extend(row.steps.iter().cloned());
        Hit {
            id: self.candidates.id(row.slot).clone(),
            rank,
            score: row.score,
            sources: self.sources(fused, row.slot),
            alternates: row.alternates.clone(),
            ledger: Ledger { steps },
            item: self.items[row.slot as usize].clone(),
        }
    }

    fn fuse_step(&self, fused: &Fused, slot: Slot) -> Step {
        let contribution = |cell: &crate::fuse::Cell| {
            let list = &self.candidates.lists()[cell.list as usize];
            let place = cell.rank.checked_sub(1);
            Contribution {
                list: list.leg().name.clone(),
                variant: list.leg().variant,
                rank: place.map(|place| place + 1),
                score: place.and_then(|place| list.score(place as usize)),
                value: (!cell.value.is_nan()).then_some(cell.value),
                weight: list.leg().weight,
                contribution: cell.amount,
            }
        };
        let lists: Vec<_> = fused.cells(slot).iter().map(contribution).collect();
        let rule = rule(fused.combine(), slot, &lists);
        let score = rule.apply(&lists);
        Step::Fuse { method: self.pipeline.fusion.method().as_str(), rule, lists, score }
    }

    /// The sources that hold an item, in list order, once each.
    pub(super) fn sources(&self, fused: &Fused, slot: Slot) -> Vec<String> {
        let holders = self.holders(fused, slot).into_iter();
        let sources: IndexMap<&str, ()> = holders.map(|leg| (leg.source.as_str(), ())).collect();
        sources.into_keys().map(str::to_owned).collect()
    }

    pub(super) fn lists_of<'s>(&'s self, source: &'s str) -> impl Iterator<Item = &'s crate::RankedList> {
        self.source_lists().iter().filter(move |list| list.leg().source == source)
    }

    /// How an answer names an item.
    pub(super) fn label(&self, slot: Slot) -> String {
        self.items[slot as usize].label.clone().unwrap_or_else(|| self.candidates.id(slot).clone())
    }
}

fn rule(combine: &Combine, slot: Slot, lists: &[Contribution]) -> Rule {
    match combine {
        Combine::Sum => Rule::Sum,
        Combine::Mean { divisor } => Rule::Mean { divisor: *divisor },
        Combine::Scaled { factor } => Rule::Scaled { factor: *factor },
        Combine::SumTimesLists => {
            Rule::SumTimesLists { holders: lists.iter().filter(|list| list.rank.is_some()).count() as u32 }
        }
        Combine::Max => Rule::Max,
        Combine::Variants { divisors, bonus } => Rule::Variants { divisors: divisors.clone(), bonus: *bonus },
        Combine::Pairwise { wins, draws } => {
            Rule::Pairwise { wins: wins[slot as usize], draws: draws[slot as usize] }
        }
    }
}
