//! `mainstem key`: who may ask a server, and for what.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::ExitCode;

use clap::{Args, Subcommand};
use jiff::{SignedDuration, Timestamp};
use mainstem_core::time::{Days, Moment};
use mainstem_server::access::file::KeyFile;
use mainstem_server::access::key::{Grant, Key};
use serde::Serialize;

use crate::failure::{Failure, Problem};
use crate::output;
use crate::table::{Cell, Table};

/// Make, list and revoke the keys of a server.
#[derive(Args, Debug)]
pub(crate) struct KeyArgs {
    #[command(subcommand)]
    command: KeyCommand,
}

#[derive(Debug, Subcommand)]
enum KeyCommand {
    /// Make a key and show it, once
    Create(CreateArgs),
    /// List the keys: what each allows, and until when
    #[command(after_help = "Exit codes: 0 there are keys, 1 there are none, 2 error")]
    List(ListArgs),
    /// Revoke a key
    #[command(after_help = "A server that runs refuses the key within a second.")]
    Revoke(RevokeArgs),
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  mainstem key create laptop --write
  mainstem key create chatbot --source wiki --source chat --expires 90d
  mainstem key create ann --reader ann

With the first key, a server over the store asks everybody for one; a server that runs notices within a second. The key is
shown once, on standard output; the store keeps a hash of it.")]
struct CreateArgs {
    /// Name of the key, by which it is revoked
    name: String,

    /// Source that the key is for, again for more of them; all when left out
    #[arg(long = "source", value_name = "SOURCE")]
    sources: Vec<String>,

    /// The key may read only, as it may when nothing is said
    #[arg(long, conflicts_with = "write")]
    read: bool,

    /// The key may write, too
    #[arg(long)]
    write: bool,

    /// Whose key it is: it sees only the documents that this reader may read, and does not write
    #[arg(long, value_name = "READER", conflicts_with = "write")]
    reader: Option<String>,

    /// When the key stops being one: `2027-01-31`, or after a time such as `12h`, `90d`, `52w`
    #[arg(long, value_name = "WHEN")]
    expires: Option<String>,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Args, Debug)]
struct ListArgs {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Args, Debug)]
struct RevokeArgs {
    /// Name of the key
    name: String,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// A key as it is shown.
#[derive(Serialize)]
struct Shown<'a> {
    name: &'a str,
    /// The secret, where it is new.
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<&'a str>,
    created_at: &'a Moment,
    expired: bool,
    #[serde(flatten)]
    grant: &'a Grant,
}

impl<'a> Shown<'a> {
    fn new(key: &'a Key, secret: Option<&'a str>) -> Self {
        let (name, created_at, grant) = (key.name.as_str(), &key.created_at, &key.grant);
        Self { name, key: secret, created_at, expired: grant.is_expired(&Moment::now()), grant }
    }
}

/// Runs the command.
pub(crate) fn run(args: &KeyArgs, store: &Path) -> Result<ExitCode, Failure> {
    let file = KeyFile::of(store);
    match &args.command {
        KeyCommand::Create(args) => create(args, &file),
        KeyCommand::List(args) => list(args, &file),
        KeyCommand::Revoke(args) => revoke(args, &file),
    }
}

fn failed(error: mainstem_server::ApiError) -> Failure {
    Box::new(error)
}

fn create(args: &CreateArgs, file: &KeyFile) -> Result<ExitCode, Failure> {
    let now = Moment::now();
    let sources: BTreeSet<String> = args.sources.iter().cloned().collect();
    let grant = Grant {
        sources: (!sources.is_empty()).then_some(sources),
        write: args.write && !args.read,
        reader: args.reader.clone(),
        expires_at: args.expires.as_deref().map(|text| end(text, &now)).transpose()?,
    };
    let first = file.stamp().map_err(failed)?.is_none();
    let (key, secret) = Key::new(&args.name, grant, now).map_err(failed)?;
    file.add(key.clone()).map_err(failed)?;
    let shown = Shown::new(&key, Some(&secret));
    let text = if args.json { json(&shown)? } else { format!("{secret}\n") };
    output::write(None, &text)?;
    output::note("keep the key now: it is not shown again");
    if first {
        output::note("this is the first key: from now on a server over this store asks everybody for one");
    }
    Ok(ExitCode::SUCCESS)
}

/// When a key ends, counted from now where it is a span.
fn end(text: &str, now: &Moment) -> Result<Moment, Problem> {
    let refused = |message: String| {
        Problem::argument(message, "such as `2027-01-31`, `2027-01-31T09:00:00Z`, `12h`, `90d` or `52w`")
    };
    let after = || -> Option<Moment> {
        let span = SignedDuration::try_from_secs_f64(Days::parse(text).ok()?.get() * 86_400.0).ok()?;
        let now: Timestamp = now.to_string().parse().ok()?;
        now.checked_add(span).ok().map(Moment::from)
    };
    let end = Moment::parse(text).ok().or_else(after);
    let end =
        end.ok_or_else(|| refused(format!("`--expires` is `{text}`, expected a time or a time span")))?;
    if end.age_days(now) >= 0.0 {
        return Err(refused(format!("`--expires` is `{text}`, expected a time to come")));
    }
    Ok(end)
}

fn list(args: &ListArgs, file: &KeyFile) -> Result<ExitCode, Failure> {
    let keys = file.read().map_err(failed)?;
    let shown: Vec<Shown<'_>> = keys.iter().flatten().map(|key| Shown::new(key, None)).collect();
    let text = if args.json { json(&shown)? } else { table(&shown) };
    output::write(None, &text)?;
    if !shown.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    output::note(if keys.is_some() {
        "all keys are revoked, so nobody may ask a server; `mainstem key create NAME` makes one"
    } else {
        "there are no keys, so everybody on this machine may ask; `mainstem key create NAME` makes one"
    });
    Ok(ExitCode::from(1))
}

fn table(keys: &[Shown<'_>]) -> String {
    if keys.is_empty() {
        return String::new();
    }
    let mut table = Table::new(6, ["name", "sources", "may", "reader", "created", "expires"]);
    for Shown { name, created_at, expired, grant, .. } in keys {
        let sources = grant.sources.as_ref().map(|all| all.iter().cloned().collect::<Vec<_>>().join(", "));
        let end = grant.expires_at.as_ref().map_or_else(|| "never".to_owned(), ToString::to_string);
        table.push(vec![
            Cell::new(*name),
            Cell::new(sources.unwrap_or_else(|| "all".to_owned())),
            Cell::new(if grant.write { "write" } else { "read" }),
            Cell::new(grant.reader.as_deref().unwrap_or("–")),
            Cell::new(created_at.to_string()),
            Cell::new(if *expired { format!("{end} (expired)") } else { end }),
        ]);
    }
    table.render()
}

fn revoke(args: &RevokeArgs, file: &KeyFile) -> Result<ExitCode, Failure> {
    let key = file.remove(&args.name).map_err(failed)?;
    let text = if args.json { json(&Shown::new(&key, None))? } else { format!("revoked `{}`\n", key.name) };
    output::write(None, &text)?;
    if file.read().map_err(failed)?.is_some_and(|keys| keys.is_empty()) {
        output::note(
            "this was the last key: until there is another, a server over this store lets nobody in",
        );
    }
    Ok(ExitCode::SUCCESS)
}

fn json(value: &impl Serialize) -> Result<String, Problem> {
    Ok(serde_json::to_string_pretty(value)? + "\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_ends_at_a_time_or_after_one() {
        let now = Moment::parse("2026-01-01").unwrap();
        let ends = |text: &str| end(text, &now).map(|moment| moment.to_string()).ok();
        assert_eq!(ends("2026-02-01").as_deref(), Some("2026-02-01T00:00:00Z"));
        assert_eq!(ends("12h").as_deref(), Some("2026-01-01T12:00:00Z"));
        for refused in ["2025-12-31", "2026-01-01", "0d", "-1d", "soon", "", "1e300d"] {
            assert_eq!(ends(refused), None, "{refused}");
        }
    }
}
