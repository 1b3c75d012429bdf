//! Tuning on made recordings, of which it is known what is best.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod ceiling;
mod exact;
mod honest;
mod learned;
mod made;
mod planted;
mod same;
