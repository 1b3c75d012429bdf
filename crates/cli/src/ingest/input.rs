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

    /// What becomes of documents that are gone.
    pub(super) fn missing(self, args: &IngestArgs) -> Missing {
        match self {
            _ if args.sync => Missing::RemoveAll,
            Self::Folder if !args.no_sync => Missing::Remove,
            _ => Missing::Keep,
        }
    }

    /// Starts to read.
    pub(super) fn open(self, args: &IngestArgs, except: Vec<PathBuf>) -> Result<Box<dyn Connector>, Failure> {
        let path = args.path.as_path();
        Ok(match self {
            Self::Folder | Self::File => {
                let options = FolderOptions { except, ..FolderOptions::default() };
                Box::new(Folder::open(path, options).map_err(failure)?)
            }
            Self::Jsonl => Box::new(Jsonl::open(path).map_err(failure)?),
            Self::Beir => Box::new(Beir::open(path, args.vectors.as_deref()).map_err(failure)?),
        })
    }
}

/// What inside of the path is no document: the store.
pub(super) fn except(store: &EmbeddedStore) -> Vec<PathBuf> {
    store.dir().canonicalize().into_iter().collect()
}

fn has_lines(path: &Path) -> bool {
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    ["jsonl", "ndjson"].iter().any(|known| ending.eq_ignore_ascii_case(known))
}
