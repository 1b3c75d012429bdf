//! The rerankers behind HTTP that a user has added: a list in the folder of models. It holds the name of the variable that a key is in,
//! never a key.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::PathBuf;

use super::ServiceSettings;
use crate::Error;
use crate::models::Cache;

impl Cache {
    fn reranker_list(&self) -> PathBuf {
        self.root().join("rerankers.json")
    }

    /// The rerankers behind HTTP, by name.
    ///
    /// # Errors
    /// When the list cannot be read.
    pub fn rerankers(&self) -> Result<Vec<ServiceSettings>, Error> {
        let path = self.reranker_list();
        let text = match fs::read(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            read => read.map_err(|e| Error::io("cannot read the list of rerankers", &path, e))?,
        };
        serde_json::from_slice(&text).map_err(|error| {
            let what = format!("expected a list of rerankers behind HTTP: {error}");
            Error::damaged(
                what,
                &path,
                "correct the file, or remove it and run `mainstem model add --rerank`",
            )
        })
    }

    /// Puts a reranker on the list, in place of one of the same name, and says whether there was one.
    ///
    /// # Errors
    /// When the list cannot be read or written.
    pub fn add_reranker(&self, settings: ServiceSettings) -> Result<bool, Error> {
        let mut all = self.rerankers()?;
        let before = all.len();
        all.retain(|one| one.model != settings.model);
        let replaced = all.len() < before;
        all.push(settings);
        all.sort_by(|a, b| a.model.cmp(&b.model));
        self.write_rerankers(&all)?;
        Ok(replaced)
    }

    /// Takes a reranker off the list, and says whether it was there.
    ///
    /// # Errors
    /// When the list cannot be read or written.
    pub fn remove_reranker(&self, name: &str) -> Result<bool, Error> {
        let mut all = self.rerankers()?;
        let before = all.len();
        all.retain(|one| one.model != name);
        let removed = all.len() < before;
        if removed {
            self.write_rerankers(&all)?;
        }
        Ok(removed)
    }

    /// A new file takes the place of the old one, so that whoever reads at the same time has one of them.
    fn write_rerankers(&self, all: &[ServiceSettings]) -> Result<(), Error> {
        let path = self.reranker_list();
        let fail = |source| Error::io("cannot write the list of rerankers", &path, source);
        let text = serde_json::to_string_pretty(all).map_err(|error| fail(error.into()))? + "\n";
        fs::create_dir_all(self.root()).map_err(fail)?;
        let aside = self.root().join(format!(".rerankers.{}", std::process::id()));
        let mut file = File::create(&aside).map_err(fail)?;
        file.write_all(text.as_bytes()).and_then(|()| file.sync_all()).map_err(fail)?;
        fs::rename(&aside, &path).map_err(fail)
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
