//! Starting and stopping.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use mainstem::store::EmbeddedStore;
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
    let app = std::sync::Arc::clone(&running.app);
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
fn one_process_writes() {
    let server = Server::filled();
    let error = EmbeddedStore::init(&server.folder.path().join("store")).unwrap_err();
    assert!(matches!(error, mainstem::Error::Busy { .. }), "{error}");
    let reader = EmbeddedStore::open_read_only(&server.folder.path().join("store")).unwrap();
    assert_eq!(reader.sources().unwrap().len(), 2);
    assert_eq!(server.search(&json!({"query": "rollback"}))["total"], 2);
}
