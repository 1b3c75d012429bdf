//! A store that hears about the source before the first document is written, so that a run which is stopped has said it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use mainstem::store::embedded::EmbeddedStore;
use mainstem_core::contract::{Applied, Capabilities, Change, Store, View};

use crate::failure::Failure;

/// The store, and what to tell it first.
pub(super) struct Told<'a> {
    store: &'a EmbeddedStore,
    tell: &'a (dyn Fn() -> Result<(), Failure> + Send + Sync),
    done: AtomicBool,
}

impl<'a> Told<'a> {
    pub(super) fn new(
        store: &'a EmbeddedStore,
        tell: &'a (dyn Fn() -> Result<(), Failure> + Send + Sync),
    ) -> Self {
        Self { store, tell, done: AtomicBool::new(false) }
    }
}

impl Store for Told<'_> {
    fn capabilities(&self) -> Capabilities {
        self.store.capabilities()
    }

    fn apply(&self, changes: Vec<Change>) -> Result<Applied, Failure> {
        if !self.done.swap(true, Ordering::Relaxed) {
            (self.tell)()?;
        }
        self.store.apply(changes)
    }

    fn view(&self) -> Result<Arc<dyn View>, Failure> {
        self.store.view()
    }
}
