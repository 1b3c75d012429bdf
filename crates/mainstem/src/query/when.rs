//! "Since 30 days ago": times that are counted back from the clock of a search.

use jiff::{SignedDuration, Timestamp};
use mainstem_core::time::{Days, Moment};

const SECONDS_PER_DAY: f64 = 86_400.0;

/// A time, or how long before now it was: `2026-01-31`, `12h`, `30d`, `2w`. Nothing when it is neither.
pub fn moment_or_span(text: &str, now: &Moment) -> Option<Moment> {
    if let Ok(moment) = Moment::parse(text) {
        return Some(moment);
    }
    let span = Days::parse(text).ok()?;
    let now: Timestamp = now.to_string().parse().ok()?;
    let before = SignedDuration::try_from_secs_f64(span.get() * SECONDS_PER_DAY).ok()?;
    now.checked_sub(before).ok().map(Moment::from)
}
