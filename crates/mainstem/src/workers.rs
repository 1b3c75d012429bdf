//! Threads for what a search does at once: those that have nothing to do wait for the next search, which is faster than starting new ones.
//!
//! No work waits for a thread: when none is idle, it gets a new one. Work that hangs keeps its thread and holds up nobody.

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SendError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};
use std::time::Duration;

/// How many threads wait for work at most.
const IDLE: usize = 16;

/// How long a thread waits for work before it ends.
const PATIENCE: Duration = Duration::from_secs(10);

/// What a thread does.
pub(crate) type Work = Box<dyn FnOnce() + Send>;

/// The threads that wait for work, the last one to have had some at the end.
static WAITING: Mutex<Vec<(ThreadId, Sender<Work>)>> = Mutex::new(Vec::new());

fn waiting() -> MutexGuard<'static, Vec<(ThreadId, Sender<Work>)>> {
    WAITING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Has a thread do this at once. The work MUST NOT panic.
///
/// # Errors
/// When no thread waits and none can be started.
pub(crate) fn start(mut work: Work) -> io::Result<()> {
    loop {
        let Some((_, worker)) = waiting().pop() else { break };
        match worker.send(work) {
            Ok(()) => return Ok(()),
            Err(SendError(refused)) => work = refused,
        }
    }
    let serve = move || {
        work();
        while let Some(next) = wait() {
            next();
        }
    };
    thread::Builder::new().name("mainstem-search".into()).spawn(serve).map(drop)
}

/// The next work of this thread; nothing when it should end.
fn wait() -> Option<Work> {
    let (sender, receiver) = channel();
    let mut idle = waiting();
    if idle.len() >= IDLE {
        return None;
    }
    idle.push((thread::current().id(), sender));
    drop(idle);
    match receiver.recv_timeout(PATIENCE) {
        Ok(work) => Some(work),
        Err(RecvTimeoutError::Timeout) => leave(&receiver),
        Err(RecvTimeoutError::Disconnected) => None,
    }
}

/// Takes this thread from those that wait. One that is no longer among them was chosen, and its work is on the way.
fn leave(receiver: &Receiver<Work>) -> Option<Work> {
    let mut idle = waiting();
    let before = idle.len();
    idle.retain(|(thread, _)| *thread != thread::current().id());
    let chosen = idle.len() == before;
    drop(idle);
    chosen.then(|| receiver.recv().ok()).flatten()
}

/// A place among the works that are running, given back when dropped.
pub(crate) struct Slot {
    running: Arc<AtomicUsize>,
    /// How many others were running when it was taken.
    pub(crate) others: usize,
}

impl Slot {
    pub(crate) fn take(running: &Arc<AtomicUsize>) -> Self {
        Self { running: Arc::clone(running), others: running.fetch_add(1, Ordering::Relaxed) }
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.running.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_is_never_held_up_by_work_that_hangs() {
        let (done, home) = channel();
        let (end, ended) = channel::<()>();
        let ended = Arc::new(Mutex::new(ended));
        for _ in 0..3 {
            let ended = Arc::clone(&ended);
            start(Box::new(move || {
                let _ = ended.lock().unwrap().recv();
            }))
            .unwrap();
        }
        for at in 0..100 {
            let done = done.clone();
            start(Box::new(move || {
                let _ = done.send(at);
            }))
            .unwrap();
        }
        let mut all: Vec<i32> =
            (0..100).map(|_| home.recv_timeout(Duration::from_secs(60)).unwrap()).collect();
        all.sort_unstable();
        assert_eq!(all, (0..100).collect::<Vec<_>>());
        drop(end);
    }
}
