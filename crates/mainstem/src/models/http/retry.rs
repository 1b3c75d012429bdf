//! How long to wait before a call is made again.

use std::hash::{BuildHasher as _, RandomState};
use std::time::Duration;

use jiff::Timestamp;
use jiff::fmt::rfc2822;

/// The wait before the first repetition, at most; it doubles with each.
const FIRST: Duration = Duration::from_millis(250);
/// No wait of our own is longer.
const LONGEST: Duration = Duration::from_secs(10);
/// A service that wants us to wait longer is not coming back soon enough.
pub(super) const PATIENCE: Duration = Duration::from_secs(120);

/// The wait before repetition `attempt`, from 0: what the service asks for, else a random half to whole of a wait that doubles, so
/// that many callers who failed together do not come back together.
pub(crate) fn delay(attempt: u32, asked: Option<Duration>) -> Duration {
    asked.unwrap_or_else(|| {
        let most = FIRST.saturating_mul(1 << attempt.min(16)).min(LONGEST);
        most.mul_f64(0.5 + 0.5 * random())
    })
}

/// A number from 0 to 1, from the seeds that the standard library draws for its hash tables.
fn random() -> f64 {
    (RandomState::new().hash_one(0) >> 11) as f64 / (1u64 << 53) as f64
}

/// The value of a `Retry-After`: seconds, or a date.
pub(crate) fn retry_after(value: &str, now: Timestamp) -> Option<Duration> {
    let value = value.trim();
    if let Ok(seconds) = value.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let at = rfc2822::parse(value).ok()?.timestamp();
    Some(at.duration_since(now).try_into().unwrap_or(Duration::ZERO))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_and_stay_in_bounds() {
        for (attempt, most) in [(0, 250), (1, 500), (3, 2000), (6, 10_000), (60, 10_000)] {
            let most = Duration::from_millis(most);
            let wait = delay(attempt, None);
            assert!(wait >= most / 2 && wait <= most, "{attempt}: {wait:?}");
        }
        assert_eq!(delay(3, Some(Duration::from_secs(7))), Duration::from_secs(7));
    }

    #[test]
    fn a_service_says_when_to_come_back_in_seconds_or_by_date() {
        let now: Timestamp = "1994-11-06T08:49:30Z".parse().unwrap();
        assert_eq!(retry_after(" 3 ", now), Some(Duration::from_secs(3)));
        assert_eq!(retry_after("Sun, 06 Nov 1994 08:49:37 GMT", now), Some(Duration::from_secs(7)));
        assert_eq!(retry_after("Sun, 06 Nov 1994 08:49:20 GMT", now), Some(Duration::ZERO));
        assert_eq!(retry_after("soon", now), None);
    }
}
