//! Whatever goes wrong, the answer is `{"error": {"code", "message", "hint"}}`.

use serde_json::json;

use crate::client::Server;

#[test]
fn every_error_has_one_shape_and_the_right_status() {
    let server = Server::filled();
    assert_eq!(server.get("/nothing/here").error(), (404, "E0401".to_owned()));
    let wrong_method = server.get("/v1/search");
    assert_eq!(wrong_method.error(), (405, "E0402".to_owned()));
    assert_eq!(wrong_method.headers["allow"], "POST");
    for (body, code) in [
        ("{\"query\":", "E0101"),
        ("[]", "E0101"),
        (" [\"rollback\"]", "E0101"),
        ("{\"query\": \"x\", \"deadline\": [1, 2]}", "E0101"),
        ("\"text\"", "E0101"),
        ("", "E0101"),
        ("{\"query\": \"x\", \"kk\": 1}", "E0101"),
        ("{\"query\": 5}", "E0101"),
        ("{\"query\": \"\"}", "E0101"),
        ("{}", "E0201"),
        ("{\"vector\": []}", "E0201"),
        ("{\"query\": \"x\", \"k\": 100000}", "E0201"),
        ("{\"query\": \"x\", \"k\": 10, \"page\": 100000}", "E0201"),
        ("{\"query\": \"x\", \"page\": 0}", "E0201"),
        ("{\"query\": \"x\", \"page\": 1, \"offset\": 0}", "E0205"),
        ("{\"query\": \"x\", \"since\": \"lately\"}", "E0201"),
        ("{\"query\": \"x\", \"sources\": [\"wikki\"]}", "E0204"),
        ("{\"query\": \"x\", \"channels\": [\"smell\"]}", "E0101"),
        ("{\"query\": \"x\", \"pipeline\": {\"fuse\": {\"method\": \"rff\"}}}", "E0101"),
        ("{\"query\": \"x\", \"now\": \"yesterday\"}", "E0101"),
    ] {
        assert_eq!(server.post_text("/v1/search", body).error(), (400, code.to_owned()), "{body}");
    }
    assert!(server.post_text("/v1/search", r#"{"qurey": "x"}"#).text.contains("did you mean `query`?"));
    assert!(
        server
            .post_text("/v1/search", r#"{"query": "x", "sources": ["wikki"]}"#)
            .text
            .contains("did you mean `wiki`?")
    );
    assert_eq!(server.post_text("/v1/search", b"{\"query\": \"\xff\"}".to_vec()).error().0, 400);
}

#[test]
fn limits_are_kept() {
    let server = Server::with(|config| {
        config.body_limit = mainstem_server::config::Bytes(10_000);
        config.query_length = 100;
        config.most_variants = 2;
    });
    let post = |body: &serde_json::Value| server.post("/v1/search", body).error();
    assert_eq!(post(&json!({"query": "x".repeat(101)})), (400, "E0201".to_owned()));
    assert_eq!(post(&json!({"query": "x", "variants": ["a", "b", "c"]})), (400, "E0201".to_owned()));
    assert_eq!(post(&json!({"query": "x", "where": {"a": "y".repeat(20_000)}})), (413, "E0103".to_owned()));
    let deep = "[".repeat(65) + &"]".repeat(65);
    let answer = server.post_text("/v1/search", format!("{{\"query\":\"x\",\"pipeline\":{deep}}}"));
    assert_eq!(answer.error(), (400, "E0201".to_owned()));
}

#[test]
fn other_types_and_encodings_are_refused() {
    let server = Server::new();
    let send = |headers: &str| {
        let request = format!(
            "POST /v1/search HTTP/1.1\r\nhost: x\r\nconnection: close\r\n{headers}content-length: 2\r\n\r\n{{}}"
        );
        String::from_utf8(server.raw(request.as_bytes())).unwrap()
    };
    let form = send("content-type: application/x-www-form-urlencoded\r\n");
    assert!(form.starts_with("HTTP/1.1 415") && form.contains("E0404"), "{form}");
    let packed = send("content-type: application/json\r\ncontent-encoding: compress\r\n");
    assert!(
        packed.starts_with("HTTP/1.1 415") && packed.contains("E0404") && packed.contains("gzip"),
        "{packed}"
    );
}
