//! Turning text into vectors.
//!
//! * [`minilm`]: a small model that runs here, on the processor; the default;
//! * [`http`]: a model behind an HTTP interface, such as that of `OpenAI`, TEI, Cohere or Ollama;
//! * [`known`], [`cache`] and [`pull`]: which local models there are, where their files lie, and how they get there;
//! * [`cached`]: a memory of recent texts before any of them.
//!
//! Nothing here is needed for a search by words: [`local`] is `None` where the model has not been pulled.

pub mod cache;
pub mod cached;
pub mod http;
pub mod known;
pub mod minilm;
pub mod pull;

use std::sync::Arc;

use mainstem_core::Failure;
use mainstem_core::contract::Embedder;

pub use cache::Cache;
pub use cached::Cached;
pub use http::{HttpEmbedder, HttpSettings, Shape};
pub use known::Known;

use crate::Error;

/// The model of this name from the standard cache, ready to embed; `None` when it has not been pulled.
///
/// # Errors
/// When no local model has this name, or its files are damaged.
pub fn local(name: &str) -> Result<Option<Arc<dyn Embedder>>, Error> {
    Cache::standard()?.load(known::find(name)?)
}

fn failure(error: Error) -> Failure {
    Box::new(error)
}
