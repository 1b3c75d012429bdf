//! Contenders measured in turns.

use std::time::{Duration, Instant};

/// One way to do the work; a turn returns the seconds that one piece of it took.
pub(crate) struct Contender<'a> {
    pub(crate) name: String,
    turn: Box<dyn FnMut() -> f64 + 'a>,
    best: f64,
}

/// A turn lasts at least this long, so that the clock's own grain does not count.
const TURN: Duration = Duration::from_micros(400);

impl<'a> Contender<'a> {
    /// Work measured here, as often in a turn as the turn has room for.
    pub(crate) fn new<T>(name: impl Into<String>, mut work: impl FnMut() -> T + 'a) -> Self {
        Self::timed(name, move || {
            let (start, mut pieces) = (Instant::now(), 0);
            while pieces == 0 || start.elapsed() < TURN {
                std::hint::black_box(work());
                pieces += 1;
            }
            start.elapsed().as_secs_f64() / f64::from(pieces)
        })
    }

    /// Work that measures itself.
    pub(crate) fn timed(name: impl Into<String>, turn: impl FnMut() -> f64 + 'a) -> Self {
        Self { name: name.into(), turn: Box::new(turn), best: f64::INFINITY }
    }

    /// Seconds of the best turn.
    pub(crate) fn best(&self) -> f64 {
        self.best
    }
}

/// Gives every contender `turns` turns, round robin.
pub(crate) fn race(contenders: &mut [Contender<'_>], turns: usize) {
    for _ in 0..turns {
        for contender in contenders.iter_mut() {
            contender.best = contender.best.min((contender.turn)());
        }
    }
}

/// Prints each contender's best time and its ratio to the first one's.
pub(crate) fn print(title: &str, contenders: &[Contender<'_>]) {
    println!("\n{title}");
    let first = contenders.first().map_or(f64::NAN, Contender::best);
    for contender in contenders {
        println!(
            "  {:<44} {:>9.1} µs {:>7.2}x",
            contender.name,
            contender.best * 1e6,
            contender.best / first
        );
    }
}
