//! The engine that commands search with: the store in a folder, and the model that embedded it.

use std::path::Path;
use std::sync::Arc;

use mainstem::query::{Engine, Request, Settings};
use mainstem::store::{EmbeddedStore, Options};
use mainstem::{Error, models};
use mainstem_core::contract::{Channel, Embedder, Store};

use crate::failure::Failure;
use crate::output;

/// Opens the store for reading, with its model if `embed` says that queries have to be embedded.
pub(crate) fn engine(store: &Path, embed: bool) -> Result<Engine, Failure> {
    with_store(store, embed).map(|(_, engine)| engine)
}

/// The same, with the store that the engine searches.
pub(crate) fn with_store(store: &Path, embed: bool) -> Result<(Arc<EmbeddedStore>, Engine), Failure> {
    let failure = |error: Error| Box::new(error) as Failure;
    let store = Arc::new(level(store).map_err(failure)?);
    let model = if embed { model(&store).map_err(failure)? } else { None };
    let searched: Arc<dyn Store> = Arc::<EmbeddedStore>::clone(&store);
    Ok((store, Engine::new(searched, model, Settings::default())))
}

/// Opens a store for reading. When the process that wrote to it was stopped, or had no room for its indexes, they catch up first. An index
/// that is damaged is made anew from the documents, unless nothing can be written.
pub(crate) fn level(dir: &Path) -> Result<EmbeddedStore, Error> {
    let store = match opened(dir) {
        Err(error @ Error::Damaged { .. }) => {
            if catch_up(dir).is_err() {
                return Err(error);
            }
            mended(&error);
            EmbeddedStore::open_read_only(dir)?
        }
        outcome => outcome?,
    };
    if !store.is_behind()? {
        return Ok(store);
    }
    match catch_up(dir) {
        Ok(()) => EmbeddedStore::open_read_only(dir),
        Err(error) => {
            output::note(&format!(
                "what was written last is not found, because the indexes cannot follow: {error}"
            ));
            Ok(store)
        }
    }
}

/// Opens a store for reading, and both of its indexes.
fn opened(dir: &Path) -> Result<EmbeddedStore, Error> {
    let store = EmbeddedStore::open_read_only(dir)?;
    store.catch_up()?;
    Ok(store)
}

/// Brings the indexes of a store up to its documents; those that cannot be read are made anew.
pub(crate) fn catch_up(dir: &Path) -> Result<(), Error> {
    EmbeddedStore::open(dir, Options::default()).and_then(|writing| writing.catch_up())
}

/// Makes the indexes anew because one turned out to be damaged while it was searched, and says whether that was possible.
pub(crate) fn mend(dir: &Path) -> bool {
    let rebuilt =
        EmbeddedStore::open(dir, Options::default()).and_then(|store| store.reindex(&mut |_, _| ()));
    if rebuilt.is_ok() {
        output::note("an index was damaged, and was made anew from the documents");
    }
    rebuilt.is_ok()
}

fn mended(damage: &Error) {
    output::note(&format!("an index was damaged, and was made anew from the documents: {damage}"));
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
