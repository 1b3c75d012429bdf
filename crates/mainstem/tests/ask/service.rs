//! A service with the interface of `OpenAI` that says what a test has written for it.
#![allow(dead_code, reason = "each test program uses a part of this")]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

/// What the service does in one answer, in this order. It hangs up at the end.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    /// Says something, as one event.
    Say(&'static str),
    /// Ends as it should.
    Done,
    /// Sends these bytes.
    Raw(String),
    /// Falls silent until the other side hangs up, and tells the test.
    WaitUntilLeft,
}

/// One answer.
#[derive(Clone, Debug)]
pub(crate) struct Script {
    pub(crate) status: u16,
    pub(crate) kind: &'static str,
    /// Other lines of the head, each with its end.
    pub(crate) more: &'static str,
    pub(crate) steps: Vec<Step>,
}

impl Script {
    /// A stream.
    pub(crate) fn stream(steps: impl IntoIterator<Item = Step>) -> Self {
        Self { status: 200, kind: "text/event-stream", more: "", steps: steps.into_iter().collect() }
    }

    /// A stream that says these things and ends.
    pub(crate) fn says(parts: &[&'static str]) -> Self {
        Self::stream(parts.iter().map(|part| Step::Say(part)).chain([Step::Done]))
    }

    /// An answer of JSON.
    pub(crate) fn json(status: u16, body: &Value) -> Self {
        Self { status, kind: "application/json", more: "", steps: vec![Step::Raw(body.to_string())] }
    }
}

/// A question as it arrived.
#[derive(Clone, Debug)]
pub(crate) struct Question {
    pub(crate) head: String,
    pub(crate) body: Value,
}

impl Question {
    pub(crate) fn message(&self, role: &str) -> String {
        let messages = self.body["messages"].as_array().unwrap();
        let message = messages.iter().find(|message| message["role"] == role).unwrap();
        message["content"].as_str().unwrap().to_owned()
    }
}

pub(crate) struct Service {
    pub(crate) url: String,
    asked: Arc<Mutex<Vec<Question>>>,
    left: Receiver<()>,
}

impl Service {
    /// One script for each question, in order; the last one for all others.
    pub(crate) fn start(scripts: Vec<Script>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let asked = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&asked);
        let (sender, left) = channel();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (log, sender, scripts) = (Arc::clone(&log), sender.clone(), scripts.clone());
                thread::spawn(move || converse(stream, &scripts, &log, &sender));
            }
        });
        Self { url, asked, left }
    }

    pub(crate) fn asked(&self) -> Vec<Question> {
        self.asked.lock().unwrap().clone()
    }

    /// Waits until the service has seen that the other side hung up.
    pub(crate) fn wait_until_left(&self) {
        self.left.recv_timeout(Duration::from_secs(60)).expect("the call to the model goes on");
    }
}

fn converse(mut stream: TcpStream, scripts: &[Script], log: &Mutex<Vec<Question>>, left: &Sender<()>) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let head: Vec<String> =
        reader.by_ref().lines().map_while(Result::ok).take_while(|line| !line.is_empty()).collect();
    let length =
        head.iter().find_map(|line| line.to_lowercase().strip_prefix("content-length: ")?.parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    if reader.read_exact(&mut body).is_err() {
        return;
    }
    let Ok(body) = serde_json::from_slice(&body) else { return };
    let nth = {
        let mut log = log.lock().unwrap();
        log.push(Question { head: head.join("\n"), body });
        log.len() - 1
    };
    let script = &scripts[nth.min(scripts.len() - 1)];
    let Script { status, kind, more, .. } = script;
    let head = format!("HTTP/1.1 {status} X\r\ncontent-type: {kind}\r\n{more}connection: close\r\n\r\n");
    let _ = stream.write_all(head.as_bytes());
    for step in &script.steps {
        let text = match step {
            Step::Say(text) => {
                format!("data: {}\n\n", json!({"choices": [{"index": 0, "delta": {"content": text}}]}))
            }
            Step::Done => format!(
                "data: {}\n\ndata: [DONE]\n\n",
                json!({"choices": [{"delta": {}, "finish_reason": "stop"}]})
            ),
            Step::Raw(text) => text.clone(),
            Step::WaitUntilLeft => {
                stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
                let read = stream.read(&mut [0]);
                let timed_out =
                    read.as_ref().is_err_and(|error| error.kind() == std::io::ErrorKind::WouldBlock);
                if !timed_out {
                    let _ = left.send(());
                }
                return;
            }
        };
        let _ = stream.write_all(text.as_bytes()).and_then(|()| stream.flush());
    }
}
