//! `/v1/ask`, with a scripted service as the model.

use std::io::{BufRead as _, BufReader, Write as _};

use mainstem::ask::AskSettings;
use serde_json::{Value, json};

use crate::client::Server;
use crate::service::{Script, Service, Step};

fn settings(service: &Service) -> AskSettings {
    AskSettings {
        url: Some(service.url.clone()),
        model: Some("scripted".into()),
        timeout: 600.0,
        ..AskSettings::default()
    }
}

fn asking(scripts: Vec<Script>) -> (Service, Server) {
    let service = Service::start(scripts);
    let server = Server::that_asks(settings(&service), |_| ());
    (service, server)
}

/// The events of an answer: name and data.
fn events(text: &str) -> Vec<(String, Value)> {
    let event = |event: &str| {
        let (name, data) = event.split_once('\n').unwrap();
        let data = serde_json::from_str(data.strip_prefix("data: ").unwrap()).unwrap();
        (name.strip_prefix("event: ").unwrap().to_owned(), data)
    };
    text.split_terminator("\n\n").map(event).collect()
}

fn names(events: &[(String, Value)]) -> Vec<&str> {
    events.iter().map(|(name, _)| name.as_str()).collect()
}

#[test]
fn an_answer_comes_as_events() {
    let (service, server) = asking(vec![Script::says(&["Run the job [1], ", "see [7]."])]);
    let answer = server.post("/v1/ask", &json!({"query": "rollback job"}));
    assert_eq!(
        (answer.status, &answer.headers["content-type"]),
        (200, &"text/event-stream".parse().unwrap())
    );
    let events = events(&answer.text);
    assert_eq!(names(&events), ["context", "status", "token", "token", "citations", "done"]);
    let context = &events[0].1;
    assert_eq!(context["passages"][0]["n"], 1);
    assert_eq!(context["passages"].as_array().unwrap().len(), 2);
    assert!(context["tokens"].as_u64() <= context["budget"].as_u64());
    assert!(context["text"].as_str().unwrap().contains("[Source 1: "));
    assert_eq!((&events[1].1["partial"], events[1].1["legs"].as_array().unwrap().len()), (&json!(false), 2));
    assert_eq!(events[2].1, json!({"text": "Run the job [1], "}));
    assert_eq!(events[4].1, json!({"cited": [1], "unknown": [7]}));
    assert_eq!(events[5].1, json!({"answered": true}));
    assert!(service.asked()[0].message("user").ends_with("Question: rollback job"));
}

#[test]
fn everything_at_once_for_those_who_want_it() {
    let scripts = ["- a [1]", "A [1].", "All of it [1]."].map(|text| Script::says(&[text]));
    let (service, server) = asking(scripts.to_vec());
    let answer = server
        .post("/v1/ask", &json!({"query": "rollback job", "stream": false, "stages": 3, "budget": 60}))
        .json();
    assert_eq!(answer["answer"], "All of it [1].");
    assert_eq!(answer["citations"], json!({"cited": [1], "unknown": []}));
    assert!(answer["context"]["tokens"].as_u64().unwrap() <= 60);
    assert_eq!((answer["context"]["budget"].clone(), service.asked().len()), (json!(60), 3));
    let broken = server.post("/v1/ask", &json!({"query": "rollback", "stages": 2}));
    assert_eq!(broken.error(), (400, "E0201".to_owned()));
}

#[test]
fn without_a_model_there_is_the_context() {
    let server = Server::filled();
    let streamed = events(&server.post("/v1/ask", &json!({"query": "rollback job"})).text);
    assert_eq!(names(&streamed), ["context", "status", "prompt", "done"]);
    assert_eq!(streamed[3].1, json!({"answered": false}));
    let whole = server.post("/v1/ask", &json!({"query": "rollback job", "stream": false})).json();
    assert_eq!((&whole["answer"], &whole["citations"]), (&Value::Null, &Value::Null));
    assert_eq!((&whole["context"], &whole["prompt"]), (&streamed[0].1, &streamed[2].1["text"]));
    let prompt = whole["prompt"].as_str().unwrap();
    assert!(prompt.contains(whole["context"]["text"].as_str().unwrap()), "{prompt}");
    assert!(
        prompt.starts_with("You answer questions") && prompt.ends_with("Question: rollback job\n"),
        "{prompt}"
    );
}

#[test]
fn the_context_alone_for_those_who_ask_their_own_model() {
    let (service, server) = asking(vec![Script::says(&["x"])]);
    let streamed = events(&server.post("/v1/ask", &json!({"query": "rollback", "answer": false})).text);
    assert_eq!(names(&streamed), ["context", "status", "done"]);
    let whole =
        server.post("/v1/ask", &json!({"query": "rollback", "answer": false, "stream": false})).json();
    assert_eq!((&whole["answer"], &whole["prompt"]), (&Value::Null, &Value::Null));
    assert!(service.asked().is_empty());
}

#[test]
fn an_answer_from_half_a_search_says_so() {
    let (_, server) = asking(vec![Script::says(&["x"])]);
    let hurried = json!({"query": "rollback", "deadline": {"soft_ms": 0, "hard_ms": 0}, "stream": false});
    let whole = server.post("/v1/ask", &hurried).json();
    assert_eq!(whole["status"]["partial"], true, "{}", whole["status"]);
}

#[test]
fn nobody_is_asked_about_nothing() {
    let (service, server) = asking(vec![Script::says(&["I make things up."])]);
    let answer = events(&server.post("/v1/ask", &json!({"query": "zebra"})).text);
    assert_eq!(names(&answer), ["context", "status", "done"]);
    assert!(service.asked().is_empty());
}

#[test]
fn the_filters_of_a_search_hold() {
    let (_, server) = asking(vec![Script::says(&["x"])]);
    let sources = |ask: Value| {
        let answer = server.post("/v1/ask", &ask);
        assert_eq!(answer.status, 200, "{}", answer.text);
        let passages = events(&answer.text)[0].1["passages"].clone();
        passages
            .as_array()
            .unwrap()
            .iter()
            .map(|passage| passage["id"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(sources(json!({"query": "rollback", "sources": ["chat"]})), ["chat/1#0"]);
    assert_eq!(sources(json!({"query": "rollback", "kinds": ["slack"]})), ["chat/1#0"]);
    assert_eq!(sources(json!({"query": "rollback", "where": {"status": "open"}})), ["wiki/release#0"]);
    assert!(sources(json!({"query": "salaries", "reader": "bob"})).is_empty());
    assert_eq!(sources(json!({"query": "salaries", "reader": "ann"})), ["wiki/pay#0"]);
    for (wrong, code) in [
        (json!({"query": " "}), "E0201"),
        (json!({"query": "x", "sources": ["nowhere"]}), "E0204"),
        (json!({"query": "x", "budget": 0}), "E0201"),
        (json!({"query": "x", "budget": 1_000_000}), "E0201"),
        (json!({"query": "x", "buget": 1}), "E0101"),
        (json!({"query": "x", "deadline": [1, 2]}), "E0101"),
        (json!({}), "E0101"),
    ] {
        assert_eq!(server.post("/v1/ask", &wrong).error(), (400, code.to_owned()), "{wrong}");
    }
}

#[test]
fn an_error_of_the_model_comes_after_what_came() {
    let failing = "data: {\"error\": {\"message\": \"out of memory\"}}\n\n".to_owned();
    let script = Script::stream([Step::Say("Run [1] or [8] "), Step::Raw(failing.clone())]);
    let (_, server) = asking(vec![script]);
    let events = events(&server.post("/v1/ask", &json!({"query": "rollback"})).text);
    assert_eq!(names(&events), ["context", "status", "token", "citations", "error", "done"]);
    assert_eq!(events[3].1, json!({"cited": [1], "unknown": [8]}), "what came is checked all the same");
    let error = &events[4].1["error"];
    assert_eq!(
        (&error["code"], &error["message"]),
        (&json!("E0305"), &json!("the model failed: out of memory"))
    );
    assert!(error["hint"].is_string());
    assert_eq!(events[5].1, json!({"answered": false}));
    let whole = server.post("/v1/ask", &json!({"query": "rollback", "stream": false}));
    assert_eq!(whole.error(), (503, "E0305".to_owned()));
}

#[test]
fn an_error_before_the_first_word_leaves_nothing_to_check() {
    let failing = "data: {\"error\": {\"message\": \"out of memory\"}}\n\n".to_owned();
    let (_, server) = asking(vec![Script::stream([Step::Raw(failing)])]);
    let events = events(&server.post("/v1/ask", &json!({"query": "rollback"})).text);
    assert_eq!(names(&events), ["context", "status", "error", "done"]);
}

/// Asks, reads until the first token has come, and gives back the connection.
fn begin(server: &Server, body: &Value) -> BufReader<std::net::TcpStream> {
    let mut stream = server.connect();
    let body = body.to_string();
    let head = format!(
        "POST /v1/ask HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all((head + &body).as_bytes()).unwrap();
    BufReader::new(stream)
}

#[test]
fn a_client_that_leaves_ends_the_call_to_the_model() {
    let (service, server) = asking(vec![Script::stream([Step::Say("Run "), Step::WaitUntilLeft])]);
    let mut reader = begin(&server, &json!({"query": "rollback"}));
    let mut seen = String::new();
    while !seen.contains("event: token") {
        assert!(reader.read_line(&mut seen).unwrap() > 0, "{seen}");
    }
    drop(reader);
    service.wait_until_left();
}

#[test]
fn a_client_that_leaves_without_streaming_does_so_too() {
    let (service, server) = asking(vec![Script::stream([Step::Say("Run "), Step::WaitUntilLeft])]);
    let reader = begin(&server, &json!({"query": "rollback", "stream": false}));
    while service.asked().is_empty() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    drop(reader);
    service.wait_until_left();
}

#[test]
fn more_answers_than_allowed_are_refused_at_once() {
    let service = Service::start(vec![Script::says(&["x"])]);
    let server = Server::that_asks(settings(&service), |config| config.asks = 1);
    let slot = server.running.app.ask_slot().unwrap();
    let refused = server.post("/v1/ask", &json!({"query": "rollback"}));
    assert_eq!(refused.error(), (503, "E0407".to_owned()));
    assert!(refused.headers.contains_key("retry-after"));
    assert_eq!(server.post("/v1/search", &json!({"query": "rollback"})).status, 200, "searches go on");
    drop(slot);
    assert_eq!(server.post("/v1/ask", &json!({"query": "rollback"})).status, 200);
}

#[test]
fn the_key_stays_in_the_server() {
    // A variable that is there in any test: what it holds stands for a key.
    let key = std::env::var("PATH").unwrap();
    let said = json!({"error": {"message": format!("no such key: {key}")}});
    let service = Service::start(vec![Script::json(400, &said), Script::says(&["Fine [1]."])]);
    let server =
        Server::that_asks(AskSettings { key_env: Some("PATH".into()), ..settings(&service) }, |_| ());
    for body in [json!({"query": "rollback"}), json!({"query": "rollback", "stream": false})] {
        let answer = server.post("/v1/ask", &body);
        assert!(!answer.text.contains(&key), "{}", answer.text);
    }
    assert!(service.asked().iter().all(|question| question.head.contains(&format!("Bearer {key}"))));
}

#[test]
fn answers_are_as_described() {
    let (_, server) = asking(vec![Script::says(&["Run [1]."])]);
    let description = server.get("/openapi.json").json();
    let keeps_to = |name: &str, value: &Value| {
        let schema = &description["components"]["schemas"][name];
        let mut described: Vec<&String> = schema["properties"].as_object().unwrap().keys().collect();
        let mut given: Vec<&String> = value.as_object().unwrap().keys().collect();
        described.sort();
        given.sort();
        assert_eq!(described, given, "{name}");
    };
    let whole = server.post("/v1/ask", &json!({"query": "rollback", "stream": false, "budget": 45})).json();
    keeps_to("AskAnswer", &whole);
    assert_eq!(whole["prompt"], Value::Null, "there is a model");
    keeps_to("AskContext", &whole["context"]);
    keeps_to("AskPassage", &whole["context"]["passages"][0]);
    keeps_to("AskLeftOut", &whole["context"]["left_out"][0]);
    keeps_to("AskCitations", &whole["citations"]);
    let content = &description["paths"]["/v1/ask"]["post"]["responses"]["200"]["content"];
    assert!(content["text/event-stream"].is_object() && content["application/json"].is_object());
}
