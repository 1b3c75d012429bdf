//! What every chunker promises, on arbitrary texts.

use mainstem::ingest::chunk::{Size, chunker, cut};
use mainstem::ingest::{Format, Language};
use mainstem_core::{Chunk, Document};
use proptest::prelude::*;

const FORMATS: [Format; 8] = [
    Format::Markdown,
    Format::Text,
    Format::Lines(""),
    Format::Code(Language::Rust),
    Format::Code(Language::Python),
    Format::Code(Language::JavaScript),
    Format::Code(Language::Cpp),
    Format::Code(Language::Go),
];

/// Checks everything that can be checked without knowing the format.
fn check(text: &str, chunks: &[Chunk], size: Size) {
    let mut covered = 0;
    for (at, chunk) in chunks.iter().enumerate() {
        assert_eq!(chunk.order as usize, at);
        assert_eq!(text.get(chunk.span.clone()), Some(chunk.text.as_str()), "the span says the text");
        assert_eq!(chunk.text.trim(), chunk.text);
        assert!(!chunk.text.is_empty());
        assert!(chunk.text.chars().count() <= size.most, "{} characters", chunk.text.chars().count());
        if at > 0 {
            assert!(chunks[at - 1].span.start < chunk.span.start, "spans start one behind the other");
            assert!(chunks[at - 1].span.end < chunk.span.end, "every chunk has something new");
        }
        if chunk.span.start > covered {
            assert_eq!(text[covered..chunk.span.start].trim(), "", "lost between chunks");
        }
        covered = covered.max(chunk.span.end);
    }
    assert_eq!(text[covered..].trim(), "", "lost at the end");
}

/// Texts that look like something, so that every branch is met.
fn texts() -> impl Strategy<Value = String> {
    let token = prop_oneof![
        Just("# Head\n".to_owned()),
        Just("\n## Sub `c`\n".to_owned()),
        Just("\n\n".to_owned()),
        Just("\r\n".to_owned()),
        Just("```rust\n".to_owned()),
        Just("| a | b |\n|---|---|\n".to_owned()),
        Just("- item\n".to_owned()),
        Just("[a]: http://x\n".to_owned()),
        Just("---\n".to_owned()),
        Just("<div>".to_owned()),
        Just("/// doc\nfn f() { a; b }\n".to_owned()),
        Just("class A:\n    def b(self):\n        pass\n".to_owned()),
        Just("impl A { fn b() { { { c } } } }\n".to_owned()),
        Just("검색합니다. 東京。他来了？".to_owned()),
        Just("\u{3000}\u{a0}  ".to_owned()),
        Just("e\u{301}👩‍👩‍👧".to_owned()),
        "[a-z ,.!?]{0,60}",
        "\\PC{0,12}",
    ];
    prop::collection::vec(token, 0..40).prop_map(|tokens| tokens.concat())
}

#[test]
fn a_sentence_is_not_repeated_before_white_space_alone() {
    let text = "impl A { fn b() { { { c } } } }\ne\u{301}👩\u{200d}👩\u{200d}👧[a]: http://x\n\n\n\u{3000}\u{a0}  ---\n\n\n\u{3000}\u{a0}  \n## Sub `c`\n";
    let size = Size::new(33, 33, 10);
    for format in FORMATS {
        check(text, &chunker(format, size).chunk(text), size);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    #[test]
    fn chunks_keep_their_promises(text in texts(), target in 4_usize..120, more in 0_usize..60, overlap in 0_usize..60) {
        let size = Size::new(target, target + more, overlap);
        for format in FORMATS {
            check(&text, &chunker(format, size).chunk(&text), size);
        }
    }

    #[test]
    fn no_text_makes_a_chunker_panic(text: String) {
        for format in FORMATS {
            check(&text, &chunker(format, Size::default()).chunk(&text), Size::default());
        }
    }

    #[test]
    fn every_document_can_be_found(text in texts()) {
        let mut document = Document { text, ..Document::default() };
        cut(&mut document, Format::Code(Language::Rust), Size::new(40, 60, 0));
        prop_assert!(!document.chunks.is_empty());
        let lines = document.metadata["lines"].as_array().expect("lines of code");
        for (chunk, line) in document.chunks.iter().zip(lines) {
            let before = document.text[..chunk.span.start].matches('\n').count() as u64;
            prop_assert_eq!(line.as_u64(), Some(before + 1));
        }
    }
}

#[test]
fn prose_overlaps_by_a_sentence() {
    let sentences: Vec<_> = (0..40).map(|n| format!("Sentence number {n} says a thing or two.")).collect();
    let text = sentences.join(" ");
    let chunks = chunker(Format::Text, Size::default()).chunk(&text);
    assert!(chunks.len() > 1);
    for pair in chunks.windows(2) {
        let again = &text[pair[1].span.start..pair[0].span.end];
        assert!(again.starts_with("Sentence number") && again.ends_with("two."), "{again}");
        assert!((600..=900).contains(&pair[0].text.chars().count()));
    }
}

#[test]
fn paragraphs_stay_together_where_they_fit() {
    let paragraph = "A sentence of some words. ".repeat(20);
    let text = [paragraph.trim(), paragraph.trim(), paragraph.trim()].join("\n\n");
    let chunks = chunker(Format::Text, Size::new(900, 1_200, 0)).chunk(&text);
    assert_eq!(chunks.len(), 3);
    assert!(chunks.iter().all(|chunk| chunk.text == paragraph.trim()));
}

#[test]
fn korean_is_cut_at_its_sentences() {
    let text = "여러 출처를 한 번에 검색합니다. 결과는 하나의 목록으로 나옵니다. ".repeat(40);
    for chunk in chunker(Format::Text, Size::default()).chunk(&text) {
        assert!(chunk.text.ends_with("다."), "{}", chunk.text);
    }
}
