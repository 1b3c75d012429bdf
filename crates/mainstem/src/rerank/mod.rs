//! Reading the best hits once more, with the query beside them.
//!
//! * [`maxsim`]: the tokens of query and text, compared by the embedding model that runs here anyway;
//! * [`cross_encoder`]: a BERT that reads query and text together, from a folder with its weights;
//! * [`http`]: a reranker behind HTTP, such as that of Cohere, Jina or TEI;
//! * [`config`]: which of them a search asks, as written under `[rerank]`;
//! * [`proxy`]: one call for callers who bring their own texts.
//!
//! Whoever asks does it through [`Reranking`], which keeps to a time, survives a panic, and refuses nonsense. What the scores then do to
//! an answer is the business of [`mainstem_core::rerank`].

pub mod config;
pub mod cross_encoder;
pub mod http;
pub mod maxsim;
pub mod proxy;
mod states;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use mainstem_core::Failure;
use mainstem_core::contract::{Ctx, Reranker};
use mainstem_core::time::Moment;

pub use config::RerankConfig;
pub use cross_encoder::CrossEncoder;
pub use http::{HttpReranker, ServiceSettings};
pub use maxsim::MaxSim;

use crate::Error;
use crate::workers::Slot;

/// How many late calls may be running before new ones are refused: a reranker that hangs must not use up all threads.
const MOST_RUNNING: usize = 64;

/// A reranker and how long it may take. Clones share the reranker.
#[derive(Clone)]
pub struct Reranking {
    reranker: Arc<dyn Reranker>,
    timeout: Duration,
    /// How many calls are running, late ones included.
    running: Arc<AtomicUsize>,
}

impl Reranking {
    /// Asks this reranker, and waits so long for it.
    pub fn new(reranker: Arc<dyn Reranker>, timeout: Duration) -> Self {
        Self { reranker, timeout, running: Arc::default() }
    }

    /// The name of the reranker.
    pub fn name(&self) -> &str {
        self.reranker.name()
    }

    /// How long it may take.
    pub fn timeout(&self) -> Duration {
        self.timeout
    }

    /// One finite score for each text, in order.
    ///
    /// The call runs in a thread of its own: whatever it does (sleep, fail, panic), this comes back when the time is up.
    ///
    /// # Errors
    /// When the reranker fails, is late, or gives anything but one finite score for each text.
    pub fn scores(&self, query: &str, texts: Vec<String>, now: &Moment) -> Result<Vec<f64>, Failure> {
        let slot = Slot::take(&self.running);
        if slot.others >= MOST_RUNNING {
            return Err(self.failed("too many earlier calls are still running"));
        }
        let (sender, receiver) = channel();
        let (reranker, query, count) = (Arc::clone(&self.reranker), query.to_owned(), texts.len());
        let ctx = Ctx { deadline: Instant::now().checked_add(self.timeout), now: now.clone() };
        let work = move || {
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            let result = catch_unwind(AssertUnwindSafe(|| reranker.rerank(&query, &texts, &ctx)));
            drop(slot);
            // Nobody listens any more when the search has gone on.
            let _ = sender.send(result);
        };
        if let Err(error) = thread::Builder::new().name("mainstem-rerank".into()).spawn(work) {
            return Err(self.failed(&format!("no thread to run it: {error}")));
        }
        match receiver.recv_timeout(self.timeout) {
            Ok(Ok(result)) => self.checked(result?, count),
            Ok(Err(_)) | Err(RecvTimeoutError::Disconnected) => Err(self.failed("it panicked")),
            Err(RecvTimeoutError::Timeout) => {
                Err(self.failed(&format!("no answer within {} ms", self.timeout.as_millis())))
            }
        }
    }

    fn checked(&self, scores: Vec<f64>, count: usize) -> Result<Vec<f64>, Failure> {
        if scores.len() != count {
            return Err(self.failed(&format!("expected {count} scores, received {}", scores.len())));
        }
        match scores.iter().position(|score| !score.is_finite()) {
            Some(at) => Err(self.failed(&format!("expected finite scores, received {}", scores[at]))),
            None => Ok(scores),
        }
    }

    fn failed(&self, why: &str) -> Failure {
        Box::new(Error::Unavailable {
            what: format!("`{}`: {why}", self.name()),
            hint: "allow it more time, or let it read fewer or shorter texts".to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Does as it is told, whatever it is asked.
    struct Told(fn() -> Result<Vec<f64>, Failure>);

    impl Reranker for Told {
        fn name(&self) -> &'static str {
            "told"
        }

        fn rerank(&self, _: &str, _: &[&str], _: &Ctx) -> Result<Vec<f64>, Failure> {
            (self.0)()
        }
    }

    fn ask(told: fn() -> Result<Vec<f64>, Failure>, timeout: Duration) -> Result<Vec<f64>, String> {
        let reranking = Reranking::new(Arc::new(Told(told)), timeout);
        let texts = vec!["a".to_owned(), "b".to_owned()];
        reranking.scores("q", texts, &Moment::now()).map_err(|failure| failure.to_string())
    }

    #[test]
    fn only_one_finite_score_for_each_text_is_an_answer() {
        let patient = Duration::from_secs(60);
        assert_eq!(ask(|| Ok(vec![0.1, 0.2]), patient), Ok(vec![0.1, 0.2]));
        let refused = |told| ask(told, patient).unwrap_err();
        assert_eq!(refused(|| Ok(vec![0.1])), "`told`: expected 2 scores, received 1");
        assert_eq!(refused(|| Ok(vec![0.1; 3])), "`told`: expected 2 scores, received 3");
        assert_eq!(refused(|| Ok(vec![0.1, f64::NAN])), "`told`: expected finite scores, received NaN");
        assert_eq!(refused(|| panic!("of old age")), "`told`: it panicked");
        assert_eq!(refused(|| Err(Box::new(Error::Internal("broken".into())))), "broken");
    }

    #[test]
    fn who_hangs_is_left_behind() {
        let hang = || {
            thread::sleep(Duration::from_secs(600));
            Ok(Vec::new())
        };
        let refused = ask(hang, Duration::from_millis(5)).unwrap_err();
        assert_eq!(refused, "`told`: no answer within 5 ms");
    }
}
