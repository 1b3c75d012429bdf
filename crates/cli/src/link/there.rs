//! Links that a server keeps.

use mainstem_client::{Client, LinkRequest, RunOutcome};
use mainstem_core::link::{DocumentName, Edge, Link};
use mainstem_core::linked::{ShownRun, UndoneRun};

use super::known_run;
use super::run::{Found, RunArgs};
use crate::failure::Failure;
use crate::{output, related};

/// How many links a server gives at once.
const PAGE: usize = 1000;

/// Has the server look for links.
pub(super) fn run(args: &RunArgs, client: &Client) -> Result<Found, Failure> {
    let outcome = client.link(&LinkRequest { k: Some(PAGE), ..args.request()? })?;
    let RunOutcome { run, changes, dry_run, links } = outcome;
    let mut best: Vec<Edge> = links.iter().map(|link| Link::from(link).edge).collect();
    if best.len() == PAGE && run.edges.is_none_or(|edges| edges > PAGE as u64) {
        if dry_run {
            output::note(&format!("the server shows the best {PAGE} links of a run that is not kept"));
        } else {
            let rest = self::links(client, &run, usize::MAX)?.into_iter().skip(PAGE);
            best.extend(rest.map(|link| link.edge));
        }
    }
    Ok(Found { run, changes, best })
}

/// All runs, the one that was kept last first.
pub(super) fn runs(client: &Client) -> Result<Vec<ShownRun>, Failure> {
    Ok(client.link_runs()?.runs)
}

/// What a run said, best first; nothing when it was undone.
pub(super) fn links(client: &Client, run: &ShownRun, limit: usize) -> Result<Vec<Link>, Failure> {
    let mut links = Vec::new();
    while run.undone_at.is_none() && links.len() < limit {
        let page = client.link_run(&run.id, PAGE.min(limit - links.len()), links.len())?;
        links.extend(page.links.iter().map(Link::from));
        if !page.more {
            break;
        }
    }
    Ok(links)
}

/// The links of a document, best first.
pub(super) fn linked(
    client: &Client,
    name: &str,
    limit: usize,
) -> Result<(DocumentName, Vec<Link>), Failure> {
    let found = related::ask(client, name, limit.clamp(1, PAGE), &[])?;
    let (source, id) = found.document.split_once('/').unwrap_or((&found.document, ""));
    let document = DocumentName { source: source.to_owned(), id: id.to_owned() };
    let links = found.links.iter().take(limit).map(|link| link.link(&document)).collect();
    Ok((document, links))
}

/// Takes a run back; nothing when that was done before.
pub(super) fn undo(client: &Client, name: &str) -> Result<(ShownRun, Option<UndoneRun>), Failure> {
    let run = known_run(runs(client)?, name)?;
    if run.undone_at.is_some() {
        return Ok((run, None));
    }
    let undone = client.undo_links(name)?;
    Ok((run, Some(undone)))
}
