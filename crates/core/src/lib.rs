//! The ranking algebra of Mainstem.
#![forbid(unsafe_code)]

pub mod candidates;
pub mod diagnostic;
pub mod error;
pub mod fuse;
pub mod leg;

pub use candidates::{Candidates, Id, NonFinite, RankedList, Slot};
pub use diagnostic::{Code, Diagnostic, Fault, Place, nearest};
pub use error::Error;
pub use fuse::{Compat, FuseSpec, Fused, FusedHit, Fusion, Method};
pub use leg::{Bounds, Direction, Leg, LegState};
