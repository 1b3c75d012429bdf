//! Clients that take their time.

use std::io::Write as _;
use std::time::Duration;

use mainstem_server::config::Seconds;

use crate::world::{Holds, Server, TRACES, grant, make_key, read_all};

/// Sends byte by byte, until the server has had enough.
fn trickle(server: &Server, text: &str) -> String {
    let mut stream = server.connect();
    let mut writer = stream.try_clone().unwrap();
    let bytes = text.as_bytes().to_vec();
    let sending = std::thread::spawn(move || {
        for byte in bytes {
            if writer.write_all(&[byte]).is_err() {
                break;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    });
    let _ = stream.flush();
    let answer = read_all(stream);
    sending.join().unwrap();
    answer
}

#[test]
fn slow_clients_learn_nothing() {
    let keys = tempfile::tempdir().unwrap();
    let admin = make_key(keys.path(), "admin", grant(&[], true, None));
    let reads = make_key(keys.path(), "reads", grant(&["open"], false, None));
    let server = Server::new(Some(keys.path()), |config| {
        config.header_timeout = Seconds(Duration::from_millis(300));
        config.body_timeout = Seconds(Duration::from_millis(300));
    });
    server.fill(Holds::All, &admin);
    let head = |key: &str| {
        format!(
            "POST /v1/search HTTP/1.1\r\nhost: x\r\n{key}content-type: application/json\r\ncontent-length: 400\r\nconnection: close\r\n\r\n"
        )
    };
    let key = format!("authorization: Bearer {reads}\r\n");
    let slow_head = trickle(&server, &head(&key));
    assert!(slow_head.is_empty() || slow_head.starts_with("HTTP/1.1 408"), "{slow_head}");
    let body = " ".repeat(400);
    let late = {
        let mut stream = server.connect();
        stream.write_all(head(&key).as_bytes()).unwrap();
        let mut writer = stream.try_clone().unwrap();
        let sending = std::thread::spawn(move || {
            for byte in body.as_bytes() {
                if writer.write_all(&[*byte]).is_err() {
                    break;
                }
                std::thread::sleep(Duration::from_millis(10));
            }
        });
        let answer = read_all(stream);
        sending.join().unwrap();
        answer
    };
    assert!(late.starts_with("HTTP/1.1 408"), "{late}");
    // Who has no key is not waited for at all.
    let nobody = server.raw(head("").as_bytes());
    assert!(nobody.starts_with("HTTP/1.1 401"), "{nobody}");
    for answer in [slow_head, late, nobody] {
        assert!(!TRACES.iter().any(|trace| answer.contains(trace)), "{answer}");
    }
}
