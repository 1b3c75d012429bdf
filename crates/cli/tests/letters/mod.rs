//! A model behind HTTP that counts letters, and what it is asked.
#![allow(dead_code, reason = "each test program uses a part of this")]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::{Value, json};

/// A service that speaks the interface of `OpenAI`. A text's vector is how often it has each of `a`, `b` and `c`, and one more.
pub(crate) struct Service {
    pub(crate) url: String,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Service {
    pub(crate) fn start() -> Self {
        Self::start_at("127.0.0.1:0")
    }

    /// At an address that others may know already.
    pub(crate) fn start_at(address: &str) -> Self {
        let listener = TcpListener::bind(address).unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let asked = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&asked);
        thread::spawn(move || listener.incoming().flatten().for_each(|stream| answer(stream, &log)));
        Self { url, asked }
    }

    /// What was asked since the last time.
    pub(crate) fn asked(&self) -> Vec<String> {
        std::mem::take(&mut self.asked.lock().unwrap())
    }
}

fn answer(mut stream: TcpStream, log: &Mutex<Vec<String>>) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let head: Vec<_> =
        reader.by_ref().lines().map_while(Result::ok).take_while(|line| !line.is_empty()).collect();
    let length =
        head.iter().find_map(|line| line.to_lowercase().strip_prefix("content-length: ")?.parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    if reader.read_exact(&mut body).is_err() {
        return;
    }
    let question: Value = serde_json::from_slice(&body).unwrap();
    let texts: Vec<_> =
        question["input"].as_array().unwrap().iter().map(|text| text.as_str().unwrap()).collect();
    log.lock().unwrap().extend(texts.iter().map(|text| (*text).to_owned()));
    let count = |text: &str, letter: char| 1 + text.matches(letter).count();
    let data = texts.iter().enumerate().map(|(index, text)| {
        json!({"index": index, "embedding": [count(text, 'a'), count(text, 'b'), count(text, 'c')]})
    });
    let body = json!({"data": data.collect::<Vec<_>>()}).to_string();
    let head = format!("HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: {}\r\n\r\n", body.len());
    let _ = stream.write_all((head + &body).as_bytes());
}
