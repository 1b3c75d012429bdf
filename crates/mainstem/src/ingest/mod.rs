//! Reading documents of many kinds: connector → chunk → embed → write.
//!
//! A [`Connector`] gives documents one at a time, with ids that stay the same from run to run: [`Folder`] for files of Markdown, text,
//! HTML and source code, [`Jsonl`] for one JSON object a line, [`Beir`] for judged collections with vectors beside them. The
//! [`chunk`]ers cut their texts. [`Ingest`] compares with what the store has, embeds what is new, and writes in batches; running it again
//! changes nothing. [`watch`] keeps a folder in step.
//!
//! Useful for: everything that is a file, or can be written as one. Not for: services with their own paging and cursors; write a
//! [`Connector`] for those.

mod beir;
pub mod chunk;
mod connector;
mod folder;
mod format;
mod html;
pub mod jsonl;
mod lines;
pub mod npy;
mod run;
pub mod vectors;
pub mod watch;

pub use beir::Beir;
pub use connector::{Connector, Position, Record, Skip, Standing, Unit};
pub use folder::{Folder, FolderOptions};
pub use format::{Format, Language};
pub use jsonl::Jsonl;
pub use run::{Announce, Ingest, Known, Limits, Missing, Progress, Skips, Summary, Vectors, reading};
