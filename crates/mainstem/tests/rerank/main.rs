//! Rerankers: the local ones against a reference, those behind HTTP against a server that misbehaves by script, and what a search makes of
//! each.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod breaker;
mod cross_encoder;
mod faults;
mod maxsim;
mod proxy;
mod server;
