//! Cutting any text as any format: spans are bytes of the text on character boundaries, in order, within the size, and nothing is lost.
//!
//! The first four bytes say the format and the size.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mainstem::ingest::chunk::{Size, chunker, cut};
use mainstem::ingest::{Format, Language};
use mainstem_core::{Chunk, Document};

const FORMATS: [Format; 13] = [
    Format::Markdown,
    Format::Text,
    Format::Lines("toml"),
    Format::Whole,
    Format::Code(Language::Rust),
    Format::Code(Language::Python),
    Format::Code(Language::JavaScript),
    Format::Code(Language::TypeScript),
    Format::Code(Language::Tsx),
    Format::Code(Language::Go),
    Format::Code(Language::Java),
    Format::Code(Language::C),
    Format::Code(Language::Cpp),
];

fuzz_target!(|data: &[u8]| {
    let Some(([format, target, more, overlap], text)) = data.split_first_chunk() else { return };
    let text = String::from_utf8_lossy(text);
    let format = FORMATS[usize::from(*format) % FORMATS.len()];
    let [target, more, overlap] = [target, more, overlap].map(|byte| usize::from(*byte));
    // Small sizes meet every edge of a short text; the usual one is met as well.
    let size = if target == 0 { Size::default() } else { Size::new(target, target + more, overlap) };
    let chunks = chunker(format, size).chunk(&text);
    check(&text, &chunks, (format != Format::Whole).then_some(size.most));
    assert_eq!(chunker(format, size).chunk(&text), chunks, "the same text is cut in the same way");
    document(text.into_owned(), format, size);
});

fn check(text: &str, chunks: &[Chunk], most: Option<usize>) {
    let mut covered = 0;
    for (at, chunk) in chunks.iter().enumerate() {
        assert_eq!(chunk.order as usize, at);
        assert_eq!(text.get(chunk.span.clone()), Some(chunk.text.as_str()), "the span says the text");
        assert!(!chunk.text.is_empty() && chunk.text.trim() == chunk.text, "{:?}", chunk.text);
        let length = chunk.text.chars().count();
        assert!(most.is_none_or(|most| length <= most), "{length} characters");
        assert!(chunk.heading.as_ref().is_none_or(|heading| !heading.is_empty()));
        if let Some(before) = at.checked_sub(1).map(|at| &chunks[at].span) {
            assert!(
                before.start < chunk.span.start && before.end < chunk.span.end,
                "chunk {at} says nothing new"
            );
        }
        if chunk.span.start > covered {
            assert_eq!(text[covered..chunk.span.start].trim(), "", "lost before chunk {at}");
        }
        covered = covered.max(chunk.span.end);
    }
    assert_eq!(text[covered..].trim(), "", "lost at the end");
}

/// A document can always be found, and the lines of code are what they are.
fn document(text: String, format: Format, size: Size) {
    let mut document = Document { text, ..Document::default() };
    cut(&mut document, format, size);
    assert!(!document.chunks.is_empty());
    let lines = document.metadata.get("lines").and_then(|lines| lines.as_array());
    assert_eq!(lines.is_some(), matches!(format, Format::Code(_) | Format::Lines(_)));
    for (chunk, line) in document.chunks.iter().zip(lines.into_iter().flatten()) {
        let before = document.text[..chunk.span.start].matches('\n').count() as u64;
        assert_eq!(line.as_u64(), Some(before + 1));
    }
}
