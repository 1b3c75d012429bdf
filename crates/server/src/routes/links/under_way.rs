//! The run that is under way: there is one at a time, it can be watched and stopped, and how the last one ended is remembered.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mainstem_core::Code;
use mainstem_core::link::Recorded;
use mainstem_core::linked::{EndedRun, RunEnd, RunUnderWay};
use mainstem_core::time::Moment;

use super::is_within;
use crate::access::Scope;
use crate::error::ApiError;

/// The run that is under way, and how the last one ended.
#[derive(Debug, Default)]
pub struct LinkRuns(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    running: Option<Arc<UnderWay>>,
    ended: Option<(Arc<UnderWay>, EndedRun)>,
}

/// A run that is under way.
#[derive(Debug)]
pub(super) struct UnderWay {
    pub(super) id: String,
    pub(super) started_at: Moment,
    pub(super) sources: Vec<String>,
    pub(super) reader: Option<String>,
    pub(super) dry_run: bool,
    done: AtomicU64,
    of: AtomicU64,
    stopped: AtomicBool,
}

impl UnderWay {
    pub(super) fn new(id: String, sources: Vec<String>, reader: Option<String>, dry_run: bool) -> Self {
        let (done, of, stopped) = (AtomicU64::new(0), AtomicU64::new(0), AtomicBool::new(false));
        Self { id, started_at: Moment::now(), sources, reader, dry_run, done, of, stopped }
    }

    /// So far it has come; whether it should go on.
    pub(super) fn come(&self, done: u64, of: u64) -> bool {
        self.done.store(done, Ordering::Relaxed);
        self.of.store(of, Ordering::Relaxed);
        !self.is_stopped()
    }

    pub(super) fn stop(&self) {
        self.stopped.store(true, Ordering::Release);
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Acquire)
    }

    /// As a caller sees it, who is told no counts unless all of them are of what the caller may read.
    pub(super) fn shown(&self, counted: bool) -> RunUnderWay {
        let count = |count: &AtomicU64| counted.then(|| count.load(Ordering::Relaxed));
        RunUnderWay {
            id: self.id.clone(),
            started_at: self.started_at.clone(),
            sources: self.sources.clone(),
            dry_run: self.dry_run,
            done: count(&self.done),
            of: count(&self.of),
        }
    }
}

impl LinkRuns {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the one place.
    ///
    /// # Errors
    /// When a run is under way. Whose it is, and of what, is not told.
    pub(super) fn begin(&self, run: UnderWay) -> Result<Arc<UnderWay>, ApiError> {
        let mut state = self.state();
        if state.running.is_some() {
            let hint = "wait until it has ended; `GET /v1/links/runs` shows those that you may see";
            return Err(ApiError::new(Code::UnderWay, "a link run is under way, expected none", hint));
        }
        let run = Arc::new(run);
        state.running = Some(Arc::clone(&run));
        Ok(run)
    }

    /// Gives the place back, and says how the run ended.
    pub(super) fn end(
        &self,
        run: &Arc<UnderWay>,
        state: RunEnd,
        error: Option<String>,
        changes: Option<Recorded>,
    ) {
        let ended = EndedRun { id: run.id.clone(), state, error, changes };
        let mut all = self.state();
        all.running = None;
        all.ended = Some((Arc::clone(run), ended));
    }

    /// Whether a run is under way.
    pub fn is_running(&self) -> bool {
        self.state().running.is_some()
    }

    /// The run that is under way and the last one that ended, as far as a caller may know of them.
    pub(super) fn told(&self, scope: &Scope) -> (Option<RunUnderWay>, Option<EndedRun>) {
        let state = self.state();
        let counted = scope.reader.is_none();
        let seen = |run: &Arc<UnderWay>| is_within(&run.sources, run.reader.as_deref(), scope);
        let running = state.running.as_ref().filter(|run| seen(run));
        let ended = state.ended.as_ref().filter(|(run, _)| seen(run));
        let ended = ended.map(|(_, ended)| {
            let EndedRun { id, state, error, changes } = ended.clone();
            let (error, changes) = (error.filter(|_| counted), changes.filter(|_| scope.sees_all()));
            EndedRun { id, state, error, changes }
        });
        (running.map(|run| run.shown(counted)), ended)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::Sources;

    fn run(id: &str, source: &str) -> UnderWay {
        UnderWay::new(id.into(), vec![source.into()], Some("ann".into()), false)
    }

    fn scope(source: &str, reader: Option<&str>) -> Scope {
        let sources = Sources::Only([source.to_owned()].into());
        Scope { sources, reader: reader.map(str::to_owned), write: true }
    }

    #[test]
    fn there_is_one_run_at_a_time() {
        let runs = LinkRuns::default();
        let first = runs.begin(run("a", "wiki")).unwrap();
        let refused = runs.begin(run("b", "chat")).unwrap_err();
        assert_eq!((refused.status().as_u16(), refused.code), (409, Code::UnderWay));
        assert!(!refused.message.contains("wiki") && !refused.hint.contains("wiki"));
        runs.end(&first, RunEnd::Done, None, None);
        assert!(runs.begin(run("b", "chat")).is_ok());
    }

    #[test]
    fn progress_is_told_to_those_who_see_what_is_looked_at() {
        let runs = LinkRuns::default();
        let first = runs.begin(run("a", "wiki")).unwrap();
        assert!(first.come(3, 10));
        let counts = |scope: &Scope| runs.told(scope).0.map(|run| (run.done, run.of));
        assert_eq!(counts(&Scope::everything()), Some((Some(3), Some(10))));
        assert_eq!(counts(&scope("wiki", None)), Some((Some(3), Some(10))));
        assert_eq!(counts(&scope("wiki", Some("ann"))), Some((None, None)));
        assert_eq!(counts(&scope("wiki", Some("bob"))), None);
        assert_eq!(counts(&scope("chat", None)), None);
        let changes = Recorded { added: 5, ..Recorded::default() };
        runs.end(&first, RunEnd::Failed, Some("the disk is full".into()), Some(changes));
        let ended = |scope: &Scope| runs.told(scope).1.map(|run| (run.error.is_some(), run.changes));
        assert_eq!(ended(&Scope::everything()), Some((true, Some(changes))));
        assert_eq!(ended(&scope("wiki", None)), Some((true, None)), "what it changed tells of other runs");
        assert_eq!(ended(&scope("wiki", Some("ann"))), Some((false, None)));
        assert_eq!(ended(&scope("wiki", Some("bob"))), None);
        assert_eq!(ended(&scope("chat", None)), None);
    }

    #[test]
    fn a_run_that_is_stopped_is_told_so_at_its_next_step() {
        let run = run("a", "wiki");
        assert!(run.come(0, 1));
        run.stop();
        assert!(!run.come(1, 1));
    }
}
