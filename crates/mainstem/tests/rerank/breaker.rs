//! A service that fails again and again is left alone, and tried once later.

use std::thread::sleep;
use std::time::Duration;

use mainstem::rerank::http::Shape;
use mainstem::rerank::{HttpReranker, ServiceSettings};
use mainstem_core::contract::{Ctx, Reranker as _};
use mainstem_core::time::Moment;

use super::faults::{good, settings};
use super::server::{Reply, Server};

fn ask(reranker: &HttpReranker) -> Result<Vec<f64>, String> {
    let ctx = Ctx::unhurried(Moment::now());
    reranker.rerank("q", &["a", "bb"], &ctx).map_err(|failure| failure.to_string())
}

#[test]
fn an_open_breaker_asks_nobody() {
    let server = Server::new(vec![Reply::Status(500, "")]);
    let service = ServiceSettings { failures: 3, cooldown: 3600.0, ..settings(Shape::Jina, &server.url) };
    let reranker = HttpReranker::new(&service).unwrap();
    for _ in 0..3 {
        assert_eq!(ask(&reranker), Err("`judge`: it answered 500".into()));
    }
    for _ in 0..5 {
        let refused = ask(&reranker).unwrap_err();
        assert!(
            refused.starts_with("`judge`: it failed too often and is not asked for another"),
            "{refused}"
        );
    }
    assert_eq!(server.asked().len(), 3);
}

#[test]
fn after_a_while_one_call_decides() {
    let script =
        vec![Reply::Status(500, ""), Reply::Status(500, ""), Reply::Status(200, "?"), Reply::Answer(good)];
    let server = Server::new(script);
    let service = ServiceSettings { failures: 2, cooldown: 0.001, ..settings(Shape::Jina, &server.url) };
    let reranker = HttpReranker::new(&service).unwrap();
    assert!(ask(&reranker).is_err() && ask(&reranker).is_err());
    sleep(Duration::from_millis(20));
    assert!(ask(&reranker).unwrap_err().contains("cannot be used"), "the first try fails");
    sleep(Duration::from_millis(20));
    assert_eq!(ask(&reranker), Ok(vec![0.001, 0.002]));
    assert_eq!(ask(&reranker), Ok(vec![0.001, 0.002]), "and it is open no more");
    assert_eq!(server.asked().len(), 5);
}

/// One text that is too long must not cost all other searches their reranker; a key that is wrong does.
#[test]
fn what_the_service_does_not_like_does_not_count_against_it() {
    for (status, well) in [(400, true), (413, true), (422, true), (401, false), (404, false)] {
        let server = Server::new(vec![Reply::Status(status, ""), Reply::Answer(good)]);
        let service = ServiceSettings { failures: 1, cooldown: 3600.0, ..settings(Shape::Jina, &server.url) };
        let reranker = HttpReranker::new(&service).unwrap();
        assert!(ask(&reranker).unwrap_err().contains(&status.to_string()));
        assert_eq!(ask(&reranker).is_ok(), well, "{status}");
    }
}

#[test]
fn a_caller_without_time_does_not_count_against_the_service() {
    let server = Server::new(vec![Reply::Answer(good)]);
    let service = ServiceSettings { failures: 1, cooldown: 3600.0, ..settings(Shape::Jina, &server.url) };
    let reranker = HttpReranker::new(&service).unwrap();
    let late = Ctx { deadline: Some(std::time::Instant::now()), now: Moment::now() };
    assert!(reranker.rerank("q", &["a"], &late).is_err());
    assert!(ask(&reranker).is_ok());
}
