//! From the hits of a search to what a language model reads, and from there to an answer.
//!
//! 1. The [`Packer`] makes a [`Context`] of the best hits: attributed, within an exact budget of tokens, with a receipt for each passage and
//!    for each hit that was left out.
//! 2. A [`Template`] makes messages of the context and the question.
//! 3. A [`Chat`] sends them to any service with the interface of `OpenAI`, in one pass or in three, and hands on the answer as it comes.
//! 4. [`citations`] holds what the answer cites against the context.
//!
//! The text of documents is data. It stands between fences that it cannot close, and forged headings, citations, control characters and
//! bidi tricks in it are made harmless (see [`quote`](mod@quote)); what instructs the model comes from the template alone.

mod answer;
mod chat;
pub mod citations;
mod pack;
mod piece;
pub mod quote;
mod retry;
mod settings;
mod sse;
mod template;
mod tokens;

pub use answer::{Answer, Asker, Reply, StopOnDrop};
pub use chat::{Chat, Message};
pub use citations::Citations;
pub use pack::{CONSIDERED, Context, FLOOR, Included, LeftOut, Omitted, Packer, Passage, Share, WORTH};
pub use piece::Piece;
pub use retry::Stop;
pub use settings::{AskSettings, BUDGET, PATIENCE, Stages};
pub use template::{Stage, Template};
pub use tokens::Counter;
