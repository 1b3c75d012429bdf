//! How far the search for settings is, on a terminal.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

const TEMPLATE: &str = "{bar:24} {pos}/{len} runs, {per_sec}, {eta} left";

/// A bar on the standard error, which shows on a terminal only.
pub(super) struct Bar(ProgressBar);

impl Bar {
    /// A bar for at most so many runs.
    pub(super) fn new(hidden: bool, runs: u64) -> Self {
        let target = if hidden { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
        let bar = ProgressBar::with_draw_target(Some(runs), target);
        if let Ok(style) = ProgressStyle::with_template(TEMPLATE) {
            bar.set_style(style);
        }
        bar.enable_steady_tick(Duration::from_millis(120));
        Self(bar)
    }

    /// Shows how many runs are done.
    pub(super) fn show(&self, done: u64) {
        self.0.set_position(done);
    }

    /// Takes the bar away.
    pub(super) fn clear(&self) {
        self.0.finish_and_clear();
    }
}
