//! What became of a document that somebody misses.

use std::path::Path;

use mainstem::query::{CANDIDATES, Request, passes};
use mainstem::store::EmbeddedStore;
use mainstem_client::{Client, WhyNot};
use mainstem_core::answer::Fate;
use mainstem_core::{Code, Document};

use super::found::Found;
use super::render;
use crate::failure::Failure;
use crate::fuse::explain;
use crate::output;
use crate::related;

/// How a document stands to a search whose lists do not hold it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Standing {
    /// It is there, and no list has found it.
    #[default]
    Unfound,
    /// It is not there, or not for this reader.
    Missing,
    /// It is there, outside of what was searched.
    Outside,
    /// It cannot be told which of these it is.
    Untold,
}

/// Looks a document up in the store, where no list holds it.
pub(super) fn here(dir: &Path, asked: &WhyNot, request: &Request) -> Result<Standing, Failure> {
    if asked.fate != Fate::Unknown {
        return Ok(Standing::default());
    }
    let store = EmbeddedStore::open_read_only(dir)?;
    match related::find(&store, &asked.id) {
        Ok(document) => stands(&store, &document, request),
        Err(error) if matches!(error.code(), Code::NotFound | Code::Value) => Ok(Standing::Missing),
        Err(error) => Err(error),
    }
}

fn stands(store: &EmbeddedStore, document: &Document, request: &Request) -> Result<Standing, Failure> {
    let filter = &request.filter;
    // What a reader may not read must look as if it were not there.
    let hidden = |reader: &String| document.readers.as_ref().is_some_and(|all| !all.contains(reader));
    if filter.reader.as_ref().is_some_and(hidden) {
        return Ok(Standing::Missing);
    }
    let sources = store.sources()?;
    let kind = sources.iter().find(|source| source.name == document.source).map(|source| &source.kind);
    let chosen = filter.sources.as_ref().is_none_or(|all| all.contains(&document.source))
        && filter.kinds.as_ref().is_none_or(|all| kind.is_some_and(|kind| all.contains(kind)));
    Ok(if chosen && passes(document, filter) { Standing::Unfound } else { Standing::Outside })
}

/// Asks a server for the document, where no list holds it.
pub(super) fn there(client: &Client, asked: &WhyNot, request: &Request) -> Result<Standing, Failure> {
    if asked.fate != Fate::Unknown {
        return Ok(Standing::default());
    }
    if request.filter.reader.is_some() {
        // The server gives the document to whoever has the key, not to this reader.
        return Ok(Standing::Untold);
    }
    for name in related::names(&asked.id) {
        match client.document(name) {
            Ok(_) if render::narrowed(request) => return Ok(Standing::Untold),
            Ok(_) => return Ok(Standing::Unfound),
            Err(error) if matches!(error.code, Code::NotFound | Code::Value) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(Standing::Missing)
}

/// What became of it, in one line.
pub(super) fn text(found: &Found, asked: &WhyNot, standing: Standing) -> String {
    let id = output::line(&asked.id);
    let part = asked.part.as_ref().map(|part| format!(" (by its chunk `{}`)", output::line(part)));
    let sentence = match (&asked.fate, standing) {
        (Fate::Unknown, Standing::Missing) => "there is no such document, or you may not read it".to_owned(),
        (Fate::Unknown, Standing::Outside) => "it is outside of the filter of this search".to_owned(),
        (Fate::Unknown, Standing::Unfound) => unfound(found),
        (Fate::Unknown, Standing::Untold) => {
            format!("it is not there, outside of the filter of this search, or {}", unfound(found))
        }
        (fate, _) => explain::became(&found.answer, fate, asked.why.as_ref()),
    };
    format!("{id}{}: {sentence}\n", part.unwrap_or_default())
}

fn unfound(found: &Found) -> String {
    let idle = found.status.legs.iter().any(|leg| leg.weight == 0.0);
    let idle = if idle { "; lists of weight 0 were not asked" } else { "" };
    format!("no list found it among its best candidates (`candidates` says how many){idle}")
}

/// What to say when there may be more than was looked at: each list is cut to its best candidates.
pub(super) fn cut_short(found: &Found) -> Option<String> {
    let room = found.candidates.unwrap_or(CANDIDATES);
    let of_channel = |channel: &str| {
        let legs = found.status.legs.iter().filter(|leg| leg.variant == 0 && leg.name.ends_with(channel));
        legs.map(|leg| leg.items).sum::<usize>()
    };
    let most = ["/dense", "/lexical"].map(of_channel).into_iter().max().unwrap_or(0);
    if most < room {
        return None;
    }
    let count = found.candidates.map_or_else(String::new, |count| format!("{count} "));
    let place = if found.candidates.is_some() { "`mainstem.toml`" } else { "the server's `mainstem.toml`" };
    Some(format!(
        "only the best {count}candidates of each list were looked at, so there may be more; `candidates = {}` in {place} looks at more",
        room * 10
    ))
}
