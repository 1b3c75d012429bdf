//! Which model makes the vectors.

use std::sync::Arc;

use mainstem::ingest::Vectors;
use mainstem::models::{self, known};
use mainstem::store::embedded::EmbeddedStore;
use mainstem_core::contract::{Embedder, ModelCard};

use super::{IngestArgs, failure};
use crate::failure::Failure;
use crate::output;

/// What follows when there is no model.
const WORDS_ALONE: &str = "documents without vectors are found by words alone";

/// The model to embed with: that of the store, or the default. `None` when none is wanted, and with a note when there is none.
pub(super) fn embedder(
    args: &IngestArgs,
    store: &EmbeddedStore,
) -> Result<Option<Arc<dyn Embedder>>, Failure> {
    if args.no_embed || args.vectors.is_some() {
        return Ok(None);
    }
    let stored = store.model().map_err(failure)?.map(|card| card.name);
    let runs_here = |name: &String| known::ALL.iter().any(|model| model.name == name);
    let name = match &stored {
        Some(name) if !runs_here(name) => {
            output::note(&format!(
                "the store's vectors are of `{name}`, which does not run here: {WORDS_ALONE}"
            ));
            return Ok(None);
        }
        Some(name) => name.as_str(),
        None => known::ALL[0].name,
    };
    let model = models::local(name).map_err(failure)?;
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
    let same = |known: &ModelCard| known.name == card.name && known.dim == card.dim;
    if store.model().map_err(failure)?.as_ref().is_some_and(same) {
        return Ok(());
    }
    store.set_model(&card).map_err(failure)
}

/// Vectors without a name are told apart by their length at least.
fn brought(args: &IngestArgs, dim: usize) -> ModelCard {
    let name = args.vectors_model.clone().unwrap_or_else(|| format!("brought-{dim}"));
    ModelCard { name, dim, max_tokens: usize::from(u16::MAX) }
}
