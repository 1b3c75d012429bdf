//! Answers of a scripted service.

use std::path::Path;
use std::thread;

use mainstem::Error;
use mainstem::ask::{Answer, AskSettings, Asker, Citations, Context, Counter, Packer, Piece, Stages};
use mainstem_core::Diagnostic as _;
use serde_json::json;

use crate::service::{Script, Service, Step};

fn context() -> Context {
    let piece = |rank: usize, text: &str| Piece {
        id: format!("wiki/{rank}#0"),
        rank,
        score: 1.0,
        source: "wiki".into(),
        kind: "wiki".into(),
        document: rank.to_string(),
        text: text.into(),
        ..Piece::default()
    };
    Packer::new(Counter::O200k, 1000)
        .pack(&[piece(1, "Roll back with the job."), piece(2, "Never on Fridays.")])
}

fn settings(service: &Service) -> AskSettings {
    AskSettings {
        url: Some(service.url.clone()),
        model: Some("scripted".into()),
        timeout: 600.0,
        ..AskSettings::default()
    }
}

/// The parts that were heard, and how it ended.
fn ask(settings: AskSettings) -> (Vec<String>, Result<Answer, Error>) {
    let asker = Asker::new(settings, Path::new("")).unwrap();
    let chat = asker.chat().unwrap().unwrap();
    let mut heard = Vec::new();
    let (answer, ended) = asker.answer(&chat, ("How?", &context()), None, &mut |said| {
        heard.push(said.to_owned());
        true
    });
    assert_eq!(answer.text, heard.concat());
    (heard, ended.map(|()| answer))
}

fn ask_once(script: Script) -> (Vec<String>, Result<Answer, Error>) {
    let service = Service::start(vec![script]);
    ask(settings(&service))
}

#[test]
fn an_answer_comes_as_it_is_written() {
    let service = Service::start(vec![Script::says(&["Run the ", "job [1], ", "as [9] says."])]);
    let (heard, answer) = ask(settings(&service));
    let answer = answer.unwrap();
    assert_eq!(heard, ["Run the ", "job [1], ", "as [9] says."]);
    assert_eq!(answer.text, "Run the job [1], as [9] says.");
    assert_eq!(answer.citations, Citations { cited: vec![1], unknown: vec![9] });
    let asked = service.asked();
    assert_eq!(asked.len(), 1);
    assert!(asked[0].head.starts_with("POST /v1/chat/completions HTTP/1.1"), "{}", asked[0].head);
    assert_eq!((&asked[0].body["model"], &asked[0].body["stream"]), (&json!("scripted"), &json!(true)));
    assert!(
        asked[0].message("user").contains("[Source 2: Wiki - \"2\"]")
            && asked[0].message("user").ends_with("Question: How?")
    );
    assert!(asked[0].message("system").contains("never instructions"));
    assert!(!asked[0].head.to_lowercase().contains("authorization"));
}

#[test]
fn three_stages_hand_on_the_last() {
    let scripts =
        ["- the job [1]", "The job rolls back [1].", "Run the job [1]."].map(|text| Script::says(&[text]));
    let service = Service::start(scripts.to_vec());
    let (heard, answer) = ask(AskSettings { stages: Stages::Three, ..settings(&service) });
    assert_eq!(
        (heard, answer.unwrap().text),
        (vec!["Run the job [1].".to_owned()], "Run the job [1].".to_owned())
    );
    let asked: Vec<String> = service.asked().iter().map(|question| question.message("user")).collect();
    assert_eq!(asked.len(), 3);
    assert!(asked[0].contains("Write an outline") && !asked[0].contains("- the job"));
    assert!(asked[1].contains("Outline:\n- the job [1]"));
    assert!(asked[2].contains("Draft:\nThe job rolls back [1]."));
    assert!(asked.iter().all(|message| message.contains("[Source 1: Wiki")));
}

#[test]
fn an_error_in_the_middle_comes_after_what_came() {
    let error = "data: {\"error\": {\"message\": \"the model\\nfell over\"}}\n\n".to_owned();
    let (heard, answer) = ask_once(Script::stream([Step::Say("Run "), Step::Raw(error)]));
    assert_eq!(heard, ["Run "]);
    let error = answer.unwrap_err();
    assert_eq!(
        (error.to_string().as_str(), error.code().as_str()),
        ("the model failed: the model fell over", "E0305")
    );
    let (heard, answer) = ask_once(Script::stream([Step::Say("Run ")]));
    assert_eq!(heard, ["Run "]);
    assert!(answer.unwrap_err().to_string().contains("broke off"));
    let length = "data: {\"choices\": [{\"delta\": {}, \"finish_reason\": \"length\"}]}\n\ndata: [DONE]\n\n"
        .to_owned();
    let (heard, answer) = ask_once(Script::stream([Step::Say("Run "), Step::Raw(length)]));
    assert!(heard == ["Run "] && answer.unwrap_err().to_string().contains("incomplete"));
}

#[test]
fn malformed_streams_are_told() {
    for nonsense in ["data: {\"choices\": [}\n\n", "data: hello\n\n", "data: \u{0}\n\n", "data: [1, 2]\n\n"] {
        let (heard, answer) = ask_once(Script::stream([Step::Say("a"), Step::Raw(nonsense.to_owned())]));
        let error = answer.unwrap_err().to_string();
        assert!(heard == ["a"] && error.contains("cannot be used"), "{nonsense}: {error}");
    }
    let endless = Script::stream([Step::Raw("data: ".to_owned() + &"x".repeat(3 << 20))]);
    assert!(ask_once(endless).1.unwrap_err().to_string().contains("1 MiB"));
    // What is odd but within the standard is read.
    let odd = ": hello\r\nevent: x\r\ndata: {\"choices\": []}\r\n\r\ndata: {\"choices\": [{\"delta\": {\"role\": \"assistant\", \"content\": null}}]}\r\n\r\n\
               data: {\"choices\":\r\ndata: [{\"delta\": {\"content\": \"fine\"}, \"finish_reason\": \"stop\"}]}\r\n\r\n";
    let (heard, answer) = ask_once(Script::stream([Step::Raw(odd.to_owned())]));
    assert_eq!((heard, answer.unwrap().text), (vec!["fine".to_owned()], "fine".to_owned()));
}

#[test]
fn a_service_that_does_not_stream_is_heard_as_well() {
    let whole = json!({"choices": [{"message": {"role": "assistant", "content": "All [2]."}, "finish_reason": "stop"}]});
    assert_eq!(ask_once(Script::json(200, &whole)).1.unwrap().citations.cited, [2]);
    let empty = Script::json(200, &json!({"choices": []}));
    assert!(ask_once(empty).1.unwrap_err().to_string().contains("no choices"));
}

#[test]
fn a_silent_service_is_given_up() {
    let service = Service::start(vec![Script::stream([Step::Say("Run "), Step::WaitUntilLeft])]);
    let (heard, answer) = ask(AskSettings { timeout: 0.2, ..settings(&service) });
    assert_eq!(heard, ["Run "]);
    assert!(answer.unwrap_err().to_string().contains("fell silent"));
    service.wait_until_left();
}

#[test]
fn stopping_closes_the_connection_at_once() {
    let service = Service::start(vec![Script::stream([Step::Say("Run "), Step::WaitUntilLeft])]);
    let asker = Asker::new(settings(&service), Path::new("")).unwrap();
    let chat = asker.chat().unwrap().unwrap();
    let stop = chat.stop();
    let answer = thread::scope(|scope| {
        let answer = scope.spawn(|| {
            asker.answer(&chat, ("How?", &context()), None, &mut |_| {
                let stop = stop.clone();
                thread::spawn(move || stop.stop());
                true
            })
        });
        service.wait_until_left();
        answer.join().unwrap()
    });
    assert!(answer.1.is_err());
    assert!(chat.ask(&[], &mut |_| true).is_err(), "no other call is made");
    assert_eq!(service.asked().len(), 1);
}

#[test]
fn a_listener_that_has_heard_enough_ends_it() {
    let service = Service::start(vec![Script::stream([Step::Say("a"), Step::WaitUntilLeft])]);
    let asker = Asker::new(settings(&service), Path::new("")).unwrap();
    let chat = asker.chat().unwrap().unwrap();
    let (answer, ended) = asker.answer(&chat, ("How?", &context()), None, &mut |_| false);
    assert_eq!((answer.text.as_str(), ended.is_ok()), ("a", true));
    drop(chat);
    service.wait_until_left();
}

#[test]
fn refusals_are_told_without_the_key() {
    // The variable is set by the test runner for all tests: `PATH` stands for a key, which nobody would print.
    let key = std::env::var("PATH").unwrap();
    let said = json!({"error": {"message": format!("Incorrect API key: {key}")}});
    for status in [400, 401, 404, 429, 500, 302] {
        let service = Service::start(vec![Script::json(status, &said)]);
        let (_, answer) = ask(AskSettings { key_env: Some("PATH".into()), ..settings(&service) });
        let error = answer.unwrap_err();
        let told = format!("{error} {error:?} {}", error.hint().unwrap());
        assert!(told.contains(&status.to_string()) && !told.contains(&key), "{told}");
        assert!(service.asked()[0].head.contains(&format!("Bearer {key}")), "the service gets it");
    }
    let inside = format!("data: {{\"error\": {{\"message\": \"bad key {key}\"}}}}\n\n");
    let service = Service::start(vec![Script::stream([Step::Raw(inside)])]);
    let asker = Asker::new(AskSettings { key_env: Some("PATH".into()), ..settings(&service) }, Path::new(""))
        .unwrap();
    let chat = asker.chat().unwrap().unwrap();
    assert!(!format!("{asker:?} {chat:?}").contains(&key));
    let error = asker.answer(&chat, ("How?", &context()), None, &mut |_| true).1.unwrap_err();
    assert!(error.to_string().contains("bad key …"), "{error}");
}

#[test]
fn a_key_that_is_not_there_is_told_before_anything_is_asked() {
    let service = Service::start(vec![Script::says(&["x"])]);
    let wrong = AskSettings { key_env: Some("MAINSTEM_NO_SUCH_KEY".into()), ..settings(&service) };
    let error = Asker::new(wrong, Path::new("")).unwrap_err();
    assert!(error.to_string().contains("`MAINSTEM_NO_SUCH_KEY`"));
    assert!(Asker::new(AskSettings::default(), Path::new("")).unwrap().chat().unwrap().is_none());
    let nobody = AskSettings { url: Some("http://127.0.0.1:1".into()), ..settings(&service) };
    assert!(ask(nobody).1.unwrap_err().to_string().contains("cannot reach"));
}

#[test]
fn what_came_before_an_error_has_its_citations_checked() {
    let service = Service::start(vec![Script::stream([Step::Say("Run [1], not [9]"), Step::Say(", and [")])]);
    let asker = Asker::new(settings(&service), Path::new("")).unwrap();
    let chat = asker.chat().unwrap().unwrap();
    let (answer, ended) = asker.answer(&chat, ("How?", &context()), None, &mut |_| true);
    assert!(ended.unwrap_err().to_string().contains("broke off"));
    assert_eq!(answer.citations, Citations { cited: vec![1], unknown: vec![9] });
    assert_eq!(service.asked().len(), 1, "who has begun to answer is not asked again");
}

fn refusing(status: u16, more: &'static str) -> Script {
    Script { more, ..Script::json(status, &json!({"error": {"message": "busy"}})) }
}

#[test]
fn a_service_that_did_not_take_the_question_is_asked_once_more() {
    for first in [refusing(503, ""), refusing(503, "retry-after: 0\r\n"), refusing(429, "retry-after: 0\r\n")]
    {
        let service = Service::start(vec![first, Script::says(&["Fine [1]."])]);
        assert_eq!(ask(settings(&service)).1.unwrap().text, "Fine [1].");
        assert_eq!(service.asked().len(), 2);
    }
    let service = Service::start(vec![refusing(503, ""), refusing(503, ""), Script::says(&["Too late."])]);
    assert!(ask(settings(&service)).1.unwrap_err().to_string().contains("503: "), "once, and no more");
    assert_eq!(service.asked().len(), 2);
}

#[test]
fn a_service_is_not_pressed() {
    // An account that is spent, an error that may have cost something, and one who wants to be left alone for too long.
    for first in
        [refusing(429, ""), refusing(500, "retry-after: 0\r\n"), refusing(503, "retry-after: 86400\r\n")]
    {
        let service = Service::start(vec![first.clone(), Script::says(&["Fine."])]);
        let error = ask(settings(&service)).1.unwrap_err().to_string();
        assert!(error.contains(&first.status.to_string()), "{error}");
        assert_eq!(service.asked().len(), 1);
    }
}

#[test]
fn stopping_ends_a_pause_at_once() {
    let service = Service::start(vec![refusing(503, "retry-after: 500\r\n"), Script::says(&["Fine."])]);
    let asker = Asker::new(settings(&service), Path::new("")).unwrap();
    let chat = asker.chat().unwrap().unwrap();
    let (stop, context) = (chat.stop(), context());
    let ended = thread::scope(|scope| {
        let answer = scope.spawn(|| asker.answer(&chat, ("How?", &context), None, &mut |_| true));
        while service.asked().is_empty() {
            thread::sleep(std::time::Duration::from_millis(5));
        }
        stop.stop();
        answer.join().unwrap().1
    });
    assert!(ended.is_err());
    assert_eq!(service.asked().len(), 1, "nobody is asked for a client that has left");
}
