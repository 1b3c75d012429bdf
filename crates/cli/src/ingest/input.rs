//! What a path is, and how it is read.

use std::path::{Path, PathBuf};

use mainstem::ingest::{Beir, Connector, Folder, FolderOptions, Jsonl, Missing};
use mainstem::store::embedded::EmbeddedStore;
use mainstem_core::diagnostic::Place;

use super::{IngestArgs, failure};
use crate::failure::{Failure, Problem};

/// What a path is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Input {
    /// A folder of files.
    Folder,
    /// One file.
    File,
    /// Documents as lines of JSON.
    Jsonl,
    /// A judged collection.
    Beir,
}

impl Input {
    /// Looks at a path, unless `--kind` says what it is.
    pub(super) fn detect(args: &IngestArgs) -> Result<Self, Problem> {
        let path = args.path.as_path();
        if path != Path::new("-") {
            let place = Place::default().in_file(path.display().to_string());
            path.metadata().map_err(|source| Problem::Read { place, source })?;
        }
        let files = || if path.is_dir() { Self::Folder } else { Self::File };
        let input = match args.kind.as_deref() {
            Some("beir") => Self::Beir,
            Some("jsonl" | "ndjson") => Self::Jsonl,
            Some("files") => files(),
            _ if args.vectors.is_some() || path.join("corpus.jsonl").is_file() => Self::Beir,
            _ if path == Path::new("-") || has_lines(path) => Self::Jsonl,
            _ => files(),
        };
        if args.vectors.is_some() && input != Self::Beir {
            let hint = "give a BEIR folder, or put the vectors into the lines as `vector`";
            return Err(Problem::conflict("`--vectors`: expected documents of `--kind beir`", hint));
        }
        Ok(input)
    }

    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Folder | Self::File => "files",
            Self::Jsonl => "jsonl",
            Self::Beir => "beir",
        }
    }

    /// Tells the store the kind of the source, given the one that it had before. A kind that is known is changed only on request.
    pub(super) fn name_source(
        self,
        args: &IngestArgs,
        store: &EmbeddedStore,
        before: Option<&str>,
    ) -> Result<(), Failure> {
        let kind = args.kind.as_deref().or(before).unwrap_or(self.as_str());
        if before == Some(kind) {
            return Ok(());
        }
        store.set_source(&args.source, kind).map_err(failure)
    }

    /// What becomes of documents that are gone, where the source has no others.
    pub(super) fn missing(self, args: &IngestArgs) -> Missing {
        match self {
            _ if args.sync => Missing::RemoveAll,
            Self::Folder if !args.no_sync => Missing::Remove,
            _ => Missing::Keep,
        }
    }

    /// Starts to read what goes into a store of this machine, or elsewhere.
    pub(super) fn open(
        self,
        args: &IngestArgs,
        store: Option<&EmbeddedStore>,
    ) -> Result<Box<dyn Connector>, Failure> {
        let path = args.path.as_path();
        Ok(match self {
            Self::Folder | Self::File => {
                let except = store.map(|store| except(store.dir())).unwrap_or_default();
                let options = FolderOptions { except, ..FolderOptions::default() };
                Box::new(Folder::open(path, options).map_err(failure)?)
            }
            Self::Jsonl => {
                let dim = store.map_or(Ok(None), |store| dim(args, store))?;
                Box::new(Jsonl::open(path).map_err(failure)?.with_dim(dim))
            }
            Self::Beir => Box::new(Beir::open(path, args.vectors.as_deref()).map_err(failure)?),
        })
    }
}

/// What inside of the path is no document: the store.
pub(super) fn except(store: &Path) -> Vec<PathBuf> {
    store.canonicalize().into_iter().collect()
}

/// How many numbers the vectors of a store have, where it has any. Whoever names another model hears that from the store, and not line by line.
fn dim(args: &IngestArgs, store: &EmbeddedStore) -> Result<Option<usize>, Failure> {
    if store.sources().map_err(failure)?.iter().all(|source| source.vectors == 0) {
        return Ok(None);
    }
    let card = store.model().map_err(failure)?;
    let named = |name: &str| args.vectors_model.as_deref().is_none_or(|wanted| wanted == name);
    Ok(card.filter(|card| named(&card.name)).map(|card| card.dim))
}

fn has_lines(path: &Path) -> bool {
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    ["jsonl", "ndjson"].iter().any(|known| ending.eq_ignore_ascii_case(known))
}
