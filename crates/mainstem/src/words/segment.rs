//! From letters to words.

use std::ops::Range;

use super::Token;
use super::english::term;
use super::identifier::parts;
use super::letters::{Kind, Letter, letters};

/// The longest identifier that is kept whole, in letters.
const LONGEST_WHOLE: usize = 100;

/// What a word is to the text around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// A word by itself.
    Plain,
    /// A part of an identifier.
    Part,
    /// An identifier without its separators; `complete` when its parts say the same.
    Whole { complete: bool },
    /// A path, an address, a dotted name as written.
    Path,
    /// Two neighbouring characters of a script without spaces.
    Pair,
    /// One such character between others.
    Lone,
}

/// A token and its role.
#[derive(Clone, Debug)]
pub(super) struct Word {
    pub(super) token: Token,
    pub(super) role: Role,
}

/// The words of a text, in order.
pub(super) fn segment(text: &str) -> Vec<Word> {
    let mut segmenter = Segmenter { letters: letters(text), at: 0, position: 0, words: Vec::new() };
    while let Some(letter) = segmenter.letters.get(segmenter.at) {
        match letter.kind {
            Kind::Wide => segmenter.wide(),
            Kind::Letter | Kind::Digit => segmenter.compound(),
            Kind::Mark | Kind::Other => segmenter.at += 1,
        }
    }
    segmenter.words
}

/// What holds two runs of an identifier together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Joint {
    /// `_` or `-`: still one name.
    Name,
    /// `/`, `.`, `:`, `@`: names in a row.
    Path,
}

struct Segmenter {
    letters: Vec<Letter>,
    at: usize,
    position: u32,
    words: Vec<Word>,
}

impl Segmenter {
    /// Takes a run of a script without spaces.
    fn wide(&mut self) {
        let run = self.at..self.end_of(self.at, |letter| letter.kind == Kind::Wide);
        self.at = run.end;
        if run.len() == 1 {
            self.push(Some(self.text(run.clone())), run, Role::Lone);
            self.position += 1;
            return;
        }
        for at in run.start..run.end - 1 {
            self.push(Some(self.text(at..at + 2)), at..at + 2, Role::Pair);
            self.position += 1;
        }
    }

    /// Takes a word, or an identifier with everything that is joined to it.
    fn compound(&mut self) {
        let start = self.at;
        let mut names = vec![vec![self.run()]];
        while let Some((joint, next)) = self.joint() {
            self.at = next;
            let run = self.run();
            match names.last_mut() {
                Some(name) if joint == Joint::Name => name.push(run),
                _ => names.push(vec![run]),
            }
        }
        let whole = start..self.at;
        if names.len() > 1 && whole.len() <= LONGEST_WHOLE {
            self.push(Some(self.text(whole.clone())), whole, Role::Path);
        }
        for name in names {
            self.name(&name);
        }
        self.suffix();
    }

    /// Pushes the words of one name, given as the runs between its separators.
    fn name(&mut self, runs: &[Range<usize>]) {
        let (Some(first), Some(last)) = (runs.first(), runs.last()) else { return };
        let whole = first.start..last.end;
        // A letter that case or a digit cuts off says nothing by itself, unlike one between separators: `mRNA`, but `T-cell`.
        let parts: Vec<_> = runs
            .iter()
            .flat_map(|run| {
                let parts = parts(&self.letters, run.clone());
                let several = parts.len() > 1;
                parts.into_iter().map(move |part| (several && part.len() == 1, part))
            })
            .collect();
        if parts.len() > 1 && whole.len() <= LONGEST_WHOLE {
            let joined = runs.iter().map(|run| self.text(run.clone())).collect();
            let complete = parts.iter().all(|(silent, _)| !silent);
            self.push(term(joined), whole, Role::Whole { complete });
        }
        let role = if parts.len() > 1 { Role::Part } else { Role::Plain };
        for (silent, part) in parts {
            if !silent {
                self.push(term(self.text(part.clone())), part, role);
            }
            self.position += 1;
        }
    }

    /// Takes the end of `C++`, `C#` and the like.
    fn suffix(&mut self) {
        let alone = self.at == 1 || self.at > 1 && self.letters[self.at - 2].kind == Kind::Other;
        let end = match (self.symbol(self.at), self.symbol(self.at + 1)) {
            (Some('+'), Some('+')) => self.at + 2,
            (Some('#'), _) => self.at + 1,
            _ => return,
        };
        if alone && self.letters[self.at - 1].kind == Kind::Letter && !self.is_word(end) {
            let whole = self.at - 1..end;
            // It has the place of its letter, and comes after the letter's own word, if that is no stop word.
            self.position -= 1;
            self.push(Some(self.text(whole.clone())), whole, Role::Whole { complete: false });
            self.position += 1;
            self.at = end;
        }
    }

    /// Takes letters and digits, with what may stand between them: `don't`, `3.14`, `1,000`.
    fn run(&mut self) -> Range<usize> {
        let start = self.at;
        let mut number = true;
        loop {
            let from = self.at;
            self.at = self.end_of(from, |letter| !matches!(letter.kind, Kind::Wide | Kind::Other));
            number &= self.letters[from..self.at].iter().all(|letter| letter.kind == Kind::Digit);
            let inside = match self.symbol(self.at) {
                Some('\'') => {
                    self.kind(self.at - 1) == Kind::Letter && self.kind(self.at + 1) == Kind::Letter
                }
                Some('.') => number && self.kind(self.at + 1) == Kind::Digit,
                Some(',') => number && self.thousand(self.at + 1),
                _ => false,
            };
            if !inside {
                return start..self.at;
            }
            self.at += 1;
        }
    }

    /// What joins the run that ends here to the next, and where that starts.
    fn joint(&self) -> Option<(Joint, usize)> {
        let (joint, next) = match self.symbol(self.at)? {
            '_' => (Joint::Name, self.end_of(self.at, |letter| letter.c == '_')),
            '-' => (Joint::Name, self.at + 1),
            ':' if self.symbol(self.at + 1) == Some(':') => (Joint::Path, self.at + 2),
            '/' | '\\' | '.' | ':' | '@' => (Joint::Path, self.at + 1),
            _ => return None,
        };
        self.is_word(next).then_some((joint, next))
    }

    /// Whether exactly three digits stand here.
    fn thousand(&self, at: usize) -> bool {
        self.end_of(at, |letter| letter.kind == Kind::Digit) == at + 3
    }

    fn kind(&self, at: usize) -> Kind {
        self.letters.get(at).map_or(Kind::Other, |letter| letter.kind)
    }

    fn is_word(&self, at: usize) -> bool {
        matches!(self.kind(at), Kind::Letter | Kind::Digit)
    }

    fn symbol(&self, at: usize) -> Option<char> {
        self.letters.get(at).map(|letter| letter.c)
    }

    fn end_of(&self, start: usize, belongs: impl Fn(&Letter) -> bool) -> usize {
        let rest = self.letters.get(start..).unwrap_or_default();
        start + rest.iter().position(|letter| !belongs(letter)).unwrap_or(rest.len())
    }

    /// The letters in lower case, without the commas of numbers and without the plural of capitals, as in `URLs`.
    fn text(&self, range: Range<usize>) -> String {
        let letters = match &self.letters[range] {
            [singular @ .., s] if s.c == 's' && is_acronym(singular) => singular,
            letters => letters,
        };
        let letters = letters.iter().filter(|letter| letter.c != ',');
        letters.flat_map(|letter| letter.c.to_lowercase()).collect()
    }

    fn push(&mut self, term: Option<String>, range: Range<usize>, role: Role) {
        let Some(term) = term else { return };
        let (start, end) = (self.letters[range.start].start, self.letters[range.end - 1].end);
        self.words.push(Word { token: Token { term, start, end, position: self.position }, role });
    }
}

/// Whether the letters end in two capitals.
fn is_acronym(letters: &[Letter]) -> bool {
    matches!(letters, [.., before, last] if before.c.is_uppercase() && last.c.is_uppercase())
}
