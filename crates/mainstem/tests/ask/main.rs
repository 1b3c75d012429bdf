//! Contexts and answers: packing, prompts, and a scripted service with the interface of `OpenAI` on a port of this machine.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod answers;
mod hostile;
mod packing;
mod recipes;
mod service;
mod templates;
