//! Files of every ending, on any bytes, by way of a real file: HTML becomes text, Markdown loses its front matter, what is no text is skipped.
//!
//! The first byte says the ending.
#![no_main]

use std::path::PathBuf;
use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;
use mainstem::ingest::chunk::{Size, cut};
use mainstem::ingest::{Connector, Folder, FolderOptions, Format, Record};
use mainstem_core::Document;

const ENDINGS: [&str; 8] = ["html", "md", "txt", "rs", "py", "toml", "jsonl", "xhtml"];
const MOST: u64 = 3000;

fuzz_target!(|data: &[u8]| {
    let Some((ending, bytes)) = data.split_first() else { return };
    let ending = ENDINGS[usize::from(*ending) % ENDINGS.len()];
    let path = folder().join(format!("input.{ending}"));
    std::fs::write(&path, bytes).expect("the folder can be written");
    let options = FolderOptions { max_bytes: MOST, ..FolderOptions::default() };
    let mut file = Folder::open(&path, options).expect("the file is there");
    let record = file.next_record().expect("it can be read").expect("one file is one record");
    assert_eq!(file.next_record().expect("it can be read"), None);
    match record {
        Record::Skip(skip) => assert!(skip.what.ends_with(ending) && !skip.why.is_empty(), "{skip:?}"),
        Record::Document { document, format } => check(*document, format, bytes, ending),
    }
});

/// One folder for this process; its one file is written over and over.
fn folder() -> &'static PathBuf {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let path = std::env::temp_dir().join(format!("mainstem-fuzz-{}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a temporary folder can be made");
        path
    })
}

fn check(mut document: Document, format: Format, bytes: &[u8], ending: &str) {
    assert!(bytes.len() as u64 <= MOST, "a file that is too long is skipped");
    let text = str::from_utf8(bytes).expect("what is not UTF-8 is skipped");
    assert!(document.title.as_ref().is_some_and(|title| !title.is_empty()));
    if ending.ends_with("html") {
        assert_eq!(format, Format::Markdown, "pages are cut as Markdown");
        // Behind a tag name that nothing ends, a page has no text; it never has more than was written, but for what marks its blocks.
        assert!(
            document.text.len() <= 8 * text.len() + 16,
            "{} bytes of {}",
            document.text.len(),
            text.len()
        );
    } else {
        let rest = text.strip_suffix(document.text.as_str()).expect("the text is the end of the file");
        assert!(ending == "md" || rest.is_empty() || rest == "\u{feff}", "{rest:?} is lost");
    }
    cut(&mut document, format, Size::default());
    for chunk in document.chunks.iter().filter(|chunk| !chunk.text.is_empty()) {
        assert_eq!(document.text.get(chunk.span.clone()), Some(chunk.text.as_str()));
    }
    assert!(!document.chunks.is_empty());
}
