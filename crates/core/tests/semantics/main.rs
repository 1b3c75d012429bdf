//! The ranking semantics that others rely on, each rule with a run that would fail if it did not hold.
//!
//! Every run goes through the replay file, as `mainstem fuse` does, and replays the ledger of every hit
//! ([`search::run`]).
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod dedup;
mod diversity;
mod documents;
mod fusion;
mod guarantees;
mod legs;
mod merging;
mod order;
mod paging;
mod recency;
mod rerank;
mod routing;
mod search;
