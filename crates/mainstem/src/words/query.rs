//! A query as words.

use rustc_hash::FxHashMap;

use super::segment::{Role, Word, segment};

/// What the parts of an identifier weigh next to the whole, which weighs [`WHOLE`], and to a plain word, which weighs 1.
const PART: f64 = 1.0;
/// What an identifier weighs: it only adds to what its parts have said already.
const WHOLE: f64 = 0.5;
/// Words beyond this many distinct ones are not looked for.
const MOST_TERMS: usize = 512;

/// Where the index keeps a term.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scope {
    /// Among the words.
    Word,
    /// Among the single characters of scripts without spaces.
    Character,
}

/// A word to look for.
#[derive(Clone, Debug, PartialEq)]
pub struct QueryTerm {
    /// What is compared.
    pub term: String,
    /// Where the index keeps it.
    pub scope: Scope,
    /// How much finding it counts; a plain word that is asked for once counts 1.
    pub weight: f64,
}

/// Words that must stand together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Phrase {
    /// The words, and how many places each is behind the first place of the phrase.
    pub words: Vec<(u32, String)>,
    /// Single characters of scripts without spaces; they must occur, anywhere.
    pub characters: Vec<String>,
}

/// A query: words, of which any may occur, and phrases, all of which must.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WordQuery {
    /// The distinct words, those of phrases too, in the order of the query.
    pub terms: Vec<QueryTerm>,
    /// What stands in double quotes.
    pub phrases: Vec<Phrase>,
}

/// The distinct words of a query, in its order.
pub fn query_terms(text: &str) -> Vec<QueryTerm> {
    WordQuery::parse(text).terms
}

impl WordQuery {
    /// Reads a query. Any text is one; a quotation mark that is never closed says nothing.
    pub fn parse(text: &str) -> Self {
        let mut terms = Terms::default();
        let mut phrases = Vec::new();
        for (quoted, text) in quotations(text) {
            let words = segment(text);
            if quoted {
                phrases.push(Phrase::of(&words));
            }
            for word in words {
                terms.add(word);
            }
        }
        phrases.retain(|phrase| *phrase != Phrase::default());
        Self { terms: terms.list, phrases }
    }
}

impl Phrase {
    fn of(words: &[Word]) -> Self {
        let mut phrase = Self::default();
        // The end of an identifier whose parts do not say all of it: the whole stands for them.
        let mut covered = 0;
        for Word { token, role } in words {
            match role {
                Role::Lone => phrase.characters.push(token.term.clone()),
                Role::Path | Role::Whole { complete: true } => {}
                Role::Whole { complete: false } => {
                    phrase.words.retain(|(position, _)| *position < token.position);
                    phrase.words.push((token.position, token.term.clone()));
                    covered = token.end;
                }
                Role::Part | Role::Plain | Role::Pair if token.end <= covered => {}
                Role::Part | Role::Plain | Role::Pair => {
                    phrase.words.push((token.position, token.term.clone()));
                }
            }
        }
        phrase
    }
}

/// Distinct terms; a repeated one gains weight.
#[derive(Default)]
struct Terms {
    list: Vec<QueryTerm>,
    places: FxHashMap<(Scope, String), usize>,
}

impl Terms {
    fn add(&mut self, word: Word) {
        let (scope, weight) = match word.role {
            Role::Plain | Role::Pair => (Scope::Word, 1.0),
            Role::Part => (Scope::Word, PART),
            Role::Whole { .. } | Role::Path => (Scope::Word, WHOLE),
            Role::Lone => (Scope::Character, 1.0),
        };
        let term = word.token.term;
        if let Some(place) = self.places.get(&(scope, term.clone())) {
            self.list[*place].weight += weight;
        } else if self.list.len() < MOST_TERMS {
            self.places.insert((scope, term.clone()), self.list.len());
            self.list.push(QueryTerm { term, scope, weight });
        }
    }
}

/// The text in pieces, each with whether it was quoted.
fn quotations(text: &str) -> Vec<(bool, &str)> {
    let mark = |c: char| matches!(c, '"' | '“' | '”' | '„' | '＂');
    let pieces: Vec<&str> = text.split(mark).collect();
    let closed = pieces.len() - usize::from(pieces.len().is_multiple_of(2));
    pieces.into_iter().enumerate().map(|(at, piece)| (at % 2 == 1 && at < closed, piece)).collect()
}
