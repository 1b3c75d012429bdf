//! Which model makes the vectors.

use std::sync::Arc;

use mainstem::Error;
use mainstem::ingest::vectors::{model_of, remember};
use mainstem::models;
use mainstem::store::embedded::EmbeddedStore;
use mainstem_core::contract::Embedder;

use super::{IngestArgs, failure};
use crate::failure::Failure;
use crate::output;

/// The model to embed with: the one that is asked for, that of the store, or the default. `None` when none is wanted, and with a
/// note when there is none.
pub(super) fn embedder(
    args: &IngestArgs,
    store: &EmbeddedStore,
) -> Result<Option<Arc<dyn Embedder>>, Failure> {
    if args.no_embed || args.vectors.is_some() {
        return Ok(None);
    }
    if let Some(name) = &args.model {
        return asked_for(name, store).map(Some);
    }
    let (model, note) = model_of(store).map_err(failure)?;
    if let Some(note) = note {
        output::note(&note);
    }
    Ok(model)
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
