//! # The ranking algebra of Mainstem
//!
//! Many sources, one stream: several ranked lists go in, one comes out, and every score can be explained and recomputed. This
//! crate is the algebra alone. It reads no files, opens no sockets, starts no threads and asks no clock: the same input gives
//! the same bytes in every process.
//!
//! ## A first fusion
//!
//! ```
//! use mainstem_core::{Candidates, Fusion, Leg};
//!
//! let mut candidates = Candidates::new();
//! candidates.scored(Leg::new("wiki/lexical"), [("deploy", 12.5), ("rollback", 11.0), ("oncall", 9.2)])?;
//! candidates.scored(Leg::new("wiki/dense"), [("rollback", 0.95), ("oncall", 0.88), ("canary", 0.70)])?;
//!
//! let fused = Fusion::default().fuse_explained(&candidates)?;
//! let best = &fused.hits()[0];
//! assert_eq!(*candidates.id(best.slot), "rollback");
//! assert_eq!(best.score, 1.0 / 62.0 + 1.0 / 61.0);
//!
//! // What each list gave it: rank 2 in the first, rank 1 in the second.
//! let ranks: Vec<_> = fused.cells(best.slot).iter().map(|cell| cell.rank).collect();
//! assert_eq!(ranks, [2, 1]);
//! # Ok::<(), mainstem_core::Error>(())
//! ```
//!
//! ## The chapters, in the order the data flows
//!
//! 1. **What goes in.** A [`Leg`] is a source searched through a channel (`wiki/dense`); what it returns is a [`RankedList`]:
//!    sorted, unique and finite by construction. [`Candidates`] holds the lists of one search, [`Item`]s what is known about each
//!    candidate: text, time, key, vector, and whatever else the caller wants back.
//! 2. **[Routing](route)** reads the query and weighs the sources.
//! 3. **[Aggregation](aggregate)** turns lists of chunks into lists of documents.
//! 4. **[Merging](pipeline::merge)** brings the sources' lists of one channel together by score, where scores are comparable.
//! 5. **[Fusion](fuse)** makes one list of many: [RRF](fuse::rrf), [RSF](fuse::rsf), [CombSUM and CombMNZ](fuse::comb), the
//!    [weighted linear combination](fuse::linear) with its [normalisations](fuse::normalise), [DBSF](fuse::dbsf),
//!    [ISR](fuse::isr), [Borda](fuse::borda), [Condorcet](fuse::condorcet), and [what other systems do](fuse::compat). Each page has
//!    the formula, the citation, when to use it and when not.
//! 6. **[Collapsing](dedup)** brings copies together and remembers where else a thing was found.
//! 7. **[Reranking](rerank)** merges a reranker's scores, with a fallback that never breaks the answer.
//! 8. **[Recency](recency)** weighs freshness, per source.
//! 9. **[Diversity](diversify)** sets hits against each other.
//! 10. **[Guarantees](pipeline::guarantee)** bound how many of the first hits are of a source.
//! 11. **The [answer]**: hits, each with its [`Ledger`], and a [`Status`] that admits every gap.
//!
//! What comes before the lists, [documents](document) in [stores](contract::Store), [embedders](contract::Embedder) and
//! [chunkers](contract::Chunker), is described here as contracts and implemented elsewhere; and so is what is kept beside documents: the
//! [links](link) between them.
//!
//! A [`PipelineSpec`] configures all of these, [`Pipeline::run`] runs them, and a [`Replay`] is one search as a file. [Deadlines](deadline)
//! decide when a search stops waiting for its legs.
//!
//! ## Three rules
//!
//! * **The order is total**: score descending, best rank ascending, best raw score descending, id ascending. Ties are frequent
//!   under rank fusion, and left to a hash table they change answers between restarts.
//! * **Scores on different scales never meet.** Where a stage needs relevance in \[0, 1\] ([`ledger::Unit`]), scores that are so by
//!   construction are taken as they are, and others are divided by the best one.
//! * **The ledger is the arithmetic**, not a description of it: stages compute scores by applying the step they record, so
//!   that [`Ledger::replay`] cannot drift from the truth.
#![forbid(unsafe_code)]

pub mod aggregate;
pub mod answer;
pub mod candidates;
pub mod contract;
pub mod deadline;
pub mod dedup;
pub mod diagnostic;
pub mod diversify;
pub mod document;
pub mod error;
pub mod fuse;
pub mod item;
pub mod learned;
pub mod ledger;
pub mod leg;
pub mod link;
pub mod linked;
mod located;
mod object;
pub mod pipeline;
pub mod recency;
pub mod replay;
pub mod rerank;
pub mod route;
mod similarity;
pub mod status;
pub mod time;
mod word;

pub use answer::{Answer, Hit};
pub use candidates::{Candidates, Id, NonFinite, RankedList, Slot};
pub use diagnostic::{Code, Diagnostic, Failure, Fault, Place, nearest};
pub use document::{Chunk, ChunkId, Document, StoredChunk};
pub use error::Error;
pub use fuse::{Compat, FuseSpec, Fused, FusedHit, Fusion, Method};
pub use item::Item;
pub use ledger::{Ledger, Step};
pub use leg::{Bounds, Direction, Leg, LegState};
pub use pipeline::{Across, Pipeline, PipelineSpec, Search};
pub use replay::Replay;
pub use similarity::Words;
pub use status::Status;
