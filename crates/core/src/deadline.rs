//! # Deadlines
//!
//! A search waits for its legs, but not forever: after `soft` it goes on with what has arrived, if anything has; at `hard` it goes on
//! regardless. What arrives later never changes the answer. A leg that is missing is reported together with the
//! most it could have added to a hit ([`Fusion::most`](crate::Fusion::most)).
//!
//! This module decides; it neither waits nor reads a clock, so that a search can be replayed.

use std::time::Duration;

use crate::leg::LegState;

/// How long a search waits for its legs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deadline {
    /// After this, go on as soon as anything has arrived.
    pub soft: Duration,
    /// At this, go on regardless.
    pub hard: Duration,
}

impl Default for Deadline {
    fn default() -> Self {
        Self { soft: Duration::from_millis(200), hard: Duration::from_millis(500) }
    }
}

impl Deadline {
    /// When the search goes on, given when each leg answers; nothing stands for a leg that never does.
    pub fn goes_on_at(&self, arrivals: &[Option<Duration>]) -> Duration {
        let last = arrivals.iter().map(|arrival| arrival.unwrap_or(Duration::MAX)).max().unwrap_or_default();
        let first = arrivals.iter().flatten().min().copied().unwrap_or(Duration::MAX);
        // Whichever comes first: all are there, or the soft limit has passed and one is there, or the hard limit.
        last.min(first.max(self.soft)).min(self.hard)
    }

    /// What each leg's state is when the search goes on.
    pub fn states(&self, arrivals: &[Option<Duration>]) -> Vec<LegState> {
        let end = self.goes_on_at(arrivals);
        let state = |arrival: &Option<Duration>| match arrival {
            Some(at) if *at <= end && *at <= self.soft => LegState::Ok,
            Some(at) if *at <= end => LegState::Slow,
            _ => LegState::TimedOut,
        };
        arrivals.iter().map(state).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(value: u64) -> Duration {
        Duration::from_millis(value)
    }

    #[test]
    fn the_search_goes_on_when_it_should() {
        let deadline = Deadline::default();
        let at = |arrivals: &[Option<u64>]| {
            deadline.goes_on_at(&arrivals.iter().map(|at| at.map(ms)).collect::<Vec<_>>())
        };
        assert_eq!(at(&[Some(20), Some(90)]), ms(90), "all in time");
        assert_eq!(at(&[Some(20), None]), ms(200), "one is there at the soft limit");
        assert_eq!(at(&[Some(300), Some(400)]), ms(300), "the first after the soft limit");
        assert_eq!(at(&[None, Some(900)]), ms(500), "none by the hard limit");
        assert_eq!(at(&[]), ms(0), "nothing to wait for");
    }

    #[test]
    fn late_legs_are_timed_out_and_the_first_after_soft_is_slow() {
        use LegState::{Ok, Slow, TimedOut};
        let deadline = Deadline::default();
        assert_eq!(deadline.states(&[Some(ms(20)), Some(ms(210))]), [Ok, TimedOut]);
        assert_eq!(deadline.states(&[Some(ms(300)), Some(ms(301)), None]), [Slow, TimedOut, TimedOut]);
    }
}
