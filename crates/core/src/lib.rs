//! The ranking algebra of Mainstem.
#![forbid(unsafe_code)]

pub mod diagnostic;

pub use diagnostic::{Code, Diagnostic, Fault, Place, nearest};
