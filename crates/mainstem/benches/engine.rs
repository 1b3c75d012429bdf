//! The whole engine on ready texts and vectors: one side of the comparison with other systems.
//!
//! `benches/peers/engine/run` makes the data, runs this and the others on them, and prints a table. By itself:
//!
//! ```text
//! cargo bench -p mainstem --bench engine -- ingest DATA STORE
//! cargo bench -p mainstem --bench engine -- query DATA STORE
//! cargo bench -p mainstem --bench engine -- parts DATA STORE
//! cargo bench -p mainstem --bench engine -- again hybrid|alike|dense|words|filtered DATA STORE
//! ```
//!
//! Each prints one line of JSON; `parts` and `again` say where a search spends its time, in milliseconds. `cargo bench --bench engine` without arguments does nothing, so that all benchmarks can be run at once.

use std::fs;
use std::hint::black_box;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use indexmap::IndexMap;
use mainstem::query::{Engine, Request, Response, Settings};
use mainstem::store::EmbeddedStore;
use mainstem_core::contract::{Change, Channel, Ctx, Filter, ModelCard, Retrieval, Store, View};
use mainstem_core::time::Moment;
use mainstem_core::{Chunk, Document, Failure};
use serde_json::{Map, Value, json};

/// As the binary does it.
#[cfg(all(unix, target_pointer_width = "64"))]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

const DIM: usize = 384;
/// Documents of one write; each write is on the disk and searchable when it returns.
const BATCH: usize = 10_000;
const WARM: usize = 20;
/// How often [`again`] asks every query.
const ROUNDS: usize = 5;

type Outcome<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

fn main() -> Outcome<()> {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["ingest", data, store] => ingest(Path::new(data), Path::new(store)),
        ["query", data, store] => query(Path::new(data), Path::new(store)),
        ["again", kind, data, store] => again(kind, Path::new(data), Path::new(store)),
        ["parts", data, store] => parts(Path::new(data), Path::new(store)),
        _ => {
            println!(
                "usage: engine ingest|query|parts DATA STORE, or again KIND DATA STORE; see benches/peers/engine"
            );
            Ok(())
        }
    }
}

fn ingest(data: &Path, folder: &Path) -> Outcome<()> {
    let texts = fs::read_to_string(data.join("texts.txt"))?;
    let texts: Vec<&str> = texts.lines().collect();
    let vectors = floats(&data.join("vectors.f32"))?;
    let groups = fs::read(data.join("groups.u8"))?;
    let start = Instant::now();
    let store = EmbeddedStore::init(folder)?;
    store.set_model(&ModelCard { name: "bench".into(), dim: DIM, max_tokens: 256 })?;
    store.set_source("bench", "text")?;
    let document = |row: usize| document(row, texts[row], &vectors[row * DIM..][..DIM], groups[row]);
    for first in (0..texts.len()).step_by(BATCH) {
        let last = texts.len().min(first + BATCH);
        let changes: Vec<_> = (first..last).map(|row| Change::Put(document(row))).collect();
        store.write(&changes)?;
    }
    drop(store);
    let seconds = start.elapsed().as_secs_f64();
    println!("{}", json!({ "seconds": seconds, "chunks": texts.len() }));
    Ok(())
}

fn document(row: usize, text: &str, vector: &[f32], group: u8) -> Document {
    let vector = Some(vector.to_vec());
    let chunk = Chunk { span: 0..text.len(), text: text.to_owned(), vector, ..Chunk::default() };
    Document {
        source: "bench".into(),
        id: row.to_string(),
        text: text.to_owned(),
        metadata: Map::from_iter([("group".to_owned(), Value::from(group.to_string()))]),
        chunks: vec![chunk],
        ..Document::default()
    }
}

fn query(data: &Path, folder: &Path) -> Outcome<()> {
    let texts = fs::read_to_string(data.join("queries.txt"))?;
    let vectors = floats(&data.join("query_vectors.f32"))?;
    let exact = numbers(&data.join("exact.u32"))?;
    let groups = fs::read(data.join("groups.u8"))?;
    let asked: Vec<_> = texts.lines().zip(vectors.chunks_exact(DIM)).collect();
    let start = Instant::now();
    let store = EmbeddedStore::open_read_only(folder)?;
    let engine = Engine::new(Arc::new(store), None, Settings::default());
    let opened = milliseconds(start);
    engine.search(&hybrid(asked[0])).map_err(said)?;
    let first = milliseconds(start);

    let hybrids = times(&engine, asked.iter().map(|asked| hybrid(*asked)), |_, _| ())?;
    let alike = times(&engine, asked.iter().map(|asked| alike(*asked)), |_, _| ())?;
    let mut found = 0;
    let dense = times(&engine, asked.iter().map(only(Channel::Dense)).map(plain), |at, response| {
        found +=
            exact[at * 10..][..10].iter().filter(|id| row_numbers(response).any(|row| row == **id)).count();
    })?;
    let words = times(&engine, asked.iter().map(only(Channel::Lexical)).map(plain), |_, _| ())?;
    let mut strays = 0;
    let filtered = times(&engine, asked.iter().enumerate().map(filtered), |at, response| {
        strays += row_numbers(response).filter(|row| usize::from(groups[*row as usize]) != at % 100).count();
    })?;
    println!(
        "{}",
        json!({
            "open_ms": opened, "first_ms": first, "hybrid_ms": hybrids, "alike_ms": alike, "dense_ms": dense, "words_ms": words,
            "filtered_ms": filtered, "recall": found as f64 / (10 * asked.len()) as f64, "strays": strays, "memory": memory(),
        })
    );
    Ok(())
}

/// One kind of search again and again, for a profiler to look at.
fn again(kind: &str, data: &Path, folder: &Path) -> Outcome<()> {
    let texts = fs::read_to_string(data.join("queries.txt"))?;
    let vectors = floats(&data.join("query_vectors.f32"))?;
    let asked: Vec<_> = texts.lines().zip(vectors.chunks_exact(DIM)).collect();
    let engine = Engine::new(Arc::new(EmbeddedStore::open_read_only(folder)?), None, Settings::default());
    let requests: Vec<Request> = match kind {
        "hybrid" => asked.iter().map(|asked| hybrid(*asked)).collect(),
        "alike" => asked.iter().map(|asked| alike(*asked)).collect(),
        "dense" => asked.iter().map(only(Channel::Dense)).map(plain).collect(),
        "words" => asked.iter().map(only(Channel::Lexical)).map(plain).collect(),
        "filtered" => asked.iter().enumerate().map(filtered).collect(),
        other => {
            return Err(
                format!("expected hybrid, alike, dense, words or filtered, received `{other}`").into()
            );
        }
    };
    let mut taken = Taken::default();
    for request in std::iter::repeat_n(&requests, ROUNDS).flatten() {
        taken.search(&engine, request)?;
    }
    println!("{}", json!(taken.medians()));
    Ok(())
}

/// What each part took, in milliseconds.
#[derive(Default)]
struct Taken(IndexMap<&'static str, Vec<f64>>);

impl Taken {
    fn since(&mut self, name: &'static str, start: Instant) {
        self.add(name, start.elapsed());
    }

    fn add(&mut self, name: &'static str, time: Duration) {
        self.0.entry(name).or_default().push(time.as_secs_f64() * 1e3);
    }

    /// A whole search, and its parts.
    fn search(&mut self, engine: &Engine, request: &Request) -> Outcome<()> {
        let start = Instant::now();
        let response = black_box(engine.search(request).map_err(said)?);
        self.since("search", start);
        let timings = &response.timings;
        self.add("search: plan", timings.plan);
        for (channel, at) in &timings.legs {
            let home =
                if *channel == Channel::Dense { "search: dense home at" } else { "search: lexical home at" };
            self.add(home, *at);
        }
        self.add("search: retrieve, complete, read", timings.retrieve);
        self.add("search: rank", timings.rank);
        self.add("search: present", timings.present);
        Ok(())
    }

    fn medians(self) -> IndexMap<&'static str, f64> {
        let median = |mut times: Vec<f64>| {
            times.sort_by(f64::total_cmp);
            times[times.len() / 2]
        };
        self.0.into_iter().map(|(name, times)| (name, median(times))).collect()
    }
}

/// What the store does for a search, part by part, on one thread, and a whole search: the median of each.
fn parts(data: &Path, folder: &Path) -> Outcome<()> {
    let texts = fs::read_to_string(data.join("queries.txt"))?;
    let vectors = floats(&data.join("query_vectors.f32"))?;
    let store = Arc::new(EmbeddedStore::open_read_only(folder)?);
    let engine = Engine::new(Arc::clone(&store) as Arc<dyn Store>, None, Settings::default());
    let mut taken = Taken::default();
    for (text, vector) in texts.lines().zip(vectors.chunks_exact(DIM)) {
        let start = Instant::now();
        let view = store.view().map_err(said)?;
        taken.since("view", start);
        let start = Instant::now();
        view.sources().map_err(said)?;
        taken.since("sources", start);
        part(view.as_ref(), Channel::Dense, (text, vector), &mut taken)?;
        part(view.as_ref(), Channel::Lexical, (text, vector), &mut taken)?;
    }
    // By themselves: what ran before a search is not to have filled the caches for it.
    for asked in texts.lines().zip(vectors.chunks_exact(DIM)) {
        taken.search(&engine, &hybrid(asked))?;
    }
    println!("{}", json!(taken.medians()));
    Ok(())
}

/// One channel.
fn part(view: &dyn View, channel: Channel, (text, vector): (&str, &[f32]), taken: &mut Taken) -> Outcome<()> {
    let names = match channel {
        Channel::Dense => ["dense", "fetch of 100 by dense", "dense score of 100", "dense scale"],
        Channel::Lexical => ["lexical", "fetch of 100 by lexical", "lexical score of 100", "lexical scale"],
    };
    let (ctx, filter) = (Ctx::unhurried(Moment::now()), Filter::default());
    let retrieval = Retrieval { channel, text, vector: Some(vector), filter: &filter, limit: 100 };
    let start = Instant::now();
    let found = view.retrieve(&retrieval, &ctx).map_err(said)?;
    taken.since(names[0], start);
    let ids: Vec<_> = found.iter().flat_map(|of| &of.found).map(|found| found.chunk).collect();
    let start = Instant::now();
    black_box(view.fetch(&ids).map_err(said)?);
    taken.since(names[1], start);
    let start = Instant::now();
    black_box(view.score(&retrieval, &ids, &ctx).map_err(said)?);
    taken.since(names[2], start);
    let start = Instant::now();
    black_box(view.greatest(&retrieval, &ctx).map_err(said)?);
    if channel == Channel::Dense {
        black_box(view.background(&retrieval, &ctx).map_err(said)?);
    }
    taken.since(names[3], start);
    Ok(())
}

fn said(failure: Failure) -> String {
    failure.to_string()
}

fn hybrid((text, vector): (&str, &[f32])) -> Request {
    Request { vector: Some(vector.to_vec()), ..Request::new(text) }
}

/// The same job as the other systems do: both lists fused by reciprocal rank, and nothing more.
fn alike(asked: (&str, &[f32])) -> Request {
    let stages = json!({ "across": "rank", "fuse": { "method": "rrf" }, "dedup": null, "neighbours": null, "prior": null });
    Request { pipeline: stages, ..hybrid(asked) }
}

/// One channel.
fn only(channel: Channel) -> impl Fn(&(&str, &[f32])) -> Request {
    move |asked| Request { channels: Some(vec![channel]), ..hybrid(*asked) }
}

/// The channel's own order: without the stages that collapse copies or weigh hits anew, as the other systems answer.
fn plain(request: Request) -> Request {
    Request { pipeline: json!({ "dedup": null, "neighbours": null, "prior": null }), ..request }
}

fn filtered((at, asked): (usize, &(&str, &[f32]))) -> Request {
    let mut request = hybrid(*asked);
    request.filter.metadata = vec![("group".into(), (at % 100).to_string())];
    request
}

/// Runs the first requests to get warm, then all of them, one after another.
fn times(
    engine: &Engine,
    requests: impl Iterator<Item = Request>,
    mut look: impl FnMut(usize, &Response),
) -> Outcome<Vec<f64>> {
    let requests: Vec<_> = requests.collect();
    for request in requests.iter().take(WARM) {
        engine.search(request).map_err(said)?;
    }
    let mut times = Vec::with_capacity(requests.len());
    for (at, request) in requests.iter().enumerate() {
        let start = Instant::now();
        let response = black_box(engine.search(request).map_err(said)?);
        times.push(milliseconds(start));
        look(at, &response);
    }
    Ok(times)
}

/// Which rows of the data were found.
fn row_numbers(response: &Response) -> impl Iterator<Item = u32> {
    response.hits.iter().filter_map(|hit| hit.document.parse().ok())
}

/// Kilobytes in memory: all of them, and those that are not pages of files.
fn memory() -> Value {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let kilobytes = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        line.split_whitespace().nth(1)?.parse::<u64>().ok()
    };
    json!({ "all": kilobytes("VmRSS"), "own": kilobytes("RssAnon") })
}

fn floats(path: &Path) -> Outcome<Vec<f32>> {
    Ok(fs::read(path)?.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect())
}

fn numbers(path: &Path) -> Outcome<Vec<u32>> {
    Ok(fs::read(path)?.as_chunks::<4>().0.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect())
}

fn milliseconds(start: Instant) -> f64 {
    start.elapsed().as_secs_f64() * 1e3
}
