//! Servers that differ in what is hidden, and nothing else.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use mainstem::query::Settings;
use mainstem::store::EmbeddedStore;
use mainstem_core::time::Moment;
use mainstem_server::access::file::KeyFile;
use mainstem_server::access::key::{Grant, Key};
use mainstem_server::run::{Running, start};
use mainstem_server::{ServerConfig, Setup};
use serde_json::{Value, json};

/// Words that stand in hidden documents, in their ids, titles, labels, links and metadata, and nowhere else.
pub(crate) const TRACES: [&str; 9] = [
    "vault",
    "quokkamarker",
    "plan-9x",
    "merger-z7",
    "Okapi takeover",
    "okapi.example",
    "payroll",
    "bobmarker",
    "bob-only-4k",
];

/// A server in a folder that is removed at the end.
pub(crate) struct Server {
    pub(crate) running: Running,
    pub(crate) folder: tempfile::TempDir,
}

/// What is in a store.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Holds {
    /// Everything.
    All,
    /// Nothing of the hidden source.
    WithoutSource,
    /// Nothing that `ann` may not read, either.
    WithoutUnreadable,
    /// Nothing but a source without vectors.
    Notes,
}

/// Who asks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Who {
    /// A key for everything.
    Admin,
    /// A key that reads `open`.
    Reads,
    /// A key that reads and writes `open`.
    Writes,
    /// The key of a reader, for `open` and for `team`, where only what it may not read has vectors.
    Ann,
    /// A key that reads `notes`, where nothing has a vector.
    Notes,
    /// A key that reads and writes `notes`.
    NotesWrites,
    /// Nobody.
    Nobody,
}

/// The secrets of the keys.
pub(crate) struct Secrets {
    pub(crate) all: [(Who, String); 6],
    pub(crate) expired: String,
    pub(crate) revoked: String,
}

impl Secrets {
    pub(crate) fn of(&self, who: Who) -> Option<&str> {
        self.all.iter().find(|(known, _)| *known == who).map(|(_, secret)| secret.as_str())
    }
}

/// The same questions go to all of these.
pub(crate) struct World {
    pub(crate) full: Server,
    pub(crate) without_source: Server,
    pub(crate) without_unreadable: Server,
    pub(crate) notes: Server,
    pub(crate) secrets: Secrets,
}

impl World {
    pub(crate) fn new() -> Self {
        let keys = tempfile::tempdir().unwrap();
        let secrets = make_keys(keys.path());
        let server = |holds: Holds| {
            let server = Server::new(Some(keys.path()), |_| ());
            server.fill(holds, secrets.of(Who::Admin).unwrap());
            crate::links::record(&server, holds);
            server
        };
        Self {
            full: server(Holds::All),
            without_source: server(Holds::WithoutSource),
            without_unreadable: server(Holds::WithoutUnreadable),
            notes: server(Holds::Notes),
            secrets,
        }
    }

    /// The server that has all, and the one that has what this caller may see.
    pub(crate) fn twins(&self, who: Who) -> [&Server; 2] {
        let other = match who {
            Who::Ann => &self.without_unreadable,
            Who::Notes | Who::NotesWrites => &self.notes,
            _ => &self.without_source,
        };
        [&self.full, other]
    }
}

/// A key with this grant in a file.
pub(crate) fn make_key(folder: &Path, name: &str, grant: Grant) -> String {
    let (key, secret) = Key::new(name, grant, Moment::parse("2026-01-01").unwrap()).unwrap();
    KeyFile::of(folder).add(key).unwrap();
    secret
}

pub(crate) fn grant(sources: &[&str], write: bool, reader: Option<&str>) -> Grant {
    let sources = sources.iter().map(|name| (*name).to_owned()).collect::<std::collections::BTreeSet<_>>();
    let sources = (!sources.is_empty()).then_some(sources);
    Grant { sources, write, reader: reader.map(str::to_owned), expires_at: None }
}

fn make_keys(folder: &Path) -> Secrets {
    let make = |name: &str, grant: Grant| make_key(folder, name, grant);
    let all = [
        (Who::Admin, make("admin", grant(&[], true, None))),
        (Who::Reads, make("reads", grant(&["open"], false, None))),
        (Who::Writes, make("writes", grant(&["open"], true, None))),
        (Who::Ann, make("ann", grant(&["open", "team"], false, Some("ann")))),
        (Who::Notes, make("notes", grant(&["notes"], false, None))),
        (Who::NotesWrites, make("notes-writes", grant(&["notes"], true, None))),
    ];
    let past = Some(Moment::parse("2026-02-01").unwrap());
    let expired = make("expired", Grant { expires_at: past, ..grant(&[], true, None) });
    let revoked = make("revoked", grant(&[], true, None));
    KeyFile::of(folder).remove("revoked").unwrap();
    Secrets { all, expired, revoked }
}

/// What the operator has configured, which names hidden sources.
fn pipeline() -> Value {
    json!({
        "route": [
            {"name": "vault questions", "patterns": ["salar"], "weights": {"vault": 3.0}},
            {"name": "releases", "patterns": ["roll"], "weights": {"vault": 0.5, "open": 1.5}},
        ],
        "guarantee": {"vault": {"min": 2, "top": 10}, "open": {"max": 8}},
        "recency": {"vault": {"half_life": "7d", "weight": 0.9}},
        "dedup": {"within": 0.9, "across": 0.9},
    })
}

impl Server {
    /// A server with an empty store and these keys.
    pub(crate) fn new(keys: Option<&Path>, change: impl FnOnce(&mut ServerConfig)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Arc::new(EmbeddedStore::init(&folder.path().join("store")).unwrap());
        if let Some(keys) = keys {
            std::fs::copy(keys.join("keys.json"), folder.path().join("store/keys.json")).unwrap();
        }
        // The answers are the same whether a model is here or not.
        let address = "127.0.0.1:0".parse().unwrap();
        let mut config = ServerConfig { address, embed: false, ..ServerConfig::default() };
        change(&mut config);
        let mut settings = Settings::default();
        settings.sources.insert("vault".to_owned(), 5.0);
        let pipeline = pipeline().as_object().unwrap().clone();
        let link = mainstem_core::link::LinkSettings::default();
        let setup =
            Setup { store, settings, pipeline, reranking: None, config, keys: true, asker: None, link };
        Self { running: start(setup).unwrap(), folder }
    }

    pub(crate) fn store(&self) -> std::path::PathBuf {
        self.folder.path().join("store")
    }

    /// The hidden source comes first and has all that `open` has, so that `open` is its copy; and more of it comes last.
    pub(crate) fn fill(&self, holds: Holds, key: &str) {
        let pages = |host: &str| (0..20).map(|at| document(at, host)).collect::<Vec<_>>();
        if holds == Holds::All {
            self.put("vault?&kind=payroll", &pages("okapi.example"), key);
        }
        let notes = [1, 2]
            .map(|at| json!({"id": format!("note-{at}"), "text": format!("note {at}: a rollback is near")}));
        self.put("notes", &notes, key);
        if holds == Holds::Notes {
            return;
        }
        self.put("open?&kind=wiki", &pages("open"), key);
        let readable =
            json!({"id": "for-ann", "text": "ann reads of the rollback budget", "readers": ["ann", "bob"]});
        for source in ["open", "team"] {
            if holds != Holds::WithoutUnreadable {
                self.put(source, &unreadable(), key);
            }
            self.put(source, std::slice::from_ref(&readable), key);
        }
        if holds == Holds::All {
            self.put("vault", &hidden(), key);
        }
    }

    fn put(&self, source: &str, documents: &[Value], key: &str) {
        let (source, query) = source.split_once('?').unwrap_or((source, ""));
        let lines: String = documents.iter().map(|document| document.to_string() + "\n").collect();
        let head = format!(
            "PUT /v1/sources/{source}/documents?vectors_model=test{query} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {key}\r\nconnection: close\r\n\
             content-type: application/x-ndjson\r\ncontent-length: {}\r\n\r\n",
            lines.len()
        );
        let answer = self.raw((head + &lines).as_bytes());
        let stored = format!("\"done\":true,\"stored\":{}", documents.len());
        assert!(answer.contains(&stored), "{answer}");
    }

    /// Sends bytes as they are, and reads until the server closes the connection.
    pub(crate) fn raw(&self, bytes: &[u8]) -> String {
        let mut stream = self.connect();
        // A server that refuses a body closes before it has read all of it, which some systems call a reset.
        let _ = stream.write_all(bytes);
        read_all(stream)
    }

    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.running.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        stream
    }
}

pub(crate) fn read_all(mut stream: TcpStream) -> String {
    let mut read = Vec::new();
    let _ = stream.read_to_end(&mut read);
    let _ = stream.shutdown(Shutdown::Both);
    String::from_utf8_lossy(&read).into_owned()
}

fn vector(at: usize) -> Value {
    let angle = at as f64 * 0.3;
    json!([angle.cos(), angle.sin(), 0.1 * at as f64, 1.0])
}

/// A document that both sources have.
fn document(at: usize, host: &str) -> Value {
    let topics =
        ["rollback of a release", "lunch at noon", "budget of the team", "salaries of juniors", "onboarding"];
    let text = format!("page {at} about the {} and how to roll it out again", topics[at % topics.len()]);
    json!({"id": format!("page-{at}"), "title": format!("Page {at}"), "text": text, "url": format!("https://{host}/{at}"),
           "created_at": "2026-01-10", "vector": vector(at), "metadata": {"team": "core"}})
}

/// Documents of `open` that `ann` may not read.
fn unreadable() -> Vec<Value> {
    let one = |at: usize| {
        let text = format!("bobmarker {at}: the rollback of salaries and of the budget, for the eyes of bob");
        json!({"id": format!("bob-only-4k-{at}"), "title": "bobmarker", "text": text, "readers": ["bob"],
               "vector": vector(at), "created_at": "2026-01-20"})
    };
    (0..7).map(one).collect()
}

/// Documents of the hidden source alone, some nearly the same as open ones.
fn hidden() -> Vec<Value> {
    let one = |at: usize| {
        let near = document(at, "x")["text"].as_str().unwrap().to_owned();
        let id = if at == 0 { "plan-9x".to_owned() } else { format!("merger-z7-{at}") };
        json!({"id": id, "title": "Okapi takeover", "text": format!("{near} quokkamarker rollback salaries"),
               "url": format!("https://okapi.example/hidden/{at}"), "label": "Okapi takeover", "created_at": "2026-01-30",
               "vector": vector(at), "metadata": {"team": "quokkamarker"}})
    };
    (0..10).map(one).collect()
}
