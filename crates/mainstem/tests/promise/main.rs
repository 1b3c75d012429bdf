//! What the default way to merge sources promises, held against judged questions: sources that have nothing to do with a question cost next
//! to nothing, a copy of a source changes nothing but who is named as the copy, and the order in which sources came does not matter.
//!
//! `docs/fusion.md` says how it works, and where it loses. Links are held against the same judgements; `docs/links.md` has the numbers.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod collections;
mod copies;
mod dice;
mod five;
mod judged;
mod links;
mod order;
mod reading;
mod recipes;
mod stored;
mod strangers;
mod unrelated;
