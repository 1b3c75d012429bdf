//! The local model against candle on the same weights, beside the rate of a plain matrix product.
//!
//! `cargo run --release` in this folder, after `mainstem model pull`; `--features avx512` lets candle use wide registers too. All take
//! turns in one run, on as many threads, so that whatever else the machine does slows each of them alike. Ours reads the texts,
//! candle gets their tokens.

use std::error::Error;
use std::hint::black_box;
use std::num::NonZero;
use std::path::Path;
use std::time::Instant;

use candle_core::{DType, Device, Tensor, safetensors};
use candle_nn::VarBuilder;
use candle_transformers::models::bert::{BertModel, Config};
use gemm::Parallelism;
use mainstem::models::minilm::{MiniLm, NAME};
use mainstem::models::{Cache, known};
use mainstem_core::contract::{Ctx, Embedder as _};
use mainstem_core::time::Moment;

type Outcome<T> = Result<T, Box<dyn Error>>;

const TURNS: usize = 15;
/// Multiplications and additions for a token in the linear layers, of which there are six times four.
const WORK: usize = 6 * 2 * (384 * 1152 + 384 * 384 + 384 * 1536 + 1536 * 384);
/// Words that are one token each.
const WORDS: [&str; 8] = ["water", "city", "music", "green", "river", "house", "letter", "night"];

fn main() -> Outcome<()> {
    let (cache, known) = (Cache::standard()?, known::find(NAME)?);
    let folder = cache.folder(known);
    let ours = MiniLm::load(&folder)?;
    let candle = Candle::load(&folder.join("model.safetensors"))?;
    let threads = std::thread::available_parallelism().map_or(1, NonZero::get);
    println!(
        "{threads} threads, {TURNS} turns taken alternately, AVX-512 for gemm: {}",
        cfg!(feature = "avx512")
    );
    for (count, length) in [(32, 128), (1, 16)] {
        compare(&Race { ours: &ours, candle: &candle, threads, count, length })?;
    }
    Ok(())
}

struct Race<'a> {
    ours: &'a MiniLm,
    candle: &'a Candle,
    threads: usize,
    count: usize,
    length: usize,
}

fn compare(race: &Race<'_>) -> Outcome<()> {
    let Race { ours, candle, threads, count, length } = *race;
    let (texts, ctx) = (texts(count, length), Ctx::unhurried(Moment::now()));
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let tokens: Vec<u32> = texts.iter().flat_map(|text| ours.tokens(text).0).collect();
    assert_eq!(tokens.len(), count * length, "every word is one token");
    let worst = check(&ours.embed(&texts, &ctx).map_err(|e| e.to_string())?, &candle.embed(&tokens, count)?);
    let mut plain = Product::new(4096, 384, 1536);
    let (mut our, mut their, mut product) = (Times::default(), Times::default(), Times::default());
    for _ in 0..TURNS {
        our.take(|| drop(black_box(ours.embed(&texts, &ctx))));
        their.take(|| drop(black_box(candle.embed(&tokens, count))));
        product.take(|| plain.compute(threads));
    }
    println!("\n{count} x {length} tokens; worst cosine between ours and candle {worst:.6}");
    let rate = |seconds: f64| (count * length) as f64 / seconds;
    for (name, times) in [("ours", &our), ("candle", &their)] {
        let (least, median) = (times.least(), times.median());
        println!(
            "  {name:<7} {:>8.2} ms least, {:>8.2} ms median; {:>6.0} tokens/s at best, {:>6.0} in the middle",
            least * 1e3,
            median * 1e3,
            rate(least),
            rate(median)
        );
    }
    let (least, median) = (their.least() / our.least(), their.median() / our.median());
    println!("  ours is {least:.2} x as fast as candle by the least, {median:.2} x by the median");
    let gflops = |work: usize, seconds: f64| work as f64 / seconds / 1e9;
    let (done, limit) = (gflops(count * length * WORK, our.least()), gflops(plain.work(), product.least()));
    println!(
        "  linear layers of ours {done:.0} GFLOP/s, plain product 4096 x 384 x 1536 {limit:.0}: {:.2}",
        done / limit
    );
    Ok(())
}

/// Texts of `length` tokens with the marks at both ends, each with other words.
fn texts(count: usize, length: usize) -> Vec<String> {
    let word = |text: usize, place: usize| WORDS[(text * 31 + place * 7 + place / 5) % WORDS.len()];
    let text = |text| (0..length - 2).map(|place| word(text, place)).collect::<Vec<_>>().join(" ");
    (0..count).map(text).collect()
}

fn check(ours: &[mainstem_core::contract::Embedded], theirs: &[Vec<f32>]) -> f32 {
    let cosine = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
    ours.iter().zip(theirs).map(|(a, b)| cosine(&a.vector, b)).fold(f32::INFINITY, f32::min)
}

/// The seconds that turns took.
#[derive(Default)]
struct Times(Vec<f64>);

impl Times {
    fn take(&mut self, work: impl FnOnce()) {
        let started = Instant::now();
        work();
        self.0.push(started.elapsed().as_secs_f64());
    }

    fn least(&self) -> f64 {
        self.0.iter().copied().fold(f64::INFINITY, f64::min)
    }

    fn median(&self) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_by(f64::total_cmp);
        sorted[sorted.len() / 2]
    }
}

/// The same model in candle.
struct Candle {
    model: BertModel,
}

impl Candle {
    fn load(weights: &Path) -> Outcome<Self> {
        let tensors = safetensors::load(weights, &Device::Cpu)?;
        let builder = VarBuilder::from_tensors(tensors, DType::F32, &Device::Cpu);
        let config = Config {
            hidden_size: 384,
            num_hidden_layers: 6,
            num_attention_heads: 12,
            intermediate_size: 1536,
            ..Config::default()
        };
        Ok(Self { model: BertModel::load(builder, &config)? })
    }

    /// The mean of the token vectors of each text, scaled to unit length.
    fn embed(&self, tokens: &[u32], count: usize) -> Outcome<Vec<Vec<f32>>> {
        let tokens = Tensor::from_slice(tokens, (count, tokens.len() / count), &Device::Cpu)?;
        let hidden = self.model.forward(&tokens, &tokens.zeros_like()?, None)?;
        let mean = hidden.mean(1)?;
        Ok(mean.broadcast_div(&mean.sqr()?.sum_keepdim(1)?.sqrt()?)?.to_vec2()?)
    }
}

/// A product of matrices by the library under candle.
struct Product {
    left: Vec<f32>,
    right: Vec<f32>,
    out: Vec<f32>,
    size: (usize, usize, usize),
}

impl Product {
    fn new(rows: usize, depth: usize, columns: usize) -> Self {
        let numbers = |count| (0..count).map(|i| (i % 17) as f32 / 16.0 - 0.5).collect();
        let out = vec![0.0; rows * columns];
        Self {
            left: numbers(rows * depth),
            right: numbers(depth * columns),
            out,
            size: (rows, depth, columns),
        }
    }

    fn work(&self) -> usize {
        2 * self.size.0 * self.size.1 * self.size.2
    }

    fn compute(&mut self, threads: usize) {
        let (rows, depth, columns) = self.size;
        let (across, down) = (1, columns as isize);
        let threads = if threads == 1 { Parallelism::None } else { Parallelism::Rayon(threads) };
        // SAFETY: the strides and sizes are those the three vectors were made with, row by row, and `out` is borrowed alone.
        unsafe {
            gemm::gemm(
                rows,
                columns,
                depth,
                self.out.as_mut_ptr(),
                across,
                down,
                false,
                self.left.as_ptr(),
                1,
                depth as isize,
                self.right.as_ptr(),
                across,
                down,
                0.0,
                1.0,
                false,
                false,
                false,
                threads,
            );
        }
        black_box(&self.out);
    }
}
