//! The models behind HTTP that have been given a place: a list in the folder of models, so that a search finds the service that
//! embedded a store by the name alone. It holds the name of the variable that a key is in, never a key.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::PathBuf;

use super::cache::Cache;
use super::http::HttpSettings;
use crate::Error;

impl Cache {
    fn list(&self) -> PathBuf {
        self.root().join("http.json")
    }

    /// The models behind HTTP, by name.
    ///
    /// # Errors
    /// When the list cannot be read.
    pub fn services(&self) -> Result<Vec<HttpSettings>, Error> {
        let path = self.list();
        let text = match fs::read(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            read => read.map_err(|e| Error::io("cannot read the list of models", &path, e))?,
        };
        serde_json::from_slice(&text).map_err(|error| {
            let what = format!("expected a list of models behind HTTP: {error}");
            Error::damaged(what, &path, "correct the file, or remove it and run `mainstem model add`")
        })
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
        let mut services = self.services()?;
        let before = services.len();
        services.retain(|service| service.model != settings.model);
        let replaced = services.len() < before;
        services.push(settings);
        services.sort_by(|a, b| a.model.cmp(&b.model));
        self.write_services(&services)?;
        Ok(replaced)
    }

    /// Takes a model off the list, and says whether it was there.
    ///
    /// # Errors
    /// When the list cannot be read or written.
    pub fn remove_service(&self, name: &str) -> Result<bool, Error> {
        let mut services = self.services()?;
        let before = services.len();
        services.retain(|service| service.model != name);
        let removed = services.len() < before;
        if removed {
            self.write_services(&services)?;
        }
        Ok(removed)
    }

    /// A new file takes the place of the old one, so that whoever reads at the same time has one of them.
    fn write_services(&self, services: &[HttpSettings]) -> Result<(), Error> {
        let path = self.list();
        let fail = |source| Error::io("cannot write the list of models", &path, source);
        let text = serde_json::to_string_pretty(services).map_err(|error| fail(error.into()))? + "\n";
        fs::create_dir_all(self.root()).map_err(fail)?;
        let aside = self.root().join(format!(".http.{}", std::process::id()));
        let mut file = File::create(&aside).map_err(fail)?;
        file.write_all(text.as_bytes()).and_then(|()| file.sync_all()).map_err(fail)?;
        fs::rename(&aside, &path).map_err(fail)
    }
}

#[cfg(test)]
mod tests {
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
