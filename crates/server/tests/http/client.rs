//! A server with a store of its own, and a client for it.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use mainstem::ask::{AskSettings, Asker};
use mainstem::query::Settings;
use mainstem::rerank::Reranking;
use mainstem::store::EmbeddedStore;
use mainstem_core::link::LinkSettings;
use mainstem_server::run::{Running, start};
use mainstem_server::{ServerConfig, Setup};
use serde_json::{Map, Value, json};

/// A server in a folder that is removed at the end.
pub(crate) struct Server {
    pub(crate) running: Running,
    pub(crate) folder: tempfile::TempDir,
    agent: ureq::Agent,
}

/// An answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: ureq::http::HeaderMap,
    pub(crate) text: String,
}

impl Answer {
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|error| panic!("{error}: {}", self.text))
    }

    /// The lines of an answer of many.
    pub(crate) fn lines(&self) -> Vec<Value> {
        self.text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// The status and the code of an error, whose message and hint say something.
    #[track_caller]
    pub(crate) fn error(&self) -> (u16, String) {
        let error = &self.json()["error"];
        let full = |name: &str| error[name].as_str().is_some_and(|text| !text.is_empty());
        assert!(full("message") && full("hint"), "{}", self.text);
        assert_eq!(error.as_object().unwrap().len(), 3, "{}", self.text);
        (self.status, error["code"].as_str().unwrap().to_owned())
    }
}

impl Server {
    /// A server with an empty store.
    pub(crate) fn new() -> Self {
        Self::with(|_| ())
    }

    /// A server with other options.
    pub(crate) fn with(change: impl FnOnce(&mut ServerConfig)) -> Self {
        Self::with_pipeline(Map::new(), change)
    }

    /// A server with a configured pipeline.
    pub(crate) fn with_pipeline(
        pipeline: Map<String, Value>,
        change: impl FnOnce(&mut ServerConfig),
    ) -> Self {
        Self::start(|setup, _| {
            setup.pipeline = pipeline;
            change(&mut setup.config);
        })
    }

    /// A server with a reranker.
    pub(crate) fn with_reranker(pipeline: Map<String, Value>, reranking: Reranking) -> Self {
        Self::start(|setup, _| (setup.pipeline, setup.reranking) = (pipeline, Some(reranking)))
    }

    /// A server whose questions are answered under these settings.
    pub(crate) fn that_asks(settings: AskSettings, change: impl FnOnce(&mut ServerConfig)) -> Self {
        let server = Self::start(|setup, folder| {
            setup.asker = Some(Arc::new(Asker::new(settings, folder).unwrap()));
            change(&mut setup.config);
        });
        server.fill();
        server
    }

    /// A server with an empty store in a folder of its own, which is set up differently.
    fn start(change: impl FnOnce(&mut Setup, &Path)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Arc::new(EmbeddedStore::init(&folder.path().join("store")).unwrap());
        // The answers are the same whether a model is here or not.
        let address = "127.0.0.1:0".parse().unwrap();
        let mut setup = Setup {
            store,
            settings: Settings::default(),
            pipeline: Map::new(),
            reranking: None,
            config: ServerConfig { address, embed: false, ..ServerConfig::default() },
            keys: false,
            asker: None,
            link: LinkSettings::default(),
        };
        change(&mut setup, folder.path());
        let running = start(setup).unwrap();
        let agent = ureq::Agent::config_builder().http_status_as_error(false).build().into();
        Self { running, folder, agent }
    }

    /// A server with a few documents of two sources.
    pub(crate) fn filled() -> Self {
        let server = Self::new();
        server.fill();
        server
    }

    pub(crate) fn fill(&self) {
        let wiki = [
            json!({"id": "release", "title": "Releases", "text": "How to roll back a release: run the rollback job.",
                   "url": "https://wiki.example/release", "created_at": "2026-01-01", "metadata": {"status": "open"}}),
            json!({"id": "guides/a b", "title": "Guide", "text": "A guide with a slash and a space in its id."}),
            json!({"id": "pay", "text": "Salaries are paid on the last day.", "readers": ["ann"]}),
        ];
        let chat = [
            json!({"id": "1", "text": "the rollback job failed again", "created_at": "2026-01-30"}),
            json!({"id": "2", "text": "lunch at noon?", "created_at": "2026-01-31"}),
        ];
        self.ingest("wiki", &wiki);
        self.ingest("chat?kind=slack", &chat);
    }

    /// Puts documents, all of which must be stored.
    #[track_caller]
    pub(crate) fn ingest(&self, source: &str, documents: &[Value]) {
        let (source, query) = source.split_once('?').unwrap_or((source, ""));
        let lines: String = documents.iter().map(|document| document.to_string() + "\n").collect();
        let answer = self.put(&format!("/v1/sources/{source}/documents?{query}"), lines);
        let last = answer.lines().pop().unwrap();
        assert_eq!(
            (last["done"].clone(), last["stored"].clone()),
            (json!(true), json!(documents.len())),
            "{}",
            answer.text
        );
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.running.address)
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        answer(self.agent.get(self.url(path)).call())
    }

    pub(crate) fn delete(&self, path: &str) -> Answer {
        answer(self.agent.delete(self.url(path)).call())
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> Answer {
        self.post_text(path, body.to_string())
    }

    pub(crate) fn post_text(&self, path: &str, body: impl Into<Vec<u8>>) -> Answer {
        let request = self.agent.post(self.url(path)).header("content-type", "application/json");
        answer(request.send(body.into()))
    }

    pub(crate) fn put(&self, path: &str, body: impl Into<Vec<u8>>) -> Answer {
        let request = self.agent.put(self.url(path)).header("content-type", "application/x-ndjson");
        answer(request.send(body.into()))
    }

    pub(crate) fn search(&self, ask: &Value) -> Value {
        let answer = self.post("/v1/search", ask);
        assert_eq!(answer.status, 200, "{}", answer.text);
        answer.json()
    }

    /// Sends bytes as they are, and reads until the server closes the connection.
    pub(crate) fn raw(&self, bytes: &[u8]) -> Vec<u8> {
        let mut stream = self.connect();
        stream.write_all(bytes).unwrap();
        let mut read = Vec::new();
        // A server that refuses a body closes before it has read all of it, which some systems call a reset.
        let _ = stream.read_to_end(&mut read);
        let _ = stream.shutdown(Shutdown::Both);
        read
    }

    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.running.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        stream
    }
}

fn answer(result: Result<ureq::http::Response<ureq::Body>, ureq::Error>) -> Answer {
    let mut response = result.unwrap();
    let text = response.body_mut().with_config().limit(1 << 30).read_to_string().unwrap();
    Answer { status: response.status().as_u16(), headers: response.headers().clone(), text }
}

/// The names of the hits.
pub(crate) fn ids(answer: &Value) -> Vec<&str> {
    answer["hits"].as_array().unwrap().iter().map(|hit| hit["id"].as_str().unwrap()).collect()
}
