//! From a query to what has to be looked up.

use tantivy::query::{BooleanQuery, EnableScoring, PhraseQuery, Query, TermQuery, Weight};
use tantivy::schema::IndexRecordOption;
use tantivy::{Searcher, TantivyError, Term};

use super::bm25::{bound, length_norms};
use super::fields::Fields;
use super::statistics::{Statistics, Usage};
use crate::words::{Phrase, Scope, WordQuery};

/// A term of the index, and the most it can add to a score.
pub(super) struct Lookup {
    pub(super) term: Term,
    /// The same word in the title, for words.
    pub(super) title: Option<Term>,
    pub(super) bound: f64,
    /// How many chunks have it.
    pub(super) chunks: u64,
}

/// A query with the statistics of what may be seen.
pub(super) struct Compiled {
    /// The terms that occur at all, most valuable first. Scores are summed in this order, always.
    pub(super) lookups: Vec<Lookup>,
    /// What every chunk must match.
    pub(super) required: Option<Box<dyn Weight>>,
    /// How long a chunk is on average, in the sources that have the terms.
    pub(super) average: f64,
    pub(super) norms: [f64; 256],
}

impl Compiled {
    pub(super) fn new(
        text: &str,
        statistics: &Statistics<'_>,
        searcher: &Searcher,
    ) -> Result<Self, TantivyError> {
        let query = WordQuery::parse(text);
        let (lookups, average) = lookups(&query, statistics)?;
        let required = match required(&query.phrases) {
            None => None,
            Some(query) => Some(query.weight(EnableScoring::disabled_from_searcher(searcher))?),
        };
        Ok(Self { lookups, required, average, norms: length_norms(average) })
    }
}

/// The terms, and how long a chunk is on average where they occur: each term counts by what it is worth.
fn lookups(query: &WordQuery, statistics: &Statistics<'_>) -> Result<(Vec<Lookup>, f64), TantivyError> {
    let fields = Fields::new();
    let mut lookups = Vec::with_capacity(query.terms.len());
    for word in &query.terms {
        let (term, title) = match word.scope {
            Scope::Word => {
                let title = Term::from_field_text(fields.title, &word.term);
                (Term::from_field_text(fields.body, &word.term), Some(title))
            }
            Scope::Character => (Term::from_field_text(fields.characters, &word.term), None),
        };
        if let Some(Usage { chunks, idf, length }) = statistics.usage(&term)? {
            lookups.push((Lookup { term, title, bound: bound(word.weight, idf), chunks }, length));
        }
    }
    lookups.sort_by(|(a, _), (b, _)| b.bound.total_cmp(&a.bound));
    let worth: f64 = lookups.iter().map(|(lookup, _)| lookup.bound).sum();
    let length: f64 = lookups.iter().map(|(lookup, length)| lookup.bound * length).sum();
    let average = if worth > 0.0 { length / worth } else { 1.0 };
    Ok((lookups.into_iter().map(|(lookup, _)| lookup).collect(), average))
}

/// All phrases as one query.
fn required(phrases: &[Phrase]) -> Option<BooleanQuery> {
    let clauses: Vec<Box<dyn Query>> = phrases.iter().flat_map(clauses).collect();
    (!clauses.is_empty()).then(|| BooleanQuery::intersection(clauses))
}

fn clauses(phrase: &Phrase) -> Vec<Box<dyn Query>> {
    let fields = Fields::new();
    let single = |field, text: &String| -> Box<dyn Query> {
        Box::new(TermQuery::new(Term::from_field_text(field, text), IndexRecordOption::Basic))
    };
    let mut clauses: Vec<_> = phrase.characters.iter().map(|text| single(fields.characters, text)).collect();
    match phrase.words.as_slice() {
        [] => {}
        [(_, only)] => clauses.push(single(fields.body, only)),
        words => {
            let place = |(at, text): &(u32, String)| (*at as usize, Term::from_field_text(fields.body, text));
            clauses.push(Box::new(PhraseQuery::new_with_offset(words.iter().map(place).collect())));
        }
    }
    clauses
}
