//! Log lines, on standard error: one for each request, as text or as JSON.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

use crate::config::{LogFormat, LogLevel, ServerConfig};

/// Starts to log, unless something in this process does already.
pub fn start(config: &ServerConfig) {
    let level = match config.log_level {
        LogLevel::Off => LevelFilter::OFF,
        LogLevel::Error => LevelFilter::ERROR,
        LogLevel::Warn => LevelFilter::WARN,
        LogLevel::Info => LevelFilter::INFO,
        LogLevel::Debug => LevelFilter::DEBUG,
    };
    let lines =
        tracing_subscriber::fmt().with_max_level(level).with_target(false).with_writer(std::io::stderr);
    // The protocol of tools would write down whole requests, and with them queries.
    let quiet = Targets::new().with_default(level).with_target("rmcp", level.min(LevelFilter::WARN));
    // A second server in one process logs as the first does.
    let _ = match config.log_format {
        LogFormat::Text => lines.with_ansi(false).finish().with(quiet).try_init(),
        LogFormat::Json => lines.json().flatten_event(true).finish().with(quiet).try_init(),
    };
}

/// How often it is told that requests are refused for want of room.
const PAUSE: Duration = Duration::from_secs(1);

/// Requests that were refused for want of room, which are told together.
#[derive(Debug, Default)]
pub struct Crowds(Mutex<Crowd>);

#[derive(Debug, Default)]
struct Crowd {
    told: Option<Instant>,
    since: u64,
}

impl Crowds {
    /// One more was refused.
    pub fn tell(&self, now: Instant) {
        if let Some(refused) = self.count(now) {
            tracing::warn!(refused, "requests are refused for want of room");
        }
    }

    /// How many were refused since the last line, where it is time for one.
    fn count(&self, now: Instant) -> Option<u64> {
        let mut crowd = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        crowd.since += 1;
        if crowd.told.is_some_and(|told| now.saturating_duration_since(told) < PAUSE) {
            return None;
        }
        crowd.told = Some(now);
        Some(std::mem::take(&mut crowd.since))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_are_told_together() {
        let (crowds, start) = (Crowds::default(), Instant::now());
        let count = |ms: u64| crowds.count(start + Duration::from_millis(ms));
        assert_eq!(
            [count(0), count(10), count(999), count(1000), count(1001)],
            [Some(1), None, None, Some(3), None]
        );
        assert_eq!(count(5000), Some(2));
    }
}
