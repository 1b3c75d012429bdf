//! Turning text into vectors.
//!
//! * [`minilm`]: a small model that runs here, on the processor; the default;
//! * [`http`]: a model behind an HTTP interface, such as that of `OpenAI`, TEI, Cohere or Ollama;
//! * [`known`], [`cache`] and [`pull`]: which local models there are, where their files lie, and how they get there;
//! * [`named`]: the models behind HTTP that a user has added;
//! * [`cached`]: a memory of recent texts before any of them.
//!
//! Nothing here is needed for a search by words: [`local`] is `None` where the model has not been pulled.

pub mod cache;
pub mod cached;
pub mod http;
pub mod known;
pub(crate) mod list;
pub mod minilm;
pub mod named;
pub mod pull;

use std::sync::Arc;

use mainstem_core::Failure;
use mainstem_core::contract::{Ctx, Embedder, ModelCard};
use mainstem_core::time::Moment;

pub use cache::Cache;
pub use cached::Cached;
pub use http::{HttpEmbedder, HttpSettings, Shape};
pub use known::Known;

use crate::Error;

/// How many texts of a service are remembered: what is asked twice is paid for once.
const REMEMBERED: usize = 4096;

/// The model of this name, ready to embed queries: one that runs here, or a service that was added. `None` when it runs here but has
/// not been pulled.
///
/// # Errors
/// When no model has this name, its files are damaged, or its key is not in the environment.
pub fn local(name: &str) -> Result<Option<Arc<dyn Embedder>>, Error> {
    find(name, None, HttpEmbedder::for_queries)
}

/// The model of a store's vectors, ready to embed queries. A service is not asked before there is a query: it may be down now and be there then.
///
/// # Errors
/// As [`local`].
pub fn queries_of(card: &ModelCard) -> Result<Option<Arc<dyn Embedder>>, Error> {
    find(&card.name, Some(card.dim), HttpEmbedder::for_queries)
}

/// As [`queries_of`], ready to embed documents.
///
/// # Errors
/// As [`local`].
pub fn documents_of(card: &ModelCard) -> Result<Option<Arc<dyn Embedder>>, Error> {
    find(&card.name, Some(card.dim), |service| service)
}

/// As [`local`], ready to embed documents, which some services tell from queries.
///
/// # Errors
/// As [`local`].
pub fn for_documents(name: &str) -> Result<Option<Arc<dyn Embedder>>, Error> {
    find(name, None, |service| service)
}

/// The model of this name; `dim` is how long its vectors are, where that is known.
fn find(
    name: &str,
    dim: Option<usize>,
    purpose: impl Fn(HttpEmbedder) -> HttpEmbedder,
) -> Result<Option<Arc<dyn Embedder>>, Error> {
    let cache = Cache::standard()?;
    // A service takes nothing from the models that are known to the byte.
    let service =
        if known::ALL.iter().any(|model| model.name == name) { None } else { cache.service(name)? };
    match service {
        Some(settings) => {
            let settings = HttpSettings { dim: settings.dim.or(dim), ..settings };
            let connected = HttpEmbedder::connect(&settings, &Ctx::unhurried(Moment::now()))?;
            Ok(Some(Arc::new(Cached::new(purpose(connected), REMEMBERED))))
        }
        None => cache.load(known::find(name)?),
    }
}

fn failure(error: Error) -> Failure {
    Box::new(error)
}
