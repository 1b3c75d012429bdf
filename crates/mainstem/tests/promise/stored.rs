//! A store in a folder of its own.

use std::sync::Arc;

use mainstem::query::{Engine, Settings};
use mainstem::store::EmbeddedStore;
use mainstem_core::Document;
use mainstem_core::contract::ModelCard;
use tempfile::TempDir;

/// A store that is gone when it is dropped. The store is closed before the folder goes.
pub(crate) struct Stored {
    pub(crate) store: Arc<EmbeddedStore>,
    _folder: TempDir,
}

impl Stored {
    pub(crate) fn empty(card: &ModelCard) -> Self {
        let folder = TempDir::new().unwrap();
        let store = Arc::new(EmbeddedStore::init(folder.path()).unwrap());
        store.set_model(card).unwrap();
        Self { store, _folder: folder }
    }

    pub(crate) fn engine(&self) -> Engine {
        let store: Arc<EmbeddedStore> = Arc::clone(&self.store);
        Engine::new(store, None, Settings::default())
    }

    /// The documents of a source.
    pub(crate) fn documents(&self, source: &str) -> Vec<Document> {
        let known = self.store.documents_of(source).unwrap();
        known.iter().map(|known| self.store.document(source, &known.id).unwrap().unwrap()).collect()
    }

    /// The vectors of all chunks.
    pub(crate) fn vectors(&self) -> Vec<Vec<f32>> {
        let sources = self.store.sources().unwrap();
        let documents = sources.iter().flat_map(|source| self.documents(&source.name));
        documents.flat_map(|document| document.chunks).filter_map(|chunk| chunk.vector).collect()
    }
}
