//! Whether a document passes a filter. Stores filter while they search; this completes what a store does not do to the letter.

use mainstem_core::Document;
use mainstem_core::contract::Filter;
use mainstem_core::time::Moment;
use serde_json::Value;

/// Whether the document passes. The kind of a source is not looked at: the plan has left other sources out.
pub fn passes(document: &Document, filter: &Filter) -> bool {
    readable(document, filter)
        && in_time(document.time(), filter)
        && filter
            .metadata
            .iter()
            .all(|(key, value)| document.metadata.get(key).is_some_and(|own| says(own, value)))
}

fn readable(document: &Document, filter: &Filter) -> bool {
    match (&document.readers, &filter.reader) {
        (Some(readers), Some(reader)) => readers.contains(reader),
        _ => true,
    }
}

fn in_time(time: Option<&Moment>, filter: &Filter) -> bool {
    let Some(at) = time else { return filter.since.is_none() && filter.until.is_none() };
    filter.since.as_ref().is_none_or(|since| at.age_days(since) <= 0.0)
        && filter.until.as_ref().is_none_or(|until| at.age_days(until) > 0.0)
}

/// Whether a value says this, as text; of a list, one entry is enough.
fn says(own: &Value, text: &str) -> bool {
    match own {
        Value::String(own) => own == text,
        Value::Array(all) => all.iter().any(|own| says(own, text)),
        other => serde_json::from_str::<Value>(text).is_ok_and(|said| said == *other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moment(text: &str) -> Moment {
        Moment::parse(text).unwrap()
    }

    #[test]
    fn times_are_a_half_open_range_and_must_be_known() {
        let at = |text| Document { created_at: Some(moment(text)), ..Document::default() };
        let filter = Filter {
            since: Some(moment("2026-01-01")),
            until: Some(moment("2026-02-01")),
            ..Filter::default()
        };
        assert!(passes(&at("2026-01-01"), &filter) && !passes(&at("2026-02-01"), &filter));
        assert!(!passes(&Document::default(), &filter));
        let file = Document { updated_at: Some(moment("2026-01-15")), ..Document::default() };
        assert!(passes(&file, &filter), "a file has the time of its last change");
        assert!(!passes(&Document { created_at: Some(moment("2025-01-01")), ..file }, &filter));
        assert!(passes(&Document::default(), &Filter::default()));
    }

    #[test]
    fn readers_and_metadata_are_looked_at() {
        let metadata =
            serde_json::from_str(r#"{"status": "open", "number": 7, "tags": ["a", "b"]}"#).unwrap();
        let document = Document { readers: Some(vec!["ann".into()]), metadata, ..Document::default() };
        let filter = |reader: &str, key: &str, value: &str| Filter {
            reader: Some(reader.into()),
            metadata: vec![(key.into(), value.into())],
            ..Filter::default()
        };
        assert!(
            passes(&document, &filter("ann", "number", "7"))
                && passes(&document, &filter("ann", "tags", "b"))
        );
        assert!(!passes(&document, &filter("bob", "status", "open")));
        assert!(
            !passes(&document, &filter("ann", "status", "closed"))
                && !passes(&document, &filter("ann", "x", ""))
        );
    }
}
