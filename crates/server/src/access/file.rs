//! The keys of a store, in a file of its folder.
//!
//! A change writes a new file and puts it in the place of the old one, so that whoever reads has one of them, whole. The file is for its
//! owner alone. Changes of several processes wait for each other; a server that runs is not asked, and looks for itself.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use mainstem_core::Code;
use serde::{Deserialize, Serialize};

use super::key::Key;
use crate::error::ApiError;

/// The name of the file in the folder of the store.
pub const NAME: &str = "keys.json";

const LOCK: &str = "keys.lock";
const ASIDE: &str = "keys.new";

/// The form of the file.
const VERSION: u32 = 1;

/// The keys of a store.
#[derive(Clone, Debug)]
pub struct KeyFile {
    folder: PathBuf,
}

/// By what a file is told from the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    modified: Option<SystemTime>,
    length: u64,
    number: u64,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    version: u32,
    keys: Vec<Key>,
}

impl KeyFile {
    /// The keys of the store in this folder.
    pub fn of(store: &Path) -> Self {
        Self { folder: store.to_owned() }
    }

    fn path(&self) -> PathBuf {
        self.folder.join(NAME)
    }

    /// Tells this file from the one before; nothing when there is none.
    ///
    /// # Errors
    /// When the folder cannot be read.
    pub fn stamp(&self) -> Result<Option<Stamp>, ApiError> {
        match fs::metadata(self.path()) {
            Ok(metadata) => Ok(Some(Stamp {
                modified: metadata.modified().ok(),
                length: metadata.len(),
                number: number(&metadata),
            })),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(self.cannot("read", &error)),
        }
    }

    /// The keys; nothing where there never were any.
    ///
    /// # Errors
    /// When the file cannot be read, or is not one of keys.
    pub fn read(&self) -> Result<Option<Vec<Key>>, ApiError> {
        let text = match fs::read(self.path()) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(self.cannot("read", &error)),
        };
        let written: Written =
            serde_json::from_slice(&text).map_err(|error| self.damaged(&error.to_string()))?;
        if written.version != VERSION {
            return Err(self.damaged(&format!("expected version {VERSION}, received {}", written.version)));
        }
        written
            .keys
            .iter()
            .try_for_each(|key| key.grant.check())
            .map_err(|error| self.damaged(&error.message))?;
        Ok(Some(written.keys))
    }

    /// Adds a key.
    ///
    /// # Errors
    /// When there is one of this name, or the file cannot be read or written.
    pub fn add(&self, key: Key) -> Result<(), ApiError> {
        fs::create_dir_all(&self.folder).map_err(|error| self.cannot("write", &error))?;
        self.change(|keys| {
            if keys.iter().any(|known| known.name == key.name) {
                let message = format!("there is a key `{}` already, expected a new name", key.name);
                let hint = "revoke it first with `mainstem key revoke`, or choose another name";
                return Err(ApiError::new(Code::Duplicate, message, hint));
            }
            keys.push(key);
            Ok(())
        })
    }

    /// Takes a key away.
    ///
    /// # Errors
    /// When there is none of this name, or the file cannot be read or written.
    pub fn remove(&self, name: &str) -> Result<Key, ApiError> {
        if self.stamp()?.is_none() {
            return Err(mainstem_core::Error::unknown("key", name, []).into());
        }
        self.change(|keys| match keys.iter().position(|key| key.name == name) {
            Some(at) => Ok(keys.remove(at)),
            None => {
                Err(mainstem_core::Error::unknown("key", name, keys.iter().map(|key| key.name.as_str()))
                    .into())
            }
        })
    }

    fn change<T>(&self, change: impl FnOnce(&mut Vec<Key>) -> Result<T, ApiError>) -> Result<T, ApiError> {
        let lock = private(&self.folder.join(LOCK)).and_then(|file| file.lock().map(|()| file));
        let _lock = lock.map_err(|error| self.cannot("lock", &error))?;
        let mut keys = self.read()?.unwrap_or_default();
        let changed = change(&mut keys)?;
        self.write(keys).map_err(|error| self.cannot("write", &error))?;
        Ok(changed)
    }

    fn write(&self, keys: Vec<Key>) -> io::Result<()> {
        let aside = self.folder.join(ASIDE);
        // What a process left that died here; nobody else is here now.
        match fs::remove_file(&aside) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let text = serde_json::to_string_pretty(&Written { version: VERSION, keys })? + "\n";
        let mut file = private(&aside)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&aside, self.path())?;
        // A revoked key must not come back when the machine stops now.
        #[cfg(unix)]
        File::open(&self.folder)?.sync_all()?;
        Ok(())
    }

    fn cannot(&self, what: &str, error: &io::Error) -> ApiError {
        let message = format!("cannot {what} the keys in `{}`: {error}", self.path().display());
        ApiError::new(Code::Io, message, "check that the folder of the store is there and yours")
    }

    fn damaged(&self, why: &str) -> ApiError {
        let message = format!("`{}` is no file of keys: {why}", self.path().display());
        let hint = "put back a copy of it; or remove it, which revokes all keys, and make new ones";
        ApiError::new(Code::Damaged, message, hint)
    }
}

/// A file that its owner alone may read and write.
fn private(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

#[cfg(unix)]
fn number(metadata: &fs::Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::ino(metadata)
}

#[cfg(not(unix))]
fn number(_: &fs::Metadata) -> u64 {
    0
}

#[cfg(test)]
mod tests {
    use mainstem_core::time::Moment;

    use super::super::key::Grant;
    use super::*;

    fn key(name: &str) -> Key {
        let grant = Grant { sources: None, write: false, reader: None, expires_at: None };
        Key::new(name, grant, Moment::now()).unwrap().0
    }

    fn names(file: &KeyFile) -> Vec<String> {
        file.read().unwrap().unwrap().into_iter().map(|key| key.name).collect()
    }

    #[test]
    fn keys_come_and_go_by_name() {
        let folder = tempfile::tempdir().unwrap();
        let file = KeyFile::of(&folder.path().join("store"));
        assert_eq!((file.read().unwrap(), file.stamp().unwrap()), (None, None));
        assert_eq!(file.remove("a").unwrap_err().code, Code::Unknown);
        file.add(key("a")).unwrap();
        let before = file.stamp().unwrap();
        file.add(key("b")).unwrap();
        assert_ne!(file.stamp().unwrap(), before);
        assert_eq!(file.add(key("a")).unwrap_err().code, Code::Duplicate);
        assert_eq!(names(&file), ["a", "b"]);
        assert_eq!(file.remove("a").unwrap().name, "a");
        let error = file.remove("a").unwrap_err();
        assert_eq!(
            (error.code, error.message.as_str()),
            (Code::Unknown, "unknown key `a`, expected one of `b`")
        );
        file.remove("b").unwrap();
        assert_eq!(
            file.read().unwrap(),
            Some(Vec::new()),
            "nobody may come in, which is not the same as no keys"
        );
    }

    #[test]
    fn many_at_once_lose_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let file = KeyFile::of(folder.path());
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let file = &file;
                scope.spawn(move || (0..8).for_each(|at| file.add(key(&format!("{thread}-{at}"))).unwrap()));
            }
        });
        assert_eq!(names(&file).len(), 32);
    }

    #[cfg(unix)]
    #[test]
    fn the_file_is_for_its_owner_alone() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let file = KeyFile::of(folder.path());
        file.add(key("a")).unwrap();
        file.add(key("b")).unwrap();
        for name in [NAME, LOCK] {
            let mode = fs::metadata(folder.path().join(name)).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600, "{name}");
        }
        assert!(!folder.path().join(ASIDE).exists());
    }

    #[test]
    fn a_file_of_something_else_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let file = KeyFile::of(folder.path());
        for text in ["", "{}", "{\"version\":1,\"keys\":[{}]}", "{\"version\":2,\"keys\":[]}"] {
            fs::write(folder.path().join(NAME), text).unwrap();
            assert_eq!(file.read().unwrap_err().code, Code::Damaged, "{text}");
            assert_eq!(file.add(key("a")).unwrap_err().code, Code::Damaged, "{text}");
        }
    }
}
