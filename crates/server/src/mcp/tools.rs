//! What each tool does: one or two questions to the API.

use axum::http::Extensions;
use mainstem_client::{Error, SearchAnswer, encoded};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::gives::{Explained, Fetched, Found, Related, Sources};
use super::takes::{self, Within};
use super::{Door, Question, internal, told};
use crate::ApiError;

/// How many related documents are given, unless told otherwise.
const RELATED: usize = 10;

/// So deep a hit can be explained with all its steps.
const EXPLAINED: usize = 50;

/// A tool that was called.
pub(super) struct Asker<'a> {
    pub(super) door: &'a dyn Door,
    pub(super) caller: Extensions,
}

impl Asker<'_> {
    async fn ask<T: DeserializeOwned>(
        &self,
        method: &'static str,
        path: String,
        body: Option<Value>,
    ) -> Result<T, Error> {
        let question = Question { method, path, body };
        let value = self.door.ask(question, self.caller.clone()).await?;
        serde_json::from_value(value).map_err(|error| {
            tracing::error!(%error, "a tool cannot read the answer of the API");
            internal()
        })
    }

    async fn find(&self, body: Map<String, Value>) -> Result<SearchAnswer, Error> {
        self.ask("POST", "/v1/search".to_owned(), Some(Value::Object(body))).await
    }

    pub(super) async fn search(&self, search: takes::Search) -> Result<Found, Error> {
        let mut body = asked(search.query, search.variants, search.within);
        body.insert("explain".to_owned(), search.explain.into());
        let numbers = [("k", search.k), ("page", search.page)];
        body.extend(numbers.into_iter().filter_map(|(name, number)| Some((name.to_owned(), number?.into()))));
        Ok(Found::new(self.find(body).await?, search.explain))
    }

    /// What ends in `#` and a number is a part, unless there is a document of that very name.
    pub(super) async fn fetch(&self, fetch: takes::Fetch) -> Result<Fetched, Error> {
        let window = (fetch.start, fetch.max_characters);
        let whole = self.document(&fetch.id).await;
        let Some((name, part)) = part_of(&fetch.id) else {
            return Ok(Fetched::new(fetch.id.clone(), None, whole?, window));
        };
        if let Ok(document) = whole {
            return Ok(Fetched::new(fetch.id.clone(), None, document, window));
        }
        let document = self.document(name).await?;
        let count = document.chunks.len();
        if part >= count {
            let message =
                format!("`{name}` has {count} parts, expected `#0` to `#{}`", count.saturating_sub(1));
            return Err(told(ApiError::value(message, "leave the part out to read the whole document")));
        }
        Ok(Fetched::new(fetch.id.clone(), Some(part), document, window))
    }

    async fn document(&self, name: &str) -> Result<mainstem_client::Document, Error> {
        self.ask("GET", format!("/v1/documents/{}", encoded(name)), None).await
    }

    pub(super) async fn related(&self, asked: takes::Related) -> Result<Related, Error> {
        let k = asked.k.unwrap_or(RELATED);
        let sources = if asked.sources.is_empty() {
            String::new()
        } else {
            format!("&sources={}", encoded(&asked.sources.join(",")))
        };
        let path = |name: &str| format!("/v1/documents/{}/related?k={k}{sources}", encoded(name));
        let whole = self.ask("GET", path(&asked.id), None).await;
        let answer = match (whole, part_of(&asked.id)) {
            (Err(error), Some((name, _))) if error.status == Some(404) => {
                self.ask("GET", path(name), None).await?
            }
            (whole, _) => whole?,
        };
        Ok(Related::new(answer))
    }

    pub(super) async fn sources(&self) -> Result<Sources, Error> {
        Ok(Sources::new(self.ask("GET", "/v1/sources".to_owned(), None).await?))
    }

    pub(super) async fn explain(&self, explain: takes::Explain) -> Result<Explained, Error> {
        let name = part_of(&explain.id).map_or(explain.id.as_str(), |(name, _)| name).to_owned();
        // A document is asked about by its first part.
        let part = if name == explain.id { format!("{name}#0") } else { explain.id.clone() };
        let mut body = asked(explain.query, explain.variants, explain.within);
        body.extend([
            ("explain".to_owned(), true.into()),
            ("why_not".to_owned(), part.clone().into()),
            ("k".to_owned(), EXPLAINED.into()),
        ]);
        let answer = self.find(body).await?;
        let of_document = |hit: &&mainstem_client::Hit| format!("{}/{}", hit.source, hit.document) == name;
        let hit = match answer.hits.iter().find(|hit| hit.id == explain.id) {
            None if name == explain.id => answer.hits.iter().find(of_document),
            found => found,
        };
        if let Some(hit) = hit {
            return Ok(Explained::hit(hit).of(answer));
        }
        let why = answer.why_not.as_ref().and_then(|why_not| why_not.why.clone());
        if why.is_none() {
            // Whoever asks about what is not there is told so.
            self.document(&name).await?;
        }
        Ok(Explained::missing(part, why.as_ref()).of(answer))
    }
}

/// The part that a name ends in, with the name of its document.
fn part_of(id: &str) -> Option<(&str, usize)> {
    let (name, number) = id.rsplit_once('#')?;
    Some((name, number.parse().ok()?))
}

/// The search of the API with these filters.
fn asked(query: String, variants: Vec<String>, within: Within) -> Map<String, Value> {
    let Within { sources, kinds, since, until, metadata } = within;
    let fields = [
        ("query", json!(query)),
        ("variants", json!(variants)),
        ("sources", json!(sources)),
        ("kinds", json!(kinds)),
        ("since", json!(since)),
        ("until", json!(until)),
        ("where", json!(metadata)),
    ];
    fields
        .into_iter()
        .filter(|(_, value)| !value.is_null())
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_named_by_its_number() {
        assert_eq!(part_of("wiki/a#b#12"), Some(("wiki/a#b", 12)));
        for id in ["wiki/a", "wiki/a#", "wiki/a#x", "wiki/a#-1"] {
            assert_eq!(part_of(id), None, "{id}");
        }
    }
}
