//! Which model makes the vectors.

use std::sync::Arc;

use mainstem::Error;
use mainstem::ingest::Vectors;
use mainstem::models::{self, Cache, known};
use mainstem::store::embedded::EmbeddedStore;
use mainstem_core::contract::{Embedder, ModelCard};

use super::{IngestArgs, failure};
use crate::failure::Failure;
use crate::output;

/// What follows when there is no model.
const WORDS_ALONE: &str = "documents without vectors are found by words alone";

/// The model to embed with: the one that is asked for, that of the store, or the default. `None` when none is wanted, and with a
/// note when there is none.
pub(super) fn embedder(
    args: &IngestArgs,
    store: &EmbeddedStore,
) -> Result<Option<Arc<dyn Embedder>>, Failure> {
    if args.no_embed || args.vectors.is_some() {
        return Ok(None);
    }
    match (&args.model, store.model().map_err(failure)?) {
        (Some(name), _) => asked_for(name, store).map(Some),
        (None, Some(card)) => of_store(&card.name),
        (None, None) => pulled(known::ALL[0].name),
    }
}

/// Whoever names a model wants that one or none.
fn asked_for(name: &str, store: &EmbeddedStore) -> Result<Arc<dyn Embedder>, Failure> {
    let model = models::for_documents(name).map_err(failure)?.ok_or_else(|| {
        failure(Error::Unavailable {
            what: format!("the model `{name}` is not here"),
            hint: format!("`mainstem model pull {name}` gets it"),
        })
    })?;
    // A store with vectors of another model refuses it now, not only when there is something to embed.
    remember(store, model.card())?;
    Ok(model)
}

fn of_store(name: &str) -> Result<Option<Arc<dyn Embedder>>, Failure> {
    let runs_here = known::ALL.iter().any(|model| model.name == name);
    if runs_here {
        return pulled(name);
    }
    let service = Cache::standard().and_then(|cache| cache.service(name)).map_err(failure)?;
    if service.is_none() {
        let way = "`mainstem model add` names the service that has it";
        output::note(&format!(
            "the store's vectors are of `{name}`, which is not here: {WORDS_ALONE}; {way}"
        ));
        return Ok(None);
    }
    models::for_documents(name).map_err(failure)
}

fn pulled(name: &str) -> Result<Option<Arc<dyn Embedder>>, Failure> {
    let model = models::for_documents(name).map_err(failure)?;
    if model.is_none() {
        output::note(&format!(
            "the model `{name}` is not here: {WORDS_ALONE}; `mainstem model pull` gets it"
        ));
    }
    Ok(model)
}

/// Tells the store where vectors come from. It refuses those of another model than it has.
pub(super) fn announce(
    args: &IngestArgs,
    store: &EmbeddedStore,
    vectors: Vectors<'_>,
) -> Result<(), Failure> {
    let card = match vectors {
        Vectors::Embedded(card) => card.clone(),
        Vectors::Brought(dim) => brought(args, dim),
    };
    remember(store, &card)
}

fn remember(store: &EmbeddedStore, card: &ModelCard) -> Result<(), Failure> {
    let same = |known: &ModelCard| known.name == card.name && known.dim == card.dim;
    if store.model().map_err(failure)?.as_ref().is_some_and(same) {
        return Ok(());
    }
    store.set_model(card).map_err(failure)
}

/// Vectors without a name are told apart by their length at least.
fn brought(args: &IngestArgs, dim: usize) -> ModelCard {
    let name = args.vectors_model.clone().unwrap_or_else(|| format!("brought-{dim}"));
    ModelCard { name, dim, max_tokens: usize::from(u16::MAX) }
}
