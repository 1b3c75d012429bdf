//! Fingerprints: whether a document is the one that is there, to the letter.

use mainstem_core::Document;
use mainstem_core::time::Moment;
use serde_json::{Map, Value};

/// The BLAKE3 hash of a document without its vectors: what a sync compares before it embeds anything.
///
/// It covers every field, the boundaries and headings of the chunks, and is the same whatever the order of the metadata.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ContentHash(pub [u8; 32]);

impl ContentHash {
    /// The hash of a document.
    pub fn of(document: &Document) -> Self {
        let mut print = Print(blake3::Hasher::new());
        print.document(document);
        Self(print.0.finalize().into())
    }

    /// The hash with the vectors, bit by bit.
    pub(in super::super) fn with_vectors(self, document: &Document) -> [u8; 32] {
        let mut print = Print(blake3::Hasher::new());
        print.bytes(&self.0);
        for chunk in &document.chunks {
            match &chunk.vector {
                Some(vector) => print.bytes(&to_bytes(vector)),
                None => print.tag(0),
            }
        }
        print.0.finalize().into()
    }
}

/// A vector as it is stored: little-endian.
pub(in super::super) fn to_bytes(vector: &[f32]) -> Vec<u8> {
    let mut bytes = vec![0; 4 * vector.len()];
    bytes.as_chunks_mut::<4>().0.iter_mut().zip(vector).for_each(|(four, value)| *four = value.to_le_bytes());
    bytes
}

/// A stored vector.
pub(in super::super) fn from_bytes(bytes: &[u8]) -> Vec<f32> {
    bytes.as_chunks::<4>().0.iter().map(|four| f32::from_le_bytes(*four)).collect()
}

/// Every value is preceded by its kind and length, so that no two documents run together into the same bytes.
struct Print(blake3::Hasher);

impl Print {
    fn tag(&mut self, tag: u8) {
        self.0.update(&[tag]);
    }

    fn number(&mut self, number: u64) {
        self.0.update(&number.to_le_bytes());
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.tag(1);
        self.number(bytes.len() as u64);
        self.0.update(bytes);
    }

    fn text(&mut self, text: Option<&str>) {
        match text {
            Some(text) => self.bytes(text.as_bytes()),
            None => self.tag(0),
        }
    }

    fn moment(&mut self, moment: Option<&Moment>) {
        let written = moment.and_then(|moment| serde_json::to_string(moment).ok());
        self.text(written.as_deref());
    }

    fn document(&mut self, document: &Document) {
        self.bytes(document.source.as_bytes());
        self.bytes(document.id.as_bytes());
        for text in [&document.title, &document.url, &document.label, &document.key] {
            self.text(text.as_deref());
        }
        self.bytes(document.text.as_bytes());
        self.moment(document.created_at.as_ref());
        self.moment(document.updated_at.as_ref());
        self.readers(document.readers.as_deref());
        self.object(&document.metadata);
        self.chunks(document);
    }

    fn readers(&mut self, readers: Option<&[String]>) {
        let Some(readers) = readers else { return self.tag(0) };
        self.tag(1);
        self.number(readers.len() as u64);
        for reader in readers {
            self.bytes(reader.as_bytes());
        }
    }

    fn chunks(&mut self, document: &Document) {
        self.number(document.chunks.len() as u64);
        for chunk in &document.chunks {
            self.number(chunk.order.into());
            self.number(chunk.span.start as u64);
            self.number(chunk.span.end as u64);
            self.bytes(chunk.text.as_bytes());
            self.text(chunk.heading.as_deref());
        }
    }

    fn object(&mut self, object: &Map<String, Value>) {
        let mut entries: Vec<_> = object.iter().collect();
        entries.sort_by_key(|(key, _)| *key);
        self.tag(2);
        self.number(entries.len() as u64);
        for (key, value) in entries {
            self.bytes(key.as_bytes());
            self.value(value);
        }
    }

    fn value(&mut self, value: &Value) {
        match value {
            Value::Object(object) => self.object(object),
            Value::Array(values) => {
                self.tag(3);
                self.number(values.len() as u64);
                for value in values {
                    self.value(value);
                }
            }
            plain => self.bytes(plain.to_string().as_bytes()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mainstem_core::Chunk;
    use serde_json::json;

    fn document(change: impl FnOnce(&mut Document)) -> Document {
        let chunk =
            Chunk { span: 0..3, text: "abc".into(), vector: Some(vec![0.5, -1.0]), ..Chunk::default() };
        let mut document =
            Document { source: "s".into(), id: "d".into(), chunks: vec![chunk], ..Document::default() };
        change(&mut document);
        document
    }

    #[test]
    fn every_field_counts() {
        let changes: [fn(&mut Document); 14] = [
            |d| d.source = "t".into(),
            |d| d.id = "e".into(),
            |d| d.title = Some(String::new()),
            |d| d.url = Some(String::new()),
            |d| d.label = Some(String::new()),
            |d| d.key = Some(String::new()),
            |d| d.text = "abc".into(),
            |d| d.created_at = Moment::parse("2026-01-31").ok(),
            |d| d.updated_at = Moment::parse("2026-01-31").ok(),
            |d| d.readers = Some(vec![]),
            |d| d.metadata = Map::from_iter([("a".to_owned(), json!([1, "1"]))]),
            |d| d.chunks[0].span = 0..2,
            |d| d.chunks[0].heading = Some(String::new()),
            |d| d.chunks[0].order = 1,
        ];
        let mut seen: Vec<_> = changes.iter().map(|change| ContentHash::of(&document(change)).0).collect();
        seen.push(ContentHash::of(&document(|_| ())).0);
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), changes.len() + 1);
    }

    #[test]
    fn vectors_count_in_the_whole_only() {
        let changes: [fn(&mut Document); 3] =
            [|_| (), |d| d.chunks[0].vector = None, |d| d.chunks[0].vector = Some(vec![0.5, 1.0])];
        let documents = changes.map(document);
        let content = documents.each_ref().map(ContentHash::of);
        assert!(content.iter().all(|hash| *hash == content[0]));
        let whole = documents.each_ref().map(|document| content[0].with_vectors(document));
        assert!(whole[0] != whole[1] && whole[0] != whole[2] && whole[1] != whole[2]);
    }

    #[test]
    fn bytes_come_back_to_the_bit() {
        let vector = [0.1, -0.0, f32::MIN_POSITIVE, 3.0e38];
        assert_eq!(from_bytes(&to_bytes(&vector)).map_bits(), vector.to_vec().map_bits());
    }

    trait Bits {
        fn map_bits(self) -> Vec<u32>;
    }

    impl Bits for Vec<f32> {
        fn map_bits(self) -> Vec<u32> {
            self.into_iter().map(f32::to_bits).collect()
        }
    }
}
