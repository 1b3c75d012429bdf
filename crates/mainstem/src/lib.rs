//! # Mainstem: search many sources at once
//!
//! Documents of many sources go in, a query comes, one explained list goes out. The folders, in the order the data flows:
//!
//! * [`ingest`]: read documents, cut them into chunks, embed, write;
//! * [`models`]: turn text into vectors, on this machine or over HTTP;
//! * [`words`]: what counts as a word, in English, in code, in Korean, Japanese and Chinese;
//! * [`store`]: keep them; the embedded store is one folder, no server;
//! * [`query`]: plan, retrieve all legs in parallel under a deadline, and let the ranking core do the rest;
//! * [`rerank`]: read the best hits once more, on this machine or over HTTP;
//! * [`link`]: which documents belong together, to be kept and taken back;
//! * [`related`]: what else is about the same as a document;
//! * [`linked`]: links between documents, as a caller may see them;
//! * [`reports`]: what was last measured on a store;
//! * [`ask`]: pack what was found for a language model, and have it answer.
#![forbid(unsafe_code)]

pub mod ask;
mod error;
pub mod ingest;
pub mod link;
pub mod linked;
pub mod models;
pub mod query;
pub mod related;
pub mod reports;
pub mod rerank;
pub mod store;
pub mod words;
mod workers;

pub use error::Error;
