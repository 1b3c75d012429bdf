//! Folders that are gone when nobody needs them any more.

use std::path::{Path, PathBuf};

use mainstem::Error;

use crate::failure::{Failure, Problem};

/// A folder that is taken away again when it is dropped.
pub(crate) struct Temporary(PathBuf);

impl Temporary {
    /// A new folder for this purpose.
    pub(crate) fn new(purpose: &str) -> Result<Self, Failure> {
        let name = |attempt: u32| format!("mainstem-{purpose}-{}-{attempt}", std::process::id());
        let free = (0..).map(|attempt| std::env::temp_dir().join(name(attempt)));
        for path in free.take(1000) {
            match std::fs::create_dir(&path) {
                Ok(()) => return Ok(Self(path)),
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
                Err(source) => {
                    return Err(Box::new(Error::io("cannot make a temporary folder", &path, source)));
                }
            }
        }
        let message = "expected room for a temporary store, found every name taken";
        Err(Problem::conflict(message, "clean the folder of temporary files").into())
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        // What cannot be removed is left to whoever cleans the folder of temporary files.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
