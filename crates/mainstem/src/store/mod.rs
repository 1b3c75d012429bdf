//! Where documents are kept.

#[cfg(any(test, feature = "conformance"))]
pub mod conformance;
pub mod embedded;

pub use embedded::{EmbeddedStore, Options};
