//! The engine that commands search with: the store in a folder, and the model that embedded it.

use std::path::Path;
use std::sync::Arc;

use mainstem::query::{Engine, Request, Settings};
use mainstem::store::{EmbeddedStore, Options};
use mainstem::{Error, models};
use mainstem_core::contract::{Channel, Embedder};

use crate::failure::Failure;
use crate::output;

/// Opens the store for reading, with its model if `embed` says that queries have to be embedded.
pub(crate) fn engine(store: &Path, embed: bool) -> Result<Engine, Failure> {
    let failure = |error: Error| Box::new(error) as Failure;
    let store = level(store).map_err(failure)?;
    let model = if embed { model(&store).map_err(failure)? } else { None };
    Ok(Engine::new(Arc::new(store), model, Settings::default()))
}

/// Opens a store for reading. When the process that wrote to it was stopped, or had no room for its indexes, they catch up first.
pub(crate) fn level(dir: &Path) -> Result<EmbeddedStore, Error> {
    let store = EmbeddedStore::open_read_only(dir)?;
    if !store.is_behind()? {
        return Ok(store);
    }
    let caught_up = EmbeddedStore::open(dir, Options::default()).and_then(|writing| writing.catch_up());
    match caught_up {
        Ok(()) => EmbeddedStore::open_read_only(dir),
        Err(error) => {
            output::note(&format!(
                "what was written last is not found, because the indexes cannot follow: {error}"
            ));
            Ok(store)
        }
    }
}

/// Whether a request needs a model: it has no vector, and may be searched by meaning.
pub(crate) fn needs_model(request: &Request) -> bool {
    let dense = request.channels.as_ref().is_none_or(|channels| channels.contains(&Channel::Dense));
    dense && request.vector.is_none()
}

/// The model that the store's vectors are of. Search does without one, so what is wrong with it is a remark and no error.
fn model(store: &EmbeddedStore) -> Result<Option<Arc<dyn Embedder>>, Error> {
    let Some(card) = store.model()? else { return Ok(None) };
    let remark = match models::queries_of(&card) {
        Ok(Some(model)) => return Ok(Some(model)),
        Ok(None) => "`mainstem model pull` gets it".to_owned(),
        Err(error) => error.to_string(),
    };
    output::note(&format!("the vectors of the store are of `{}`, which is not here: {remark}", card.name));
    Ok(None)
}
