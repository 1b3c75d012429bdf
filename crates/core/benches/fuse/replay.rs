//! Replay: the same searches again and again under other settings, as a tuner does.

use std::time::Instant;

use mainstem_core::fuse::{Comb, Dbsf, Linear, Norm, Normalise, Rrf};
use mainstem_core::{Candidates, Fusion};

use crate::lists::{NAMES, Raw, SEARCH, fuse, interned};

const QUERIES: usize = 1_000;
const CONFIGURATIONS: usize = 100;
const TURNS: usize = 3;

/// One point of the search for the best settings.
struct Configuration {
    fusion: Fusion,
    weights: [f64; 8],
}

/// Measures and prints.
pub(crate) fn report() {
    let raw: Vec<Raw> = (0..QUERIES as u64).map(|seed| SEARCH.lists(seed)).collect();
    let mut queries: Vec<_> = raw.iter().map(interned).collect();
    let configurations: Vec<_> = (0..CONFIGURATIONS).map(configuration).collect();
    println!(
        "\nreplay: {QUERIES} searches of {} lists of {} items under {CONFIGURATIONS} configurations",
        SEARCH.lists, SEARCH.items
    );
    for threads in [1, 2] {
        let turns = (0..TURNS).map(|_| seconds(&mut queries, &configurations, threads));
        let best = turns.fold(f64::INFINITY, f64::min);
        let each = best / (QUERIES * CONFIGURATIONS) as f64;
        println!(
            "  threads: {threads}   {best:>6.2} s in all, {:.1} µs each; 1,000 configurations at this pace: {:.0} s",
            each * 1e6,
            each * 1e6
        );
    }
}

/// All kinds of method, and weights that differ in every configuration.
fn configuration(number: usize) -> Configuration {
    let step = number as f64 / CONFIGURATIONS as f64;
    let linear = |norm| Fusion::Linear(Linear { normalise: Normalise::new(norm), ..Linear::default() });
    let fusion = match number % 8 {
        0..=2 => Fusion::Rrf(Rrf::new(1.0 + 100.0 * step, 1).expect("k is in range")),
        3 => Fusion::Rsf,
        4 => linear(Norm::Minmax),
        5 => linear(Norm::Zscore),
        6 => Fusion::CombMnz(Comb::default()),
        _ => Fusion::Dbsf(Dbsf::default()),
    };
    let weights = std::array::from_fn(|list| 0.25 + step * (1 + list) as f64);
    Configuration { fusion, weights }
}

fn seconds(queries: &mut [Candidates<&str>], configurations: &[Configuration], threads: usize) -> f64 {
    let start = Instant::now();
    let share = queries.len().div_ceil(threads);
    std::thread::scope(|scope| {
        for share in queries.chunks_mut(share) {
            scope.spawn(|| share.iter_mut().for_each(|query| replay(query, configurations)));
        }
    });
    start.elapsed().as_secs_f64()
}

fn replay(query: &mut Candidates<&str>, configurations: &[Configuration]) {
    for Configuration { fusion, weights } in configurations {
        for (name, weight) in NAMES.iter().zip(weights) {
            query.set_weight(name, *weight).expect("every list has its name");
        }
        std::hint::black_box(fuse(fusion, query).hits());
    }
}
