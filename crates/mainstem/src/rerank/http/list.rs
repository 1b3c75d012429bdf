//! The rerankers behind HTTP that a user has added: a list in the folder of models. It holds the name of the variable that a key is in,
//! never a key.

use super::ServiceSettings;
use crate::Error;
use crate::models::Cache;
use crate::models::list::{self, Listed};

impl Listed for ServiceSettings {
    const FILE: &'static str = "rerankers";
    const WHAT: &'static str = "rerankers";
    const AGAIN: &'static str = "mainstem model add --rerank";

    fn name(&self) -> &str {
        &self.model
    }
}

impl Cache {
    /// The rerankers behind HTTP, by name.
    ///
    /// # Errors
    /// When the list cannot be read.
    pub fn rerankers(&self) -> Result<Vec<ServiceSettings>, Error> {
        list::read(self.root())
    }

    /// Puts a reranker on the list, in place of one of the same name, and says whether there was one.
    ///
    /// # Errors
    /// When the list cannot be read or written.
    pub fn add_reranker(&self, settings: ServiceSettings) -> Result<bool, Error> {
        list::add(self.root(), settings)
    }

    /// Takes a reranker off the list, and says whether it was there.
    ///
    /// # Errors
    /// When the list cannot be read or written.
    pub fn remove_reranker(&self, name: &str) -> Result<bool, Error> {
        list::remove::<ServiceSettings>(self.root(), name)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Shape;
    use super::*;

    #[test]
    fn a_reranker_is_kept_until_it_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::at(folder.path().join("models"));
        assert!(cache.rerankers().unwrap().is_empty());
        let at = |url: &str| ServiceSettings::new(Shape::Jina, url, "one");
        assert!(!cache.add_reranker(at("http://a")).unwrap());
        assert!(cache.add_reranker(at("http://b")).unwrap(), "in place of the first");
        assert_eq!(cache.rerankers().unwrap(), [at("http://b")]);
        assert!(cache.remove_reranker("one").unwrap() && !cache.remove_reranker("one").unwrap());
    }
}
