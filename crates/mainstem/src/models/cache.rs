//! The folder that keeps the files of local models: one folder for each model.

use std::env;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use mainstem_core::contract::Embedder;
use serde::Serialize;
use sha2::{Digest as _, Sha256};

use super::known::{Known, KnownFile};
use super::minilm::MiniLm;
use crate::Error;

/// The environment variable that names another folder.
pub const VARIABLE: &str = "MAINSTEM_MODELS";

/// What the cache has of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// All files are there.
    Present,
    /// No file is there.
    Absent,
    /// A file is missing, or is not what it should be.
    Damaged,
}

/// The folder of the local models.
#[derive(Clone, Debug)]
pub struct Cache {
    root: PathBuf,
}

impl Cache {
    /// A cache in this folder, which need not exist.
    pub fn at(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// The folder that `MAINSTEM_MODELS` names, else `mainstem/models` in the cache folder of the user.
    ///
    /// # Errors
    /// When there is neither.
    pub fn standard() -> Result<Self, Error> {
        let given = |name| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        if let Some(folder) = given(VARIABLE) {
            return Ok(Self::at(folder));
        }
        let user = if cfg!(windows) {
            given("LOCALAPPDATA")
        } else if cfg!(target_os = "macos") {
            env::home_dir().map(|home| home.join("Library/Caches"))
        } else {
            given("XDG_CACHE_HOME").or_else(|| env::home_dir().map(|home| home.join(".cache")))
        };
        let none = || {
            Error::input("expected a folder for models, found no home folder", format!("set `{VARIABLE}`"))
        };
        Ok(Self::at(user.ok_or_else(none)?.join("mainstem").join("models")))
    }

    /// The folder itself.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Where the files of a model are, or will be.
    pub fn folder(&self, model: &Known) -> PathBuf {
        self.root.join(model.name)
    }

    /// What is there of a model, judged by the length of its files: quick enough to ask before every search.
    pub fn state(&self, model: &Known) -> State {
        let folder = self.folder(model);
        let right =
            |file: &KnownFile| fs::metadata(folder.join(file.name)).is_ok_and(|meta| meta.len() == file.size);
        if model.files.iter().all(right) {
            State::Present
        } else if folder.exists() {
            State::Damaged
        } else {
            State::Absent
        }
    }

    /// As [`Cache::state`], judged by the SHA-256 of every file.
    ///
    /// # Errors
    /// When a file cannot be read.
    pub fn verify(&self, model: &Known) -> Result<State, Error> {
        if self.state(model) != State::Present {
            return Ok(self.state(model));
        }
        for file in model.files {
            let path = self.folder(model).join(file.name);
            if sha256(&path).map_err(|e| Error::io("cannot read the model", &path, e))? != file.sha256 {
                return Ok(State::Damaged);
            }
        }
        Ok(State::Present)
    }

    /// The model, ready to embed; `None` when it has not been pulled.
    ///
    /// # Errors
    /// When its files are damaged.
    pub fn load(&self, model: &Known) -> Result<Option<Arc<dyn Embedder>>, Error> {
        Ok(self.minilm(model)?.map(|model| model as Arc<dyn Embedder>))
    }

    /// As [`Cache::load`], for those who look inside.
    pub(crate) fn minilm(&self, model: &Known) -> Result<Option<Arc<MiniLm>>, Error> {
        let folder = self.folder(model);
        match self.state(model) {
            State::Absent => Ok(None),
            State::Present => Ok(Some(MiniLm::shared(&folder)?)),
            State::Damaged => {
                let what = format!("expected all files of `{}` in their full length", model.name);
                Err(Error::damaged(what, &folder, format!("run `mainstem model pull {}`", model.name)))
            }
        }
    }
}

fn sha256(path: &Path) -> io::Result<String> {
    let mut hasher = Sha256::new();
    io::copy(&mut File::open(path)?, &mut hasher)?;
    Ok(hexadecimal(hasher))
}

/// Passes bytes on and takes their SHA-256 on the way.
pub(super) struct Hashed<W> {
    inner: W,
    hasher: Sha256,
}

impl<W: Write> Hashed<W> {
    pub(super) fn new(inner: W) -> Self {
        Self { inner, hasher: Sha256::new() }
    }

    /// What was written to, and the SHA-256 of it.
    pub(super) fn finish(self) -> (W, String) {
        (self.inner, hexadecimal(self.hasher))
    }
}

impl<W: Write> Write for Hashed<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.inner.write(bytes)?;
        self.hasher.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

fn hexadecimal(hasher: Sha256) -> String {
    format!("{:x}", hasher.finalize())
}
