//! Asking once more, where the service has said that it did not take the question.
//!
//! A connection that is refused, 503, and 429 with a `Retry-After`: nothing was written yet and nothing is paid for. A service that took the
//! question and fell silent is not asked again, and neither is one that wants to be left alone for longer than it may be silent.

use std::io::ErrorKind;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use ureq::http::Response;
use ureq::{Agent, Body};

/// How long to wait where the service does not say.
const PAUSE: Duration = Duration::from_millis(500);

/// Ends a conversation from another thread.
#[derive(Clone, Debug)]
pub struct Stop {
    agent: Agent,
    stopped: Arc<(Mutex<bool>, Condvar)>,
}

impl Stop {
    pub(super) fn new(agent: Agent) -> Self {
        Self { agent, stopped: Arc::default() }
    }

    /// Closes the connection to the service, whatever it is doing, and lets no other be opened.
    pub fn stop(&self) {
        let (stopped, changed) = &*self.stopped;
        *stopped.lock().unwrap_or_else(PoisonError::into_inner) = true;
        changed.notify_all();
        self.agent.clone().shutdown();
    }

    /// Waits so long. Says whether the conversation goes on.
    pub(super) fn pause(&self, time: Duration) -> bool {
        let (stopped, changed) = &*self.stopped;
        let guard = stopped.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = changed.wait_timeout_while(guard, time, |stopped| !*stopped);
        let (stopped, _) = waited.unwrap_or_else(PoisonError::into_inner);
        !*stopped
    }
}

/// How long to wait before the question is sent once more; nothing where it must not be.
pub(super) fn pause(sent: &Result<Response<Body>, ureq::Error>, most: Duration) -> Option<Duration> {
    let pause = match sent {
        Ok(answer) if answer.status() == 503 => Some(wished(answer).unwrap_or(PAUSE)),
        // Without a time, this is more often an account that is spent than a crowd.
        Ok(answer) if answer.status() == 429 => wished(answer),
        Err(ureq::Error::ConnectionFailed) => Some(PAUSE),
        Err(ureq::Error::Io(error)) if error.kind() == ErrorKind::ConnectionRefused => Some(PAUSE),
        _ => None,
    };
    pause.filter(|pause| *pause <= most)
}

/// How long the service wants to be left alone. A date is none that we read.
fn wished(answer: &Response<Body>) -> Option<Duration> {
    let said = answer.headers().get("retry-after")?.to_str().ok()?;
    said.trim().parse().ok().map(Duration::from_secs)
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn a_connection_that_is_refused_is_worth_another_try() {
        // The port is free again when the listener is dropped.
        let nobody = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let sent = Agent::new_with_defaults().post(format!("http://{nobody}")).send("{}");
        assert_eq!(pause(&sent, Duration::from_secs(60)), Some(PAUSE), "{sent:?}");
        assert_eq!(pause(&sent, Duration::from_millis(1)), None, "but not longer than anybody waits");
    }
}
