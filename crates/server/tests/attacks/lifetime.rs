//! Keys come and go while a server runs.

use std::time::{Duration, Instant};

use mainstem_server::access::file::KeyFile;
use mainstem_server::run::start;
use mainstem_server::{ServerConfig, Setup};

use crate::table::request;
use crate::world::{Server, grant, make_key};

fn status(server: &Server, headers: &str) -> String {
    let answer = server.raw(&request("GET /v1/sources", headers, b""));
    answer.get(9..12).unwrap_or_default().to_owned()
}

/// Asks until the answer has this status; a minute is longer than any server takes.
#[track_caller]
fn wait_for(server: &Server, headers: &str, expected: &str) {
    let started = Instant::now();
    while status(server, headers) != expected {
        assert!(started.elapsed() < Duration::from_secs(60), "still {}", status(server, headers));
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn a_server_follows_what_becomes_of_keys() {
    let server = Server::new(None, |_| ());
    assert_eq!(status(&server, ""), "200", "without keys this machine may ask");
    let bearer = |secret: &str| format!("authorization: Bearer {secret}\r\n");
    let first = bearer(&make_key(&server.store(), "first", grant(&[], true, None)));
    wait_for(&server, "", "401");
    assert_eq!(status(&server, &first), "200");
    let second = bearer(&make_key(&server.store(), "second", grant(&[], true, None)));
    wait_for(&server, &second, "200");
    KeyFile::of(&server.store()).remove("first").unwrap();
    wait_for(&server, &first, "401");
    assert_eq!(status(&server, &second), "200");
    KeyFile::of(&server.store()).remove("second").unwrap();
    wait_for(&server, &second, "401");
    assert_eq!(status(&server, ""), "401", "the last key that goes does not open the door");
}

#[test]
fn this_machine_may_be_let_in() {
    let keys = tempfile::tempdir().unwrap();
    let secret = make_key(keys.path(), "a", grant(&["open"], false, None));
    let server = Server::new(Some(keys.path()), |config| config.open_on_loopback = true);
    assert_eq!(status(&server, ""), "200");
    assert_eq!(status(&server, &format!("x-api-key: {secret}\r\n")), "200");
    for refused in ["x-api-key: ms_wrong\r\n", "x-forwarded-for: 10.0.0.1\r\n"] {
        assert_eq!(status(&server, refused), "401", "{refused}");
    }
}

#[test]
fn a_name_of_the_network_is_no_way_in_without_a_key() {
    let server = Server::new(None, |_| ());
    let ask = |host: &str| {
        let text = format!("GET /v1/sources HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n");
        server.raw(text.as_bytes()).get(9..12).unwrap_or_default().to_owned()
    };
    assert_eq!(ask("evil.example"), "403");
    for host in ["localhost:7700", "127.0.0.1", "[::1]:7700"] {
        assert_eq!(ask(host), "200", "{host}");
    }
}

#[test]
fn keys_let_a_server_listen_to_others() {
    let folder = tempfile::tempdir().unwrap();
    let setup = |address: &str| {
        let store = std::sync::Arc::new(mainstem::store::EmbeddedStore::init(folder.path()).unwrap());
        let config = ServerConfig {
            address: address.parse().unwrap(),
            open_on_loopback: true,
            ..ServerConfig::default()
        };
        let (settings, pipeline) = (mainstem::query::Settings::default(), serde_json::Map::new());
        let link = mainstem_core::link::LinkSettings::default();
        Setup { store, settings, pipeline, reranking: None, config, keys: true, asker: None, link }
    };
    // An address that is on no machine of ours: what is refused here is that there are no keys, not the address.
    let error = start(setup("192.0.2.1:0")).err().unwrap();
    assert_eq!(error.code.as_str(), "E0205", "{error}");
    make_key(folder.path(), "a", grant(&[], false, None));
    let error = start(setup("192.0.2.1:0")).err().unwrap();
    assert_eq!(error.code.as_str(), "E0301", "{error}");
}
