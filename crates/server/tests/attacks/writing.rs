//! Tries to change what a key may not change, or to learn by changing.

use crate::table::{Try, check_all, plain, put, request, with};
use crate::world::{Who, World};

use Who::{Admin, Ann, Reads, Writes};

const LINE: &str = "{\"id\": \"plan-9x\", \"text\": \"overwritten\"}\n";

/// What the other source holds, as its owner sees it.
fn vault(world: &World) -> String {
    let key = world.secrets.of(Admin).unwrap();
    let get = |path: &str| {
        let headers = format!("authorization: Bearer {key}\r\n");
        let answer = world.full.raw(&request(&format!("GET {path}"), &headers, b""));
        answer.split("\r\n\r\n").nth(1).unwrap().to_owned()
    };
    let sources = get("/v1/sources");
    let counts = sources.split("\"name\":\"vault\"").nth(1).unwrap().to_owned();
    get("/v1/documents/vault/plan-9x") + &get("/v1/documents/vault/page-3") + &counts
}

#[test]
fn nothing_is_written_outside_of_the_scope() {
    let world = World::new();
    let before = vault(&world);
    assert!(before.contains("quokkamarker"), "{before}");
    check_all(
        &world,
        &[
            put("another source", Writes, 403, "/v1/sources/vault/documents", LINE),
            put("a source that is not there", Writes, 403, "/v1/sources/nowhere/documents", LINE),
            put("in percents", Writes, 403, "/v1/sources/v%61ult/documents", LINE),
            put("a step up", Writes, 403, "/v1/sources/open%2F..%2Fvault/documents", LINE),
            put("a zero byte", Writes, 403, "/v1/sources/open%00/documents", LINE),
            put("in capitals", Writes, 403, "/v1/sources/OPEN/documents", LINE),
            put("its kind", Writes, 403, "/v1/sources/vault/documents?kind=wiki", ""),
            put("by one that reads", Reads, 403, "/v1/sources/open/documents", LINE),
            put("by a reader", Ann, 403, "/v1/sources/open/documents", LINE),
            plain("removed from another source", Writes, 404, "DELETE /v1/sources/vault/documents/plan-9x"),
            plain("removed, in percents", Writes, 404, "DELETE /v1/sources/v%61ult/documents/plan-9x"),
            plain(
                "removed, a step up",
                Writes,
                404,
                "DELETE /v1/sources/open/documents/../../vault/documents/plan-9x",
            ),
            plain("removed by one that reads", Reads, 403, "DELETE /v1/sources/open/documents/page-1"),
            plain("removed by a reader", Ann, 403, "DELETE /v1/sources/open/documents/page-1"),
            plain("removed by a reader, unseen", Ann, 403, "DELETE /v1/sources/open/documents/bob-only-4k-1"),
            plain("all of it removed", Writes, 405, "DELETE /v1/sources/vault/documents"),
            with(
                "another method in a header",
                Writes,
                404,
                "GET /v1/documents/vault/plan-9x",
                "KEYx-http-method-override: DELETE\r\n",
            ),
            with(
                "another method in capitals",
                Writes,
                405,
                "POST /v1/sources/vault/documents/plan-9x",
                "KEYX-HTTP-Method: DELETE\r\n",
            ),
            plain("another method behind the ?", Writes, 400, "GET /v1/documents/open/page-1?_method=DELETE"),
            put(
                "a line that names the source",
                Writes,
                200,
                "/v1/sources/open/documents",
                "{\"id\": \"no-vault\", \"source\": \"vault\", \"text\": \"rewritten\"}\n",
            ),
            put(
                "an id that names the source",
                Writes,
                200,
                "/v1/sources/open/documents",
                "{\"id\": \"../vault/plan-9x\", \"text\": \"rewritten\"}\n",
            ),
            put(
                "a line that is a list of keys",
                Writes,
                200,
                "/v1/sources/open/documents",
                "[\"plan-9x\"]\n",
            ),
        ],
    );
    let written =
        plain("what was written is in its own source", Writes, 200, "GET /v1/documents/open/no-vault");
    assert!(written.check(&world).contains("\"text\":\"rewritten\""));
    assert_eq!(vault(&world), before);
}

#[test]
fn removing_says_the_same_of_what_is_there_and_what_is_not() {
    let world = crate::table::shared();
    let removed = |line: &str| plain("remove", Writes, 404, line).check(world);
    let there = removed("DELETE /v1/sources/vault/documents/plan-9x");
    assert_eq!(
        there.replace("vault/plan-9x", "open/plan-9xy"),
        removed("DELETE /v1/sources/open/documents/plan-9xy")
    );
}

/// The body never comes, and the answer does.
#[test]
fn a_refused_body_is_not_waited_for() {
    let world = crate::table::shared();
    let refused = |name: &'static str, who: Who, expected: u16, path: &str| {
        let headers = "KEYcontent-type: application/x-ndjson\r\ncontent-length: 1000000000\r\n";
        Try { name, who, expected, request: request(&format!("PUT {path}"), headers, b"") }
    };
    check_all(
        world,
        &[
            refused("another source", Writes, 403, "/v1/sources/vault/documents"),
            refused("by one that reads", Reads, 403, "/v1/sources/open/documents"),
            refused("without a key", Who::Nobody, 401, "/v1/sources/open/documents"),
        ],
    );
}
