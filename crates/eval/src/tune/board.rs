//! Every point that was tried, with the value of every measure on every query.
//!
//! Queries are shared out to threads; each value is computed alone, so that the number of threads changes nothing.

use std::sync::atomic::{AtomicU64, Ordering};

use mainstem_core::candidates::NonFinite;
use mainstem_core::{Answer, Candidates, Direction, Error, Pipeline, RankedList, Search};
use rustc_hash::FxHashMap;

use super::prepare::Prepared;
use super::setting::{Compiled, Setting};
use super::space::{Point, Space};
use crate::Measure;
use crate::measure::Kind;

/// How much more a reranker costs for each hit than fusion for each candidate. Any large number does: it only has to be noticed.
const RERANK_COST: f64 = 100.0;

/// One point and how it did.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) point: Point,
    pub(super) setting: Setting,
    /// By measure, then by query.
    pub(super) values: Vec<Vec<f64>>,
    /// How many candidates are looked at, on average: what a search costs, roughly.
    pub(super) cost: f64,
    /// Why it cannot be used.
    pub(super) refused: Option<String>,
    pub(super) distance: f64,
}

/// Told how many runs are done, of how many.
pub type Progress<'a> = &'a (dyn Fn(u64) + Sync);

/// Where points are tried.
pub(super) struct Board<'a> {
    pub(super) space: &'a Space,
    pub(super) base: &'a Setting,
    pub(super) queries: Vec<Prepared>,
    pub(super) measures: &'a [Measure],
    /// How many sources there are.
    pub(super) sources: usize,
    pub(super) threads: usize,
    pub(super) rows: Vec<Row>,
    by_settings: FxHashMap<String, usize>,
    progress: Progress<'a>,
    done: AtomicU64,
}

/// A point that is to be run.
struct Job {
    compiled: Compiled,
    pipeline: Pipeline,
    /// The same for searches in which nothing is a copy of anything.
    without_dedup: Pipeline,
}

/// What a run of one job on one query gave.
type Outcome = Result<(Vec<f64>, f64), String>;

impl<'a> Board<'a> {
    pub(super) fn new(
        (space, base): (&'a Space, &'a Setting),
        queries: Vec<Prepared>,
        measures: &'a [Measure],
        sources: usize,
        (threads, progress): (usize, Progress<'a>),
    ) -> Self {
        Self {
            space,
            base,
            queries,
            measures,
            sources,
            threads,
            progress,
            rows: Vec::new(),
            by_settings: FxHashMap::default(),
            done: AtomicU64::new(0),
        }
    }

    /// The rows of these points, run where they are new. Points that mean the same have one row; those that the pipeline refuses
    /// have none.
    pub(super) fn rows_of(&mut self, points: &[Point]) -> Vec<usize> {
        let mut rows = Vec::with_capacity(points.len());
        let mut jobs: Vec<Job> = Vec::new();
        let first = self.rows.len();
        for point in points {
            let (point, setting) = self.space.at(self.base, point);
            let Ok(compiled) = setting.compile() else { continue };
            if let Some(&row) = self.by_settings.get(&compiled.canonical) {
                rows.push(row);
                continue;
            }
            let Ok((pipeline, without_dedup)) = self.for_measuring(&compiled) else { continue };
            let row = first + jobs.len();
            self.by_settings.insert(compiled.canonical.clone(), row);
            let distance = self.space.distance(&point);
            let values = vec![Vec::with_capacity(self.queries.len()); self.measures.len()];
            self.rows.push(Row { point, setting, values, cost: 0.0, refused: None, distance });
            jobs.push(Job { compiled, pipeline, without_dedup });
            rows.push(row);
        }
        self.run(&jobs, first);
        rows
    }

    /// The row of a point, if it has been run.
    pub(super) fn row(&self, point: &[u16]) -> Option<usize> {
        let (_, setting) = self.space.at(self.base, point);
        self.by_settings.get(&setting.compile().ok()?.canonical).copied()
    }

    /// The pipeline with as many hits as the measures look at, also without its collapsing.
    fn for_measuring(&self, compiled: &Compiled) -> Result<(Pipeline, Pipeline), Error> {
        let depth: Option<usize> = self
            .measures
            .iter()
            .map(Measure::cutoff)
            .collect::<Option<Vec<_>>>()
            .and_then(|all| all.into_iter().max());
        let parts = self.queries.iter().map(|query| query.parts).max().unwrap_or(1);
        let mut spec = compiled.pipeline.spec().clone();
        spec.limit = depth.map(|depth| depth * parts);
        spec.offset = 0;
        let pipeline = spec.check()?;
        spec.dedup = None;
        Ok((pipeline, spec.check()?))
    }

    fn run(&mut self, jobs: &[Job], first: usize) {
        if jobs.is_empty() {
            return;
        }
        let share = self.queries.len().div_ceil(self.threads.max(1)).max(1);
        let (measures, sources) = (self.measures, self.sources);
        let (done, progress) = (&self.done, self.progress);
        let outcomes: Vec<Vec<Vec<Outcome>>> = std::thread::scope(|scope| {
            let handles: Vec<_> = self
                .queries
                .chunks_mut(share)
                .map(|queries| {
                    scope.spawn(move || {
                        let one = |query| {
                            let outcomes = run_query(query, jobs, measures, sources);
                            progress(
                                done.fetch_add(jobs.len() as u64, Ordering::Relaxed) + jobs.len() as u64,
                            );
                            outcomes
                        };
                        queries.iter_mut().map(one).collect::<Vec<_>>()
                    })
                })
                .collect();
            let joined = handles.into_iter().map(|handle| handle.join().expect("a run does not panic"));
            joined.collect()
        });
        for outcomes in outcomes.into_iter().flatten() {
            for (row, outcome) in self.rows[first..].iter_mut().zip(outcomes) {
                row.take(outcome);
            }
        }
        let count = self.queries.len() as f64;
        self.rows[first..].iter_mut().for_each(|row| row.cost /= count);
    }
}

impl Row {
    fn take(&mut self, outcome: Outcome) {
        match outcome {
            Ok((values, cost)) => {
                self.values.iter_mut().zip(values).for_each(|(all, value)| all.push(value));
                self.cost += cost;
            }
            Err(reason) => {
                self.values.iter_mut().for_each(|all| all.push(0.0));
                self.refused = Some(reason);
            }
        }
    }
}

/// Runs all jobs on one query. Jobs that use the same part of the lists come together, so that it is cut out once.
fn run_query(query: &mut Prepared, jobs: &[Job], measures: &[Measure], sources: usize) -> Vec<Outcome> {
    let mut by_cut: Vec<(Vec<usize>, Vec<usize>)> = Vec::new();
    let full: Vec<usize> = query.search.candidates.lists().iter().map(RankedList::len).collect();
    for (at, job) in jobs.iter().enumerate() {
        let lengths = lengths(&query.search.candidates, &job.compiled, &full);
        match by_cut.iter_mut().find(|(known, _)| *known == lengths) {
            Some((_, jobs)) => jobs.push(at),
            None => by_cut.push((lengths, vec![at])),
        }
    }
    let mut outcomes: Vec<Outcome> = vec![Err(String::new()); jobs.len()];
    for (lengths, members) in by_cut {
        let mut shorter = (lengths != full).then(|| cut(&query.search, &lengths));
        for at in members {
            outcomes[at] = run_one(query, shorter.as_mut(), &jobs[at], measures, sources);
        }
    }
    outcomes
}

fn run_one(
    query: &mut Prepared,
    shorter: Option<&mut Search>,
    job: &Job,
    measures: &[Measure],
    sources: usize,
) -> Outcome {
    let Prepared { search, legs, known, graded, copies, .. } = query;
    let pipeline = if *copies { &job.pipeline } else { &job.without_dedup };
    let search = shorter.unwrap_or(search);
    for leg in legs.iter() {
        let weight = leg.under(&job.compiled.weights);
        search.candidates.set_weight(&leg.name, weight).map_err(|error| error.to_string())?;
    }
    let answer = pipeline.run(search).map_err(|error| error.to_string())?;
    let mut seen: Vec<u32> = Vec::with_capacity(answer.hits.len());
    let mut held: Vec<u16> = Vec::with_capacity(answer.hits.len());
    graded.grades.clear();
    for one in answer.hits.iter().filter_map(|hit| known.get(&hit.id)) {
        if !seen.contains(&one.document) {
            seen.push(one.document);
            held.push(one.source);
            graded.grades.push(one.grade);
        }
    }
    let value = |measure: &Measure| match (measure.kind(), measure.cutoff()) {
        (Kind::Coverage, Some(k)) => coverage(&held, k, sources),
        _ => measure.of_grades(graded),
    };
    Ok((measures.iter().map(value).collect(), cost(search, &job.pipeline, &answer)))
}

/// The share of the sources that have a document among the first `k`.
fn coverage(held: &[u16], k: usize, sources: usize) -> f64 {
    let mut top = held[..k.min(held.len())].to_vec();
    top.sort_unstable();
    top.dedup();
    top.len() as f64 / k.min(sources).max(1) as f64
}

fn cost(search: &Search, pipeline: &Pipeline, answer: &Answer) -> f64 {
    let used = search.candidates.lists().iter().filter(|list| list.leg().weight > 0.0);
    let fused = used.map(RankedList::len).sum::<usize>() as f64;
    let reranked = pipeline.spec().rerank.map_or(0, |rerank| rerank.top.min(answer.total));
    fused + RERANK_COST * reranked as f64
}

/// A place: its score, its rank and its list.
type Placed = (f64, usize, usize);

/// How much of each list is used.
fn lengths(candidates: &Candidates<String>, compiled: &Compiled, full: &[usize]) -> Vec<usize> {
    let Some(most) = compiled.candidates else { return full.to_vec() };
    if !compiled.merged {
        return full.iter().map(|length| most.min(*length)).collect();
    }
    let mut lengths = vec![0; full.len()];
    let mut channels: FxHashMap<(u32, &str), Vec<Placed>> = FxHashMap::default();
    for (at, list) in candidates.lists().iter().enumerate() {
        let places = channels.entry((list.leg().variant, list.leg().channel())).or_default();
        let sign = if list.leg().direction == Direction::Distance { -1.0 } else { 1.0 };
        places.extend(
            (0..list.len()).map(|place| (sign * list.score(place).unwrap_or(f64::INFINITY), place, at)),
        );
    }
    for mut places in channels.into_values() {
        places.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)).then(a.2.cmp(&b.2)));
        places.iter().take(most).for_each(|(_, _, list)| lengths[*list] += 1);
    }
    lengths
}

/// The search as some settings cut it.
pub(super) fn shortened(search: &Search, compiled: &Compiled) -> Search {
    let full: Vec<usize> = search.candidates.lists().iter().map(RankedList::len).collect();
    cut(search, &lengths(&search.candidates, compiled, &full))
}

/// The same search with shorter lists.
fn cut(search: &Search, lengths: &[usize]) -> Search {
    let mut shorter = Search {
        query: search.query.clone(),
        now: search.now.clone(),
        verdict: search.verdict.clone(),
        ..Search::default()
    };
    for (list, &length) in search.candidates.lists().iter().zip(lengths) {
        let items = list.slots()[..length].iter().enumerate();
        let items = items.map(|(place, &slot)| (search.candidates.id(slot).clone(), list.score(place)));
        let added = shorter.candidates.add(list.leg().clone(), items, NonFinite::Drop);
        debug_assert!(added.is_ok(), "a part of a list that was accepted is acceptable");
    }
    let item = |slot| {
        let old = search.candidates.slot(shorter.candidates.id(slot));
        old.and_then(|old| search.items.get(old as usize)).cloned().unwrap_or_default()
    };
    shorter.items = (0..shorter.candidates.len() as u32).map(item).collect();
    shorter
}
