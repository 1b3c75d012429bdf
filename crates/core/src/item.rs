//! Items: what is known about a candidate apart from its ranks.

use std::fmt;

use serde::de::{self, Deserializer, MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::error::Error;
use crate::leg::is_sane;
use crate::time::Moment;

/// What is known about one candidate. Everything is optional; a stage uses what it finds.
#[derive(Clone, Debug, Default)]
pub struct Item {
    /// The title, for reranking.
    pub title: Option<String>,
    /// The text, for dedup, diversity and reranking.
    pub text: Option<String>,
    /// How an answer names the item, such as `[wiki: A]`.
    pub label: Option<String>,
    /// When it was written, for recency.
    pub created_at: Option<Moment>,
    /// An exact key: items with equal keys are the same thing.
    pub key: Option<String>,
    /// The document that the item is a chunk of.
    pub document: Option<String>,
    /// The place of the chunk in its document.
    pub order: Option<i64>,
    /// The dense vector.
    pub vector: Option<Vec<f32>>,
    /// Who may read it; everyone when left out.
    pub readers: Option<Vec<String>>,
    /// Every other field, kept as it came.
    pub extra: Vec<(String, Box<RawValue>)>,
}

impl Item {
    /// Whether this caller may read the item. Without a caller there is nothing to check.
    pub fn readable_by(&self, reader: Option<&str>) -> bool {
        match (&self.readers, reader) {
            (Some(readers), Some(reader)) => readers.iter().any(|allowed| allowed == reader),
            _ => true,
        }
    }

    /// The text of a field, known or not. Strings come without quotes, anything else as JSON.
    pub fn field(&self, name: &str) -> Option<String> {
        let known = match name {
            "title" => self.title.clone(),
            "text" => self.text.clone(),
            "label" => self.label.clone(),
            "key" => self.key.clone(),
            "document" => self.document.clone(),
            _ => None,
        };
        let extra = || self.extra.iter().find(|(key, _)| key == name).map(|(_, value)| plain(value.get()));
        known.or_else(extra)
    }

    /// Takes what `other`, the same item from another list, knows and this one does not.
    pub(crate) fn complete(&mut self, other: Self) {
        fn fill<T>(mine: &mut Option<T>, theirs: Option<T>) {
            *mine = mine.take().or(theirs);
        }
        fill(&mut self.title, other.title);
        fill(&mut self.text, other.text);
        fill(&mut self.label, other.label);
        fill(&mut self.created_at, other.created_at);
        fill(&mut self.key, other.key);
        fill(&mut self.document, other.document);
        fill(&mut self.order, other.order);
        fill(&mut self.vector, other.vector);
        fill(&mut self.readers, other.readers);
        for (name, value) in other.extra {
            if self.extra.iter().all(|(known, _)| *known != name) {
                self.extra.push((name, value));
            }
        }
    }
}

fn plain(json: &str) -> String {
    serde_json::from_str::<String>(json).unwrap_or_else(|_| json.to_owned())
}

/// An item as a list gives it: id, perhaps a score, and the rest.
#[derive(Clone, Debug)]
pub(crate) struct Listed {
    pub(crate) id: String,
    pub(crate) score: Option<f64>,
    pub(crate) item: Item,
}

impl Listed {
    /// Refuses a score that the algebra would refuse, while the reader still knows the line.
    pub(crate) fn check(&self, list: &str) -> Result<(), Error> {
        match self.score.filter(|score| !is_sane(*score)) {
            Some(score) => Err(Error::NonFinite { list: list.to_owned(), id: self.id.clone(), score }),
            None => Ok(()),
        }
    }
}

/// An id: a string, or a whole number taken as its digits.
#[derive(Deserialize)]
#[serde(untagged, expecting = "expected an id: a string or a whole number")]
enum WrittenId {
    Text(String),
    Whole(i64),
    Large(u64),
}

impl From<WrittenId> for String {
    fn from(id: WrittenId) -> Self {
        match id {
            WrittenId::Text(text) => text,
            WrittenId::Whole(number) => number.to_string(),
            WrittenId::Large(number) => number.to_string(),
        }
    }
}

impl<'de> Deserialize<'de> for Listed {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ListedVisitor)
    }
}

struct ListedVisitor;

impl<'de> Visitor<'de> for ListedVisitor {
    type Value = Listed;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an item, such as {\"id\": \"a\", \"score\": 0.9}")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Listed, M::Error> {
        let mut id = None;
        let mut score = None;
        let mut item = Item::default();
        while let Some(name) = map.next_key::<String>()? {
            match name.as_str() {
                "id" => id = Some(map.next_value::<WrittenId>()?.into()),
                "score" => score = map.next_value()?,
                _ => item.read(name, &mut map)?,
            }
        }
        let id = id.ok_or_else(|| de::Error::missing_field("id"))?;
        Ok(Listed { id, score, item })
    }
}

impl Item {
    fn read<'de, M: MapAccess<'de>>(&mut self, name: String, map: &mut M) -> Result<(), M::Error> {
        match name.as_str() {
            "title" => self.title = map.next_value()?,
            "text" => self.text = map.next_value()?,
            "label" => self.label = map.next_value()?,
            "created_at" => self.created_at = map.next_value()?,
            "key" => self.key = map.next_value()?,
            "document" => self.document = map.next_value::<Option<WrittenId>>()?.map(String::from),
            "order" => self.order = map.next_value()?,
            "vector" => self.vector = map.next_value()?,
            "readers" => self.readers = map.next_value()?,
            _ => self.extra.push((name, map.next_value()?)),
        }
        Ok(())
    }

    /// Writes the fields that have a meaning here into a map.
    pub(crate) fn write<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        fn entry<M: SerializeMap, T: Serialize>(
            map: &mut M,
            name: &str,
            value: Option<&T>,
        ) -> Result<(), M::Error> {
            value.map_or(Ok(()), |value| map.serialize_entry(name, value))
        }
        entry(map, "title", self.title.as_ref())?;
        entry(map, "text", self.text.as_ref())?;
        entry(map, "label", self.label.as_ref())?;
        entry(map, "created_at", self.created_at.as_ref())?;
        entry(map, "key", self.key.as_ref())?;
        entry(map, "document", self.document.as_ref())?;
        entry(map, "order", self.order.as_ref())?;
        entry(map, "vector", self.vector.as_ref())?;
        entry(map, "readers", self.readers.as_ref())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_fields_keep_every_byte() {
        let json = r#"{"id": 7, "score": 0.5, "big": 123456789012345678901234567890, "metadata": {"a" : [1.50, null]}}"#;
        let listed: Listed = serde_json::from_str(json).unwrap();
        assert_eq!((listed.id.as_str(), listed.score), ("7", Some(0.5)));
        assert_eq!(listed.item.extra[0].1.get(), "123456789012345678901234567890");
        assert_eq!(listed.item.extra[1].1.get(), r#"{"a" : [1.50, null]}"#);
    }

    #[test]
    fn readers_are_checked_only_where_both_sides_are_known() {
        let item = Item { readers: Some(vec!["ann".into()]), ..Item::default() };
        assert!(item.readable_by(Some("ann")) && item.readable_by(None) && !item.readable_by(Some("bob")));
        assert!(Item::default().readable_by(Some("bob")));
    }
}
