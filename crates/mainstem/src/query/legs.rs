//! Legs: all errands of a search at once, under a deadline, until what they found is read.
//!
//! Whoever comes home last finishes: each leg scores what the others found, and what is worth it is read. So a search whose legs all answer
//! waits for its threads once, and not for every step. One leg that is [brief](mainstem_core::contract::View::is_brief) the search runs itself
//! meanwhile, since waking threads takes as long. A search that has waited as long as the [deadline](mainstem_core::deadline) says finishes by
//! itself, with the legs that are home; what comes later is dropped.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use mainstem_core::contract::Channel;
use mainstem_core::pipeline::Pipeline;
use mainstem_core::{ChunkId, Error, LegState};
use rustc_hash::FxHashSet;

use super::errand::{Catch, Completed, Errand};
use super::hands::{Hands, Home, Works, caught};
use super::haul::{Haul, Reading};
use super::plan::Plan;

/// One errand and which legs it stands for.
pub(super) struct Task {
    pub(super) channel: Channel,
    pub(super) variant: u32,
    pub(super) errand: Errand,
}

/// What became of an errand.
pub(super) struct Outcome {
    pub(super) channel: Channel,
    pub(super) variant: u32,
    pub(super) state: LegState,
    pub(super) catch: Catch,
    /// Why it failed.
    pub(super) reason: Option<String>,
    /// When it was home, from the start of the search; nothing when it was not in time.
    pub(super) at: Option<Duration>,
}

/// All that the legs of a search share.
pub(super) struct Legs {
    pub(super) plan: Plan,
    pub(super) pipeline: Pipeline,
    pub(super) tasks: Vec<Task>,
    /// Whether all that is found is to be read, whatever the stages look at.
    pub(super) whole: bool,
    /// How long planning took.
    pub(super) planned: Duration,
    pub(super) hands: Hands,
    board: Mutex<Board>,
    /// Whether the search has waited long enough for legs that are not home.
    hurried: AtomicBool,
}

/// Who is home.
#[derive(Default)]
struct Board {
    home: Vec<(usize, Home<Catch>)>,
    /// Whether somebody finishes.
    taken: bool,
}

/// What a thread tells the search.
enum Message {
    /// A leg is home, and the search is in a hurry.
    Home,
    /// The last leg has finished, or panicked while it did.
    Finished(Result<Result<Haul, Error>, String>),
}

/// Who finishes.
#[derive(Clone, Copy)]
pub(super) enum Finisher {
    /// The last leg, which nobody waits for beyond the hard limit, or a search that ran it and need not wait for anybody.
    Leg,
    /// The search itself, which must not wait.
    Search,
}

impl Legs {
    pub(super) fn new(
        (plan, pipeline): (Plan, Pipeline),
        tasks: Vec<Task>,
        whole: bool,
        hands: Hands,
    ) -> Self {
        let (planned, board, hurried) = (hands.started.elapsed(), Mutex::default(), AtomicBool::default());
        Self { plan, pipeline, tasks, whole, planned, hands, board, hurried }
    }

    /// Runs all legs.
    ///
    /// # Errors
    /// When a list lacks what the fusion needs.
    pub(super) fn run(self: &Arc<Self>) -> Result<Haul, Error> {
        let (sender, receiver) = channel();
        let own = self.brief();
        for (index, task) in self.tasks.iter().enumerate().filter(|(index, _)| own != Some(*index)) {
            let (legs, sender, errand) = (Arc::clone(self), sender.clone(), task.errand.clone());
            let home = move |brought| legs.came_home(index, brought, &sender);
            if let Err(refused) = self.hands.send_off(move || errand.run(), home) {
                drop(self.post(index, refused));
            }
        }
        drop(sender);
        if let Some(index) = own {
            let result = caught(|| self.tasks[index].errand.run());
            drop(self.post(index, Home { at: self.hands.started.elapsed(), result }));
        }
        let who = if own.is_some() { Finisher::Leg } else { Finisher::Search };
        self.wait(&receiver, who)
    }

    /// The leg that the search runs itself: of those that are brief, one by meaning takes longest.
    fn brief(&self) -> Option<usize> {
        let mut brief = (0..self.tasks.len()).filter(|index| self.tasks[*index].errand.is_brief());
        let by_meaning = |index: &usize| self.tasks[*index].channel == Channel::Dense;
        brief.clone().find(by_meaning).or_else(|| brief.next())
    }

    fn board(&self) -> MutexGuard<'_, Board> {
        self.board.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn post(&self, index: usize, brought: Home<Catch>) -> MutexGuard<'_, Board> {
        let mut board = self.board();
        board.home.push((index, brought));
        board
    }

    /// What a thread does when its errand is run. Nobody listens any more when the search has gone on.
    fn came_home(self: Arc<Self>, index: usize, brought: Home<Catch>, search: &Sender<Message>) {
        let mut board = self.post(index, brought);
        if board.taken || board.home.len() < self.tasks.len() {
            drop(board);
            if self.hurried.load(Ordering::SeqCst) {
                drop(search.send(Message::Home));
            }
            return;
        }
        board.taken = true;
        let home = std::mem::take(&mut board.home);
        drop(board);
        let finished = caught(|| Ok(self.finish(home, Finisher::Leg)));
        drop(self);
        drop(search.send(Message::Finished(finished)));
    }

    /// Waits until the last leg has finished, or the soft limit has passed and one has arrived, or the hard limit has passed. When all are
    /// home, `who` finishes.
    fn wait(self: &Arc<Self>, receiver: &Receiver<Message>, who: Finisher) -> Result<Haul, Error> {
        let (soft, hard) = (self.plan.deadline.soft.min(self.plan.deadline.hard), self.plan.deadline.hard);
        let mut alone = false;
        loop {
            let elapsed = self.hands.started.elapsed();
            let (hurried, late) = (elapsed >= soft, elapsed >= hard);
            self.hurried.store(hurried, Ordering::SeqCst);
            let mut board = self.board();
            let arrived = board.home.iter().any(|(_, home)| home.result.is_ok());
            let all = board.home.len() == self.tasks.len();
            if !board.taken && (all || alone || late || (hurried && arrived)) {
                board.taken = true;
                let home = std::mem::take(&mut board.home);
                drop(board);
                return self.finish(home, if all && !late { who } else { Finisher::Search });
            }
            drop(board);
            // What has been said counts, even where the search itself was held up.
            let limit = if late {
                elapsed
            } else if hurried {
                hard
            } else {
                soft
            };
            match receiver.recv_timeout(limit.saturating_sub(elapsed)) {
                Ok(Message::Finished(Ok(haul))) => return haul,
                Ok(Message::Finished(Err(reason))) => return self.unread(LegState::Failed, Some(&reason)),
                _ if late || alone => return self.unread(LegState::TimedOut, None),
                Ok(Message::Home) | Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => alone = true,
            }
        }
    }

    /// From what is home to what can be ranked.
    fn finish(self: &Arc<Self>, home: Vec<(usize, Home<Catch>)>, who: Finisher) -> Result<Haul, Error> {
        let mut of_task: Vec<Option<Home<Catch>>> = self.tasks.iter().map(|_| None).collect();
        for (index, home) in home {
            of_task[index] = Some(home);
        }
        let arrivals: Vec<_> = of_task.iter().map(|home| home.as_ref().and_then(Home::arrived)).collect();
        let states = self.plan.deadline.states(&arrivals);
        let outcomes = self.tasks.iter().zip(of_task.into_iter().zip(states));
        let mut outcomes: Vec<_> = outcomes.map(|(task, (home, state))| outcome(task, home, state)).collect();
        self.complete(&mut outcomes, who);
        Reading { legs: self, outcomes }.haul(who)
    }

    /// What is left when what was found cannot be read.
    fn unread(self: &Arc<Self>, state: LegState, reason: Option<&String>) -> Result<Haul, Error> {
        let outcome = |task: &Task| Outcome { reason: reason.cloned(), ..outcome(task, None, state) };
        Reading { legs: self, outcomes: self.tasks.iter().map(outcome).collect() }.haul(Finisher::Search)
    }

    /// Asks every leg that answered for its score of what the others found. A leg that does not say in time leaves things as they are.
    fn complete(&self, outcomes: &mut [Outcome], who: Finisher) {
        let wanted: Vec<(usize, Vec<_>)> = (0..outcomes.len())
            .filter(|&at| self.tasks[at].errand.calibrated && outcomes[at].state.answered())
            .map(|at| (at, unscored(outcomes, at)))
            .filter(|(_, chunks)| !chunks.is_empty())
            .collect();
        let mut works = Works::<Completed>::new();
        for (at, chunks) in &wanted {
            let vector = outcomes[*at].catch.vector.clone();
            let errand = Errand { vector, ..self.tasks[*at].errand.clone() };
            let chunks = chunks.clone();
            works.push_back(Box::new(move || errand.score(&chunks)));
        }
        let scored: Vec<_> = match who {
            // It takes less time than to wake another thread.
            Finisher::Leg => works.into_iter().map(|work| Some(caught(work))).collect(),
            Finisher::Search => {
                let home = self.hands.at_once(works, self.plan.deadline);
                home.into_iter().map(|home| home.map(|home| home.result)).collect()
            }
        };
        for ((at, _), scored) in wanted.iter().zip(scored) {
            let reason = match scored {
                Some(Ok(completed)) => {
                    outcomes[*at].catch.completed = completed;
                    continue;
                }
                Some(Err(reason)) => reason,
                None => "there was no time".to_owned(),
            };
            let name = outcomes[*at].channel.as_str();
            outcomes[*at].catch.notes.push(format!("`{name}` did not score what others found: {reason}"));
        }
    }
}

fn outcome(task: &Task, home: Option<Home<Catch>>, state: LegState) -> Outcome {
    let at = home.as_ref().map(|home| home.at);
    let Task { channel, variant, .. } = *task;
    let base = Outcome { channel, variant, state, catch: Catch::default(), reason: None, at };
    match home.map(|home| home.result) {
        Some(Ok(catch)) if state.answered() => Outcome { catch, ..base },
        // It came home after the limit, just before the search looked.
        Some(Ok(_)) => Outcome { at: None, ..base },
        Some(Err(reason)) => Outcome { state: LegState::Failed, reason: Some(reason), ..base },
        None if state.answered() => Outcome { state: LegState::TimedOut, ..base },
        None => base,
    }
}

/// The chunks that others found and this leg did not, each with its source.
fn unscored(outcomes: &[Outcome], at: usize) -> Vec<(String, ChunkId)> {
    let own = outcomes[at].catch.by_source.values().flatten();
    let mut seen: FxHashSet<ChunkId> = own.map(|candidate| candidate.chunk).collect();
    let others = outcomes.iter().enumerate().filter(|(other, _)| *other != at);
    let lists = others.flat_map(|(_, outcome)| &outcome.catch.by_source);
    let found = lists.flat_map(|(source, list)| list.iter().map(move |found| (source, found)));
    let sane = found.filter(|(_, found)| found.score.is_finite());
    let unscored = sane.filter(|(_, found)| seen.insert(found.chunk));
    unscored.map(|(source, found)| (source.clone(), found.chunk)).collect()
}
