//! The store of the demo: all samples of all recipes, in one folder.

use std::path::Path;
use std::sync::Arc;

use mainstem::Error;
use mainstem::ingest::{Ingest, Jsonl, Vectors};
use mainstem::query::{Engine, Settings};
use mainstem::store::EmbeddedStore;
use mainstem_core::contract::{Embedder, SourceStats};

use super::samples::RECIPES;
use crate::failure::{Failure, Problem};
use crate::temporary::Temporary;

/// The store, and the folder behind it. The store is closed before the folder goes.
pub(super) struct DemoStore {
    store: Arc<EmbeddedStore>,
    _folder: Option<Temporary>,
}

impl DemoStore {
    /// A store that is gone when it is dropped.
    pub(super) fn temporary() -> Result<Self, Failure> {
        let folder = Temporary::new("demo")?;
        let store = Arc::new(EmbeddedStore::init(folder.path()).map_err(failure)?);
        Ok(Self { store, _folder: Some(folder) })
    }

    /// A store that stays. The folder must not hold anything yet.
    pub(super) fn kept(folder: &Path) -> Result<Self, Failure> {
        if std::fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some()) {
            let message =
                format!("`--keep`: expected a new or empty folder, found files in `{}`", folder.display());
            return Err(Problem::conflict(message, "name another folder; nothing was written").into());
        }
        Ok(Self { store: Arc::new(EmbeddedStore::init(folder).map_err(failure)?), _folder: None })
    }

    /// Indexes all samples. `progress` is told how many documents there are so far.
    pub(super) fn fill(
        &self,
        embedder: Option<&dyn Embedder>,
        progress: &mut dyn FnMut(u64),
    ) -> Result<(), Failure> {
        let announce = |vectors: Vectors<'_>| match vectors {
            Vectors::Embedded(card) => self.store.set_model(card).map_err(failure),
            Vectors::Brought(_) => Ok(()),
        };
        let mut documents = 0;
        for recipe in &RECIPES {
            for (source, kind) in recipe.sources {
                let text = recipe.documents(source)?;
                let mut connector = Jsonl::new(Box::new(text.as_bytes()), *source, Some(text.len() as u64));
                let mut ingest = Ingest::new(source, self.store.as_ref());
                ingest.embedder = embedder;
                ingest.announce = Some(&announce);
                ingest.strict = true;
                documents += ingest.run(&mut connector, &mut |_| ())?.documents as u64;
                self.store.set_source(source, kind).map_err(failure)?;
                progress(documents);
            }
        }
        Ok(())
    }

    /// What each source holds.
    pub(super) fn sources(&self) -> Result<Vec<SourceStats>, Failure> {
        self.store.sources().map_err(failure)
    }

    /// The store itself.
    pub(super) fn embedded(&self) -> &Arc<EmbeddedStore> {
        &self.store
    }

    /// What answers questions.
    pub(super) fn engine(&self, embedder: Option<Arc<dyn Embedder>>) -> Engine {
        let store: Arc<EmbeddedStore> = Arc::clone(&self.store);
        Engine::new(store, embedder, Settings::default())
    }
}

fn failure(error: Error) -> Failure {
    Box::new(error)
}
