//! One file as a document.

use std::fs::{self, Metadata};
use std::io::Read as _;
use std::path::Path;

use mainstem_core::Document;
use mainstem_core::time::Moment;
use serde_json::Value;

use super::super::connector::{Record, Skip};
use super::super::format::Format;
use super::super::html;
use super::FolderOptions;
use super::front_matter::{self, FrontMatter};

/// So many bytes are looked at to tell text from anything else.
const PEEK: usize = 8 << 10;

/// Reads a file, and says whether the document has no better `updated_at` than the time of the file.
pub(super) fn read(path: &Path, id: &str, options: &FolderOptions) -> (Record, bool) {
    match try_read(path, id, options) {
        Ok((document, format, time_of_file)) => {
            (Record::Document { document: Box::new(document), format }, time_of_file)
        }
        Err(skip) => (Record::Skip(skip), false),
    }
}

fn try_read(path: &Path, id: &str, options: &FolderOptions) -> Result<(Document, Format, bool), Skip> {
    let format = Format::of(path).map_err(|why| Skip::absent(id, why))?;
    let unreadable = |error: std::io::Error| match error.kind() {
        std::io::ErrorKind::NotFound => Skip::absent(id, "not there any more"),
        _ => Skip::present(id, error.to_string()),
    };
    let file = fs::File::open(path).map_err(unreadable)?;
    let metadata = file.metadata().map_err(unreadable)?;
    if !metadata.is_file() {
        return Err(Skip::absent(id, "not a file"));
    }
    let mut bytes = Vec::new();
    file.take(options.max_bytes + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > options.max_bytes {
        let (has, most) = (metadata.len(), options.max_bytes);
        return Err(Skip::absent(id, format!("{has} bytes long, expected at most {most}")));
    }
    let text = text(bytes).map_err(|why| Skip::absent(id, why))?;
    if text.trim().is_empty() {
        return Err(Skip::absent(id, "empty"));
    }
    let mut document = document(text, format, id);
    let time_of_file = document.updated_at.is_none();
    if time_of_file {
        document.updated_at = modified(&metadata);
    }
    Ok((document, if format == Format::Html { Format::Markdown } else { format }, time_of_file))
}

/// The bytes as text without byte order mark, or what they are instead.
fn text(bytes: Vec<u8>) -> Result<String, String> {
    if bytes.starts_with(b"\xFF\xFE") || bytes.starts_with(b"\xFE\xFF") {
        return Err("UTF-16 text, expected UTF-8".to_owned());
    }
    if bytes[..bytes.len().min(PEEK)].contains(&0) {
        return Err("binary".to_owned());
    }
    let text = String::from_utf8(bytes)
        .map_err(|error| format!("not UTF-8 at byte {}", error.utf8_error().valid_up_to() + 1))?;
    Ok(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text))
}

fn document(text: String, format: Format, id: &str) -> Document {
    let (front, text, own_title) = match format {
        Format::Markdown => {
            let (front, body) = front_matter::split(&text);
            let title = first_heading(body);
            (front, body.to_owned(), title)
        }
        Format::Html => {
            let page = html::read(&text);
            (FrontMatter { created_at: page.created_at, ..FrontMatter::default() }, page.text, page.title)
        }
        _ => (FrontMatter::default(), text, None),
    };
    let name = id.rsplit('/').next().unwrap_or(id);
    let mut document = Document {
        id: id.to_owned(),
        title: front.title.or(own_title).or_else(|| Some(name.to_owned())),
        text,
        url: front.url,
        created_at: front.created_at,
        updated_at: front.updated_at,
        metadata: front.rest,
        ..Document::default()
    };
    document.metadata.insert("path".to_owned(), Value::from(id));
    if let Some(language) = format.language() {
        document.metadata.insert("language".to_owned(), Value::from(language));
    }
    document
}

/// When the file was written last, to the second.
fn modified(metadata: &Metadata) -> Option<Moment> {
    let since = metadata.modified().ok()?.duration_since(std::time::UNIX_EPOCH).ok()?;
    jiff::Timestamp::from_second(i64::try_from(since.as_secs()).ok()?).ok().map(Moment::from)
}

/// The first heading of a Markdown text, if it stands near its start.
fn first_heading(text: &str) -> Option<String> {
    use pulldown_cmark::{Event, Parser, Tag, TagEnd};

    let mut title: Option<String> = None;
    for event in Parser::new(text).take(200) {
        match (event, &mut title) {
            (Event::Start(Tag::Heading { .. }), None) => title = Some(String::new()),
            (Event::Text(part) | Event::Code(part), Some(title)) => title.push_str(&part),
            (Event::End(TagEnd::Heading(_)), Some(_)) => break,
            _ => {}
        }
    }
    title.map(|title| title.trim().to_owned()).filter(|title| !title.is_empty())
}
