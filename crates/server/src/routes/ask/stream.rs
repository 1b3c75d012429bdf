//! Server-sent events on their way to the client.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::body::Bytes;
use http_body::Frame;
use mainstem::ask::StopOnDrop;
use serde::Serialize;
use tokio::sync::mpsc::{self, Receiver};
use tokio::time::{Instant, Sleep, sleep};

/// So many events wait to be read; then the model waits.
const MOST_WAITING: usize = 64;
/// What is sent when there is nothing to say.
const COMMENT: &[u8] = b": the model is at work\n\n";

/// Where events are put, from a thread that may wait.
pub(super) struct Sender(mpsc::Sender<Bytes>);

/// The body of the answer.
pub(super) struct Events {
    receiver: Receiver<Bytes>,
    /// How long there may be nothing, and the end of that time.
    most: Duration,
    silence: Pin<Box<Sleep>>,
    /// Ends the call to the model when the client is gone.
    _stop: Option<StopOnDrop>,
}

impl Events {
    /// A way in and a body. After `most` without an event the body has a comment, which no reader of events shows.
    pub(super) fn channel(stop: Option<StopOnDrop>, most: Duration) -> (Sender, Self) {
        let (sender, receiver) = mpsc::channel(MOST_WAITING);
        (Sender(sender), Self { receiver, most, silence: Box::pin(sleep(most)), _stop: stop })
    }
}

impl Sender {
    /// Sends an event. Says whether anybody is there to read it.
    pub(super) fn send(&self, name: &str, data: &impl Serialize) -> bool {
        let Ok(data) = serde_json::to_string(data) else { return false };
        self.0.blocking_send(format!("event: {name}\ndata: {data}\n\n").into()).is_ok()
    }
}

impl http_body::Body for Events {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let received = match self.receiver.poll_recv(context) {
            Poll::Ready(received) => received,
            Poll::Pending => {
                ready!(self.silence.as_mut().poll(context));
                Some(Bytes::from_static(COMMENT))
            }
        };
        let until = Instant::now() + self.most;
        self.silence.as_mut().reset(until);
        Poll::Ready(received.map(|bytes| Ok(Frame::data(bytes))))
    }
}

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt as _;

    use super::*;

    #[tokio::test]
    async fn silence_is_filled_and_events_are_not_disturbed() {
        let (sender, mut events) = Events::channel(None, Duration::from_millis(5));
        let next = async |events: &mut Events| {
            let frame = events.frame().await?.ok()?;
            frame.into_data().ok().map(|data| String::from_utf8_lossy(&data).into_owned())
        };
        for _ in 0..3 {
            assert_eq!(next(&mut events).await.as_deref(), Some(": the model is at work\n\n"));
        }
        let sent = tokio::task::spawn_blocking(move || sender.send("token", &"a"));
        assert!(sent.await.is_ok_and(|heard| heard));
        assert_eq!(next(&mut events).await.as_deref(), Some("event: token\ndata: \"a\"\n\n"));
        assert_eq!(next(&mut events).await, None, "who sends is gone, and no comment follows the end");
    }
}
