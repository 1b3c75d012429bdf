//! Names of stages and methods, as an answer that was written by another process has them.

use serde::{Deserialize as _, Deserializer};

use crate::fuse::Method;

/// A name that is one of a few.
pub(crate) type Word = &'static str;

/// The stages of the status, and the ways to bring chunks together.
const WORDS: [Word; 16] = [
    "aggregate",
    "collapse_across",
    "collapse_within",
    "cut",
    "diversify",
    "first",
    "fuse",
    "guarantee",
    "learned",
    "max",
    "mean",
    "merge",
    "neighbours",
    "prior",
    "recency",
    "rerank",
];

/// Reads a name. One that only a newer version knows is `other`: the answer can be shown all the same.
pub(crate) fn word<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Word, D::Error> {
    let given = String::deserialize(deserializer)?;
    let known = WORDS.into_iter().chain(Method::ALL.iter().map(|method| method.as_str()));
    Ok(known.into_iter().find(|word| *word == given).unwrap_or("other"))
}
