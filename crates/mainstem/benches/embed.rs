//! How fast the local model embeds, beside the rate of plain matrix products of the same sizes on as many threads.
//!
//! `cargo bench -p mainstem --bench embed`. Skips where the model has not been pulled.

use std::hint::black_box;
use std::num::NonZero;
use std::thread;
use std::time::Instant;

use mainstem::models::minilm::{MiniLm, NAME};
use mainstem::models::{Cache, cache::State, known};
use mainstem_core::contract::{Ctx, Embedder as _};
use mainstem_core::time::Moment;
use ndarray::Array2;

/// The linear layers of the model: how deep, how wide, how often.
const PRODUCTS: [(usize, usize, usize); 4] = [(384, 1152, 6), (384, 384, 6), (384, 1536, 6), (1536, 384, 6)];
/// The best of so many turns counts.
const TURNS: usize = 7;

fn main() {
    let Some(model) = model() else {
        eprintln!("skipped: `{NAME}` is not in the cache; run `mainstem model pull`");
        return;
    };
    let threads = thread::available_parallelism().map_or(1, NonZero::get);
    println!("{threads} threads, best of {TURNS} turns");
    let batch = measure(&model, 32, 128);
    let plain = in_parallel(threads, || products(32 * 128 / threads));
    let rate = 32.0 * 128.0 / batch;
    println!(
        "32 texts of 128 tokens: {:.0} ms, {rate:.0} tokens/s, {:.0} GFLOP/s",
        batch * 1e3,
        gflops(4096, batch)
    );
    println!("  plain products:       {:.0} ms, ratio {:.2}", plain * 1e3, plain / batch);
    let query = measure(&model, 1, 16);
    let plain = best(|| products(16));
    println!("1 text of 16 tokens:    {:.2} ms, {:.0} GFLOP/s", query * 1e3, gflops(16, query));
    println!("  plain products:       {:.2} ms, ratio {:.2}", plain * 1e3, plain / query);
}

fn model() -> Option<MiniLm> {
    let (cache, known) = (Cache::standard().ok()?, known::find(NAME).ok()?);
    if cache.state(known) == State::Present { MiniLm::load(&cache.folder(known)).ok() } else { None }
}

/// Seconds for `count` texts of `length` tokens, with the marks at both ends.
fn measure(model: &MiniLm, count: usize, length: usize) -> f64 {
    let text = vec!["water"; length - 2].join(" ");
    assert_eq!(model.tokens(&text).0.len(), length);
    let texts = vec![text.as_str(); count];
    let ctx = Ctx::unhurried(Moment::now());
    best(|| drop(black_box(model.embed(&texts, &ctx))))
}

/// Multiplications and additions in the linear layers.
fn gflops(tokens: usize, seconds: f64) -> f64 {
    let each: usize = PRODUCTS.iter().map(|(depth, width, times)| 2 * depth * width * times).sum();
    (tokens * each) as f64 / seconds / 1e9
}

fn products(rows: usize) {
    for (depth, width, times) in PRODUCTS {
        let (left, right) = (Array2::<f32>::ones((rows, depth)), Array2::<f32>::ones((width, depth)));
        for _ in 0..times {
            black_box(left.dot(&right.t()));
        }
    }
}

fn in_parallel(threads: usize, work: impl Fn() + Sync) -> f64 {
    best(|| thread::scope(|scope| (0..threads).for_each(|_| drop(scope.spawn(&work)))))
}

fn best(mut work: impl FnMut()) -> f64 {
    let turns = (0..TURNS).map(|_| {
        let started = Instant::now();
        work();
        started.elapsed().as_secs_f64()
    });
    turns.fold(f64::INFINITY, f64::min)
}
