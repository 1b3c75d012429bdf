//! Judged evaluation of ranked lists: formats, measures, significance and plots.
//!
//! The data flows through the modules in this order:
//!
//! 1. [`format`](mod@format) reads TREC runs, TREC qrels and BEIR qrels line by line, with errors that name the file
//!    and the line.
//! 2. [`Qrels`] and [`Run`] hold what was read: which documents are relevant, and what a system returned.
//! 3. [`measure`] scores one ranked list, such as `nDCG@10`.
//! 4. [`evaluate()`] applies measures to every judged query and averages.
//! 5. [`compare()`] says whether one run is really better than another.
//! 6. [`plot`] draws the differences query by query.
//!
//! # The conventions of `trec_eval`
//!
//! Everything follows NIST's `trec_eval`, so that numbers can be put beside published ones:
//!
//! - The rank column of a run is **ignored**. Documents are ordered by score, descending, compared as 32-bit floats;
//!   equal scores are ordered by document id, descending, byte by byte.
//! - A document without a judgement is not relevant. A negative relevance is not relevant either.
//! - Means run over **all queries of the qrels** (`trec_eval -c`): a judged query without results counts as 0, so that
//!   a system cannot gain by staying silent. Queries that are in the run only are ignored.
//! - A judged query without any relevant document counts as 0 in the measures that look for relevant documents.
//!
//! # Example
//!
//! ```
//! use mainstem_eval::{Measure, Qrels, Run, Settings, evaluate};
//! use mainstem_eval::format::Lines;
//!
//! let qrels = Qrels::read(Lines::new("1 0 a 1\n1 0 b 2\n".as_bytes(), "my.qrels"))?;
//! let run = Run::read(Lines::new("1 Q0 b 1 0.9 demo\n1 Q0 c 2 0.5 demo\n".as_bytes(), "my.run"))?;
//! let measures = [Measure::parse("nDCG@10")?, Measure::parse("P@1")?];
//! let evaluation = evaluate(&qrels, &run, &measures, &Settings::default());
//! assert_eq!(evaluation.mean("P@1"), Some(1.0));
//! # Ok::<(), mainstem_eval::EvalError>(())
//! ```
#![forbid(unsafe_code)]

pub mod compare;
mod error;
pub mod evaluate;
pub mod format;
pub mod measure;
pub mod plot;
mod qrels;
mod run;
mod sources;
pub mod tune;

pub use compare::{Comparison, compare};
pub use error::EvalError;
pub use evaluate::{Evaluation, Gaps, QueryScores, Settings, evaluate};
pub use measure::Measure;
pub use qrels::{JudgedQuery, Qrels, QrelsBuilder};
pub use run::{Run, RunBuilder, ScoredDoc};
pub use sources::Sources;
