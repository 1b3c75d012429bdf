//! The table `[server]` of a configuration file, with the line of each of its options.

use std::borrow::Cow;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::resolve::Problem;
use super::setting::Raw;

/// One option as it stands in the file.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: Raw,
    /// The line, from 1.
    pub line: u64,
}

/// The options of `[server]` in a text, and what is wrong with its syntax.
pub fn read_file(text: &str) -> (Vec<Entry>, Vec<Problem>) {
    let (table, errors) = DeTable::parse_recoverable(text);
    let line = |at: usize| 1 + text[..at.min(text.len())].matches('\n').count() as u64;
    let broken = |error: &toml::de::Error| Problem {
        line: error.span().map(|span| line(span.start)),
        message: error.message().to_owned(),
        hint: "this must be TOML: `name = value` under a `[table]`".to_owned(),
    };
    let mut problems: Vec<Problem> = errors.iter().map(broken).collect();
    let server = table.get_ref().iter().find(|(name, _)| name.get_ref() == "server");
    let Some((name, server)) = server else { return (Vec::new(), problems) };
    let Some(options) = server.get_ref().as_table() else {
        let message = format!("`server`: expected a table, received a {}", server.get_ref().type_str());
        let hint = "begin the options of the server with a line `[server]`".to_owned();
        problems.push(Problem { line: Some(line(name.span().start)), message, hint });
        return (Vec::new(), problems);
    };
    let entry = |(name, value): (&Spanned<Cow<'_, str>>, &Spanned<DeValue<'_>>)| Entry {
        name: name.get_ref().to_string(),
        value: raw(value.get_ref()),
        line: line(name.span().start),
    };
    let mut entries: Vec<Entry> = options.iter().map(entry).collect();
    entries.sort_by_key(|entry| entry.line);
    (entries, problems)
}

fn raw(value: &DeValue<'_>) -> Raw {
    match value {
        DeValue::String(text) => Raw::Text(text.to_string()),
        DeValue::Boolean(flag) => Raw::Flag(*flag),
        DeValue::Integer(number) => i64::from_str_radix(number.as_str(), number.radix())
            .map_or(Raw::Other("integer beyond 64 bits"), Raw::Whole),
        DeValue::Array(list) => {
            let texts: Option<Vec<String>> =
                list.iter().map(|one| one.get_ref().as_str().map(str::to_owned)).collect();
            texts.map_or(Raw::Other("list of other things than texts"), Raw::List)
        }
        other => Raw::Other(other.type_str()),
    }
}
