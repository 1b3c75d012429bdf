//! Files with one JSON object a line, on any bytes: a line is a document that keeps its promises, or it is skipped with a reason.
//!
//! What was read must also survive being written and read again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mainstem::ingest::chunk::{Size, cut};
use mainstem::ingest::{Connector, Jsonl, Record};
use mainstem_core::{Chunk, Document};
use serde_json::{Value, json};

fuzz_target!(|data: &[u8]| {
    let records = read(data.to_vec());
    assert!(records.len() <= data.split(|byte| *byte == b'\n').count(), "a line is one record at most");
    let mut dim = None;
    for record in records {
        match record {
            Record::Skip(skip) => {
                assert!(skip.what.starts_with("input:") && !skip.why.is_empty(), "{skip:?}");
            }
            Record::Document { document, format } => {
                check(&document, &mut dim);
                again(&document);
                let mut document = *document;
                cut(&mut document, format, Size::default());
                assert!(!document.chunks.is_empty(), "a document without chunks cannot be found");
            }
        }
    }
});

fn read(data: Vec<u8>) -> Vec<Record> {
    let length = data.len() as u64;
    let mut jsonl = Jsonl::new(Box::new(std::io::Cursor::new(data)), "input", Some(length));
    let mut records = Vec::new();
    while let Some(record) = jsonl.next_record().expect("memory can be read") {
        records.push(record);
    }
    assert_eq!(jsonl.position().done, length, "all was read");
    records
}

fn check(document: &Document, dim: &mut Option<usize>) {
    assert!(!document.id.is_empty());
    assert!(document.title.as_ref().is_none_or(|title| !title.is_empty()));
    assert!(document.title.is_some() || !document.text.trim().is_empty(), "nothing to search");
    let mut start = 0;
    for (order, chunk) in document.chunks.iter().enumerate() {
        assert_eq!(chunk.order as usize, order);
        assert_eq!(
            document.text.get(chunk.span.clone()),
            Some(chunk.text.as_str()),
            "the span says the text"
        );
        assert!(chunk.span.start >= start, "chunks are in order");
        start = chunk.span.start + usize::from(!chunk.text.is_empty());
        check_vector(chunk, dim);
    }
}

fn check_vector(chunk: &Chunk, dim: &mut Option<usize>) {
    let Some(vector) = &chunk.vector else { return };
    assert_eq!(vector.len(), *dim.get_or_insert(vector.len()), "vectors of one file have one length");
    let length: f64 = vector.iter().map(|x| f64::from(*x).powi(2)).sum();
    assert!((length - 1.0).abs() < 1e-3, "a vector of squared length {length}");
}

/// Writes the document as a line and reads it.
fn again(document: &Document) {
    let line = serde_json::to_vec(&line(document)).expect("what was read can be written");
    let mut records = read(line);
    let Some(Record::Document { document: mut read, .. }) = records.pop() else {
        panic!("what was written can be read: {document:?}, {records:?}")
    };
    assert_eq!(read.chunks.len(), document.chunks.len());
    // Bringing a vector to unit length twice may change its last bit.
    for (new, old) in read.chunks.iter_mut().zip(&document.chunks) {
        let close = |(a, b): (&f32, &f32)| (a - b).abs() < 1e-5;
        let [a, b] = [&new.vector, &old.vector].map(|vector| vector.as_deref().unwrap_or_default());
        assert!(a.len() == b.len() && a.iter().zip(b).all(close), "{a:?} {b:?}");
        new.vector.clone_from(&old.vector);
    }
    assert_eq!(&*read, document);
}

fn line(document: &Document) -> Value {
    let chunk =
        |chunk: &Chunk| json!({ "text": chunk.text, "heading": chunk.heading, "vector": chunk.vector });
    let chunks: Vec<_> = document.chunks.iter().map(chunk).collect();
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
        "chunks": if chunks.is_empty() { Value::Null } else { chunks.into() },
    })
}
