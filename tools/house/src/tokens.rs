//! Reading tokens instead of the syntax tree, where code inside macros has to be seen too.

use std::collections::BTreeSet;

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// Calls `visit` with the tokens of every nesting level, outermost first.
pub(crate) fn each_level(stream: &TokenStream, visit: &mut impl FnMut(&[TokenTree])) {
    let level: Vec<TokenTree> = stream.clone().into_iter().collect();
    visit(&level);
    for tree in &level {
        if let TokenTree::Group(group) = tree {
            each_level(&group.stream(), visit);
        }
    }
}

/// The line a token starts on, from 1.
pub(crate) fn line(tree: &TokenTree) -> usize {
    tree.span().start().line
}

/// Whether the token is this identifier or keyword.
pub(crate) fn is_word(tree: Option<&TokenTree>, word: &str) -> bool {
    matches!(tree, Some(TokenTree::Ident(ident)) if ident == word)
}

/// Whether the token is this punctuation mark.
pub(crate) fn is_mark(tree: Option<&TokenTree>, mark: char) -> bool {
    matches!(tree, Some(TokenTree::Punct(punct)) if punct.as_char() == mark)
}

/// The tokens inside a group with this delimiter.
pub(crate) fn group(tree: Option<&TokenTree>, delimiter: Delimiter) -> Option<TokenStream> {
    match tree {
        Some(TokenTree::Group(group)) if group.delimiter() == delimiter => Some(group.stream()),
        _ => None,
    }
}

/// All lines that exist for tests only: items under `#[cfg(test)]`, and `#[test]` functions.
pub(crate) fn test_lines(stream: &TokenStream) -> BTreeSet<usize> {
    let mut lines = BTreeSet::new();
    each_level(stream, &mut |level| {
        for (at, tree) in level.iter().enumerate() {
            if let Some(end) = test_item_end(level, at) {
                lines.extend(line(tree)..=level[end].span().end().line);
            }
        }
    });
    lines
}

/// Where the item ends whose test-only attribute starts at `at`; `None` when no such attribute starts there.
fn test_item_end(level: &[TokenTree], at: usize) -> Option<usize> {
    if !is_mark(level.get(at), '#') {
        return None;
    }
    let inner = is_mark(level.get(at + 1), '!');
    let body = at + 1 + usize::from(inner);
    if !is_test_attribute(&group(level.get(body), Delimiter::Bracket)?) {
        return None;
    }
    let ends_item =
        |tree: &TokenTree| is_mark(Some(tree), ';') || group(Some(tree), Delimiter::Brace).is_some();
    let length = level[body..].iter().position(ends_item).filter(|_| !inner);
    Some(length.map_or(level.len() - 1, |length| body + length))
}

fn is_test_attribute(attribute: &TokenStream) -> bool {
    match syn::parse2::<syn::Meta>(attribute.clone()) {
        Ok(syn::Meta::Path(path)) => path.is_ident("test"),
        Ok(syn::Meta::List(list)) if list.path.is_ident("cfg") => {
            list.parse_args().is_ok_and(|condition| needs_test(&condition))
        }
        _ => false,
    }
}

/// Whether a `cfg` condition can hold in test builds only.
fn needs_test(condition: &syn::Meta) -> bool {
    let syn::Meta::List(list) = condition else {
        return condition.path().is_ident("test");
    };
    let Ok(parts) =
        list.parse_args_with(syn::punctuated::Punctuated::<syn::Meta, syn::Token![,]>::parse_terminated)
    else {
        return false;
    };
    if list.path.is_ident("all") {
        parts.iter().any(needs_test)
    } else {
        list.path.is_ident("any") && !parts.is_empty() && parts.iter().all(needs_test)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines_of(text: &str) -> Vec<usize> {
        test_lines(&text.parse().expect("test input is Rust")).into_iter().collect()
    }

    #[test]
    fn test_modules_and_functions_are_found() {
        assert_eq!(lines_of("fn a() {}\n#[cfg(test)]\nmod tests {\n  fn b() {}\n}\nfn c() {}"), [2, 3, 4, 5]);
        assert_eq!(lines_of("#[test]\nfn a() {}\nfn b() {}"), [1, 2]);
        assert_eq!(lines_of("#[cfg(test)]\nuse a::b;\nuse c::d;"), [1, 2]);
        assert_eq!(lines_of("#![cfg(test)]\nfn a() {}\nfn b() {}"), [1, 2, 3]);
    }

    #[test]
    fn conditions_are_read_not_guessed() {
        assert_eq!(lines_of("#[cfg(all(test, unix))] fn a() {}"), [1]);
        assert_eq!(lines_of("#[cfg(not(test))] fn a() {}"), [0; 0]);
        assert_eq!(lines_of("#[cfg(any(test, unix))] fn a() {}"), [0; 0]);
        assert_eq!(lines_of("#[cfg(feature = \"test\")] fn a() {}"), [0; 0]);
    }
}
