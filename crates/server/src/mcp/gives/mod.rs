//! What the tools give. The comments are what a model reads.

mod document;
mod explained;
mod found;

use mainstem_core::time::Moment;

pub use document::{Fetched, Linked, Related, RelatedDocument, Source, Sources};
pub use explained::{Explained, Fate};
pub use found::{Alternative, Found, Hit};

fn time(moment: Option<&Moment>) -> Option<String> {
    moment.map(ToString::to_string)
}
