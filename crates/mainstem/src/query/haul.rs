//! The haul: what all legs of a search brought home, read as far as it is worth it.

use std::sync::Arc;

use mainstem_core::answer::Why;
use mainstem_core::deadline::Deadline;
use mainstem_core::time::Moment;
use mainstem_core::{Answer, Candidates, ChunkId, Error, LegState, Search};
use rustc_hash::FxHashMap;

use super::assemble::{self, Chunks};
use super::errand::{Catch, Named};
use super::hands::Works;
use super::legs::{Finisher, Legs, Outcome};

/// How many of the best candidates are told from their copies, for all pages among them: as many as
/// [`neighbours`](mainstem_core::pipeline::neighbours) looks at.
const FIRST: usize = 50;

/// How many chunks a thread reads at least.
const LEAST_SHARE: usize = 16;

/// What was found, and what was read of it.
pub(super) struct Haul {
    outcomes: Vec<Outcome>,
    lists: Candidates<ChunkId>,
    read: FxHashMap<ChunkId, Named>,
    /// Whether candidates were left unread.
    pub(super) partly: bool,
}

impl Haul {
    pub(super) fn outcomes(&self) -> &[Outcome] {
        &self.outcomes
    }

    /// Why it could not be read, if somebody said so.
    pub(super) fn reason(&self) -> Option<&String> {
        self.outcomes.iter().find_map(|outcome| outcome.reason.as_ref())
    }

    /// Whether any leg is left whose finds could be read.
    pub(super) fn answered(&self) -> bool {
        self.outcomes.iter().any(|outcome| outcome.state.answered())
    }

    /// Hands over everything that is to be ranked.
    pub(super) fn unload(&mut self, legs: &Legs, now: Moment) -> (Search, Chunks) {
        let (lists, read) = (std::mem::take(&mut self.lists), std::mem::take(&mut self.read));
        assemble::search(&legs.plan, &self.outcomes, lists, read, now)
    }

    /// The same with everything read.
    ///
    /// # Errors
    /// When a list lacks what the fusion needs.
    pub(super) fn whole(self, legs: &Arc<Legs>) -> Result<Self, Error> {
        Reading { legs, outcomes: self.outcomes }.all(Finisher::Search)
    }
}

/// Reading what was found.
pub(super) struct Reading<'a> {
    pub(super) legs: &'a Arc<Legs>,
    pub(super) outcomes: Vec<Outcome>,
}

impl Reading<'_> {
    /// Reads what is worth it.
    ///
    /// # Errors
    /// When a list lacks what the fusion needs.
    pub(super) fn haul(self, who: Finisher) -> Result<Haul, Error> {
        let depth = self.depth();
        self.read(depth, who)
    }

    fn all(self, who: Finisher) -> Result<Haul, Error> {
        self.read(None, who)
    }

    /// How many of the best candidates are worth reading; nothing where all are.
    ///
    /// Where copies are collapsed, it is the same for all pages but those far behind, and twice what the stages look at. A copy has
    /// nearly the score of what it is a copy of, and so is among them; unless its source is not searched the same ways, or is a copy as a
    /// whole. Where the scores of others depend on which are copies, all must be known.
    fn depth(&self) -> Option<usize> {
        let (plan, spec) = (&self.legs.plan, &self.legs.plan.pipeline);
        let looks_at = spec.looks_at().filter(|_| !self.legs.whole)?;
        if spec.dedup.is_none() {
            return Some(looks_at);
        }
        let of_copies = self.outcomes.iter().any(|outcome| !outcome.catch.scale.copies.is_empty());
        let alike = spec.is_pointwise() && plan.is_even() && !of_copies;
        (alike && looks_at <= FIRST).then_some(2 * FIRST)
    }

    fn read(mut self, depth: Option<usize>, who: Finisher) -> Result<Haul, Error> {
        let mut read = FxHashMap::default();
        let plan = &self.legs.plan;
        loop {
            let lists = assemble::lists(plan, &self.outcomes)?;
            let mut wanted = self.worth_reading(&lists, depth)?;
            wanted.retain(|chunk| !read.contains_key(chunk));
            if !wanted.is_empty() {
                match self.chunks(&wanted, who) {
                    Ok(named) => read.extend(named.into_iter().map(|named| (named.stored.id, named))),
                    Err((state, reason)) => {
                        self.fail(state, reason.as_ref());
                        continue;
                    }
                }
                if assemble::drop_strays(&mut self.outcomes, &wanted, &read, &plan.filter) {
                    continue;
                }
            }
            let partly = (0..lists.len() as u32).any(|slot| !read.contains_key(lists.id(slot)));
            return Ok(Haul { outcomes: self.outcomes, lists, read, partly });
        }
    }

    fn worth_reading(
        &self,
        lists: &Candidates<ChunkId>,
        depth: Option<usize>,
    ) -> Result<Vec<ChunkId>, Error> {
        match depth.filter(|depth| *depth < lists.len()) {
            None => Ok((0..lists.len() as u32).map(|slot| *lists.id(slot)).collect()),
            Some(depth) => {
                let fused = self.legs.pipeline.preview(self.legs.plan.query(), lists)?;
                Ok(fused.hits().iter().take(depth).map(|hit| *lists.id(hit.slot)).collect())
            }
        }
    }

    /// Reads chunks, in two threads where that is worth it; or says what became of the legs that found them. What was found is of no use
    /// unread, so the hard limit alone counts.
    fn chunks(&self, chunks: &[ChunkId], who: Finisher) -> Result<Vec<Named>, (LegState, Option<String>)> {
        // All errands read the same way.
        let Some(task) = self.legs.tasks.first() else { return Ok(Vec::new()) };
        let share = chunks.len().div_ceil(2).max(LEAST_SHARE);
        let mut works = Works::<Vec<Named>>::new();
        for chunks in chunks.chunks(share) {
            let (errand, chunks) = (task.errand.clone(), chunks.to_vec());
            works.push_back(Box::new(move || errand.read(&chunks)));
        }
        let hard = self.legs.plan.deadline.hard;
        let home = match who {
            Finisher::Leg => self.legs.hands.with_own(works, hard),
            Finisher::Search => self.legs.hands.at_once(works, Deadline { soft: hard, hard }),
        };
        let mut read = Vec::with_capacity(chunks.len());
        for home in home {
            match home.map(|home| home.result) {
                Some(Ok(named)) => read.extend(named),
                Some(Err(reason)) if self.legs.hands.started.elapsed() < hard => {
                    return Err((LegState::Failed, Some(reason)));
                }
                Some(Err(_)) | None => return Err((LegState::TimedOut, None)),
            }
        }
        Ok(read)
    }

    /// What cannot be read was not found.
    fn fail(&mut self, state: LegState, reason: Option<&String>) {
        for outcome in &mut self.outcomes {
            let notes = std::mem::take(&mut outcome.catch.notes);
            outcome.catch = Catch { notes, ..Catch::default() };
        }
        for outcome in self.outcomes.iter_mut().filter(|outcome| outcome.state.answered()) {
            outcome.state = state;
            outcome.reason = reason.cloned();
        }
    }
}

/// Leaves hits out that were not read, where the rest cannot be read: what is here is better than nothing.
pub(super) fn keep_read(answer: &mut Answer, chunks: &Chunks, reason: Option<&String>) {
    let (first, before) = (answer.hits.first().map_or(1, |hit| hit.rank), answer.hits.len());
    answer.hits.retain(|hit| chunks.contains_key(&hit.id));
    (first..).zip(&mut answer.hits).for_each(|(rank, hit)| hit.rank = rank);
    let lost = before - answer.hits.len();
    let what = if lost == 1 { "hit" } else { "hits" };
    let why = reason.map_or_else(|| " in time".to_owned(), |reason| format!(" ({reason})"));
    let note =
        format!("not all candidates could be read{why}: {lost} {what} left out, copies may stand alone");
    answer.status.notes.push(note);
    answer.status.partial = true;
}

/// Whether an answer is the one that reading everything would have given, copies that score far less than what they are copies of aside: all
/// hits up to the end of the page were read, and the stages had as many as they look at. What was not read is ranked by the same scores,
/// and so shows where it would be.
pub(super) fn suffices(answer: &Answer, looks_at: usize, search: &Search, chunks: &Chunks) -> bool {
    let unread = search.candidates.len() - chunks.len();
    let before = answer.dropped.iter().filter(|dropped| matches!(dropped.why, Why::BeforeOffset { .. }));
    let mut page = answer.hits.iter().map(|hit| &hit.id).chain(before.map(|dropped| &dropped.id));
    unread == 0 || (answer.total >= looks_at + unread && page.all(|id| chunks.contains_key(id)))
}
