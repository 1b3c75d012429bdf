//! A list of services in the folder of models, one small file of JSON.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::Error;

/// What can be on a list.
pub(crate) trait Listed: Serialize + DeserializeOwned {
    /// The file, without its ending.
    const FILE: &'static str;
    /// What is on the list.
    const WHAT: &'static str;
    /// What makes the list anew.
    const AGAIN: &'static str;

    /// The name, of which there is one.
    fn name(&self) -> &str;
}

fn path<T: Listed>(root: &Path) -> PathBuf {
    root.join(T::FILE).with_extension("json")
}

/// All that is on the list, by name; nothing where there is no list.
pub(crate) fn read<T: Listed>(root: &Path) -> Result<Vec<T>, Error> {
    let path = path::<T>(root);
    let text = match fs::read(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        read => read.map_err(|e| Error::io(format!("cannot read the list of {}", T::WHAT), &path, e))?,
    };
    serde_json::from_slice(&text).map_err(|error| {
        let what = format!("expected a list of {} behind HTTP: {error}", T::WHAT);
        Error::damaged(what, &path, format!("correct the file, or remove it and run `{}`", T::AGAIN))
    })
}

/// Puts one on the list, in place of one of the same name, and says whether there was one.
pub(crate) fn add<T: Listed>(root: &Path, one: T) -> Result<bool, Error> {
    let mut all = read::<T>(root)?;
    let replaced = take(&mut all, one.name());
    all.push(one);
    all.sort_by(|a, b| a.name().cmp(b.name()));
    write(root, &all).map(|()| replaced)
}

/// Takes one off the list, and says whether it was there.
pub(crate) fn remove<T: Listed>(root: &Path, name: &str) -> Result<bool, Error> {
    let mut all = read::<T>(root)?;
    let removed = take(&mut all, name);
    if removed {
        write(root, &all)?;
    }
    Ok(removed)
}

fn take<T: Listed>(all: &mut Vec<T>, name: &str) -> bool {
    let before = all.len();
    all.retain(|one| one.name() != name);
    all.len() < before
}

/// A new file takes the place of the old one, so that whoever reads at the same time has one of them.
fn write<T: Listed>(root: &Path, all: &[T]) -> Result<(), Error> {
    let path = path::<T>(root);
    let fail = |source| Error::io(format!("cannot write the list of {}", T::WHAT), &path, source);
    let text = serde_json::to_string_pretty(all).map_err(|error| fail(error.into()))? + "\n";
    fs::create_dir_all(root).map_err(fail)?;
    let aside = root.join(format!(".{}.{}", T::FILE, std::process::id()));
    let mut file = File::create(&aside).map_err(fail)?;
    file.write_all(text.as_bytes()).and_then(|()| file.sync_all()).map_err(fail)?;
    fs::rename(&aside, &path).map_err(fail)
}
