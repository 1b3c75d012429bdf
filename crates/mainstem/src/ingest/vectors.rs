//! Which model makes the vectors of a store, and how the store is told.

use std::sync::Arc;

use mainstem_core::Failure;
use mainstem_core::contract::{Embedder, ModelCard};

use super::run::Vectors;
use crate::Error;
use crate::models::{self, Cache, known};
use crate::store::embedded::EmbeddedStore;

/// What follows when there is no model.
const WORDS_ALONE: &str = "documents without vectors are found by words alone";

/// A model, where there is one.
pub type Model = Option<Arc<dyn Embedder>>;

/// The model that embeds the documents of a store: that of its vectors, else the default one. Where it is not here, a sentence says so.
///
/// # Errors
/// When the store or the list of models cannot be read.
pub fn model_of(store: &EmbeddedStore) -> Result<(Model, Option<String>), Error> {
    let card = store.model()?;
    if let Some(card) = card.as_ref().filter(|card| known::ALL.iter().all(|model| model.name != card.name)) {
        return service_of(card);
    }
    let name = card.map_or_else(|| known::ALL[0].name.to_owned(), |card| card.name);
    let model = models::for_documents(&name)?;
    let note = format!("the model `{name}` is not here: {WORDS_ALONE}; `mainstem model pull` gets it");
    let note = model.is_none().then_some(note);
    Ok((model, note))
}

/// The service that makes the vectors of a store, where it was added. It may be down now and be there when it is needed.
fn service_of(card: &ModelCard) -> Result<(Model, Option<String>), Error> {
    let name = &card.name;
    if Cache::standard()?.service(name)?.is_some() {
        return Ok((models::documents_of(card)?, None));
    }
    let way = "`mainstem model add` names the service that has it";
    let note = format!("the store's vectors are of `{name}`, which is not here: {WORDS_ALONE}; {way}");
    Ok((None, Some(note)))
}

/// Tells a store where vectors come from; those that documents bring are of the model `brought`. It refuses those of another model than
/// it has.
///
/// # Errors
/// When the store has vectors of another model, or cannot be written.
pub fn announce(store: &EmbeddedStore, vectors: Vectors<'_>, brought: Option<&str>) -> Result<(), Failure> {
    let card = match vectors {
        Vectors::Embedded(card) => card.clone(),
        Vectors::Brought(dim) => brought_card(brought, dim),
    };
    remember(store, &card)
}

/// Tells a store which model its vectors are of, unless it knows.
///
/// # Errors
/// As [`announce`].
pub fn remember(store: &EmbeddedStore, card: &ModelCard) -> Result<(), Failure> {
    let same = |known: &ModelCard| known.name == card.name && known.dim == card.dim;
    if store.model()?.as_ref().is_some_and(same) {
        return Ok(());
    }
    Ok(store.set_model(card)?)
}

/// Vectors without a name are told apart by their length at least.
fn brought_card(name: Option<&str>, dim: usize) -> ModelCard {
    let name = name.map_or_else(|| format!("brought-{dim}"), str::to_owned);
    ModelCard { name, dim, max_tokens: usize::from(u16::MAX) }
}
