//! Which sources and channels are searched.

use mainstem_core::Failure;
use mainstem_core::contract::{Ability, Channel, Ctx, Filter, ModelCard, Retrieval, SourceStats, View};
use mainstem_core::time::Moment;

use super::Known;
use crate::query::request::Request;

/// Counts only the vectors that the reader of a request may see: whether a leg is planned must not tell of others.
pub(in crate::query) fn count_readable(
    view: &dyn View,
    request: &Request,
    model: Option<&ModelCard>,
    sources: &mut [SourceStats],
) {
    let Filter { scope, reader, .. } = &request.filter;
    let given = || request.vector.as_ref().map(Vec::len).or(model.map(|card| card.dim));
    let dim = view.dim().or_else(given).unwrap_or(0);
    if reader.is_none() || dim == 0 {
        return;
    }
    // Any vector does: it is the count that is asked for.
    let mut vector = vec![0.0; dim];
    vector[0] = 1.0;
    let filter = Filter { scope: scope.clone(), reader: reader.clone(), ..Filter::default() };
    let retrieval =
        Retrieval { channel: Channel::Dense, text: "", vector: Some(&vector), filter: &filter, limit: 1 };
    // A view that cannot say fails again when it is searched, and the leg says so.
    let Ok(counted) = view.background(&retrieval, &Ctx::unhurried(Moment::now())) else { return };
    for source in sources {
        let own = counted.iter().find(|one| one.source == source.name);
        source.vectors = own.map_or(0, |one| one.count);
    }
}

/// The sources that the filter lets pass.
pub(super) fn chosen_sources<'a>(
    filter: &Filter,
    sources: &'a [SourceStats],
) -> Result<Vec<&'a SourceStats>, Failure> {
    // What the caller may not see is not there, not even in a message.
    let seen = |source: &&SourceStats| filter.scope.as_ref().is_none_or(|all| all.contains(&source.name));
    let sources: Vec<&SourceStats> = sources.iter().filter(seen).collect();
    let names = || sources.iter().map(|source| source.name.as_str());
    let kinds = || sources.iter().map(|source| source.kind.as_str());
    refuse_unknown("source", filter.sources.as_deref(), names)?;
    refuse_unknown("kind of source", filter.kinds.as_deref(), kinds)?;
    let passes =
        |wanted: &Option<Vec<String>>, name: &String| wanted.as_ref().is_none_or(|all| all.contains(name));
    let passing = sources
        .iter()
        .copied()
        .filter(|source| passes(&filter.sources, &source.name) && passes(&filter.kinds, &source.kind));
    Ok(passing.collect())
}

/// A name that nothing has is a slip, not a wish to find nothing.
fn refuse_unknown<'a, I: Iterator<Item = &'a str>>(
    what: &'static str,
    wanted: Option<&[String]>,
    known: impl Fn() -> I,
) -> Result<(), Failure> {
    match wanted.unwrap_or_default().iter().find(|name| known().all(|known| known != name.as_str())) {
        Some(name) => {
            let mut all: Vec<&str> = known().collect();
            all.sort_unstable();
            all.dedup();
            Err(Box::new(mainstem_core::Error::unknown(what, name, all)))
        }
        None => Ok(()),
    }
}

/// The channels that can be searched. What cannot be is left out, and a note says so.
pub(super) fn channels(
    request: &Request,
    known: &Known<'_>,
    sources: &[&SourceStats],
    notes: &mut Vec<String>,
) -> Result<Vec<Channel>, Failure> {
    let all = [Channel::Dense, Channel::Lexical];
    let wanted = |channel: &Channel| request.channels.as_ref().is_none_or(|chosen| chosen.contains(channel));
    let mut channels = Vec::new();
    let mut obstacles = Vec::new();
    for channel in all.into_iter().filter(wanted) {
        match obstacle(channel, request, known, sources) {
            Some(why) => obstacles.push((channel, why)),
            None => channels.push(channel),
        }
    }
    if let (Some((channel, why)), true, false) = (obstacles.first(), channels.is_empty(), sources.is_empty())
    {
        return Err(Box::new(mainstem_core::Error::Missing {
            what: format!("a channel to search besides `{}`", channel.as_str()),
            why: (*why).to_owned(),
            hint: "allow the other channel, or give a model or the query's vector".into(),
        }));
    }
    let left_out = |(channel, why): (Channel, &str)| match channel {
        Channel::Dense => format!("searched by words only: {why}"),
        Channel::Lexical => format!("searched by meaning only: {why}"),
    };
    notes.extend(obstacles.into_iter().map(left_out));
    Ok(channels)
}

/// Why a channel cannot be searched, if so.
fn obstacle(
    channel: Channel,
    request: &Request,
    known: &Known<'_>,
    sources: &[&SourceStats],
) -> Option<&'static str> {
    match channel {
        Channel::Lexical if known.capabilities.lexical == Ability::None => {
            Some("the store does not search words")
        }
        Channel::Lexical if request.query.trim().is_empty() => Some("the query has no words"),
        Channel::Dense if known.capabilities.dense == Ability::None => {
            Some("the store does not search vectors")
        }
        Channel::Dense if sources.iter().all(|source| source.vectors == 0) => {
            Some("no document has a vector")
        }
        Channel::Dense if request.vector.is_none() && known.model.is_none() => {
            Some("there is no model to embed the query")
        }
        _ => None,
    }
}
