//! Who does the work of a search: threads that are waited for as a deadline says, so that whatever they do (sleep, fail, panic), the
//! search goes on. A thread that is late is left alone, and what it brings is dropped. Only what waits for nobody does a search itself.

use std::any::Any;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use mainstem_core::Failure;
use mainstem_core::deadline::Deadline;

use crate::workers::{self, Slot};

/// How many late works may be running before new ones are refused: a store that hangs must not use up all threads.
const MOST_RUNNING: usize = 256;

/// What a work brought, and when, from the start of the search.
pub(super) struct Home<T> {
    pub(super) at: Duration,
    pub(super) result: Result<T, String>,
}

impl<T> Home<T> {
    /// When it came, if it brought anything that the search can go on with.
    pub(super) fn arrived(&self) -> Option<Duration> {
        self.result.is_ok().then_some(self.at)
    }
}

/// Works that may be done at once.
pub(super) type Works<T> = VecDeque<Box<dyn FnOnce() -> Result<T, Failure> + Send>>;

/// The hands of a search.
#[derive(Clone)]
pub(super) struct Hands {
    pub(super) started: Instant,
    /// How many works are running, late ones included.
    pub(super) running: Arc<AtomicUsize>,
}

impl Hands {
    /// Has a thread do this, and `home` take what comes of it, an error too.
    ///
    /// # Errors
    /// Why there is no thread for it, as what it brings.
    pub(super) fn send_off<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, Failure> + Send + 'static,
        home: impl FnOnce(Home<T>) + Send + 'static,
    ) -> Result<(), Home<T>> {
        let (started, slot) = (self.started, Slot::take(&self.running));
        let refused = |reason: String| Home { at: started.elapsed(), result: Err(reason) };
        if slot.others >= MOST_RUNNING {
            return Err(refused("too many earlier searches are still running".into()));
        }
        let work = move || {
            let result = caught(work);
            drop(slot);
            home(Home { at: started.elapsed(), result });
        };
        workers::start(Box::new(work)).map_err(|error| refused(format!("no thread to run it: {error}")))
    }

    /// Has a thread do each work, and waits until all are home, or the soft limit has passed and one has arrived, or the hard limit has
    /// passed.
    pub(super) fn at_once<T: Send + 'static>(
        &self,
        works: Works<T>,
        deadline: Deadline,
    ) -> Vec<Option<Home<T>>> {
        let (count, receiver) = (works.len(), self.send_all(works));
        wait(&receiver, count, deadline, self.started)
    }

    /// Does the first work here and has threads do the others, and waits for them until the hard limit.
    pub(super) fn with_own<T: Send + 'static>(
        &self,
        mut works: Works<T>,
        hard: Duration,
    ) -> Vec<Option<Home<T>>> {
        let Some(first) = works.pop_front() else { return Vec::new() };
        let (count, receiver) = (works.len(), self.send_all(works));
        let own = Home { result: caught(first), at: self.started.elapsed() };
        let others = wait(&receiver, count, Deadline { soft: hard, hard }, self.started);
        std::iter::once(Some(own)).chain(others).collect()
    }

    fn send_all<T: Send + 'static>(&self, works: Works<T>) -> Receiver<(usize, Home<T>)> {
        let (sender, receiver) = channel();
        for (index, work) in works.into_iter().enumerate() {
            let home = sender.clone();
            // Nobody listens any more when the search has gone on.
            let sent = self.send_off(work, move |brought| drop(home.send((index, brought))));
            drop(sent.map_err(|refused| sender.send((index, refused))));
        }
        receiver
    }
}

/// What a work brings; a panic is an error like others.
pub(super) fn caught<T>(work: impl FnOnce() -> Result<T, Failure>) -> Result<T, String> {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(brought)) => Ok(brought),
        Ok(Err(failure)) => Err(failure.to_string()),
        Err(panic) => Err(format!("it panicked: {}", panic_words(panic.as_ref()))),
    }
}

fn panic_words(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("it did not say why")
}

fn wait<T>(
    receiver: &Receiver<(usize, Home<T>)>,
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
            Ok((index, brought)) => home[index] = Some(brought),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    home
}
