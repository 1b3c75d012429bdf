//! Documents that go to a server: read and cut here, embedded and kept there.

use std::process::ExitCode;
use std::sync::Arc;

use mainstem::Error;
use mainstem::ingest::{Ingest, Missing};
use mainstem_client::{Client, Target};
use mainstem_core::contract::{Ability, Applied, Capabilities, Change, Store, View};
use mainstem_core::{Chunk, Document};
use serde_json::{Value, json};

use super::input::Input;
use super::progress::Bar;
use super::{IngestArgs, STOP, exit_code, listen, report};
use crate::failure::{Failure, Problem};
use crate::output;

/// Runs the command.
pub(super) fn run(args: &IngestArgs, client: &Client) -> Result<ExitCode, Failure> {
    refuse(args)?;
    let input = Input::detect(args)?;
    listen()?;
    if input.missing(args) != Missing::Keep {
        output::note(
            "documents that are not in the folder any more stay: only a store can tell which they are",
        );
    }
    let known = client.sources()?.into_iter().find(|source| source.name == args.source);
    let kind =
        args.kind.clone().or(known.map(|source| source.kind)).unwrap_or_else(|| input.as_str().to_owned());
    let (source, vectors_model) = (args.source.clone(), args.vectors_model.clone());
    let target = Target { source, kind: Some(kind), vectors_model, run: Some(run_name()) };
    let store = Elsewhere { client, target };
    let mut connector = input.open(args, None)?;
    let mut ingest = Ingest::new(&args.source, &store);
    ingest.strict = args.strict;
    ingest.stop = Some(&STOP);
    let bar = Bar::new(false);
    let summary = ingest.run(connector.as_mut(), &mut |progress| bar.show(progress));
    bar.clear();
    let summary = summary?;
    report::write(args, &summary, None)?;
    Ok(exit_code(&summary))
}

/// A name that no other run has: documents go in several requests, and the server reports all of them as one.
fn run_name() -> String {
    format!("{}-{}", mainstem_core::time::Moment::now(), std::process::id())
}

/// What only the process that has the store can do.
fn refuse(args: &IngestArgs) -> Result<(), Problem> {
    let refused = [
        (args.sync, "--sync", "a server does not tell which documents it has"),
        (args.watch, "--watch", "a server does not tell which documents it has"),
        (args.model.is_some(), "--model", "the server embeds with the model of its store"),
        (args.no_embed, "--no-embed", "the server embeds with the model of its store"),
    ];
    match refused.into_iter().find(|(given, ..)| *given) {
        None => Ok(()),
        Some((_, option, why)) => {
            let hint = "leave it out, or stop the server and name the store with `--store`";
            Err(Problem::conflict(format!("`{option}` and `--server`: {why}"), hint))
        }
    }
}

/// A store that can only be written to.
struct Elsewhere<'a> {
    client: &'a Client,
    target: Target,
}

impl Store for Elsewhere<'_> {
    fn capabilities(&self) -> Capabilities {
        Capabilities { lexical: Ability::None, dense: Ability::None, filters: Ability::None }
    }

    fn apply(&self, changes: Vec<Change>) -> Result<Applied, Failure> {
        let mut applied = Applied::default();
        let mut lines = Vec::new();
        for change in changes {
            match change {
                Change::Put(document) => lines.push(line(document)),
                Change::Delete { source, id } => {
                    self.client.delete(&source, &id)?;
                    applied.removed += 1;
                }
            }
        }
        let told = self.client.ingest(&self.target, lines)?;
        if let Some(refused) = told.refused.into_iter().next() {
            return Err(refused.error.into());
        }
        (applied.added, applied.changed, applied.unchanged) = (told.added, told.changed, told.unchanged);
        Ok(applied)
    }

    fn view(&self) -> Result<Arc<dyn View>, Failure> {
        Err(Box::new(Error::Internal("a server is not read as a store".to_owned())))
    }
}

/// A document as a line for the server, cut already, so that it is the same as if it had been written here.
fn line(document: Document) -> Value {
    let part = |chunk: Chunk| json!({ "text": chunk.text, "heading": chunk.heading, "vector": chunk.vector });
    let chunks: Vec<Value> =
        if document.text.is_empty() { Vec::new() } else { document.chunks.into_iter().map(part).collect() };
    json!({
        "id": document.id,
        "title": document.title,
        "text": document.text,
        "url": document.url,
        "label": document.label,
        "created_at": document.created_at,
        "updated_at": document.updated_at,
        "readers": document.readers,
        "key": document.key,
        "metadata": document.metadata,
        "chunks": if chunks.is_empty() { Value::Null } else { Value::Array(chunks) },
    })
}
