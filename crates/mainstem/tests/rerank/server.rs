//! A server on loopback that does as the script says, one entry for each connection; the last entry is for all that follow.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use serde_json::Value;

/// What the server does with one connection.
#[derive(Clone)]
pub(crate) enum Reply {
    /// An answer made from the body of the request.
    Answer(fn(&Value) -> String),
    Status(u16, &'static str),
    /// A status with a header.
    Header(u16, &'static str),
    /// Takes the request and says nothing.
    Silence,
    /// Sends an endless body, one byte at a time.
    Trickle,
    /// Closes the connection before a word.
    HangUp,
    /// Closes it in the middle of the body.
    BreakOff,
    /// Sends a body of this many bytes.
    Huge(usize),
    /// Sends a little that unpacks to this many MiB of blanks.
    Bomb(usize),
}

/// What the server was asked.
#[derive(Clone)]
pub(crate) struct Asked {
    pub(crate) head: String,
    pub(crate) body: Value,
}

pub(crate) struct Server {
    pub(crate) url: String,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl Server {
    pub(crate) fn new(script: Vec<Reply>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let asked = Arc::new(Mutex::new(Vec::new()));
        let heard = Arc::clone(&asked);
        thread::spawn(move || {
            for at in 0.. {
                let (stream, _) = listener.accept().unwrap();
                let reply = script[at.min(script.len() - 1)].clone();
                let heard = Arc::clone(&heard);
                thread::spawn(move || {
                    let Some(request) = read_request(&stream) else { return };
                    heard.lock().unwrap().push(request.clone());
                    answer(stream, &request.body, reply);
                });
            }
        });
        Self { url, asked }
    }

    /// What it was asked so far.
    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }
}

fn read_request(mut stream: &TcpStream) -> Option<Asked> {
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
            let body = serde_json::from_slice(&bytes[head..head + length]).ok()?;
            return Some(Asked { head: String::from_utf8_lossy(&bytes[..head]).into_owned(), body });
        }
        let read = stream.read(&mut block).ok().filter(|read| *read > 0)?;
        bytes.extend_from_slice(&block[..read]);
    }
}

fn answer(mut stream: TcpStream, asked: &Value, reply: Reply) {
    let (status, header, body) = match reply {
        Reply::Answer(make) => (200, "x: y", make(asked).into_bytes()),
        Reply::Status(status, body) => (status, "x: y", body.into()),
        Reply::Header(status, header) => (status, header, b"{}".to_vec()),
        Reply::Huge(bytes) => (200, "x: y", vec![b' '; bytes]),
        Reply::Bomb(size) => {
            let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
            packed.write_all(&vec![b' '; 1 << 20]).unwrap();
            (200, "content-encoding: gzip", packed.finish().unwrap().repeat(size))
        }
        Reply::HangUp => return,
        Reply::Silence => return thread::sleep(Duration::from_secs(600)),
        Reply::BreakOff => {
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n[{\"index\":");
            return;
        }
        Reply::Trickle => {
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n");
            while stream.write_all(b" ").is_ok() {
                thread::sleep(Duration::from_millis(20));
            }
            return;
        }
    };
    let length = body.len();
    let head =
        format!("HTTP/1.1 {status} X\r\n{header}\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n");
    let _ = stream.write_all(&[head.into_bytes(), body].concat());
}
