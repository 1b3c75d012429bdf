//! Front matter: what a Markdown file says about itself between `---` (YAML) or `+++` (TOML) at its start.
//!
//! Single lines of `key: value` are read, and lists in one line; what is nested is left out. That is what titles and dates need, and costs
//! no parser.

use mainstem_core::time::Moment;
use serde_json::{Map, Value};

/// What a file says about itself.
#[derive(Debug, Default)]
pub(super) struct FrontMatter {
    pub(super) title: Option<String>,
    pub(super) url: Option<String>,
    pub(super) created_at: Option<Moment>,
    pub(super) updated_at: Option<Moment>,
    pub(super) rest: Map<String, Value>,
}

/// Separates front matter from the text behind it.
pub(super) fn split(text: &str) -> (FrontMatter, &str) {
    for (fence, separator) in [("---", ':'), ("+++", '=')] {
        if let Some((lines, body)) = between(text, fence) {
            return (parse(lines, separator), body);
        }
    }
    (FrontMatter::default(), text)
}

/// The lines between two fences at the start of the text, and what is behind.
fn between<'a>(text: &'a str, fence: &str) -> Option<(&'a str, &'a str)> {
    let first_end = text.find('\n')? + 1;
    if text[..first_end].trim_end() != fence {
        return None;
    }
    let mut at = first_end;
    for line in text[first_end..].split_inclusive('\n') {
        if line.trim_end() == fence {
            return Some((&text[first_end..at], &text[at + line.len()..]));
        }
        at += line.len();
    }
    None
}

fn parse(lines: &str, separator: char) -> FrontMatter {
    let mut front = FrontMatter::default();
    for line in lines.lines().filter(|line| !line.starts_with([' ', '\t', '#', '-', '['])) {
        let Some((key, value)) = line.split_once(separator) else { continue };
        let value = scalar(value);
        if value != Value::String(String::new()) {
            front.put(key.trim().to_ascii_lowercase(), value);
        }
    }
    front
}

impl FrontMatter {
    fn put(&mut self, key: String, value: Value) {
        let text = value.as_str().map(str::to_owned);
        let time = || serde_json::from_value::<Moment>(value.clone()).ok();
        match key.as_str() {
            "title" if text.is_some() => self.title = text,
            "url" if text.is_some() => self.url = text,
            "date" | "created" | "created_at" | "published" => self.created_at = time(),
            "updated" | "updated_at" | "modified" | "lastmod" | "last_modified" => self.updated_at = time(),
            _ => {
                self.rest.insert(key, value);
            }
        }
    }
}

fn scalar(text: &str) -> Value {
    let text = text.trim();
    if let Some(inside) = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        return inside.split(',').map(|part| Value::from(unquoted(part.trim()))).collect();
    }
    match text {
        "true" => Value::Bool(true),
        "false" => Value::Bool(false),
        _ => Value::from(unquoted(text)),
    }
}

fn unquoted(text: &str) -> &str {
    let inside = |quote| text.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote));
    inside('"').or_else(|| inside('\'')).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_titles_dates_and_the_rest() {
        let text = "---\ntitle: \"A: b\"\ndate: 2026-01-31\ntags: [x, 'y']\nnested:\n  a: 1\ndraft: true\n---\n# Body\n";
        let (front, body) = split(text);
        assert_eq!(body, "# Body\n");
        assert_eq!(front.title.as_deref(), Some("A: b"));
        assert!(front.created_at.is_some());
        assert_eq!(Value::Object(front.rest), serde_json::json!({"draft": true, "tags": ["x", "y"]}));
        let (front, body) = split("+++\ntitle = \"T\"\n+++\nx");
        assert_eq!((front.title.as_deref(), body), (Some("T"), "x"));
    }

    #[test]
    fn a_rule_is_no_front_matter() {
        for text in ["---\nno end", "text\n---\na: b\n---\n", "", "---"] {
            assert_eq!(split(text).1, text);
        }
    }
}
