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
const TURNS: usize = 25;

fn main() {
    let Some(model) = model() else {
        eprintln!("skipped: `{NAME}` is not in the cache; run `mainstem model pull`");
        return;
    };
    let threads = thread::available_parallelism().map_or(1, NonZero::get);
    println!("{threads} threads, best of {TURNS} turns taken alternately");
    compare(&model, 32, 128, threads);
    compare(&model, 1, 16, 1);
}

/// `count` texts of `length` tokens, with the marks at both ends, beside plain products on this many threads.
fn compare(model: &MiniLm, count: usize, length: usize, threads: usize) {
    let text = vec!["water"; length - 2].join(" ");
    assert_eq!(model.tokens(&text).0.len(), length);
    let (texts, ctx) = (vec![text.as_str(); count], Ctx::unhurried(Moment::now()));
    let tokens = count * length;
    let (mut ours, mut plain) = (f64::INFINITY, f64::INFINITY);
    for _ in 0..TURNS {
        ours = ours.min(seconds(|| drop(black_box(model.embed(&texts, &ctx)))));
        plain = plain.min(seconds(|| in_parallel(threads, || products(tokens / threads))));
    }
    let rate = tokens as f64 / ours;
    println!(
        "{count} x {length} tokens: {:.2} ms, {rate:.0} tokens/s, {:.0} GFLOP/s",
        ours * 1e3,
        gflops(tokens, ours)
    );
    println!("  plain products: {:.2} ms, {:.2} times as long", plain * 1e3, plain / ours);
}

fn model() -> Option<MiniLm> {
    let (cache, known) = (Cache::standard().ok()?, known::find(NAME).ok()?);
    if cache.state(known) == State::Present { MiniLm::load(&cache.folder(known)).ok() } else { None }
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

fn in_parallel(threads: usize, work: impl Fn() + Sync) {
    thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(&work);
        }
        work();
    });
}

fn seconds(work: impl FnOnce()) -> f64 {
    let started = Instant::now();
    work();
    started.elapsed().as_secs_f64()
}
