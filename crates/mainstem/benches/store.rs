//! The embedded store: how fast it takes in, opens and answers, and how much memory that takes.
//!
//! `cargo bench -p mainstem --bench store` measures 100,000 documents of about 100 words with vectors of 384 dimensions. The variables
//! `MAINSTEM_BENCH_ROWS` and `MAINSTEM_BENCH_BATCH` name another size, and how many documents are written at once.

use std::fs;
use std::hint::black_box;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use mainstem::store::{EmbeddedStore, Options};
use mainstem_core::contract::{Change, Channel, Ctx, Filter, ModelCard, Retrieval, Store, View};
use mainstem_core::time::Moment;
use mainstem_core::{Chunk, Document};
use serde_json::json;

const DIM: usize = 384;
const QUERIES: u64 = 200;
/// Set for the process that only opens and asks.
const READ: &str = "MAINSTEM_BENCH_READ";

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

fn main() -> Outcome<()> {
    if let Some(dir) = std::env::var_os(READ) {
        return read(Path::new(&dir));
    }
    let dir = std::env::temp_dir().join(format!("mainstem-bench-store-{}", std::process::id()));
    drop(fs::remove_dir_all(&dir));
    let outcome = measure(&dir);
    drop(fs::remove_dir_all(&dir));
    outcome
}

fn number(name: &str, default: u64) -> Outcome<u64> {
    Ok(std::env::var(name).ok().map(|text| text.parse()).transpose()?.unwrap_or(default))
}

fn measure(dir: &Path) -> Outcome<()> {
    let (rows, batch) = (number("MAINSTEM_BENCH_ROWS", 100_000)?, number("MAINSTEM_BENCH_BATCH", 2048)?);
    println!("{rows} documents x {DIM}, {batch} at once");
    let store = EmbeddedStore::init(dir)?;
    store.set_model(&ModelCard { name: "bench".into(), dim: DIM, max_tokens: 256 })?;
    let mut writing = Duration::ZERO;
    for start in (0..rows).step_by(batch as usize) {
        let ready: Vec<_> = (start..rows.min(start + batch)).map(put).collect();
        let begun = Instant::now();
        store.write(&ready)?;
        writing += begun.elapsed();
    }
    print("ingest", format!("{:.0} chunks/s", rows as f64 / writing.as_secs_f64()));
    let again: Vec<_> = (0..batch.min(rows)).map(put).collect();
    print("the same again", times(3, || store.write(&again).map(drop))?);
    print(
        "one document",
        times(20, {
            let mut next = rows;
            let store = &store;
            move || {
                next += 1;
                store.write(&[put(next)]).map(drop)
            }
        })?,
    );
    print(
        "close",
        times(1, {
            let mut store = Some(store);
            move || {
                drop(store.take());
                Ok::<(), mainstem::Error>(())
            }
        })?,
    );
    print("on disk", format!("{} MB", size(dir)? >> 20));
    let status = Command::new(std::env::current_exe()?).env(READ, dir).status()?;
    assert!(status.success());
    let store = EmbeddedStore::open(dir, Options::default())?;
    let begun = Instant::now();
    store.reindex(&mut |_, _| ())?;
    print("reindex", format!("{:.2} s", begun.elapsed().as_secs_f64()));
    let begun = Instant::now();
    assert!(store.doctor().is_healthy());
    print("doctor", format!("{:.2} s", begun.elapsed().as_secs_f64()));
    Ok(())
}

/// What a process sees that only opens and asks.
fn read(dir: &Path) -> Outcome<()> {
    let begun = Instant::now();
    let store = EmbeddedStore::open_read_only(dir)?;
    let view = store.view().map_err(|failure| failure.to_string())?;
    print("open, fresh process", format!("{:.2} ms", begun.elapsed().as_secs_f64() * 1e3));
    let all = Filter::default();
    let metadata =
        |key: &str, value: &str| Filter { metadata: vec![(key.into(), value.into())], ..Filter::default() };
    let filters = [
        ("", all),
        (", 1 % by metadata", metadata("hundredth", "7")),
        (", 50 % by metadata", metadata("half", "1")),
        (", half by reader", Filter { reader: Some("ann".into()), ..Filter::default() }),
    ];
    for (name, filter) in &filters {
        for channel in [Channel::Lexical, Channel::Dense] {
            let mut seed = 0;
            let ask = || {
                seed += 1;
                search(&*view, channel, filter, seed)
            };
            print(&format!("{}{name}", channel.as_str()), times(QUERIES as usize, ask)?);
        }
    }
    for channel in [Channel::Lexical, Channel::Dense] {
        let mut seed = 0;
        let ask = || {
            seed += 1;
            background(&*view, channel, seed)
        };
        print(&format!("{} background", channel.as_str()), times(QUERIES as usize, ask)?);
    }
    for seed in 0..1000 {
        for channel in [Channel::Lexical, Channel::Dense] {
            search(&*view, channel, &filters[0].1, seed)?;
        }
    }
    memory();
    Ok(())
}

fn search(view: &dyn View, channel: Channel, filter: &Filter, seed: u64) -> Outcome<()> {
    let (text, vector) = (words(seed * 31, 5), vector(seed * 17));
    let retrieval = Retrieval { channel, text: &text, vector: Some(&vector), filter, limit: 50 };
    let found = view.retrieve(&retrieval, &ctx()).map_err(|failure| failure.to_string())?;
    let ids: Vec<_> =
        found.iter().flat_map(|part| part.found.iter().take(10).map(|found| found.chunk)).collect();
    black_box(view.fetch(&ids).map_err(|failure| failure.to_string())?);
    Ok(())
}

fn background(view: &dyn View, channel: Channel, seed: u64) -> Outcome<()> {
    let (text, vector) = (words(seed * 31, 5), vector(seed * 17));
    let filter = Filter::default();
    let retrieval = Retrieval { channel, text: &text, vector: Some(&vector), filter: &filter, limit: 50 };
    black_box(view.background(&retrieval, &ctx()).map_err(|failure| failure.to_string())?);
    Ok(())
}

fn ctx() -> Ctx {
    Ctx::unhurried(Moment::now())
}

/// Runs some times: the first time, and what is usual.
fn times<E>(count: usize, mut run: impl FnMut() -> Result<(), E>) -> Result<String, E> {
    let mut times = Vec::with_capacity(count);
    for _ in 0..count {
        let begun = Instant::now();
        run()?;
        times.push(begun.elapsed().as_secs_f64() * 1e3);
    }
    let first = times[0];
    times.sort_by(f64::total_cmp);
    let at = |share: f64| times[(times.len() as f64 * share) as usize];
    Ok(format!("first {first:.2} ms, p50 {:.3} ms, p95 {:.3} ms", at(0.5), at(0.95)))
}

fn print(name: &str, value: String) {
    println!("  {name:<28}{value}");
}

fn memory() {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    for name in ["VmRSS", "RssAnon", "RssFile"] {
        if let Some(line) = status.lines().find(|line| line.starts_with(name)) {
            print("memory", line.split_whitespace().collect::<Vec<_>>().join(" "));
        }
    }
}

fn size(dir: &Path) -> std::io::Result<u64> {
    let mut bytes = 0;
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let of = entry.metadata()?;
        bytes += if of.is_dir() { size(&entry.path())? } else { of.len() };
    }
    Ok(bytes)
}

fn put(number: u64) -> Change {
    let text = words(number, 100);
    let chunk =
        Chunk { span: 0..text.len(), text: text.clone(), vector: Some(vector(number)), ..Chunk::default() };
    Change::Put(Document {
        source: format!("source-{}", number / 1000 % 4),
        id: number.to_string(),
        title: Some(words(number + 1, 5)),
        readers: number.is_multiple_of(2).then(|| vec!["ann".to_owned()]),
        metadata: [
            ("hundredth".to_owned(), json!((number * 7919 % 100).to_string())),
            ("half".to_owned(), json!((number % 2).to_string())),
        ]
        .into_iter()
        .collect(),
        text,
        chunks: vec![chunk],
        ..Document::default()
    })
}

/// Numbers that look random (Steele's splitmix, 2014).
fn random(seed: u64) -> impl FnMut() -> u64 {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    move || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }
}

/// Words of which the n-th is about 1/n as frequent as the first, as in texts.
fn words(seed: u64, count: usize) -> String {
    const SYLLABLES: [&str; 16] =
        ["ba", "ce", "di", "fo", "gu", "ha", "ke", "li", "mo", "nu", "pa", "re", "si", "to", "vu", "za"];
    let mut next = random(seed);
    let word = |_| {
        let share = (next() >> 11) as f64 / (1_u64 << 53) as f64;
        let mut rank = (50_000_f64.powf(share)) as usize + 16;
        let mut word = String::new();
        while rank > 0 {
            word.push_str(SYLLABLES[rank % 16]);
            rank /= 16;
        }
        word
    };
    (0..count).map(word).collect::<Vec<_>>().join(" ")
}

/// A direction around one of 2,000 centres.
fn vector(seed: u64) -> Vec<f32> {
    let mut about = random(seed % 2000 + (1 << 40));
    let mut own = random(seed);
    let share = |bits: u64| (bits >> 40) as f32 / (1 << 24) as f32 - 0.5;
    let values: Vec<f32> = (0..DIM).map(|_| share(about()) + 0.9 * share(own())).collect();
    let length = values.iter().map(|value| value * value).sum::<f32>().sqrt();
    values.into_iter().map(|value| value / length).collect()
}
