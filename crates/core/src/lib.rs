//! The ranking algebra of Mainstem.
#![forbid(unsafe_code)]

pub mod aggregate;
pub mod answer;
pub mod candidates;
pub mod deadline;
pub mod dedup;
pub mod diagnostic;
pub mod diversify;
pub mod error;
pub mod fuse;
pub mod item;
pub mod ledger;
pub mod leg;
mod located;
pub mod pipeline;
pub mod recency;
pub mod replay;
pub mod rerank;
pub mod route;
mod similarity;
pub mod status;
pub mod time;

pub use answer::{Answer, Hit};
pub use candidates::{Candidates, Id, NonFinite, RankedList, Slot};
pub use diagnostic::{Code, Diagnostic, Fault, Place, nearest};
pub use error::Error;
pub use fuse::{Compat, FuseSpec, Fused, FusedHit, Fusion, Method};
pub use item::Item;
pub use ledger::{Ledger, Step};
pub use leg::{Bounds, Direction, Leg, LegState};
pub use pipeline::{Pipeline, PipelineSpec, Search};
pub use replay::Replay;
pub use status::Status;
