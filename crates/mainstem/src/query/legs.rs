//! Legs: all errands at once, in threads of their own, under a deadline.
//!
//! Whatever a thread does (sleep, fail, panic), the search goes on by the rules of [`mainstem_core::deadline`]. A thread that is late
//! is left alone, and what it brings is dropped.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use mainstem_core::contract::Channel;
use mainstem_core::deadline::Deadline;
use mainstem_core::{ChunkId, Failure, LegState};
use rustc_hash::FxHashSet;

use super::errand::{Catch, Errand, Named};
use super::workers;

/// How many late errands may be running before new ones are refused: a store that hangs must not use up all threads.
const MOST_RUNNING: usize = 256;

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

/// What a thread sends home: which errand, and how it ended.
type Message<T> = (usize, Result<T, String>);

/// Runs all errands and waits for them as the deadline says, from `started` on. When all that come are home, each is asked about what the
/// others found.
pub(super) fn run(
    tasks: Vec<Task>,
    deadline: Deadline,
    started: Instant,
    running: &Arc<AtomicUsize>,
) -> Vec<Outcome> {
    let works = tasks.iter().map(|task| {
        let errand = task.errand.clone();
        move || errand.run()
    });
    let home = at_once(works.collect(), deadline, started, running);
    let arrivals: Vec<_> = home.iter().map(|home| home.as_ref().and_then(Home::arrived)).collect();
    let states = deadline.states(&arrivals);
    let names = tasks.iter().map(|task| (task.channel, task.variant));
    let outcome = |((channel, variant), (home, state))| outcome(channel, variant, home, state);
    let mut outcomes: Vec<Outcome> = names.zip(home.into_iter().zip(states)).map(outcome).collect();
    complete(&tasks, &mut outcomes, deadline, started, running);
    outcomes
}

fn outcome(channel: Channel, variant: u32, home: Option<Home<Catch>>, state: LegState) -> Outcome {
    let at = home.as_ref().map(|home| home.at);
    let base = Outcome { channel, variant, state, catch: Catch::default(), reason: None, at };
    match home.map(|home| home.result) {
        Some(Ok(catch)) => Outcome { catch, ..base },
        Some(Err(reason)) => Outcome { state: LegState::Failed, reason: Some(reason), ..base },
        None => Outcome { state: LegState::TimedOut, ..base },
    }
}

/// Asks every leg that answered for its score of what the others found. A leg that does not say in time leaves things as they are.
fn complete(
    tasks: &[Task],
    outcomes: &mut [Outcome],
    deadline: Deadline,
    started: Instant,
    running: &Arc<AtomicUsize>,
) {
    let wanted: Vec<(usize, Vec<_>)> = (0..outcomes.len())
        .filter(|&at| tasks[at].errand.calibrated && outcomes[at].state.answered())
        .map(|at| (at, unscored(outcomes, at)))
        .filter(|(_, chunks)| !chunks.is_empty())
        .collect();
    let works = wanted.iter().map(|(at, chunks)| {
        let errand = Errand { vector: outcomes[*at].catch.vector.clone(), ..tasks[*at].errand.clone() };
        let chunks = chunks.clone();
        move || errand.score(&chunks)
    });
    let home = at_once(works.collect(), deadline, started, running);
    for ((at, _), home) in wanted.iter().zip(home) {
        let reason = match home.map(|home| home.result) {
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

/// The chunks that others found and this leg did not.
fn unscored(outcomes: &[Outcome], at: usize) -> Vec<Arc<Named>> {
    fn chunks(outcome: &Outcome) -> impl Iterator<Item = &Arc<Named>> {
        outcome.catch.by_source.values().flatten().filter_map(|candidate| candidate.chunk.as_ref())
    }
    let mut seen: FxHashSet<ChunkId> = chunks(&outcomes[at]).map(|chunk| chunk.stored.id).collect();
    let others = outcomes.iter().enumerate().filter(|(other, _)| *other != at);
    let found = others.flat_map(|(_, outcome)| chunks(outcome));
    found.filter(|chunk| seen.insert(chunk.stored.id)).cloned().collect()
}

/// Gives every work a [thread](workers) of its own, and waits for them as the deadline says.
fn at_once<T: Send + 'static>(
    works: Vec<impl FnOnce() -> Result<T, Failure> + Send + 'static>,
    deadline: Deadline,
    started: Instant,
    running: &Arc<AtomicUsize>,
) -> Vec<Option<Home<T>>> {
    let (sender, receiver) = channel();
    let count = works.len();
    for (index, work) in works.into_iter().enumerate() {
        send_off(index, work, &sender, running);
    }
    drop(sender);
    wait(&receiver, count, deadline, started)
}

fn send_off<T: Send + 'static>(
    index: usize,
    work: impl FnOnce() -> Result<T, Failure> + Send + 'static,
    sender: &Sender<Message<T>>,
    running: &Arc<AtomicUsize>,
) {
    let slot = Slot::take(running);
    if slot.others >= MOST_RUNNING {
        let _ = sender.send((index, Err("too many earlier searches are still running".into())));
        return;
    }
    let home = sender.clone();
    let work = move || {
        let result = match catch_unwind(AssertUnwindSafe(work)) {
            Ok(Ok(brought)) => Ok(brought),
            Ok(Err(failure)) => Err(failure.to_string()),
            Err(panic) => Err(format!("it panicked: {}", panic_words(panic.as_ref()))),
        };
        drop(slot);
        // Nobody listens any more when the search has gone on.
        let _ = home.send((index, result));
    };
    if let Err(error) = workers::start(Box::new(work)) {
        let _ = sender.send((index, Err(format!("no thread to run it: {error}"))));
    }
}

/// A place among the running errands, given back when dropped.
struct Slot {
    running: Arc<AtomicUsize>,
    others: usize,
}

impl Slot {
    fn take(running: &Arc<AtomicUsize>) -> Self {
        Self { running: Arc::clone(running), others: running.fetch_add(1, Ordering::Relaxed) }
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.running.fetch_sub(1, Ordering::Relaxed);
    }
}

fn panic_words(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("it did not say why")
}

/// An errand that came home in time.
struct Home<T> {
    at: Duration,
    result: Result<T, String>,
}

impl<T> Home<T> {
    /// When it came, if it brought anything that the search can go on with.
    fn arrived(&self) -> Option<Duration> {
        self.result.is_ok().then_some(self.at)
    }
}

/// Waits until all are home, or the soft limit has passed and one has arrived, or the hard limit has passed.
fn wait<T>(
    receiver: &Receiver<Message<T>>,
    count: usize,
    deadline: Deadline,
    started: Instant,
) -> Vec<Option<Home<T>>> {
    let mut home: Vec<Option<Home<T>>> = std::iter::repeat_with(|| None).take(count).collect();
    while home.iter().any(Option::is_none) {
        let arrived = home.iter().flatten().any(|home| home.result.is_ok());
        let limit = if arrived { deadline.soft.min(deadline.hard) } else { deadline.hard };
        let left = limit.saturating_sub(started.elapsed());
        if left.is_zero() {
            break;
        }
        match receiver.recv_timeout(left) {
            Ok((index, result)) => home[index] = Some(Home { at: started.elapsed(), result }),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    home
}
