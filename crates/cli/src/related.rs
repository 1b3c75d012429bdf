//! `mainstem related`: what else is about the same as a document.

use std::fmt::Write as _;
use std::path::Path;
use std::process::ExitCode;

use anstyle::Style;
use clap::Args;
use mainstem::linked::Links;
use mainstem::related::related;
use mainstem::store::EmbeddedStore;
use mainstem_client::{Client, LinkedDocument, Related};
use mainstem_core::contract::{Channel, Ctx, Filter, Store as _};
use mainstem_core::link::DocumentName;
use mainstem_core::time::Moment;
use mainstem_core::{Code, Document, Error};

use crate::failure::{Failure, Problem};
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

/// Runs the command.
pub(crate) fn run(args: &RelatedArgs, place: &Place<'_>) -> Result<ExitCode, Failure> {
    if args.limit == 0 {
        return Err(Problem::argument("`--limit` is 0, expected at least 1", "such as `-n 10`").into());
    }
    let found = match place {
        Place::Store(store) => here(args, store)?,
        Place::Server(client) => there(args, client)?,
    };
    let text = if args.json {
        serde_json::to_string_pretty(&found).map_err(Problem::from)? + "\n"
    } else {
        text(&found)
    };
    output::write(None, &text)?;
    if found.related.is_empty() && found.links.is_empty() {
        output::note(&format!("nothing else is about the same as `{}`", found.document));
        return Ok(ExitCode::from(1));
    }
    Ok(ExitCode::SUCCESS)
}

/// The document that a name may be of: itself, or that of a part.
pub(crate) fn names(name: &str) -> Vec<&str> {
    let part = name.rsplit_once('#').filter(|(_, number)| number.parse::<u32>().is_ok());
    std::iter::once(name).chain(part.map(|(document, _)| document)).collect()
}

fn there(args: &RelatedArgs, client: &Client) -> Result<Related, Failure> {
    ask(client, &args.document, args.limit, &args.source)
}

/// What a server says about the document of this name, or the one that it is a part of.
pub(crate) fn ask(client: &Client, name: &str, limit: usize, sources: &[String]) -> Result<Related, Failure> {
    let mut first = None;
    for name in names(name) {
        match client.related(name, limit, sources) {
            Err(error) if error.code == Code::NotFound => first = first.or(Some(error)),
            answer => return Ok(answer?),
        }
    }
    first.map_or_else(|| Err(missing(name).into()), |error| Err(error.into()))
}

fn here(args: &RelatedArgs, store: &Path) -> Result<Related, Failure> {
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
    let name = DocumentName { source: document.source.clone(), id: document.id.clone() };
    let links = Links::new(&store, &filter)?.of_document(&name, filter.sources.as_deref(), args.limit)?;
    Ok(Related { document: name.to_string(), related: found, links })
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

fn missing(name: &str) -> Problem {
    let message = if name.contains('/') {
        format!("there is no document `{name}`")
    } else {
        format!("expected `source/id`, received `{name}`")
    };
    let code = if name.contains('/') { Code::NotFound } else { Code::Value };
    Problem::Argument { code, message, hint: "`mainstem search` finds what there is".to_owned() }
}

fn text(found: &Related) -> String {
    let mut out = linked(&found.links);
    let is_linked = |source: &str, id: &str| {
        found.links.iter().any(|link| link.end.source == source && link.end.document == id)
    };
    let best = found.related.iter().map(|document| document.score).fold(f64::MIN_POSITIVE, f64::max);
    for document in found.related.iter().filter(|one| !is_linked(&one.source, &one.document)) {
        let colour = colour(&document.source);
        let title = document.title.as_deref().or(document.label.as_deref()).unwrap_or(&document.document);
        let by = if document.reason.channel == Channel::Dense { "by meaning" } else { "by words" };
        let part = bar(document.score / best);
        let _ = writeln!(
            out,
            "{:>3}. {FAINT}{part}{FAINT:#} {colour}{}{colour:#}  {STRONG}{}{STRONG:#}",
            document.rank,
            output::line(&document.source),
            output::line(title)
        );
        let line = document.reason.text.split_whitespace().collect::<Vec<_>>().join(" ");
        let short: String = line.chars().take(SHOWN).collect();
        let more = if short.len() < line.len() { "…" } else { "" };
        let _ = writeln!(out, "     {}{more}", output::line(&short));
        let name = format!("{}/{}", document.source, document.document);
        let parts = [document.url.as_deref(), Some(name.as_str())].into_iter().flatten().collect::<Vec<_>>();
        let alike = format!("{by}: {} is like {}", document.reason.from, document.reason.to);
        let _ = writeln!(
            out,
            "     {FAINT}{}{FAINT:#}\n",
            output::line(&format!("{alike} · {}", parts.join(" · ")))
        );
    }
    out
}

/// What is linked, why, and since when.
fn linked(links: &[LinkedDocument]) -> String {
    let mut out = String::new();
    for link in links {
        let (LinkedDocument { end, said }, colour) = (link, colour(&link.end.source));
        let title = end.title.as_deref().unwrap_or(&end.document);
        let (source, title) = (output::line(&end.source), output::line(title));
        let _ = writeln!(out, "  ↔ linked to {colour}{source}{colour:#}  {STRONG}{title}{STRONG:#}");
        let _ = writeln!(out, "     because {}", output::line(&said.reason));
        let who = format!("{} said so at {}", said.run, said.made_at);
        let stale = said.stale.then_some("stale: one of them has changed since");
        let name = end.name().to_string();
        let parts = [Some(who.as_str()), stale, end.url.as_deref(), Some(name.as_str())];
        let parts = parts.into_iter().flatten().collect::<Vec<_>>();
        let _ = writeln!(out, "     {FAINT}{}{FAINT:#}\n", output::line(&parts.join(" · ")));
    }
    out
}
