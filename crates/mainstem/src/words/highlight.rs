//! Where a text says what was asked for.

use std::ops::Range;

use rustc_hash::FxHashSet;

use super::{Scope, characters, query_terms, tokens};

/// The bytes of a text that match a word of the query, in order, without overlaps.
pub fn highlights(text: &str, query: &str) -> Vec<Range<usize>> {
    let (mut words, mut single) = (FxHashSet::default(), FxHashSet::default());
    for term in query_terms(query) {
        match term.scope {
            Scope::Word => words.insert(term.term),
            Scope::Character => single.insert(term.term),
        };
    }
    let mut spans = Vec::new();
    if !words.is_empty() {
        spans.extend(tokens(text).iter().filter(|token| words.contains(&token.term)).map(|t| t.start..t.end));
    }
    if !single.is_empty() {
        spans.extend(
            characters(text).iter().filter(|token| single.contains(&token.term)).map(|t| t.start..t.end),
        );
    }
    merge(spans)
}

/// The same bytes in as few ranges as possible.
fn merge(mut spans: Vec<Range<usize>>) -> Vec<Range<usize>> {
    spans.sort_unstable_by_key(|span| (span.start, span.end));
    let mut merged: Vec<Range<usize>> = Vec::with_capacity(spans.len());
    for span in spans {
        match merged.last_mut() {
            Some(last) if span.start <= last.end => last.end = last.end.max(span.end),
            _ => merged.push(span),
        }
    }
    merged
}
