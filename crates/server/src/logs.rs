//! Log lines, on standard error: one for each request, as text or as JSON.

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
