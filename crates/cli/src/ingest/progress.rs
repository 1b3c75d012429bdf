//! How far a run is, on a terminal.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use mainstem::ingest::{Progress, Unit};

const BYTES: &str = "{bar:24} {bytes}/{total_bytes}  {msg}  {eta} left";
const DOCUMENTS: &str = "{bar:24} {pos}/{len} files  {msg}  {eta} left";
const UNKNOWN: &str = "{spinner} {bytes}  {msg}";

/// A bar on the standard error, which shows on a terminal only.
pub(super) struct Bar {
    bar: ProgressBar,
}

impl Bar {
    pub(super) fn new(hidden: bool) -> Self {
        let target = if hidden { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
        let bar = ProgressBar::with_draw_target(None, target);
        bar.enable_steady_tick(Duration::from_millis(120));
        Self { bar }
    }

    /// Shows how far the run is.
    pub(super) fn show(&self, progress: &Progress) {
        let position = progress.position;
        if self.bar.length() != position.of || self.bar.position() == 0 {
            self.style(position.unit, position.of);
        }
        self.bar.set_position(position.done);
        let rate = progress.documents as f64 / self.bar.elapsed().as_secs_f64().max(0.001);
        let embedded = match progress.embedded {
            0 => String::new(),
            chunks => format!(", {chunks} chunks embedded"),
        };
        self.bar.set_message(format!("{} documents{embedded}, {rate:.0}/s", progress.documents));
    }

    fn style(&self, unit: Unit, of: Option<u64>) {
        let template = match (of, unit) {
            (None, _) => UNKNOWN,
            (Some(_), Unit::Bytes) => BYTES,
            (Some(_), Unit::Documents) => DOCUMENTS,
        };
        if let Ok(style) = ProgressStyle::with_template(template) {
            self.bar.set_style(style);
        }
        if let Some(of) = of {
            self.bar.set_length(of);
        }
    }

    /// Takes the bar away.
    pub(super) fn clear(&self) {
        self.bar.finish_and_clear();
    }
}
