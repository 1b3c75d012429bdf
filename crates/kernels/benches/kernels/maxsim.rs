//! MaxSim of a 32 × 128 query against 1,000 documents of 300 tokens.

use std::num::NonZeroUsize;

use mainstem_kernels::{Isa, Kernels, MaxSimQuery, TokenBatch, Tokens, normalize};

use crate::peak;
use crate::peer::Peer;
use crate::race::{self, Contender};
use crate::scans::noise;

const QUERY: usize = 32;
const DIM: usize = 128;
const DOCUMENTS: usize = 1_000;
const TOKENS: usize = 300;
const TURNS: usize = 40;
const FLOPS: f64 = 2.0 * (QUERY * DIM * DOCUMENTS * TOKENS) as f64;

/// Measures and prints.
pub(crate) fn report() {
    let (query, documents) = (unit_rows(QUERY), unit_rows(DOCUMENTS * TOKENS));
    let offsets: Vec<usize> = (0..=DOCUMENTS).map(|i| i * TOKENS).collect();
    let batch = Tokens::new(&documents, DIM).and_then(|tokens| TokenBatch::new(tokens, &offsets));
    let (Ok(query), Ok(batch)) = (Tokens::new(&query, DIM), batch) else {
        return;
    };
    for threads in [1, 2] {
        on_threads(threads, query, &batch);
    }
}

fn on_threads(threads: usize, query: Tokens<'_>, batch: &TokenBatch<'_>) {
    let vectorised = Kernels::available().filter(|kernels| kernels.isa() != Isa::Scalar);
    let mut contenders: Vec<_> =
        vectorised.map(|kernels| contender(query, batch, kernels, threads)).collect();
    contenders.reverse();
    contenders.extend(peer(threads));
    let (ceiling, ceiling_flops) = peak::contender(threads);
    contenders.push(ceiling);
    race::race(&mut contenders, TURNS);
    let Some(ceiling) = contenders.pop() else { return };
    let title = format!("MaxSim, 32 x 128 against 1,000 x 300 tokens, threads: {threads}");
    race::print(&title, &contenders, FLOPS, "GFLOP/s");
    let (peak, rate) = (ceiling_flops / ceiling.best(), FLOPS / contenders[0].best());
    println!("  FMA peak in the same race: {:.1} GFLOP/s; reached: {:.0} %", peak / 1e9, 100.0 * rate / peak);
}

fn contender<'a>(
    query: Tokens<'_>,
    batch: &'a TokenBatch<'_>,
    kernels: &'static Kernels,
    threads: usize,
) -> Contender<'a> {
    let packed = MaxSimQuery::with_kernels(query, kernels);
    let mut scores = vec![0.0; batch.len()];
    let threads = NonZeroUsize::new(threads).unwrap_or(NonZeroUsize::MIN);
    Contender::new(format!("mainstem {}", kernels.isa()), move || {
        packed.score_batch(batch, threads, &mut scores).expect("the shapes agree by construction");
        std::hint::black_box(&scores);
    })
}

/// maxsim-cpu, or a word on how to get it.
fn peer(threads: usize) -> Option<Contender<'static>> {
    let Some(mut peer) = Peer::start([QUERY, DIM, DOCUMENTS, TOKENS], threads) else {
        println!("\nmaxsim-cpu is not installed, so its ratio is skipped; to install it:");
        println!("  python3 -m venv .peers && .peers/bin/pip install maxsim-cpu numpy ranx");
        return None;
    };
    Some(Contender::timed(format!("maxsim-cpu {} (PyPI)", peer.version), move || peer.turn()))
}

fn unit_rows(tokens: usize) -> Vec<f32> {
    let mut rows: Vec<f32> = noise(tokens * DIM).map(|bits| (bits as f32 / u32::MAX as f32) - 0.5).collect();
    normalize(&mut rows, DIM);
    rows
}
