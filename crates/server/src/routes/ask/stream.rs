//! Server-sent events on their way to the client.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::Bytes;
use http_body::Frame;
use mainstem::ask::StopOnDrop;
use serde::Serialize;
use tokio::sync::mpsc::{self, Receiver};

/// So many events wait to be read; then the model waits.
const MOST_WAITING: usize = 64;

/// Where events are put, from a thread that may wait.
pub(super) struct Sender(mpsc::Sender<Bytes>);

/// The body of the answer.
pub(super) struct Events {
    receiver: Receiver<Bytes>,
    /// Ends the call to the model when the client is gone.
    _stop: Option<StopOnDrop>,
}

impl Events {
    pub(super) fn channel(stop: Option<StopOnDrop>) -> (Sender, Self) {
        let (sender, receiver) = mpsc::channel(MOST_WAITING);
        (Sender(sender), Self { receiver, _stop: stop })
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
        self.receiver.poll_recv(context).map(|received| received.map(|bytes| Ok(Frame::data(bytes))))
    }
}
