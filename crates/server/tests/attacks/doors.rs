//! Tries to come in without a key, or with two.

use mainstem_server::config::Origins;

use crate::table::{Try, check_all, plain, post, request, shared, with};
use crate::world::{Server, Who, World, grant, make_key};

use Who::{Nobody, Reads};

#[test]
fn without_a_key_nothing_answers() {
    check_all(
        shared(),
        &[
            plain("sources", Nobody, 401, "GET /v1/sources"),
            plain("a document", Nobody, 401, "GET /v1/documents/vault/plan-9x"),
            post("a search", Nobody, 401, "/v1/search", b"{\"query\": \"quokkamarker\"}"),
            post("a fusion", Nobody, 401, "/v1/fuse", b"{\"lists\": []}"),
            plain("what is not there", Nobody, 401, "GET /v1/nothing"),
            plain("another method", Nobody, 401, "POST /v1/sources"),
            plain("an unknown method", Nobody, 401, "BREW /v1/sources"),
            plain("only the head", Nobody, 401, "HEAD /v1/documents/vault/plan-9x"),
            plain("what may be asked", Nobody, 401, "OPTIONS /v1/sources"),
            plain("an echo", Nobody, 401, "TRACE /v1/sources"),
            plain("the protocol of agents", Nobody, 401, "POST /mcp"),
            plain("the metrics", Nobody, 401, "GET /metrics"),
            plain("a step up from an open path", Nobody, 401, "GET /healthz/../v1/sources"),
            plain("a step up in percents", Nobody, 401, "GET /docs/%2e%2e/v1/sources"),
            plain("two slashes", Nobody, 401, "GET //v1/sources"),
            plain("a semicolon", Nobody, 401, "GET /v1/sources;/healthz"),
            plain("a whole address", Nobody, 401, "GET http://x/v1/sources"),
            with(
                "another address in a header",
                Nobody,
                200,
                "GET /healthz",
                "x-original-url: /v1/sources\r\nx-rewrite-url: /v1/sources\r\n",
            ),
            with(
                "this machine",
                Nobody,
                401,
                "GET /v1/sources",
                "x-forwarded-for: 127.0.0.1\r\nx-real-ip: 127.0.0.1\r\n",
            ),
            with(
                "this machine, by the standard",
                Nobody,
                401,
                "GET /v1/sources",
                "forwarded: for=127.0.0.1;host=localhost\r\n",
            ),
        ],
    );
}

#[test]
fn what_is_open_says_nothing() {
    check_all(
        shared(),
        &[
            plain("alive", Nobody, 200, "GET /healthz"),
            plain("the page, to give it a key", Nobody, 200, "GET /"),
            plain("its script", Nobody, 200, "GET /web/app.js"),
            plain("nothing else of its folder", Nobody, 401, "GET /web/app.jsx"),
            plain("what was measured", Nobody, 401, "GET /v1/reports"),
            post("lists", Nobody, 401, "/v1/record", b"{\"query\": \"rollback\"}"),
            plain("ready", Nobody, 200, "GET /readyz"),
            plain("the description", Nobody, 200, "GET /openapi.json"),
            plain("the page", Nobody, 200, "GET /docs"),
        ],
    );
}

/// A request with these headers, in which `GOOD` stands for the secret of a key.
fn tricked(world: &World, name: &'static str, expected: u16, headers: &str) -> Try {
    let headers = headers.replace("GOOD", world.secrets.of(Reads).unwrap());
    with(name, Reads, expected, "GET /v1/documents/vault/plan-9x", &headers)
}

#[test]
fn one_key_is_one_key() {
    let world = shared();
    let bad = format!("ms_{}", "0".repeat(64));
    let long = "a".repeat(300);
    let tries = [
        tricked(world, "in letters of any case", 404, "aUtHoRiZaTiOn: bEaReR GOOD\r\n"),
        tricked(world, "with spaces around", 404, "authorization:   Bearer    GOOD   \r\n"),
        tricked(world, "in the other header", 404, "x-api-key: GOOD\r\n"),
        tricked(world, "twice", 401, "authorization: Bearer GOOD\r\nauthorization: Bearer GOOD\r\n"),
        tricked(
            world,
            "with a wrong one",
            401,
            &format!("authorization: Bearer {bad}\r\nauthorization: Bearer GOOD\r\n"),
        ),
        tricked(
            world,
            "with a wrong one, elsewhere",
            401,
            &format!("authorization: Bearer GOOD\r\nx-api-key: {bad}\r\n"),
        ),
        tricked(world, "two in one", 401, &format!("authorization: Bearer GOOD, Bearer {bad}\r\n")),
        tricked(world, "without its scheme", 401, "authorization: GOOD\r\n"),
        tricked(world, "with another scheme", 401, "authorization: Basic GOOD\r\n"),
        tricked(world, "with a tab", 401, "authorization: Bearer\tGOOD\r\n"),
        tricked(world, "with more behind", 401, "authorization: Bearer GOOD0\r\n"),
        tricked(world, "with much more behind", 401, &format!("authorization: Bearer GOOD{long}\r\n")),
        tricked(world, "as a cookie", 401, "cookie: key=GOOD; authorization=Bearer GOOD\r\n"),
        tricked(world, "for a proxy", 401, "proxy-authorization: Bearer GOOD\r\n"),
        tricked(world, "empty", 401, "authorization: Bearer \r\n"),
        tricked(world, "nothing", 401, "authorization:\r\n"),
        tricked(world, "bytes", 401, "authorization: Bearer \u{e9}\r\n"),
    ];
    check_all(world, &tries);
}

#[test]
fn a_key_in_the_address_is_none() {
    let world = shared();
    let key = world.secrets.of(Reads).unwrap();
    let named = |name: &str| plain("in the address", Nobody, 401, &format!("GET /v1/sources?{name}={key}"));
    check_all(world, &["key", "api_key", "access_token", "token", "authorization"].map(named));
}

#[test]
fn wrong_expired_and_revoked_keys_get_the_same_answer() {
    let world = shared();
    let answer = |headers: &str| with("a key", Nobody, 401, "GET /v1/sources", headers).check(world);
    let none = answer("");
    let secrets = &world.secrets;
    let wrong = format!("ms_{}", "0".repeat(64));
    for secret in [wrong.as_str(), &secrets.expired, &secrets.revoked, "x"] {
        assert_eq!(answer(&format!("authorization: Bearer {secret}\r\n")), none);
        assert_eq!(answer(&format!("x-api-key: {secret}\r\n")), none);
    }
    assert!(none.to_lowercase().contains("www-authenticate: bearer"), "{none}");
}

#[test]
fn requests_that_are_no_http_are_refused() {
    let world = shared();
    let key = world.secrets.of(Reads).unwrap();
    let raw = |name: &'static str, expected: u16, text: String| Try {
        name,
        who: Nobody,
        expected,
        request: text.into_bytes(),
    };
    let long = "a".repeat(1 << 20);
    let path = "/v1/documents/vault/plan-9x";
    check_all(
        world,
        &[
            raw(
                "a zero byte in a header",
                400,
                format!("GET {path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {key}\0\r\n\r\n"),
            ),
            raw(
                "a zero byte in the address",
                400,
                format!("GET {path}\0 HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {key}\r\n\r\n"),
            ),
            raw(
                "a header on two lines",
                400,
                format!("GET {path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer\r\n {key}\r\n\r\n"),
            ),
            raw(
                "a header without end",
                431,
                format!("GET {path} HTTP/1.1\r\nhost: x\r\nx-long: {long}\r\n\r\n"),
            ),
            raw(
                "a space before the colon",
                400,
                format!("GET {path} HTTP/1.1\r\nhost: x\r\nauthorization : Bearer {key}\r\n\r\n"),
            ),
            raw("1.0 without a host", 401, format!("GET {path} HTTP/1.0\r\nx-request-id: t\r\n\r\n")),
            raw(
                "1.0 with a key",
                404,
                format!("GET {path} HTTP/1.0\r\nx-request-id: t\r\nauthorization: Bearer {key}\r\n\r\n"),
            ),
            raw(
                "two lengths",
                400,
                format!(
                    "POST /v1/search HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {key}\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\n{{}}"
                ),
            ),
        ],
    );
}

/// Two requests in one: what is behind the first is one of its own, and needs a key of its own.
#[test]
fn a_second_request_on_a_connection_needs_its_own_key() {
    let world = shared();
    let first = String::from_utf8(request("GET /v1/sources", "KEY", b""))
        .unwrap()
        .replace("connection: close\r\n", "");
    let second = String::from_utf8(request("GET /v1/documents/vault/plan-9x", "", b"")).unwrap();
    let both =
        Try { name: "two requests", who: Reads, expected: 200, request: (first + &second).into_bytes() };
    let answer = both.check(world);
    assert!(answer.contains("HTTP/1.1 401"), "{answer}");
}

/// Two lengths of one body: whatever stands behind it never counts as part of a request with a key.
#[test]
fn a_hidden_request_needs_its_own_key() {
    let world = shared();
    let key = world.secrets.of(Who::Admin).unwrap();
    let hidden = String::from_utf8(request("GET /v1/documents/vault/plan-9x", "", b"")).unwrap();
    let first = format!(
        "POST /v1/fuse HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {key}\r\ncontent-type: application/json\r\n\
         content-length: 4\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{{}}\r\n0\r\n\r\n"
    );
    let answer = world.full.raw((first + &hidden).as_bytes());
    assert!(answer.starts_with("HTTP/1.1 ") && !answer.contains("plan-9x"), "{answer}");
}

/// A browser asks without a key whether it may ask with one.
#[test]
fn pages_of_configured_origins_may_send_keys() {
    let keys = tempfile::tempdir().unwrap();
    make_key(keys.path(), "a", grant(&[], false, None));
    let origin = "https://app.example".to_owned();
    let server = Server::new(Some(keys.path()), |config| config.cors_origins = Origins(vec![origin]));
    let asked = "origin: https://app.example\r\naccess-control-request-method: GET\r\n\
                 access-control-request-headers: authorization, x-api-key\r\n";
    let before = server.raw(&request("OPTIONS /v1/sources", asked, b"")).to_lowercase();
    assert!(before.starts_with("http/1.1 200") && before.contains("x-api-key"), "{before}");
    let refused = server.raw(&request("GET /v1/sources", "origin: https://app.example\r\n", b""));
    assert!(
        refused.starts_with("HTTP/1.1 401")
            && refused.contains("access-control-allow-origin: https://app.example"),
        "{refused}"
    );
}
