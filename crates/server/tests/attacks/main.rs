//! Tries to see, count, infer or change what a key is not for. Every try is made against a real server, and against one whose store never had
//! what is hidden: both must answer the same, byte by byte.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod bodies;
mod doors;
mod lifetime;
mod links;
mod reading;
mod slow;
mod table;
mod world;
mod writing;
