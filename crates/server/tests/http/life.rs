//! Starting and stopping.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Duration;

use mainstem::store::EmbeddedStore;
use mainstem_server::ApiError;
use mainstem_server::config::Seconds;
use serde_json::json;

use crate::client::Server;

#[test]
fn a_server_that_stops_finishes_what_it_has_begun() {
    let server = Server::new();
    let address = server.running.address;
    let mut stream = server.connect();
    let head = "PUT /v1/sources/s/documents HTTP/1.1\r\nhost: x\r\ncontent-type: application/x-ndjson\r\ncontent-length: 48\r\n\r\n";
    stream.write_all(format!("{head}{{\"id\":\"a\",\"text\":\"one\"}}\n").as_bytes()).unwrap();
    let mut begun = [0; 15];
    stream.read_exact(&mut begun).unwrap();
    let Server { running, folder, .. } = server;
    let app = Arc::clone(&running.app);
    let stopping = std::thread::spawn(move || running.stop());
    while !app.is_stopping() {
        std::thread::yield_now();
    }
    drop(app);
    stream.write_all(b"{\"id\":\"b\",\"text\":\"two\"}\n").unwrap();
    let mut rest = String::new();
    stream.read_to_string(&mut rest).unwrap();
    assert!(rest.contains(r#""done":true,"stored":2"#), "{rest}");
    stopping.join().unwrap().unwrap();
    assert!(TcpStream::connect(address).is_err(), "nobody listens any more");
    let store = EmbeddedStore::open_read_only(&folder.path().join("store")).unwrap();
    assert_eq!(store.sources().unwrap()[0].documents, 2);
    assert!(!folder.path().join("store/unsettled").exists(), "the indexes are on disk");
}

#[test]
fn an_answer_that_takes_too_long_is_an_error_and_gives_its_place_back() {
    let server = Server::with(|config| {
        config.request_timeout = Seconds(Duration::from_millis(50));
        config.searches = 1;
    });
    let app = Arc::clone(&server.running.app);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let (release, released) = channel::<()>();
    let slot = app.search_slot().unwrap();
    let late = runtime.block_on(app.work(Some(slot), move |_| {
        let _ = released.recv();
        Ok(())
    }));
    assert_eq!(late.unwrap_err().status(), 504);
    assert_eq!(server.post("/v1/search", &json!({"query": "x"})).error().0, 503, "the work still runs");
    drop(release);
    while app.running() != (0, 0) {
        std::thread::yield_now();
    }
    assert_eq!(server.get("/healthz").status, 200);
}

#[test]
fn work_that_panics_is_an_error_without_details() {
    let server = Server::new();
    let app = Arc::clone(&server.running.app);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let slot = app.search_slot().unwrap();
    let panicked =
        runtime.block_on(app.work(Some(slot), |_| -> Result<(), ApiError> { panic!("secret words") }));
    let error = panicked.unwrap_err();
    assert_eq!(error.status(), 500);
    assert!(!error.message.contains("secret"));
    assert_eq!(app.running(), (0, 0));
}

#[test]
fn one_process_writes() {
    let server = Server::filled();
    let error = EmbeddedStore::init(&server.folder.path().join("store")).unwrap_err();
    assert!(matches!(error, mainstem::Error::Busy { .. }), "{error}");
    let reader = EmbeddedStore::open_read_only(&server.folder.path().join("store")).unwrap();
    assert_eq!(reader.sources().unwrap().len(), 2);
    assert_eq!(server.search(&json!({"query": "rollback"}))["total"], 2);
}
