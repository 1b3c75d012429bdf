//! Bodies that are too long, too deep, or not what they say.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::table::{Try, check_all, post, request, shared};
use crate::world::Who::{Nobody, Reads, Writes};

/// So many bytes of zeros take a thousandth of that.
fn packed(bytes: usize, start: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(start).unwrap();
    let block = vec![b' '; 1 << 20];
    (0..bytes >> 20).for_each(|_| encoder.write_all(&block).unwrap());
    encoder.finish().unwrap()
}

#[test]
fn bodies_beyond_the_limits_are_refused() {
    let world = shared();
    let nested =
        |open: &str, count: usize| format!("{{\"query\": \"vault\", \"pipeline\": {}", open.repeat(count));
    let gzip = "KEYcontent-type: application/json\r\ncontent-encoding: gzip\r\n";
    let bomb = packed(64 << 20, b"{\"query\": \"vault\"");
    let search = |name, body: &[u8]| post(name, Reads, 400, "/v1/search", body);
    check_all(
        world,
        &[
            post("too long", Reads, 413, "/v1/search", &vec![b' '; (16 << 20) + 1]),
            Try {
                name: "a bomb",
                who: Reads,
                expected: 413,
                request: request("POST /v1/search", gzip, &bomb),
            },
            Try {
                name: "a bomb without a key",
                who: Nobody,
                expected: 401,
                request: request("POST /v1/search", gzip, &bomb),
            },
            Try {
                name: "no gzip",
                who: Reads,
                expected: 400,
                request: request("POST /v1/search", gzip, b"vault"),
            },
            search("deep objects", nested("{\"a\":", 100_000).as_bytes()),
            search("deep lists", nested("[", 100_000).as_bytes()),
            search("a number beyond floats", b"{\"query\": \"vault\", \"vector\": [1e400]}"),
            search("a number that is none", b"{\"query\": \"vault\", \"vector\": [NaN]}"),
            search(
                "more hits than there are numbers",
                b"{\"query\": \"vault\", \"k\": 18446744073709551616}",
            ),
            search("the most hits", b"{\"query\": \"vault\", \"k\": 18446744073709551615}"),
            search("less than no hits", b"{\"query\": \"vault\", \"k\": -1}"),
            search("beyond the last page", b"{\"query\": \"vault\", \"page\": 18446744073709551615}"),
            search("bytes that are no text", b"{\"query\": \"\xff\xfe\"}"),
            search("half a character", b"{\"query\": \"\\ud800\"}"),
            search("nothing", b""),
            search("a list", b"[\"vault\"]"),
        ],
    );
}

#[test]
fn lines_beyond_the_limits_are_refused() {
    let world = shared();
    let headers = "KEYcontent-type: application/x-ndjson\r\n";
    let put = |name, expected, lines: &[u8]| Try {
        name,
        who: Writes,
        expected,
        request: request("PUT /v1/sources/open/documents", headers, lines),
    };
    let deep = format!("{{\"id\": \"deep\", \"text\": \"x\", \"metadata\": {}\n", "{\"a\":".repeat(100_000));
    let long = [b"{\"id\": \"long\", \"text\": \"".as_slice(), &vec![b'x'; 9 << 20], b"\"}\n"].concat();
    let tries = [
        put("a deep line", 200, deep.as_bytes()),
        put("a long line", 200, &long),
        put("zeros", 200, b"\0\0\n"),
    ];
    for one in tries {
        let answer = one.check(world);
        assert!(answer.contains("\"stored\":0,\"refused\":1"), "{}: {answer}", one.name);
    }
}
