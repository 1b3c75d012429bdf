//! No `unwrap` and no unfinished code on a path that users can reach.
//!
//! `expect` with a reason is allowed: it argues why the panic cannot happen.

use proc_macro2::{Delimiter, TokenTree};

use crate::report::Offence;
use crate::source::Source;
use crate::tokens::{each_level, group, is_mark, is_word, line};

/// The calls outside tests that may panic without saying why.
pub(super) fn check(source: &Source) -> Vec<Offence> {
    let mut offences = Vec::new();
    each_level(&source.tokens, &mut |level| {
        for at in 0..level.len() {
            let found = panicking(level, at).filter(|_| source.is_shipped(line(&level[at])));
            let place = || source.place(line(&level[at]));
            offences.extend(found.map(|(rule, what)| Offence::new(rule, place(), what)));
        }
    });
    offences
}

fn panicking(level: &[TokenTree], at: usize) -> Option<(&'static str, &'static str)> {
    let next = level.get(at + 1);
    let is_call = || group(next, Delimiter::Parenthesis).is_some_and(|arguments| arguments.is_empty());
    if is_word(level.get(at), "unwrap") && at > 0 && is_mark(level.get(at - 1), '.') && is_call() {
        return Some(("unwrap", "use `?`, or `expect` with the reason why it cannot fail"));
    }
    let unfinished = ["todo", "unimplemented"].iter().any(|name| is_word(level.get(at), name));
    (unfinished && is_mark(next, '!')).then_some(("unfinished", "finish it, or leave it out"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::sample;

    fn offences(text: &str) -> usize {
        check(&sample("crates/a/src/lib.rs", text)).len()
    }

    #[test]
    fn unwrap_is_for_tests() {
        assert_eq!(offences("fn a() { b().unwrap(); }"), 1);
        assert_eq!(offences("fn a() { println!(\"{}\", b().unwrap()); }"), 1);
        assert_eq!(offences("fn a() { b().unwrap_or(1); b().expect(\"why\"); }"), 0);
        assert_eq!(offences("#[cfg(test)] mod tests { fn a() { b().unwrap(); } }"), 0);
        assert_eq!(offences("/// `a.unwrap()`\nfn a() {}"), 0);
    }

    #[test]
    fn nothing_is_unfinished() {
        assert_eq!(offences("fn a() { todo!() } fn b() { unimplemented!(\"later\") }"), 2);
        assert_eq!(offences("fn a() { let todo = 1; unreachable!() }"), 0);
    }
}
