//! Legs: all errands at once, in threads of their own, under a deadline.
//!
//! Whatever a thread does (sleep, fail, panic), the search goes on by the rules of [`mainstem_core::deadline`]. A thread that is late
//! is left alone, and what it brings is dropped.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use mainstem_core::LegState;
use mainstem_core::contract::Channel;
use mainstem_core::deadline::Deadline;

use super::errand::{Catch, Errand};

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
}

/// What a thread sends home: which errand, and how it ended.
type Message = (usize, Result<Catch, String>);

/// Runs all errands and waits for them as the deadline says, from `started` on.
pub(super) fn run(
    tasks: Vec<Task>,
    deadline: Deadline,
    started: Instant,
    running: &Arc<AtomicUsize>,
) -> Vec<Outcome> {
    let (sender, receiver) = channel();
    let names: Vec<_> = tasks.iter().map(|task| (task.channel, task.variant)).collect();
    for (index, task) in tasks.into_iter().enumerate() {
        send_off(index, task.errand, &sender, running);
    }
    drop(sender);
    let home = wait(&receiver, names.len(), deadline, started);
    let arrivals: Vec<_> = home.iter().map(|home| home.as_ref().and_then(Home::arrived)).collect();
    let states = deadline.states(&arrivals);
    let outcome = |((channel, variant), (home, state))| outcome(channel, variant, home, state);
    names.into_iter().zip(home.into_iter().zip(states)).map(outcome).collect()
}

fn outcome(channel: Channel, variant: u32, home: Option<Home>, state: LegState) -> Outcome {
    let base = Outcome { channel, variant, state, catch: Catch::default(), reason: None };
    match home.map(|home| home.result) {
        Some(Ok(catch)) => Outcome { catch, ..base },
        Some(Err(reason)) => Outcome { state: LegState::Failed, reason: Some(reason), ..base },
        None => Outcome { state: LegState::TimedOut, ..base },
    }
}

/// Gives an errand a thread of its own.
fn send_off(index: usize, errand: Errand, sender: &Sender<Message>, running: &Arc<AtomicUsize>) {
    let slot = Slot::take(running);
    if slot.others >= MOST_RUNNING {
        let _ = sender.send((index, Err("too many earlier searches are still running".into())));
        return;
    }
    let home = sender.clone();
    let work = move || {
        let result = catch_unwind(AssertUnwindSafe(|| errand.run()));
        let result = match result {
            Ok(Ok(catch)) => Ok(catch),
            Ok(Err(failure)) => Err(failure.to_string()),
            Err(panic) => Err(format!("it panicked: {}", panic_words(panic.as_ref()))),
        };
        drop(slot);
        // Nobody listens any more when the search has gone on.
        let _ = home.send((index, result));
    };
    if let Err(error) = thread::Builder::new().name("mainstem-leg".into()).spawn(work) {
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
struct Home {
    at: Duration,
    result: Result<Catch, String>,
}

impl Home {
    /// When it came, if it brought anything that the search can go on with.
    fn arrived(&self) -> Option<Duration> {
        self.result.is_ok().then_some(self.at)
    }
}

/// Waits until all are home, or the soft limit has passed and one has arrived, or the hard limit has passed.
fn wait(
    receiver: &Receiver<Message>,
    count: usize,
    deadline: Deadline,
    started: Instant,
) -> Vec<Option<Home>> {
    let mut home: Vec<Option<Home>> = std::iter::repeat_with(|| None).take(count).collect();
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
