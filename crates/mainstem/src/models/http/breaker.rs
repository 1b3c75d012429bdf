//! A circuit breaker: who has failed often enough is not asked for a while, then asked once, to see.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Counts failures in a row.
pub(crate) struct Breaker {
    /// How many failures in a row open it.
    limit: u32,
    /// How long it stays open.
    cooldown: Duration,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    failures: u32,
    opened: Option<Instant>,
    /// Whether somebody is asking, to see.
    probing: bool,
}

/// Leave to ask. Who does not report a success has failed.
pub(crate) struct Pass<'a> {
    breaker: &'a Breaker,
    asked: Instant,
    outcome: Outcome,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Failed,
    Succeeded,
    Unclear,
}

impl Breaker {
    /// Opens after so many failures in a row, for so long.
    pub(crate) fn new(limit: u32, cooldown: Duration) -> Self {
        Self { limit: limit.max(1), cooldown, state: Mutex::default() }
    }

    /// Leave to ask, or how long to wait for it.
    pub(crate) fn pass(&self, now: Instant) -> Result<Pass<'_>, Duration> {
        let mut state = self.state();
        if let Some(opened) = state.opened {
            let left = self.cooldown.saturating_sub(now.saturating_duration_since(opened));
            if !left.is_zero() || state.probing {
                return Err(left);
            }
            state.probing = true;
        }
        Ok(Pass { breaker: self, asked: now, outcome: Outcome::Failed })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Pass<'_> {
    /// It worked.
    pub(crate) fn succeed(mut self) {
        self.outcome = Outcome::Succeeded;
    }

    /// It did not work, but whoever was asked had no chance.
    pub(crate) fn forgive(mut self) {
        self.outcome = Outcome::Unclear;
    }
}

impl Drop for Pass<'_> {
    fn drop(&mut self) {
        let mut state = self.breaker.state();
        state.probing = false;
        match self.outcome {
            Outcome::Succeeded => *state = State::default(),
            Outcome::Unclear => return,
            Outcome::Failed => state.failures = state.failures.saturating_add(1),
        }
        if state.failures >= self.breaker.limit {
            // From when it was asked: the time that it took to fail counts.
            state.opened = Some(self.asked);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_opens_after_failures_in_a_row_and_lets_one_through_later() {
        let (start, minute) = (Instant::now(), Duration::from_secs(60));
        let breaker = Breaker::new(3, minute);
        let fail = |at| drop(breaker.pass(at).ok().unwrap());
        fail(start);
        fail(start);
        breaker.pass(start).ok().unwrap().succeed();
        fail(start);
        fail(start);
        assert!(breaker.pass(start).is_ok(), "two in a row, and this one fails as it is dropped");
        assert_eq!(breaker.pass(start + minute / 2).err(), Some(minute / 2));
        breaker.pass(start + minute).ok().unwrap().forgive();
        let probe = breaker.pass(start + minute).ok().unwrap();
        assert_eq!(breaker.pass(start + minute).err(), Some(Duration::ZERO), "one at a time");
        drop(probe);
        assert_eq!(breaker.pass(start + minute).err(), Some(minute), "open again");
        breaker.pass(start + 2 * minute).ok().unwrap().succeed();
        fail(start + 2 * minute);
        assert!(breaker.pass(start + 2 * minute).is_ok(), "all is forgiven");
    }
}
