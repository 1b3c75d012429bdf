//! What every request sees.

use std::collections::HashMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use mainstem::ask::{AskSettings, Asker};
use mainstem::ingest::vectors;
use mainstem::models::{self, known};
use mainstem::query::{Engine, Settings};
use mainstem::rerank::{MaxSim, Reranking};
use mainstem::store::EmbeddedStore;
use mainstem_core::Code;
use mainstem_core::contract::{Embedder, ModelCard};
use mainstem_core::link::LinkSettings;
use serde_json::{Map, Value};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::access::check_bind;
use crate::access::file::KeyFile;
use crate::access::gate::Gate;
use crate::config::ServerConfig;
use crate::error::ApiError;
use crate::logs::Crowds;
use crate::metrics::Metrics;
use crate::routes::bulk::Runs;
use crate::routes::links::LinkRuns;

/// What a server is made of.
pub struct Setup {
    /// The store, open for writing.
    pub store: Arc<EmbeddedStore>,
    /// How searches are answered unless a request says otherwise.
    pub settings: Settings,
    /// What searches do otherwise than these settings: the `[pipeline]` of the configuration.
    pub pipeline: Map<String, Value>,
    /// Who reads the best hits once more, where the pipeline says so, and the texts of `/v1/rerank`.
    pub reranking: Option<Reranking>,
    /// The options of the server.
    pub config: ServerConfig,
    /// Whether the access keys in the folder of the store count. If not, whoever reaches the server may do everything.
    pub keys: bool,
    /// What packs contexts and asks a language model; contexts alone, in the usual way, when left out.
    pub asker: Option<Arc<Asker>>,
    /// How links are looked for unless a request says otherwise: the `[link]` of the configuration.
    pub link: LinkSettings,
}

impl Setup {
    /// Whether callers are asked for keys.
    ///
    /// # Errors
    /// When the folder of the store cannot be read.
    pub fn has_keys(&self) -> Result<bool, ApiError> {
        Ok(self.keys && KeyFile::of(self.store.dir()).stamp()?.is_some())
    }
}

/// The models in use. They change when the store is told of its model.
struct Engines {
    /// The model of the store's vectors.
    card: Option<ModelCard>,
    /// What answers queries.
    engine: Arc<Engine>,
    /// What embeds documents.
    documents: Option<Arc<dyn Embedder>>,
}

/// What every request sees.
pub struct App {
    /// The store.
    pub store: Arc<EmbeddedStore>,
    /// The options.
    pub config: ServerConfig,
    /// What is counted and timed.
    pub metrics: Metrics,
    /// The `[pipeline]` of the configuration.
    pub pipeline: Map<String, Value>,
    /// Who may come in.
    pub gate: Gate,
    /// Requests that were refused for want of room.
    pub crowds: Crowds,
    /// The runs of ingest that came in several requests.
    pub runs: Runs,
    /// How links are looked for unless a request says otherwise.
    pub link: LinkSettings,
    /// The run of links that is under way.
    pub link_runs: LinkRuns,
    /// What compares tokens for links, once it was needed.
    states: Mutex<Option<Arc<MaxSim>>>,
    engines: RwLock<Engines>,
    /// The vectors of some queries, for where no model is.
    known: OnceLock<HashMap<String, Vec<f32>>>,
    /// What packs contexts and asks a language model.
    pub asker: Arc<Asker>,
    asks: Arc<Semaphore>,
    searches: Arc<Semaphore>,
    writes: Arc<Semaphore>,
    stopping: AtomicBool,
}

/// A place among the requests that run; it is free again when this is dropped.
#[derive(Debug)]
pub struct Slot(#[expect(dead_code, reason = "held, not read")] OwnedSemaphorePermit);

impl App {
    /// Loads the models and gets ready. A model that is not here is a remark in the log: search does without.
    ///
    /// # Errors
    /// When the store or its keys cannot be read, or others can reach the address and there are no keys.
    pub fn new(setup: Setup) -> Result<Arc<Self>, ApiError> {
        let Setup { store, settings, pipeline, reranking, config, keys, asker, link } = setup;
        let open_here = config.open_on_loopback && config.address.ip().is_loopback();
        let gate = Gate::new(keys.then(|| KeyFile::of(store.dir())), open_here)?;
        // Again, of the keys that are asked for from now on.
        check_bind(config.address, gate.has_keys())?;
        let engines = engines(&store, settings, reranking, config.embed)?;
        let asker = match asker {
            Some(asker) => asker,
            None => Arc::new(Asker::new(AskSettings::default(), Path::new(""))?),
        };
        Ok(Arc::new(Self {
            asks: Arc::new(places(config.asks)),
            searches: Arc::new(places(config.searches)),
            writes: Arc::new(places(config.writes)),
            metrics: Metrics::default(),
            crowds: Crowds::default(),
            runs: Runs::default(),
            link_runs: LinkRuns::default(),
            states: Mutex::default(),
            engines: RwLock::new(engines),
            known: OnceLock::new(),
            stopping: AtomicBool::new(false),
            gate,
            asker,
            link,
            store,
            config,
            pipeline,
        }))
    }

    /// What answers queries.
    pub fn engine(&self) -> Arc<Engine> {
        Arc::clone(&self.engines.read().unwrap_or_else(PoisonError::into_inner).engine)
    }

    /// What embeds documents that bring no vectors.
    pub fn documents_model(&self) -> Option<Arc<dyn Embedder>> {
        self.engines.read().unwrap_or_else(PoisonError::into_inner).documents.clone()
    }

    /// What compares tokens, where its model is here and documents are embedded; what is loaded for that stays.
    ///
    /// # Errors
    /// When the files of the model are damaged.
    pub fn token_states(&self) -> Result<Option<Arc<MaxSim>>, ApiError> {
        let mut states = self.states.lock().unwrap_or_else(PoisonError::into_inner);
        if states.is_none() && self.config.embed {
            *states = match MaxSim::standard() {
                Ok(made) => Some(Arc::new(made)),
                Err(mainstem::Error::Unavailable { .. }) => None,
                Err(error) => return Err(error.into()),
            };
        }
        Ok(states.clone())
    }

    /// Lets searches know the vectors of these queries without asking a model. Only the first call counts.
    pub fn know(&self, queries: impl IntoIterator<Item = (String, Vec<f32>)>) {
        let _ = self.known.set(queries.into_iter().collect());
    }

    /// The vector of a query, where it is known.
    pub fn known_vector(&self, query: &str) -> Option<Vec<f32>> {
        self.known.get()?.get(query.trim()).cloned()
    }

    /// Loads the model of the store, should it have changed.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn follow_model(&self) -> Result<(), ApiError> {
        let card = self.store.model()?;
        if self.engines.read().unwrap_or_else(PoisonError::into_inner).card == card {
            return Ok(());
        }
        let before = self.engine();
        let (settings, reranking) = (before.settings().clone(), before.reranker().cloned());
        let engines = engines(&self.store, settings, reranking, self.config.embed)?;
        *self.engines.write().unwrap_or_else(PoisonError::into_inner) = engines;
        Ok(())
    }

    /// A place for a search.
    ///
    /// # Errors
    /// When all are taken.
    pub fn search_slot(&self) -> Result<Slot, ApiError> {
        self.slot(&self.searches, "searches", "the server runs as many searches as it takes on")
    }

    /// Refuses a search before its body is read, where all places are taken: what is cheap to refuse keeps the others fast.
    ///
    /// # Errors
    /// When all are taken.
    pub fn room_for_search(&self) -> Result<(), ApiError> {
        if self.searches.available_permits() > 0 {
            return Ok(());
        }
        self.search_slot().map(drop)
    }

    /// A place for an answer of a language model.
    ///
    /// # Errors
    /// When all are taken.
    pub fn ask_slot(&self) -> Result<Slot, ApiError> {
        self.slot(&self.asks, "asks", "the server asks the model as much as it takes on")
    }

    /// A place for a request that writes.
    ///
    /// # Errors
    /// When all are taken.
    pub fn write_slot(&self) -> Result<Slot, ApiError> {
        self.slot(&self.writes, "writes", "the server takes in as many documents as it takes on")
    }

    fn slot(&self, places: &Arc<Semaphore>, what: &'static str, message: &str) -> Result<Slot, ApiError> {
        Arc::clone(places).try_acquire_owned().map(Slot).map_err(|_| {
            self.metrics.refused(what);
            ApiError::crowded(message)
        })
    }

    /// How many searches and how many writing requests run.
    pub fn running(&self) -> (usize, usize) {
        let taken = |limit: usize, free: &Semaphore| {
            limit.min(Semaphore::MAX_PERMITS).saturating_sub(free.available_permits())
        };
        (taken(self.config.searches, &self.searches), taken(self.config.writes, &self.writes))
    }

    /// Runs work that takes a processor or a disk on a thread made for that, never on those that speak HTTP. The slot is free when the work
    /// is done, even if nobody waits for it any more.
    ///
    /// # Errors
    /// Those of the work, and when it takes longer than an answer may, or panics.
    pub async fn work<T: Send + 'static>(
        self: &Arc<Self>,
        slot: Option<Slot>,
        work: impl FnOnce(&App) -> Result<T, ApiError> + Send + 'static,
    ) -> Result<T, ApiError> {
        let app = Arc::clone(self);
        let task = tokio::task::spawn_blocking(move || {
            let _slot = slot;
            work(&app)
        });
        match tokio::time::timeout(self.config.request_timeout.0, task).await {
            Ok(Ok(result)) => result,
            Ok(Err(panic)) => {
                tracing::error!(%panic, "work panicked");
                Err(ApiError::internal())
            }
            Err(_) => {
                let hint = "ask for less, or let the operator raise `request_timeout`";
                Err(ApiError::new(Code::TimedOut, "the answer was not ready in time", hint))
            }
        }
    }

    /// From now on, new requests are refused.
    pub fn stop(&self) {
        self.stopping.store(true, Ordering::Release);
    }

    /// Whether the server is about to stop.
    pub fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Acquire)
    }
}

/// So many places, or as many as can be counted.
pub(crate) fn places(limit: usize) -> Semaphore {
    Semaphore::new(limit.min(Semaphore::MAX_PERMITS))
}

/// There is room for a search, at the time a request begins.
#[derive(Debug)]
pub struct Room;

impl FromRequestParts<Arc<App>> for Room {
    type Rejection = ApiError;

    async fn from_request_parts(_: &mut Parts, app: &Arc<App>) -> Result<Self, ApiError> {
        app.room_for_search().map(|()| Self)
    }
}

fn engines(
    store: &Arc<EmbeddedStore>,
    settings: Settings,
    reranking: Option<Reranking>,
    embed: bool,
) -> Result<Engines, ApiError> {
    let card = store.model()?;
    let engine = |queries| {
        let engine = Engine::new(Arc::clone(store) as _, queries, settings);
        Arc::new(engine.with_reranker(reranking))
    };
    if !embed {
        return Ok(Engines { card, engine: engine(None), documents: None });
    }
    let documents = match vectors::model_of(store) {
        Ok((model, note)) => {
            if let Some(note) = note {
                tracing::warn!("{note}");
            }
            model
        }
        Err(error) => {
            tracing::warn!(%error, "documents are not embedded");
            None
        }
    };
    let queries = card.as_ref().and_then(|card| queries_model(card, documents.as_ref()));
    Ok(Engines { card, engine: engine(queries), documents })
}

/// The model for queries: the same one for a model that runs here, so that it is in memory once.
fn queries_model(card: &ModelCard, documents: Option<&Arc<dyn Embedder>>) -> Option<Arc<dyn Embedder>> {
    if known::ALL.iter().any(|model| model.name == card.name) {
        return documents.cloned();
    }
    models::queries_of(card).unwrap_or_else(|error| {
        tracing::warn!(%error, "queries are searched by words alone");
        None
    })
}
