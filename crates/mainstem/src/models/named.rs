//! The models behind HTTP that have been given a place: a list in the folder of models, so that a search finds the service that
//! embedded a store by the name alone. It holds the name of the variable that a key is in, never a key.

use super::cache::Cache;
use super::http::HttpSettings;
use super::list::{self, Listed};
use crate::Error;

impl Listed for HttpSettings {
    const FILE: &'static str = "http";
    const WHAT: &'static str = "models";
    const AGAIN: &'static str = "mainstem model add";

    fn name(&self) -> &str {
        &self.model
    }
}

impl Cache {
    /// The models behind HTTP, by name.
    ///
    /// # Errors
    /// When the list cannot be read.
    pub fn services(&self) -> Result<Vec<HttpSettings>, Error> {
        list::read(self.root())
    }

    /// The model behind HTTP of this name.
    ///
    /// # Errors
    /// When the list cannot be read.
    pub fn service(&self, name: &str) -> Result<Option<HttpSettings>, Error> {
        Ok(self.services()?.into_iter().find(|service| service.model == name))
    }

    /// Puts a model on the list, in place of one of the same name, and says whether there was one.
    ///
    /// # Errors
    /// When the list cannot be read or written.
    pub fn add_service(&self, settings: HttpSettings) -> Result<bool, Error> {
        list::add(self.root(), settings)
    }

    /// Takes a model off the list, and says whether it was there.
    ///
    /// # Errors
    /// When the list cannot be read or written.
    pub fn remove_service(&self, name: &str) -> Result<bool, Error> {
        list::remove::<HttpSettings>(self.root(), name)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::models::Shape;

    #[test]
    fn a_service_is_kept_until_it_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::at(folder.path().join("models"));
        assert!(cache.services().unwrap().is_empty());
        let at = |url: &str, name: &str| HttpSettings::new(Shape::Tei, url, name);
        assert!(!cache.add_service(at("http://a", "org/one")).unwrap());
        assert!(!cache.add_service(at("http://b", "all")).unwrap());
        assert!(cache.add_service(at("http://c", "org/one")).unwrap(), "in place of the first");
        let names: Vec<_> = cache.services().unwrap().into_iter().map(|service| service.model).collect();
        assert_eq!(names, ["all", "org/one"]);
        assert_eq!(cache.service("org/one").unwrap(), Some(at("http://c", "org/one")));
        assert!(cache.remove_service("all").unwrap() && !cache.remove_service("all").unwrap());
        assert_eq!(cache.service("all").unwrap(), None);
    }

    #[test]
    fn a_list_that_cannot_be_read_is_named() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(
            folder.path().join("http.json"),
            r#"[{"shape":"tei","url":"http://a","model":"m","kee_env":"K"}]"#,
        )
        .unwrap();
        let error = Cache::at(folder.path()).services().unwrap_err().to_string();
        assert!(error.contains("unknown field `kee_env`"), "{error}");
    }
}
