//! `mainstem related`: what else is about the same as a document.

use std::fmt::Write as _;
use std::path::Path;
use std::process::ExitCode;

use anstyle::Style;
use clap::Args;
use mainstem::related::related;
use mainstem::store::EmbeddedStore;
use mainstem_client::{Client, Related, RelatedDocument};
use mainstem_core::contract::{Channel, Ctx, Filter, Store as _};
use mainstem_core::link::{DocumentName, Edges as _, Link, LinkQuery};
use mainstem_core::time::Moment;
use mainstem_core::{Code, Document, Error};
use serde::Serialize;

use crate::failure::{Failure, Problem};
use crate::link::show;
use crate::output;
use crate::remote::Place;
use crate::search::open;
use crate::search::render::{bar, colour};

const STRONG: Style = Style::new().bold();
const FAINT: Style = Style::new().dimmed();

/// How much of a part is shown, in characters.
const SHOWN: usize = 160;

/// Find documents that are about the same as one.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  mainstem related wiki/release
  mainstem related wiki/release --source chat -n 3 --json

The parts of the document are compared with those of all others, by meaning, or by words where it has no vectors. The
reason names the two parts that are alike. What `mainstem link run` has linked it to comes first.

Exit codes: 0 found, 1 nothing found, 2 error")]
pub(crate) struct RelatedArgs {
    /// The document, `source/id`; for the id of a hit, such as `wiki/release#2`, its document is taken
    document: String,

    /// How many documents to show
    #[arg(short = 'n', long, value_name = "N", default_value_t = 10)]
    limit: usize,

    /// Find documents of this source only; repeat for several
    #[arg(long, value_name = "NAME")]
    source: Vec<String>,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// What was found: what runs have linked, and what is alike now.
#[derive(Serialize)]
struct Found {
    #[serde(flatten)]
    related: Related,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    links: Vec<Link>,
    #[serde(skip)]
    linked: Vec<Linked>,
}

/// The other end of a link.
struct Linked {
    name: DocumentName,
    title: Option<String>,
    url: Option<String>,
}

impl Linked {
    fn read(store: &EmbeddedStore, link: &Link, document: &DocumentName) -> Result<Self, Failure> {
        let name = show::other(link, document).clone();
        let found = store.document(&name.source, &name.id)?.unwrap_or_default();
        Ok(Self { name, title: found.title, url: found.url })
    }

    fn is(&self, document: &RelatedDocument) -> bool {
        self.name.source == document.source && self.name.id == document.document
    }
}

/// Runs the command.
pub(crate) fn run(args: &RelatedArgs, place: &Place<'_>) -> Result<ExitCode, Failure> {
    if args.limit == 0 {
        return Err(Problem::argument("`--limit` is 0, expected at least 1", "such as `-n 10`").into());
    }
    let found = match place {
        Place::Store(store) => here(args, store)?,
        Place::Server(client) => {
            Found { related: there(args, client)?, links: Vec::new(), linked: Vec::new() }
        }
    };
    let text = if args.json {
        serde_json::to_string_pretty(&found).map_err(Problem::from)? + "\n"
    } else {
        linked_text(&found) + &text(&found)
    };
    output::write(None, &text)?;
    let Found { related: found, links, .. } = found;
    if found.related.is_empty() && links.is_empty() {
        output::note(&format!("nothing else is about the same as `{}`", found.document));
        return Ok(ExitCode::from(1));
    }
    Ok(ExitCode::SUCCESS)
}

/// The document that a name may be of: itself, or that of a part.
fn names(name: &str) -> Vec<&str> {
    let part = name.rsplit_once('#').filter(|(_, number)| number.parse::<u32>().is_ok());
    std::iter::once(name).chain(part.map(|(document, _)| document)).collect()
}

fn there(args: &RelatedArgs, client: &Client) -> Result<Related, Failure> {
    let mut first = None;
    for name in names(&args.document) {
        match client.related(name, args.limit, &args.source) {
            Err(error) if error.code == Code::NotFound => first = first.or(Some(error)),
            answer => return Ok(answer?),
        }
    }
    first.map_or_else(|| Err(missing(&args.document).into()), |error| Err(error.into()))
}

fn here(args: &RelatedArgs, store: &Path) -> Result<Found, Failure> {
    let boxed = |error: mainstem::Error| Box::new(error) as Failure;
    let store = open::level(store).map_err(boxed)?;
    let known = store.sources().map_err(boxed)?;
    let known: Vec<&str> = known.iter().map(|source| source.name.as_str()).collect();
    if let Some(name) = args.source.iter().find(|name| !known.contains(&name.as_str())) {
        return Err(Box::new(Error::unknown("source", name, known)));
    }
    let document = find(&store, &args.document)?;
    let filter =
        Filter { sources: (!args.source.is_empty()).then(|| args.source.clone()), ..Filter::default() };
    let ctx = Ctx::unhurried(Moment::now());
    let found = related(store.view()?.as_ref(), &document, &filter, args.limit, &ctx)?;
    let name = DocumentName { source: document.source, id: document.id };
    let related = Related { document: name.to_string(), related: found };
    let links = links(args, &store, &name)?;
    let linked = links.iter().map(|link| Linked::read(&store, link, &name)).collect::<Result<_, _>>()?;
    Ok(Found { related, links, linked })
}

/// The document of this name, or the one that it is a part of.
pub(crate) fn find(store: &EmbeddedStore, name: &str) -> Result<Document, Failure> {
    for (source, id) in names(name).into_iter().filter_map(|name| name.split_once('/')) {
        if let Some(document) = store.document(source, id)? {
            return Ok(document);
        }
    }
    Err(missing(name).into())
}

/// The best links of a document to those of the sources that are asked for.
fn links(args: &RelatedArgs, store: &EmbeddedStore, name: &DocumentName) -> Result<Vec<Link>, Failure> {
    let filter = Filter::default();
    let query = LinkQuery { document: Some(name), run: None, filter: &filter, limit: usize::MAX };
    let wanted =
        |link: &Link| args.source.is_empty() || args.source.contains(&show::other(link, name).source);
    let mut links = store.links(&query)?;
    links.retain(wanted);
    links.truncate(args.limit);
    Ok(links)
}

fn missing(name: &str) -> Problem {
    let message = if name.contains('/') {
        format!("there is no document `{name}`")
    } else {
        format!("expected `source/id`, received `{name}`")
    };
    let code = if name.contains('/') { Code::NotFound } else { Code::Value };
    Problem::Argument { code, message, hint: "`mainstem search` finds what there is".to_owned() }
}

/// What is linked, why, and since when.
fn linked_text(found: &Found) -> String {
    let mut out = String::new();
    for (link, linked) in found.links.iter().zip(&found.linked) {
        let colour = colour(&linked.name.source);
        let title = linked.title.as_deref().unwrap_or(&linked.name.id);
        let _ = writeln!(
            out,
            "  ↔ linked to {colour}{}{colour:#}  {STRONG}{title}{STRONG:#}",
            linked.name.source
        );
        let _ = writeln!(out, "     because {}", show::because(link.edge.score, &link.edge.evidence));
        let stale =
            if link.stale { "stale: one of them has changed since".to_owned() } else { String::new() };
        let said = format!("{} said so at {}", link.run, link.made_at);
        let parts = [said, stale, linked.url.clone().unwrap_or_default(), linked.name.to_string()];
        let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        let _ = writeln!(out, "     {FAINT}{}{FAINT:#}\n", parts.join(" · "));
    }
    out
}

/// What is alike and not linked.
fn text(found: &Found) -> String {
    let best = found.related.related.iter().map(|document| document.score).fold(f64::MIN_POSITIVE, f64::max);
    let mut out = String::new();
    let others = found
        .related
        .related
        .iter()
        .filter(|document| !found.linked.iter().any(|linked| linked.is(document)));
    for document in others {
        let colour = colour(&document.source);
        let title = document.title.as_deref().unwrap_or(&document.document);
        let by = if document.reason.channel == Channel::Dense { "by meaning" } else { "by words" };
        let part = bar(document.score / best);
        let _ = writeln!(
            out,
            "{:>3}. {FAINT}{part}{FAINT:#} {colour}{}{colour:#}  {STRONG}{title}{STRONG:#}",
            document.rank, document.source
        );
        let line = document.reason.text.split_whitespace().collect::<Vec<_>>().join(" ");
        let short: String = line.chars().take(SHOWN).collect();
        let more = if short.len() < line.len() { "…" } else { "" };
        let _ = writeln!(out, "     {short}{more}");
        let name = format!("{}/{}", document.source, document.document);
        let parts = [document.url.as_deref(), Some(name.as_str())].into_iter().flatten().collect::<Vec<_>>();
        let alike = format!("{by}: {} is like {}", document.reason.from, document.reason.to);
        let _ = writeln!(out, "     {FAINT}{alike} · {}{FAINT:#}\n", parts.join(" · "));
    }
    out
}
