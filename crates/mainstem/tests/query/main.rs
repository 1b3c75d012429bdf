//! Searches over a store and a model that do what each test tells them to, faults included.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod alternatives;
mod answers;
mod fakes;
mod faults;
mod plans;
