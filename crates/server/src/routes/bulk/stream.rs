//! Results on their way to the client.
//!
//! Many clients send everything before they read anything. So results wait in memory until they are read, up to a bound; a client that lets
//! more pile up and does not read in time is given up.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::Bytes;
use http_body::Frame;
use mainstem_core::Code;
use serde::Serialize;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::{Instant, sleep};

use crate::error::ApiError;

/// So many bytes of results may wait to be read.
const MOST_WAITING: usize = 32 << 20;

/// How often it is looked whether the client has read.
const LOOK: Duration = Duration::from_millis(20);

/// Where results are put.
pub(super) struct Results {
    sender: UnboundedSender<Bytes>,
    waiting: Arc<AtomicUsize>,
    patience: Duration,
}

/// The body of the answer.
pub(super) struct Answer {
    receiver: UnboundedReceiver<Bytes>,
    waiting: Arc<AtomicUsize>,
}

pub(super) fn channel(patience: Duration) -> (Results, Answer) {
    let (sender, receiver) = unbounded_channel();
    let waiting = Arc::new(AtomicUsize::new(0));
    (Results { sender, waiting: Arc::clone(&waiting), patience }, Answer { receiver, waiting })
}

impl Results {
    /// Sends results, one a line.
    ///
    /// # Errors
    /// When the client has gone, or does not read.
    pub(super) async fn send<T: Serialize>(&mut self, results: &[T]) -> Result<(), ApiError> {
        let mut text = Vec::new();
        for result in results {
            serde_json::to_writer(&mut text, result).map_err(|_| ApiError::internal())?;
            text.push(b'\n');
        }
        self.waiting.fetch_add(text.len(), Ordering::Relaxed);
        self.sender.send(text.into()).map_err(|_| gone())?;
        self.let_read().await
    }

    async fn let_read(&self) -> Result<(), ApiError> {
        let until = Instant::now() + self.patience;
        while self.waiting.load(Ordering::Relaxed) > MOST_WAITING {
            if self.sender.is_closed() || Instant::now() > until {
                return Err(gone());
            }
            sleep(LOOK).await;
        }
        Ok(())
    }
}

fn gone() -> ApiError {
    ApiError::new(Code::Slow, "the results were not read", "read the results while you send")
}

impl http_body::Body for Answer {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.receiver.poll_recv(context).map(|received| {
            let bytes = received?;
            self.waiting.fetch_sub(bytes.len(), Ordering::Relaxed);
            Some(Ok(Frame::data(bytes)))
        })
    }
}
