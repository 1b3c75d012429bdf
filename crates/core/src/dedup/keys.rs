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

/// The rules for the items of a kind.
pub(super) fn rules<'a>(kind: &str, fields: Option<&'a [String]>) -> Vec<KeyRule<'a>> {
    let chosen: Vec<&str> = match fields {
        Some(fields) => fields.iter().map(String::as_str).collect(),
        None => of_kind(kind).to_vec(),
    };
    std::iter::once("key").chain(chosen).filter_map(|written| KeyRule::parse(written).ok()).collect()
}

/// The exact keys of an item, apart from its text.
pub(super) fn of(item: &Item, rules: &[KeyRule<'_>]) -> Vec<String> {
    rules.iter().filter_map(|rule| rule.of(item)).collect()
}

/// The key that the whole text of an item is.
pub(super) fn of_text(text: &str) -> String {
    format!("text={}", text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(json: &str) -> Item {
        serde_json::from_str::<crate::item::Listed>(json).unwrap().item
    }

    fn keys(item: &Item, kind: &str) -> Vec<String> {
        of(item, &rules(kind, None))
    }

    #[test]
    fn the_kind_decides_which_fields_count() {
        let page = item(r#"{"id":"a","url":"https://x/y","fen":"8/8"}"#);
        assert_eq!(keys(&page, "wiki"), ["url=https://x/y"]);
        assert_eq!(keys(&page, "games"), ["fen=8/8"]);
        assert!(keys(&page, "slack").is_empty());
    }

    #[test]
    fn several_fields_count_together_or_not_at_all() {
        let section = item(r#"{"id":"a","book":"Dvoretsky","section":"4.2"}"#);
        assert_eq!(keys(&section, "books"), ["book+section=Dvoretsky\u{1f}4.2"]);
        assert!(keys(&item(r#"{"id":"a","book":"Dvoretsky"}"#), "books").is_empty());
    }

    #[test]
    fn the_whole_text_is_a_key_whatever_its_spacing() {
        assert_eq!(of_text("Weekly  notes\n"), "text=weekly notes");
        assert_eq!(of_text("weekly notes"), "text=weekly notes");
    }
}
