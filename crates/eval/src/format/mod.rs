//! Reading and writing the files that evaluation tools exchange.
//!
//! | file | columns | read by |
//! |---|---|---|
//! | TREC run | `query Q0 document rank score tag` | [`RunReader`] |
//! | TREC qrels | `query iteration document relevance` | [`QrelsReader`] |
//! | BEIR qrels | `query-id corpus-id score`, with or without that header | [`QrelsReader`] |
//!
//! All readers stream through [`Lines`], which never holds more than one line of bounded length. They yield records
//! and judge only one line at a time; what a repeated document means is for the consumer to say.

mod descending;
mod lines;
mod qrels;
mod run;

pub use descending::Descending;
pub use lines::{Line, Lines, MAX_LINE};
pub use qrels::{QrelsReader, QrelsRecord};
pub use run::{RunReader, RunRecord, RunWriter};
