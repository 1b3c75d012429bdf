//! A real server on a free port of this machine, asked over HTTP.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod access_and_limits;
mod ask;
mod client;
mod description;
mod documents;
mod errors;
mod ingest;
mod life;
mod links;
mod page;
mod rerank;
mod search;
#[path = "../../../mainstem/tests/ask/service.rs"]
mod service;
