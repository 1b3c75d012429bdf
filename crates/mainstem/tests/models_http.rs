//! Models behind HTTP, against a server that misbehaves by script.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use mainstem::models::{HttpEmbedder, HttpSettings, Shape};
use mainstem_core::contract::{Ctx, Embedder as _};
use mainstem_core::time::Moment;
use serde_json::{Value, json};

/// What the server does with one connection.
enum Reply {
    Json(u16, Value),
    Text(u16, &'static str),
    /// A status with a header.
    Header(u16, &'static str),
    /// Takes the request and says nothing.
    Silence,
    /// Sends an endless body, one byte at a time.
    Trickle,
    /// Closes the connection at once.
    Close,
    /// A little that unpacks to this many MiB of blanks.
    Bomb(usize),
}

struct Asked {
    head: String,
    body: Value,
    at: Instant,
}

/// Serves the script, then refuses connections.
fn serve(script: Vec<Reply>) -> (String, Receiver<Asked>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let (sender, receiver) = channel();
    thread::spawn(move || {
        for reply in script {
            let (stream, _) = listener.accept().unwrap();
            let asked = read_request(&stream);
            let _ = sender.send(asked);
            thread::spawn(move || answer(stream, reply));
        }
    });
    (url, receiver)
}

fn read_request(mut stream: &TcpStream) -> Asked {
    let mut bytes = Vec::new();
    let mut block = [0; 4096];
    loop {
        let head = bytes.windows(4).position(|four| four == b"\r\n\r\n").map(|at| at + 4);
        let text = String::from_utf8_lossy(&bytes[..head.unwrap_or(0)]).to_lowercase();
        let length =
            text.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse::<usize>().ok());
        if let (Some(head), Some(length)) = (head, length)
            && bytes.len() >= head + length
        {
            let body = serde_json::from_slice(&bytes[head..head + length]).unwrap();
            return Asked {
                head: String::from_utf8_lossy(&bytes[..head]).into_owned(),
                body,
                at: Instant::now(),
            };
        }
        let read = stream.read(&mut block).unwrap();
        assert!(read > 0, "the request ended early");
        bytes.extend_from_slice(&block[..read]);
    }
}

fn answer(mut stream: TcpStream, reply: Reply) {
    let (status, header, body) = match reply {
        Reply::Json(status, value) => (status, "x: y", value.to_string().into_bytes()),
        Reply::Text(status, text) => (status, "x: y", text.into()),
        Reply::Header(status, header) => (status, header, b"{}".to_vec()),
        Reply::Bomb(size) => (200, "content-encoding: gzip", bomb(size)),
        Reply::Silence => return thread::sleep(Duration::from_secs(30)),
        Reply::Close => return,
        Reply::Trickle => return trickle(stream),
    };
    let length = body.len();
    let head =
        format!("HTTP/1.1 {status} X\r\n{header}\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n");
    let _ = stream.write_all(&[head.into_bytes(), body].concat());
}

/// One packed MiB of blanks, again and again.
fn bomb(size: usize) -> Vec<u8> {
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    packed.write_all(&vec![b' '; 1 << 20]).unwrap();
    packed.finish().unwrap().repeat(size)
}

/// The most memory that this process had so far, in MiB.
#[cfg(target_os = "linux")]
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() >> 10
}

#[test]
#[cfg(target_os = "linux")]
fn an_answer_that_unpacks_without_end_is_refused_and_not_kept() {
    let before = peak();
    let started = outcome(vec![Reply::Bomb(2048), good()]);
    let (refused, asked) = started;
    let refused = refused.unwrap_err();
    assert!(refused.contains("cannot be used: expected at most 2 MiB, received more"), "{refused}");
    assert_eq!(asked, 1, "it would be the same the next time");
    let (used, unpacked) = (peak() - before, 2048);
    assert!(used < unpacked / 8, "{used} MiB for an answer of {unpacked}");
}

#[test]
fn who_failed_often_is_left_alone_for_a_while_and_then_asked_once() {
    let failing = || (0..4).map(|_| Reply::Text(500, ""));
    let (url, asked) = serve(failing().chain([good(), good()]).collect());
    let settings = HttpSettings { retries: 0, failures: 3, cooldown: 0.2, ..settings(Shape::OpenAi, url) };
    let embedder = HttpEmbedder::connect(&settings, &ctx()).unwrap().for_queries();
    let ask = || embedder.embed(&["a"], &ctx()).map_err(|error| error.to_string());
    for _ in 0..3 {
        assert_eq!(ask().unwrap_err(), "cannot reach `m`: it answered 500", "by name");
    }
    let refused = ask().unwrap_err();
    assert_eq!(refused, "cannot reach `m`: it failed too often and is not asked for another 1 s");
    assert_eq!(asked.try_iter().count(), 3);
    thread::sleep(Duration::from_millis(300));
    assert!(ask().unwrap_err().contains("answered 500"), "one call decides");
    assert!(ask().unwrap_err().contains("failed too often"), "and this one was not made");
    thread::sleep(Duration::from_millis(300));
    assert!(ask().is_ok() && ask().is_ok(), "it is back");
    assert_eq!(asked.try_iter().count(), 3);
}

#[test]
fn texts_that_are_refused_and_callers_without_time_do_not_count_against_a_service() {
    let refusals = (0..3).map(|_| Reply::Text(422, "no such text"));
    let (url, _asked) = serve(refusals.chain([Reply::Silence, good()]).collect());
    let settings = HttpSettings { retries: 0, failures: 1, cooldown: 3600.0, ..settings(Shape::OpenAi, url) };
    let embedder = HttpEmbedder::connect(&settings, &ctx()).unwrap();
    for _ in 0..3 {
        assert!(embedder.embed(&["a"], &ctx()).unwrap_err().to_string().contains("no such text"));
    }
    let hurried = Ctx { deadline: Some(Instant::now() + Duration::from_millis(50)), now: Moment::now() };
    assert!(embedder.embed(&["a"], &hurried).is_err());
    assert!(embedder.embed(&["a"], &ctx()).is_ok());
}

fn trickle(mut stream: TcpStream) {
    let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n");
    while stream.write_all(b" ").is_ok() {
        thread::sleep(Duration::from_millis(20));
    }
}

fn openai(vectors: &[(usize, Vec<f32>)]) -> Reply {
    let data: Vec<_> = vectors.iter().map(|(index, v)| json!({"index": index, "embedding": v})).collect();
    Reply::Json(200, json!({"data": data}))
}

fn good() -> Reply {
    openai(&[(0, vec![3.0, 4.0])])
}

fn settings(shape: Shape, url: String) -> HttpSettings {
    HttpSettings { dim: Some(2), timeout: 5.0, ..HttpSettings::new(shape, url, "m") }
}

fn ctx() -> Ctx {
    Ctx::unhurried(Moment::now())
}

/// The vectors and the cuts of `texts`, or the error as text.
fn embed(settings: &HttpSettings, texts: &[&str]) -> Result<Vec<(Vec<f32>, bool)>, String> {
    let embedder = HttpEmbedder::connect(settings, &ctx()).map_err(|error| error.to_string())?;
    let answer = embedder.embed(texts, &ctx()).map_err(|error| error.to_string())?;
    Ok(answer.into_iter().map(|one| (one.vector, one.cut)).collect())
}

/// What one text gives with this script, and how often the server was asked.
type Vectors = Result<Vec<(Vec<f32>, bool)>, String>;

fn outcome(script: Vec<Reply>) -> (Vectors, usize) {
    let (url, asked) = serve(script);
    let outcome = embed(&settings(Shape::OpenAi, url), &["a"]);
    (outcome, asked.try_iter().count())
}

const UNIT: [f32; 2] = [0.6, 0.8];

#[test]
fn a_passing_fault_is_tried_again() {
    for fault in [Reply::Text(500, "oops"), Reply::Text(503, ""), Reply::Close] {
        let (outcome, asked) = outcome(vec![fault, good()]);
        assert_eq!((outcome.unwrap(), asked), (vec![(UNIT.to_vec(), false)], 2));
    }
}

#[test]
fn a_service_that_names_a_time_gets_it() {
    let (url, asked) = serve(vec![Reply::Header(429, "retry-after: 1"), good()]);
    embed(&settings(Shape::OpenAi, url), &["a"]).unwrap();
    let times: Vec<_> = asked.try_iter().map(|asked| asked.at).collect();
    assert!(times[1] - times[0] >= Duration::from_secs(1));
}

#[test]
fn a_service_that_wants_too_long_is_given_up() {
    let (outcome, asked) = outcome(vec![Reply::Header(429, "retry-after: 86400"), good()]);
    assert!(outcome.unwrap_err().contains("429"));
    assert_eq!(asked, 1);
}

#[test]
fn a_refusal_is_not_tried_again_and_says_why() {
    for status in [400, 404, 422] {
        let (outcome, asked) = outcome(vec![Reply::Text(status, "no such\n model"), good()]);
        assert!(outcome.unwrap_err().contains(&format!("answered {status}: no such model")));
        assert_eq!(asked, 1);
    }
}

#[test]
fn repetitions_end() {
    let (url, asked) = serve((0..9).map(|_| Reply::Text(500, "")).collect());
    let error = embed(&HttpSettings { retries: 2, ..settings(Shape::OpenAi, url) }, &["a"]).unwrap_err();
    assert!(error.contains("500, 3 times"), "{error}");
    assert_eq!(asked.try_iter().count(), 3);
}

#[test]
fn a_slow_service_is_left_at_the_timeout_and_at_the_deadline() {
    for fault in [|| Reply::Silence, || Reply::Trickle] {
        let (url, _asked) = serve(vec![fault(), fault()]);
        let started = Instant::now();
        let short = HttpSettings { timeout: 0.3, retries: 1, ..settings(Shape::OpenAi, url) };
        assert!(embed(&short, &["a"]).unwrap_err().contains("in time"));
        assert!(started.elapsed() < Duration::from_secs(3));

        let (url, _asked) = serve(vec![fault(), fault()]);
        let embedder = HttpEmbedder::connect(&settings(Shape::OpenAi, url), &ctx()).unwrap();
        let started = Instant::now();
        let hurried = Ctx { deadline: Some(started + Duration::from_millis(300)), now: Moment::now() };
        assert!(embedder.embed(&["a"], &hurried).is_err());
        assert!(started.elapsed() < Duration::from_secs(2));
    }
}

#[test]
fn answers_that_cannot_be_used_are_refused() {
    let cases = [
        (openai(&[]), "expected 1 vectors, received 0"),
        (openai(&[(0, vec![1.0, 0.0]), (1, vec![1.0, 0.0])]), "expected 1 vectors, received 2"),
        (openai(&[(1, vec![1.0, 0.0])]), "expected a vector for text 0, received one for 1"),
        (openai(&[(0, vec![1.0, 0.0, 0.0])]), "expected vectors of length 2, received one of length 3"),
        (openai(&[(0, vec![0.0, 0.0])]), "not all 0"),
        (Reply::Text(200, r#"{"data":[{"index":0,"embedding":[NaN,1]}]}"#), "not as expected"),
        (Reply::Text(200, r#"{"data":[{"index":0,"embedding":[null,1]}]}"#), "not as expected"),
        (Reply::Text(200, r#"{"data":[{"index":0,"embedding":[1e39,1]}]}"#), "out of range"),
        (Reply::Text(200, "<html>"), "not as expected"),
    ];
    for (reply, expected) in cases {
        let error = outcome(vec![reply]).0.unwrap_err();
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn vectors_are_put_in_order_and_batches_are_kept() {
    let first = openai(&[(1, vec![0.0, 2.0]), (0, vec![2.0, 0.0])]);
    let (url, asked) = serve(vec![first, good()]);
    let vectors =
        embed(&HttpSettings { batch: 2, ..settings(Shape::OpenAi, url) }, &["A b", "ß", "c"]).unwrap();
    let vectors: Vec<_> = vectors.into_iter().map(|(vector, _)| vector).collect();
    assert_eq!(vectors, [vec![1.0, 0.0], vec![0.0, 1.0], UNIT.to_vec()]);
    let inputs: Vec<_> = asked.try_iter().map(|asked| asked.body["input"].clone()).collect();
    assert_eq!(inputs, [json!(["A b", "ß"]), json!(["c"])]);
}

#[test]
fn every_interface_is_asked_its_own_way() {
    let vectors = json!([[3.0, 4.0]]);
    let cases = [
        (Shape::Tei, vectors.clone(), "/embed", "inputs", json!(false)),
        (Shape::Ollama, json!({"embeddings": vectors}), "/api/embed", "input", json!(false)),
        (Shape::Cohere, json!({"embeddings": {"float": vectors}}), "/v2/embed", "texts", json!("NONE")),
    ];
    for (shape, reply, path, field, truncate) in cases {
        let (url, asked) = serve(vec![Reply::Json(200, reply)]);
        assert_eq!(embed(&settings(shape, url), &["a"]).unwrap(), [(UNIT.to_vec(), false)]);
        let asked = asked.recv().unwrap();
        assert!(asked.head.starts_with(&format!("POST {path} HTTP/1.1")), "{}", asked.head);
        assert_eq!((&asked.body[field], &asked.body["truncate"]), (&json!(["a"]), &truncate));
    }
}

#[test]
fn a_text_that_must_be_cut_says_so() {
    let vector = || Reply::Json(200, json!([[3.0, 4.0]]));
    let long = || Reply::Text(413, "too many tokens");
    let (url, asked) = serve(vec![long(), vector(), long(), vector()]);
    let cuts: Vec<_> =
        embed(&settings(Shape::Tei, url), &["short", "long"]).unwrap().iter().map(|one| one.1).collect();
    assert_eq!(cuts, [false, true]);
    let asked: Vec<_> = asked
        .try_iter()
        .map(|asked| (asked.body["inputs"].clone(), asked.body["truncate"].clone()))
        .collect();
    let expected = [
        (json!(["short", "long"]), false),
        (json!(["short"]), false),
        (json!(["long"]), false),
        (json!(["long"]), true),
    ];
    assert_eq!(asked, expected.map(|(texts, cut)| (texts, json!(cut))));
}

#[test]
fn one_long_text_costs_its_batch_a_few_calls_only() {
    let vectors = |count| Reply::Json(200, json!(vec![[3.0, 4.0]; count]));
    let long = || Reply::Text(413, "too many tokens");
    // Eight texts, the last of them too long: four are well, then two, then one, and the last one alone.
    let script = vec![long(), vectors(4), long(), vectors(2), long(), vectors(1), long(), vectors(1)];
    let (url, asked) = serve(script);
    let embedded = embed(&settings(Shape::Tei, url), &["a"; 8]).unwrap();
    assert_eq!(embedded.iter().filter(|one| one.1).count(), 1);
    assert!(embedded[7].1, "the last one");
    let sizes: Vec<_> =
        asked.try_iter().map(|asked| asked.body["inputs"].as_array().unwrap().len()).collect();
    assert_eq!(sizes, [8, 4, 4, 2, 2, 1, 1, 1]);
}

#[test]
fn a_service_that_cannot_cut_is_sent_less() {
    let long = || Reply::Text(400, "maximum context length exceeded");
    let as_llama_says = Reply::Text(500, "input (9 tokens) is too large to process");
    let (url, asked) = serve(vec![as_llama_says, long(), good()]);
    let small = HttpSettings { max_tokens: 4, ..settings(Shape::OpenAi, url) };
    assert_eq!(embed(&small, &["äöü äöü äöü"]).unwrap(), [(UNIT.to_vec(), true)]);
    let sent: Vec<_> = asked.try_iter().map(|asked| asked.body["input"][0].clone()).collect();
    assert_eq!(sent, ["äöü äöü äöü", "äöü ä", "äö"], "cut between characters");

    let (url, asked) = serve((0..9).map(|_| long()).collect());
    let small = HttpSettings { max_tokens: 4, ..settings(Shape::OpenAi, url) };
    assert!(embed(&small, &["abcdefgh", "ijklmnop"]).unwrap_err().contains("context length"));
    assert_eq!(asked.try_iter().count(), 3, "both, the first, and half of it, which is no longer too long");
}

#[test]
fn a_blank_text_is_sent_as_a_full_stop() {
    let (url, asked) = serve(vec![openai(&[(0, vec![1.0, 0.0]), (1, vec![0.0, 1.0]), (2, vec![0.0, 1.0])])]);
    assert_eq!(embed(&settings(Shape::OpenAi, url), &["a", "", " \n"]).unwrap().len(), 3);
    assert_eq!(asked.recv().unwrap().body["input"], json!(["a", ".", "."]));
    let (url, _asked) = serve(Vec::new());
    assert_eq!(embed(&settings(Shape::OpenAi, url), &[]), Ok(Vec::new()), "nothing is asked for nothing");
}

#[test]
fn vectors_without_a_number_are_in_order() {
    let answer = r#"{"data":[{"embedding":[1,0]},{"embedding":[0,1]}]}"#;
    let (url, _asked) = serve(vec![Reply::Text(200, answer)]);
    let vectors = embed(&settings(Shape::OpenAi, url), &["a", "b"]).unwrap();
    assert_eq!(vectors, [(vec![1.0, 0.0], false), (vec![0.0, 1.0], false)]);
    let half = r#"{"data":[{"embedding":[1,0]},{"index":0,"embedding":[0,1]}]}"#;
    let (url, _asked) = serve(vec![Reply::Text(200, half)]);
    let error = embed(&settings(Shape::OpenAi, url), &["a", "b"]).unwrap_err();
    assert!(error.contains("received one without a number"), "{error}");
}

#[test]
fn a_wait_that_the_deadline_does_not_allow_is_not_begun() {
    let (url, asked) = serve(vec![Reply::Header(429, "retry-after: 5"), good()]);
    let embedder = HttpEmbedder::connect(&settings(Shape::OpenAi, url), &ctx()).unwrap();
    let started = Instant::now();
    let hurried = Ctx { deadline: Some(started + Duration::from_secs(2)), now: Moment::now() };
    assert!(embedder.embed(&["a"], &hurried).unwrap_err().to_string().contains("429"));
    assert!(started.elapsed() < Duration::from_secs(2), "it gives up at once");
    assert_eq!(asked.try_iter().count(), 1);
}

#[test]
fn cohere_is_told_what_a_vector_is_for() {
    let vectors = || Reply::Json(200, json!({"embeddings": {"float": [[3.0, 4.0]]}}));
    let (url, asked) = serve(vec![vectors(), vectors()]);
    let documents = HttpEmbedder::connect(&settings(Shape::Cohere, url.clone()), &ctx()).unwrap();
    documents.embed(&["a"], &ctx()).unwrap();
    let queries = HttpEmbedder::connect(&settings(Shape::Cohere, url), &ctx()).unwrap().for_queries();
    queries.embed(&["a"], &ctx()).unwrap();
    let told: Vec<_> = asked.try_iter().map(|asked| asked.body["input_type"].clone()).collect();
    assert_eq!(told, ["search_document", "search_query"]);
}

#[test]
fn the_length_of_the_vectors_is_asked_for_when_it_is_not_given() {
    let (url, _asked) = serve(vec![openai(&[(0, vec![1.0, 2.0, 3.0])])]);
    let settings = HttpSettings { dim: None, ..settings(Shape::OpenAi, url) };
    assert_eq!(HttpEmbedder::connect(&settings, &ctx()).unwrap().card().dim, 3);
}

#[test]
fn a_key_comes_from_the_environment_and_is_never_shown() {
    // A variable that is set wherever cargo runs stands in for a key.
    let (url, asked) = serve(vec![Reply::Text(400, concat!("bad key ", env!("CARGO_PKG_NAME"), "!"))]);
    let keyed =
        HttpSettings { key_env: Some("CARGO_PKG_NAME".into()), ..settings(Shape::OpenAi, url.clone()) };
    let error = embed(&keyed, &["a"]).unwrap_err();
    assert!(error.contains("bad key …!"), "{error}");
    assert!(!error.contains(env!("CARGO_PKG_NAME")), "{error}");
    let head = asked.recv().unwrap().head.to_lowercase();
    assert!(head.contains(concat!("authorization: bearer ", env!("CARGO_PKG_NAME"))));

    // Far behind, where a long refusal is cut, and in an answer that cannot be used.
    let far = format!("{:1195}{}", "", env!("CARGO_PKG_NAME"));
    let odd = json!({"data": env!("CARGO_PKG_NAME")});
    for reply in [Reply::Json(400, json!(far)), Reply::Json(200, odd)] {
        let (url, _asked) = serve(vec![reply]);
        let keyed = HttpSettings { key_env: keyed.key_env.clone(), ..settings(Shape::OpenAi, url) };
        let error = embed(&keyed, &["a"]).unwrap_err();
        assert!(!error.contains("mainst"), "{error}");
    }

    let missing =
        HttpSettings { key_env: Some("MAINSTEM_NO_SUCH_KEY".into()), ..settings(Shape::OpenAi, url) };
    assert!(embed(&missing, &["a"]).unwrap_err().contains("MAINSTEM_NO_SUCH_KEY"));
}

#[test]
fn a_service_that_is_not_there_is_an_error_in_time() {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let nobody = HttpSettings { retries: 1, ..settings(Shape::Tei, format!("http://{port}")) };
    assert!(embed(&nobody, &["a"]).unwrap_err().contains("cannot reach"));
}
