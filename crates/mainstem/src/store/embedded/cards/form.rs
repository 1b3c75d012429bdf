//! What stands on a card.

use mainstem_core::{Chunk, Document};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// The length of a text that is not there.
const NONE: u32 = u32::MAX;

/// What a card says beside a document and its chunk.
pub(super) struct Source {
    /// The number of the source.
    pub(super) number: u32,
    /// Whether the chunk has a vector.
    pub(super) embedded: bool,
}

/// One card.
#[derive(Debug, PartialEq)]
pub(in super::super) struct Card<'a> {
    /// The number of the source.
    pub(in super::super) source: u32,
    /// Whether the chunk has a vector.
    pub(in super::super) embedded: bool,
    order: u32,
    span: (u64, u64),
    /// In the order in which they are [written](write).
    texts: [Option<&'a str>; TEXTS],
}

const TEXTS: usize = 11;

impl<'a> Card<'a> {
    /// Appends the card of a chunk. Nothing is appended when that cannot be done.
    pub(super) fn write(of: &Source, document: &Document, chunk: &Chunk, bytes: &mut Vec<u8>) -> Option<()> {
        let first = bytes.len();
        let written = write(of, document, chunk, bytes);
        if written.is_none() {
            bytes.truncate(first);
        }
        written
    }

    /// Reads a card; nothing when it is none.
    pub(super) fn read(bytes: &'a [u8]) -> Option<Self> {
        let mut left = Left(bytes);
        let (source, order, embedded) = (left.number()?, left.number()?, left.number()? == 1);
        let span = (left.long()?, left.long()?);
        let mut texts = [None; TEXTS];
        for text in &mut texts {
            *text = left.text().ok()?;
        }
        left.0.is_empty().then_some(Self { source, embedded, order, span, texts })
    }

    /// The document without its source, text and chunks, and the chunk without its vector; nothing when a text is not what it should be.
    pub(in super::super) fn open(&self) -> Option<(Document, Chunk)> {
        let [id, title, url, label, created, updated, readers, key, metadata, heading, text] = self.texts;
        let owned = |text: Option<&str>| text.map(str::to_owned);
        let document = Document {
            id: owned(id)?,
            title: owned(title),
            url: owned(url),
            label: owned(label),
            created_at: json(created).ok()?,
            updated_at: json(updated).ok()?,
            readers: json(readers).ok()?,
            key: owned(key),
            metadata: json(metadata).ok()?.unwrap_or_default(),
            ..Document::default()
        };
        let span = usize::try_from(self.span.0).ok()?..usize::try_from(self.span.1).ok()?;
        let chunk =
            Chunk { order: self.order, span, heading: owned(heading), text: owned(text)?, vector: None };
        Some((document, chunk))
    }
}

fn write(of: &Source, document: &Document, chunk: &Chunk, bytes: &mut Vec<u8>) -> Option<()> {
    for number in [of.number, chunk.order, u32::from(of.embedded)] {
        bytes.extend_from_slice(&number.to_le_bytes());
    }
    for place in [chunk.span.start, chunk.span.end] {
        bytes.extend_from_slice(&(place as u64).to_le_bytes());
    }
    let created = to_json(document.created_at.as_ref()).ok()?;
    let updated = to_json(document.updated_at.as_ref()).ok()?;
    let readers = to_json(document.readers.as_ref()).ok()?;
    let metadata = to_json(Some(&document.metadata).filter(|metadata| !metadata.is_empty())).ok()?;
    let texts: [Option<&str>; TEXTS] = [
        Some(&document.id),
        document.title.as_deref(),
        document.url.as_deref(),
        document.label.as_deref(),
        created.as_deref(),
        updated.as_deref(),
        readers.as_deref(),
        document.key.as_deref(),
        metadata.as_deref(),
        chunk.heading.as_deref(),
        Some(&chunk.text),
    ];
    for text in texts {
        let len = text.map_or(Some(NONE), |text| u32::try_from(text.len()).ok().filter(|len| *len < NONE));
        bytes.extend_from_slice(&len?.to_le_bytes());
        bytes.extend_from_slice(text.unwrap_or_default().as_bytes());
    }
    Some(())
}

fn to_json<T: Serialize>(value: Option<&T>) -> serde_json::Result<Option<String>> {
    value.map(serde_json::to_string).transpose()
}

fn json<T: DeserializeOwned>(text: Option<&str>) -> serde_json::Result<Option<T>> {
    text.map(serde_json::from_str).transpose()
}

/// There is less than a text.
struct Cut;

/// What is left to read of a card.
struct Left<'a>(&'a [u8]);

impl<'a> Left<'a> {
    fn number(&mut self) -> Option<u32> {
        let (bytes, left) = self.0.split_first_chunk()?;
        self.0 = left;
        Some(u32::from_le_bytes(*bytes))
    }

    fn long(&mut self) -> Option<u64> {
        let (bytes, left) = self.0.split_first_chunk()?;
        self.0 = left;
        Some(u64::from_le_bytes(*bytes))
    }

    fn text(&mut self) -> Result<Option<&'a str>, Cut> {
        let len = self.number().ok_or(Cut)?;
        if len == NONE {
            return Ok(None);
        }
        let (text, left) = self.0.split_at_checked(len as usize).ok_or(Cut)?;
        self.0 = left;
        std::str::from_utf8(text).map(Some).map_err(|_| Cut)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn some() -> (Document, Chunk) {
        let document = Document {
            id: "d/1".into(),
            title: Some("Überschrift".into()),
            created_at: serde_json::from_str("\"2026-01-31T00:00:00Z\"").unwrap(),
            readers: Some(vec!["ann".into(), String::new()]),
            metadata: serde_json::from_str(r#"{"eco": ["B20", 3], "deep": {"x": null}}"#).unwrap(),
            ..Document::default()
        };
        let chunk = Chunk { order: 3, span: 7..19, text: "주간 회의".into(), ..Chunk::default() };
        (document, chunk)
    }

    #[test]
    fn a_card_gives_back_what_was_written() {
        let (document, chunk) = some();
        let mut bytes = Vec::new();
        Card::write(&Source { number: 9, embedded: false }, &document, &chunk, &mut bytes).unwrap();
        let card = Card::read(&bytes).unwrap();
        assert_eq!((card.source, card.embedded), (9, false));
        assert_eq!(card.open().unwrap(), (document, chunk));
    }

    #[test]
    fn a_card_that_was_cut_is_none() {
        let (document, chunk) = some();
        let mut bytes = Vec::new();
        Card::write(&Source { number: 9, embedded: false }, &document, &chunk, &mut bytes).unwrap();
        for len in 0..bytes.len() {
            assert_eq!(Card::read(&bytes[..len]), None, "{len}");
        }
        bytes.push(0);
        assert_eq!(Card::read(&bytes), None);
    }
}
