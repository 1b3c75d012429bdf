//! Log lines, on standard error: one for each request, as text or as JSON.

use tracing::level_filters::LevelFilter;

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
    // A second server in one process logs as the first does.
    let _ = match config.log_format {
        LogFormat::Text => lines.with_ansi(false).try_init(),
        LogFormat::Json => lines.json().flatten_event(true).try_init(),
    };
}
