//! Exact keys: fields that say by themselves that two items are the same thing.
//!
//! | kind of source | fields |
//! |---|---|
//! | `game`, `games`, `chess` | `fen`, then `line` |
//! | `book`, `books` | `book+section` |
//! | `web`, `wiki`, `notion`, `docs` | `url` |
//! | any other | – |
//!
//! The item's own `key` always counts, and so does its whole text with white space folded and case ignored.

use crate::error::Error;
use crate::item::Item;

/// The fields by which the items of a kind of source are identified.
pub fn of_kind(kind: &str) -> &'static [&'static str] {
    match kind {
        "game" | "games" | "chess" => &["fen", "line"],
        "book" | "books" => &["book+section"],
        "web" | "wiki" | "notion" | "docs" => &["url"],
        _ => &[],
    }
}

/// One field, or several that identify an item together.
pub(crate) struct KeyRule<'a>(Vec<&'a str>);

impl<'a> KeyRule<'a> {
    pub(crate) fn parse(written: &'a str) -> Result<Self, Error> {
        let fields: Vec<_> = written.split('+').map(str::trim).collect();
        if fields.iter().any(|field| field.is_empty()) {
            return Err(Error::range(
                "a key of `dedup.keys`",
                "a field such as `url` or `book+section`",
                format!("`{written}`"),
            ));
        }
        Ok(Self(fields))
    }

    /// The key of an item that has all the fields.
    fn of(&self, item: &Item) -> Option<String> {
        let values: Option<Vec<_>> = self.0.iter().map(|field| item.field(field)).collect();
        let values =
            values.filter(|values| values.iter().all(|value| !value.is_empty() && value != "null"))?;
        Some(format!("{}={}", self.0.join("+"), values.join("\u{1f}")))
    }
}

/// All exact keys of an item.
pub(super) fn of(item: &Item, kind: &str, fields: Option<&[String]>) -> Vec<String> {
    let chosen: Vec<&str> = match fields {
        Some(fields) => fields.iter().map(String::as_str).collect(),
        None => of_kind(kind).to_vec(),
    };
    let rules = std::iter::once("key").chain(chosen).filter_map(|written| KeyRule::parse(written).ok());
    rules.filter_map(|rule| rule.of(item)).chain(whole_text(item)).collect()
}

fn whole_text(item: &Item) -> Option<String> {
    let words: Vec<_> = item.text.as_deref()?.split_whitespace().collect();
    (!words.is_empty()).then(|| format!("text={}", words.join(" ").to_lowercase()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(json: &str) -> Item {
        serde_json::from_str::<crate::item::Listed>(json).unwrap().item
    }

    #[test]
    fn the_kind_decides_which_fields_count() {
        let page = item(r#"{"id":"a","url":"https://x/y","fen":"8/8"}"#);
        assert_eq!(of(&page, "wiki", None), ["url=https://x/y"]);
        assert_eq!(of(&page, "games", None), ["fen=8/8"]);
        assert!(of(&page, "slack", None).is_empty());
    }

    #[test]
    fn several_fields_count_together_or_not_at_all() {
        let section = item(r#"{"id":"a","book":"Dvoretsky","section":"4.2"}"#);
        assert_eq!(of(&section, "books", None), ["book+section=Dvoretsky\u{1f}4.2"]);
        assert!(of(&item(r#"{"id":"a","book":"Dvoretsky"}"#), "books", None).is_empty());
    }

    #[test]
    fn the_whole_text_is_a_key_whatever_its_spacing() {
        let a = item(r#"{"id":"a","text":"Weekly  notes\n"}"#);
        let b = item(r#"{"id":"b","text":"weekly notes"}"#);
        assert_eq!(of(&a, "slack", None), of(&b, "slack", None));
    }
}
