//! Contenders measured in turns.

use std::time::{Duration, Instant};

use mainstem_kernels::Kernels;

/// One way to do the work; a turn returns the time it took.
pub(crate) struct Contender<'a> {
    name: String,
    turn: Box<dyn FnMut() -> Duration + 'a>,
    best: Duration,
}

impl<'a> Contender<'a> {
    /// Work measured here.
    pub(crate) fn new(name: impl Into<String>, mut work: impl FnMut() + 'a) -> Self {
        Self::timed(name, move || {
            let start = Instant::now();
            work();
            start.elapsed()
        })
    }

    /// Work that measures itself.
    pub(crate) fn timed(name: impl Into<String>, turn: impl FnMut() -> Duration + 'a) -> Self {
        Self { name: name.into(), turn: Box::new(turn), best: Duration::MAX }
    }

    /// Seconds of the best turn.
    pub(crate) fn best(&self) -> f64 {
        self.best.as_secs_f64()
    }
}

/// One contender for each variant this machine has, the best first.
pub(crate) fn variants<'a, F: FnMut() + 'a>(work: impl Fn(&'static Kernels) -> F) -> Vec<Contender<'a>> {
    let mut contenders: Vec<_> = Kernels::available()
        .map(|kernels| Contender::new(kernels.isa().to_string(), work(kernels)))
        .collect();
    contenders.reverse();
    contenders
}

/// Gives every contender `turns` turns, round robin.
pub(crate) fn race(contenders: &mut [Contender<'_>], turns: usize) {
    for _ in 0..turns {
        for contender in contenders.iter_mut() {
            contender.best = contender.best.min((contender.turn)());
        }
    }
}

/// Prints each contender's best time, its rate in billions of `unit`, and its time over the first one's.
pub(crate) fn print(title: &str, contenders: &[Contender<'_>], amount: f64, unit: &str) {
    println!("\n{title}");
    let first = contenders.first().map_or(f64::NAN, Contender::best);
    for Contender { name, best, .. } in contenders {
        let best = best.as_secs_f64();
        println!(
            "  {name:<32} {:>9.3} ms {:>8.2} {unit} {:>7.2}x",
            best * 1e3,
            amount / best / 1e9,
            best / first
        );
    }
}
