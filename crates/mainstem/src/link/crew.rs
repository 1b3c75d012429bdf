//! Many documents at once.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::thread;

use mainstem_core::Failure;

/// Hears how much is done, and of how much; it is called from several threads. The run stops when it says `false`.
pub type Progress<'a> = &'a (dyn Fn(u64, u64) -> bool + Sync);

/// Threads that share out work.
pub(super) struct Crew<'a> {
    /// How many.
    pub(super) threads: usize,
    /// Who hears about it.
    pub(super) progress: Progress<'a>,
    /// How much there is to do in all rounds.
    pub(super) of: u64,
}

impl Crew<'_> {
    /// What `work` makes of each number below `count`, in their order; nothing when it was told to stop. `before` was done in earlier rounds.
    ///
    /// # Errors
    /// The first error of the work, of the smallest number that had one.
    pub(super) fn all<T: Send>(
        &self,
        before: u64,
        count: usize,
        work: &(dyn Fn(u32) -> Result<T, Failure> + Sync),
    ) -> Result<Option<Vec<T>>, Failure> {
        let (next, done, stop) = (AtomicUsize::new(0), AtomicU64::new(before), AtomicBool::new(false));
        let told = AtomicBool::new(!(self.progress)(before, self.of));
        let share = || {
            let mut made = Vec::new();
            while !(stop.load(Ordering::Relaxed) || told.load(Ordering::Relaxed)) {
                let at = next.fetch_add(1, Ordering::Relaxed);
                if at >= count {
                    break;
                }
                let outcome = work(at as u32);
                stop.fetch_or(outcome.is_err(), Ordering::Relaxed);
                made.push((at, outcome));
                if !(self.progress)(done.fetch_add(1, Ordering::Relaxed) + 1, self.of) {
                    told.store(true, Ordering::Relaxed);
                }
            }
            made
        };
        let mut made: Vec<(usize, Result<T, Failure>)> = thread::scope(|scope| {
            let others: Vec<_> = (1..self.threads).map(|_| scope.spawn(share)).collect();
            let own = share();
            let others = others.into_iter().flat_map(|other| match other.join() {
                Ok(made) => made,
                Err(panic) => std::panic::resume_unwind(panic),
            });
            own.into_iter().chain(others).collect()
        });
        made.sort_by_key(|(at, _)| *at);
        let made = made.into_iter().map(|(_, outcome)| outcome).collect::<Result<Vec<T>, _>>()?;
        Ok((!told.into_inner()).then_some(made))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Error;

    #[test]
    fn everything_is_done_once_and_in_order() {
        for threads in [1, 2, 5] {
            let highest = AtomicU64::new(0);
            let progress = |done: u64, of: u64| {
                assert!(done <= of);
                highest.fetch_max(done, Ordering::Relaxed);
                true
            };
            let crew = Crew { threads, progress: &progress, of: 107 };
            let made = crew.all(7, 100, &|at| Ok(2 * at)).unwrap().unwrap();
            assert_eq!(made, (0..100).map(|at| 2 * at).collect::<Vec<_>>());
            assert_eq!(highest.into_inner(), 107);
        }
    }

    #[test]
    fn it_stops_when_told_or_when_something_fails() {
        let crew = Crew { threads: 2, progress: &|done, _| done < 10, of: 1000 };
        let worked = AtomicU64::new(0);
        let work = |_| {
            worked.fetch_add(1, Ordering::Relaxed);
            Ok(())
        };
        assert!(crew.all(0, 1000, &work).unwrap().is_none());
        assert!(worked.into_inner() < 20);
        let crew = Crew { threads: 2, progress: &|_, _| true, of: 1000 };
        let fail =
            |at| if at == 5 { Err(Box::new(Error::Internal("five".into())) as Failure) } else { Ok(()) };
        assert_eq!(crew.all(0, 1000, &fail).unwrap_err().to_string(), "five");
    }
}
