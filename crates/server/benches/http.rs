//! What HTTP adds to a search: the same store and the same engine, asked by a call and over a connection, in turns.
//!
//! `benches/load/run` makes the data and runs this. By itself:
//!
//! ```text
//! cargo bench -p mainstem-server --bench http -- STORE BODIES ROUNDS
//! ```
//!
//! `BODIES` has a body of `/v1/search` a line, each with `query` and `vector`. Prints one line of JSON, in milliseconds. Without arguments it does nothing,
//! so that all benchmarks can be run at once.

use std::fs;
use std::hint::black_box;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use mainstem::query::{Request, Settings};
use mainstem::store::{EmbeddedStore, Options};
use mainstem_server::{ServerConfig, Setup, run};
use serde::Deserialize;
use serde_json::{Map, json};

/// That of the command.
#[cfg(all(unix, target_pointer_width = "64"))]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

type Outcome<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

fn main() -> Outcome<()> {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    if let [store, bodies, rounds] = &args[..] {
        return measure(Path::new(store), Path::new(bodies), rounds.parse()?);
    }
    println!("usage: http STORE BODIES ROUNDS; see benches/load");
    Ok(())
}

/// A search both ways: as the library takes it, and as bytes on a connection.
struct Asked {
    request: Request,
    bytes: Vec<u8>,
}

impl Asked {
    fn new(body: &str) -> Outcome<Self> {
        #[derive(Deserialize)]
        struct Read {
            query: String,
            vector: Vec<f32>,
        }
        let Read { query, vector } = serde_json::from_str(body)?;
        let head = "POST /v1/search HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length:";
        let bytes = format!("{head} {}\r\n\r\n{body}", body.len()).into_bytes();
        Ok(Self { request: Request { vector: Some(vector), ..Request::new(query) }, bytes })
    }
}

fn measure(store: &Path, bodies: &Path, rounds: usize) -> Outcome<()> {
    let asked = fs::read_to_string(bodies)?.lines().map(Asked::new).collect::<Outcome<Vec<_>>>()?;
    let store = Arc::new(EmbeddedStore::open(store, Options::default())?);
    let config = ServerConfig { address: "127.0.0.1:0".parse()?, embed: false, ..ServerConfig::default() };
    let (settings, pipeline) = (Settings::default(), Map::new());
    let link = mainstem_core::link::LinkSettings::default();
    let setup = Setup { store, settings, pipeline, reranking: None, config, keys: false, asker: None, link };
    let server = run::start(setup)?;
    let engine = server.app.engine();
    let mut stream = TcpStream::connect(server.address)?;
    stream.set_nodelay(true)?;
    let (mut calls, mut answers) = (Vec::new(), Vec::new());
    for round in 0..=rounds {
        for (at, called) in asked.iter().enumerate() {
            // Not the same query twice in a row: the second would find its pages warm.
            let sent = &asked[(at + asked.len() / 2) % asked.len()];
            let start = Instant::now();
            black_box(engine.search(&called.request).map_err(|failure| failure.to_string())?);
            let called = start.elapsed();
            let start = Instant::now();
            black_box(exchange(&mut stream, &sent.bytes)?);
            let answered = start.elapsed();
            // The first round is to get warm.
            if round > 0 {
                calls.push(called.as_secs_f64() * 1e3);
                answers.push(answered.as_secs_f64() * 1e3);
            }
        }
    }
    let [library, http] = [&mut calls, &mut answers].map(|times| {
        times.sort_by(f64::total_cmp);
        [50, 99].map(|percent| times[(times.len() - 1) * percent / 100])
    });
    println!(
        "{}",
        json!({"library": library, "http": http, "adds": http[0] - library[0], "searches": calls.len()})
    );
    Ok(())
}

/// Sends a request and reads the whole answer, which must be a good one.
fn exchange(stream: &mut TcpStream, request: &[u8]) -> Outcome<Vec<u8>> {
    stream.write_all(request)?;
    let mut answer = vec![0; 1 << 16];
    let mut read = 0;
    loop {
        if read == answer.len() {
            answer.resize(2 * read, 0);
        }
        let more = stream.read(&mut answer[read..])?;
        read += more;
        if more == 0 {
            return Err("the server hung up".into());
        }
        if let Some(end) = length(&answer[..read])
            && read >= end
        {
            answer.truncate(read);
            return if answer.starts_with(b"HTTP/1.1 200") { Ok(answer) } else { Err("no answer".into()) };
        }
    }
}

/// How long an answer is, as soon as its head is here.
fn length(answer: &[u8]) -> Option<usize> {
    let head = answer.windows(4).position(|four| four == b"\r\n\r\n")? + 4;
    let text = std::str::from_utf8(&answer[..head]).ok()?.to_ascii_lowercase();
    let body: usize = text.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok())?;
    Some(head + body)
}
