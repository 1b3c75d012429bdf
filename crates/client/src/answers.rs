//! What the server answers.

use std::collections::BTreeMap;
use std::ops::Range;

use mainstem_core::Ledger;
pub use mainstem_core::answer::{Alternative, Reason, Related as RelatedDocument, WhyNot};
use mainstem_core::contract::SourceStats;
use mainstem_core::linked::LinkedDocument;
use mainstem_core::status::Status;
use mainstem_core::time::Moment;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The answer to a search.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SearchAnswer {
    /// The hits, best first.
    pub hits: Vec<Hit>,
    /// How many hits there were before the cut to a page.
    pub total: usize,
    /// How many of them each source has, by name; nothing from an older server.
    #[serde(default)]
    pub by_source: BTreeMap<String, usize>,
    /// What each leg and each stage did.
    pub status: Status,
    /// What became of the chunk that was asked about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why_not: Option<WhyNot>,
    /// What else could have come first, where that was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alternatives: Option<Vec<Alternative>>,
}

/// One hit: a chunk of a document.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Hit {
    /// Its name, `source/document#order`.
    pub id: String,
    /// Its place, from 1, over all pages.
    pub rank: usize,
    /// Its final score.
    pub score: f64,
    /// The source.
    pub source: String,
    /// The id of the document within the source.
    pub document: String,
    /// The title of the document.
    pub title: Option<String>,
    /// The headings that the chunk stands under.
    pub heading: Option<String>,
    /// Where a person can see it.
    pub url: Option<String>,
    /// How an answer names it.
    pub label: Option<String>,
    /// The part of the text that shows best why it was found.
    pub snippet: String,
    /// The bytes of the snippet where words of the query stand.
    #[serde(with = "pairs")]
    pub highlights: Vec<Range<usize>>,
    /// The whole text of the chunk.
    pub text: String,
    /// When the document was written.
    pub created_at: Option<Moment>,
    /// When the document was last changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub updated_at: Option<Moment>,
    /// Anything else that is known about the document.
    pub metadata: Map<String, Value>,
    /// The sources that found it.
    pub sources: Vec<String>,
    /// The labels of what was collapsed into it.
    pub alternates: Vec<String>,
    /// Why it is where it is.
    pub ledger: Ledger,
}

/// Ranges as the server writes them: `[start, end]`.
mod pairs {
    use std::ops::Range;

    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(
        ranges: &[Range<usize>],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(ranges.iter().map(|range| [range.start, range.end]))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Vec<Range<usize>>, D::Error> {
        let pairs = Vec::<[usize; 2]>::deserialize(deserializer)?;
        Ok(pairs.into_iter().map(|[start, end]| start..end).collect())
    }
}

/// All sources.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Sources {
    /// The sources, by name.
    pub sources: Vec<SourceStats>,
}

/// A document with its text and its parts, without its vectors.
pub type Document = mainstem_core::Document;

/// What else is about the same as a document.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Related {
    /// The document that was asked about, `source/id`.
    pub document: String,
    /// The documents, best first.
    pub related: Vec<RelatedDocument>,
    /// The documents that it is linked with, best first; nothing from an older server.
    #[serde(default)]
    pub links: Vec<LinkedDocument>,
}
