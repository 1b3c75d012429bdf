//! Pulling a local model: from folders and zip files, whole or damaged.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::fs;
use std::io::{Cursor, Write as _};
use std::path::Path;

use mainstem::models::cache::{Cache, State};
use mainstem::models::known::{Known, KnownFile};
use mainstem::models::pull::{Pulled, Sources, pull};
use tempfile::TempDir;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

/// A model of two short files: `hello` and nothing.
const SMALL: Known = Known {
    name: "small",
    dim: 1,
    max_tokens: 1,
    files: &[
        KnownFile {
            name: "model.safetensors",
            size: 5,
            sha256: "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824",
        },
        KnownFile {
            name: "vocab.txt",
            size: 0,
            sha256: "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        },
    ],
    package: "no-such-package",
    repository: "nobody/small",
};

fn folder(model: &str) -> TempDir {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("model.safetensors"), model).unwrap();
    fs::write(folder.path().join("vocab.txt"), "").unwrap();
    folder
}

fn pull_from(cache: &Cache, path: &Path) -> Result<Pulled, String> {
    let sources = Sources { path: Some(path), hub: None };
    pull(cache, &SMALL, sources, &mut |_| ()).map_err(|error| error.to_string())
}

fn names(folder: &Path) -> Vec<String> {
    let entries =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<_> = entries.collect();
    names.sort();
    names
}

#[test]
fn files_come_from_a_folder_once() {
    let (root, from) = (TempDir::new().unwrap(), folder("hello"));
    let cache = Cache::at(root.path().join("deep/er"));
    assert_eq!(cache.state(&SMALL), State::Absent);
    assert!(matches!(pull_from(&cache, from.path()), Ok(Pulled::From(_))));
    assert_eq!(cache.verify(&SMALL).unwrap(), State::Present);
    assert_eq!(pull_from(&cache, from.path()), Ok(Pulled::Already));
    assert_eq!(names(cache.root()), ["small"]);
}

#[test]
fn a_damaged_model_is_replaced() {
    let (root, from) = (TempDir::new().unwrap(), folder("hello"));
    let cache = Cache::at(root.path());
    fs::create_dir(cache.folder(&SMALL)).unwrap();
    fs::write(cache.folder(&SMALL).join("model.safetensors"), "hullo").unwrap();
    assert_eq!(cache.state(&SMALL), State::Damaged);
    fs::write(cache.folder(&SMALL).join("vocab.txt"), "").unwrap();
    assert_eq!((cache.state(&SMALL), cache.verify(&SMALL).unwrap()), (State::Present, State::Damaged));
    pull_from(&cache, from.path()).unwrap();
    assert_eq!(cache.verify(&SMALL).unwrap(), State::Present);
}

#[test]
fn other_bytes_are_refused_and_leave_nothing_behind() {
    let root = TempDir::new().unwrap();
    let cache = Cache::at(root.path());
    for wrong in ["hullo", "hello!", "hell", ""] {
        let error = pull_from(&cache, folder(wrong).path()).unwrap_err();
        assert!(error.contains("expected `model.safetensors` with SHA-256"), "{error}");
        assert_eq!(names(cache.root()), Vec::<String>::new());
    }
}

#[test]
fn what_is_no_model_is_named() {
    let (root, from) = (TempDir::new().unwrap(), folder("hello"));
    let cache = Cache::at(root.path());
    assert!(pull_from(&cache, Path::new("no/such/path")).unwrap_err().contains("cannot read the model"));
    let file = from.path().join("model.safetensors");
    assert!(pull_from(&cache, &file).unwrap_err().contains("expected a folder, a wheel or a zip file"));
    fs::remove_file(from.path().join("vocab.txt")).unwrap();
    assert!(pull_from(&cache, from.path()).unwrap_err().contains("cannot read the model"));
}

/// A wheel with the files in the folder `a/model/`.
fn wheel() -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in
        [("a/not_vocab.txt", "x"), ("a/model/vocab.txt", ""), ("a/model/model.safetensors", "hello")]
    {
        zip.start_file(name, SimpleFileOptions::default()).unwrap();
        zip.write_all(content.as_bytes()).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

#[test]
fn files_come_from_anywhere_in_a_zip_file() {
    let root = TempDir::new().unwrap();
    let (path, bytes) = (root.path().join("small.whl"), wheel());
    fs::write(&path, &bytes).unwrap();
    let cache = Cache::at(root.path().join("models"));
    pull_from(&cache, &path).unwrap();
    assert_eq!(fs::read(cache.folder(&SMALL).join("model.safetensors")).unwrap(), b"hello");
    fs::write(&path, &bytes[..bytes.len() - 30]).unwrap();
    assert!(pull_from(&Cache::at(root.path().join("others")), &path).is_err());
}

#[test]
fn a_name_that_is_not_known_is_an_error_and_an_absent_model_is_not() {
    let root = TempDir::new().unwrap();
    assert!(mainstem::models::known::find("no-such-model").is_err());
    let model = &mainstem::models::known::ALL[0];
    assert!(Cache::at(root.path()).load(model).unwrap().is_none());
    fs::create_dir(root.path().join(model.name)).unwrap();
    assert!(Cache::at(root.path()).load(model).is_err());
}
