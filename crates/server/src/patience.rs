//! A connection that gives up on a client which does not read, and is slow to hear one that does not wait.
//!
//! An answer that nobody reads keeps its connection for as long as the system lets it; enough of them, and nobody else gets one.
//!
//! A client that is refused for want of room is told when to try again. One that tries again at once, over and over, costs as much as those that are
//! answered. It is told so as fast as ever, but what it sends next is read a little later each time.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

/// How much later a client is heard that came again at once: so much the first time, and twice as much each time after that, up to a limit. It stays far
/// below what the client was told to wait.
const FIRST_PAUSE: Duration = Duration::from_millis(10);
const LONGEST_PAUSE: Duration = Duration::from_millis(40);

/// Who comes again after this long has waited.
const WAITED: Duration = Duration::from_millis(500);

/// How the client of a connection takes it to be refused.
#[derive(Debug, Default)]
pub(crate) struct Manners(Mutex<Refusals>);

#[derive(Debug, Default)]
struct Refusals {
    /// When the last one was, if nothing but refusals came since.
    last: Option<Instant>,
    /// The pause after the next one.
    pause: Duration,
    /// The pause that is due when the refusal is written.
    due: Option<Duration>,
}

impl Manners {
    /// A request was refused for want of room.
    pub(crate) fn refused(&self, now: Instant) {
        let mut refusals = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let hasty = refusals.last.is_some_and(|last| now.saturating_duration_since(last) < WAITED);
        refusals.last = Some(now);
        if hasty {
            refusals.pause = (2 * refusals.pause).clamp(FIRST_PAUSE, LONGEST_PAUSE);
            refusals.due = Some(refusals.pause);
        } else {
            refusals.pause = Duration::ZERO;
        }
    }

    /// A request was answered.
    pub(crate) fn answered(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Refusals::default();
    }

    /// The pause that is due, once.
    fn due(&self) -> Option<Duration> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).due.take()
    }
}

/// A stream whose writes fail when nothing of them could be written for so long.
pub(crate) struct Patient<S> {
    stream: S,
    limit: Duration,
    manners: Arc<Manners>,
    /// Runs while a write waits.
    waiting: Option<Pin<Box<Sleep>>>,
    /// Runs while nothing is read.
    pausing: Option<Pin<Box<Sleep>>>,
}

impl<S: Unpin> Patient<S> {
    pub(crate) fn new(stream: S, limit: Duration, manners: Arc<Manners>) -> Self {
        Self { stream, limit, manners, waiting: None, pausing: None }
    }

    /// What a write said, or that it has taken too long.
    fn watch<T>(&mut self, written: Poll<io::Result<T>>, context: &mut Context<'_>) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.waiting = None;
            // Not before: what is left of a refused request is read while its answer is written.
            if let Some(pause) = self.manners.due() {
                self.pausing = Some(Box::pin(sleep(pause)));
            }
            return written;
        }
        let limit = self.limit;
        let waiting = self.waiting.get_or_insert_with(|| Box::pin(sleep(limit)));
        ready!(waiting.as_mut().poll(context));
        Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, "the client does not read")))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Patient<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if let Some(pausing) = &mut self.pausing {
            ready!(pausing.as_mut().poll(context));
            self.pausing = None;
        }
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Patient<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        data: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, data);
        self.watch(written, context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, parts);
        self.watch(written, context)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.stream).poll_flush(context);
        self.watch(flushed, context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let shut = Pin::new(&mut self.stream).poll_shutdown(context);
        self.watch(shut, context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_comes_again_at_once_is_heard_later_each_time() {
        let (manners, start) = (Manners::default(), Instant::now());
        let refused = |seconds: f64| {
            manners.refused(start + Duration::from_secs_f64(seconds));
            manners.due().map_or(0, |pause| pause.as_millis())
        };
        assert_eq!(
            [refused(0.0), refused(0.1), refused(0.2), refused(0.3), refused(0.4)],
            [0, 10, 20, 40, 40]
        );
        assert_eq!([refused(1.4), refused(2.4), refused(2.5)], [0, 0, 10], "who has waited begins anew");
        manners.answered();
        assert_eq!([refused(2.6), refused(2.7)], [0, 10], "and so does who was answered");
        assert_eq!(manners.due(), None, "a pause is made once");
    }
}
