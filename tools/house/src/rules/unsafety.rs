//! Unsafe code: in the kernels only, and each use argued in the comment just above it.
//!
//! Tokens are read instead of the syntax tree, so that `unsafe` in macros counts. Tests are not exempt: a wrong
//! test of unsafe code proves nothing.

use std::path::Path;

use proc_macro2::{Delimiter, TokenTree};

use crate::report::Offence;
use crate::source::Source;
use crate::tokens::{each_level, group, is_word, line};

const ALLOWED_UNDER: &str = "crates/kernels";

/// The uses of `unsafe` that are in the wrong crate or not argued.
pub(super) fn check(source: &Source) -> Vec<Offence> {
    let lines: Vec<&str> = source.text.lines().map(str::trim).collect();
    let allowed = source.path.starts_with(Path::new(ALLOWED_UNDER));
    let mut offences = Vec::new();
    for at in uses(source) {
        let place = source.place(at);
        if !allowed {
            offences.push(Offence::new("unsafe", place, format!("only allowed under `{ALLOWED_UNDER}`")));
        } else if !is_argued(&lines[..at - 1]) {
            let what = "no `SAFETY:` comment or `# Safety` section just above";
            offences.push(Offence::new("unsafe", place, what));
        }
    }
    offences
}

/// How often the code is unsafe.
pub(super) fn summary(sources: &[Source]) -> String {
    let count: usize = sources.iter().map(|source| uses(source).len()).sum();
    format!("unsafe    {count:5}  allowed under {ALLOWED_UNDER} only\n")
}

/// The lines with an `unsafe` that makes a promise; the type of an unsafe function pointer makes none.
fn uses(source: &Source) -> Vec<usize> {
    let mut found = Vec::new();
    each_level(&source.tokens, &mut |level| {
        let uses = (0..level.len()).filter(|at| is_word(level.get(*at), "unsafe"));
        found.extend(uses.filter(|at| !is_pointer_type(&level[at + 1..])).map(|at| line(&level[at])));
    });
    found.sort_unstable();
    found
}

/// Whether what follows `unsafe` is `fn(…)` or `extern "C" fn(…)`, a function without a name.
fn is_pointer_type(rest: &[TokenTree]) -> bool {
    let is_prefix =
        |tree: &&TokenTree| is_word(Some(tree), "extern") || matches!(tree, TokenTree::Literal(_));
    let skip = rest.iter().take_while(is_prefix).count();
    is_word(rest.get(skip), "fn") && group(rest.get(skip + 1), Delimiter::Parenthesis).is_some()
}

/// Whether the comment that ends just above, attributes and the start of the statement aside, argues safety.
fn is_argued(above: &[&str]) -> bool {
    let mut in_comment = false;
    for text in above.iter().rev() {
        if text.starts_with("//") || text.starts_with("/*") {
            if text.contains("SAFETY:") || text.contains("# Safety") {
                return true;
            }
            in_comment = true;
        } else if !(is_attribute(text) || !in_comment && statement_goes_on(text)) {
            return false;
        }
    }
    false
}

fn is_attribute(text: &str) -> bool {
    text.starts_with("#[") && text.ends_with(']')
}

fn statement_goes_on(text: &str) -> bool {
    !text.is_empty() && !text.ends_with([';', '{', '}', ','])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::sample;

    fn offences(text: &str) -> usize {
        check(&sample("crates/kernels/src/dot.rs", text)).len()
    }

    #[test]
    fn kernels_only() {
        let text = "fn a() {\n  // SAFETY: none needed.\n  unsafe {}\n}";
        assert_eq!(check(&sample("crates/core/src/lib.rs", text)).len(), 1);
        assert_eq!(offences(text), 0);
    }

    #[test]
    fn blocks_are_argued() {
        assert_eq!(offences("fn a() {\n  unsafe {}\n}"), 1);
        assert_eq!(offences("fn a() {\n  // Fast.\n  unsafe {}\n}"), 1);
        assert_eq!(
            offences("fn a() {\n  // SAFETY: in bounds,\n  // as checked.\n  let b =\n    unsafe {};\n}"),
            0
        );
        assert_eq!(offences("fn a() {\n  // SAFETY: in bounds.\n  b();\n  unsafe {}\n}"), 1);
    }

    #[test]
    fn functions_and_impls_are_argued() {
        assert_eq!(offences("/// Adds.\nunsafe fn a() {}"), 1);
        assert_eq!(offences("/// Adds.\n///\n/// # Safety\n/// Needs AVX2.\n#[inline]\nunsafe fn a() {}"), 0);
        assert_eq!(offences("unsafe impl Send for A {}"), 1);
        assert_eq!(offences("// SAFETY: no interior.\nunsafe impl Send for A {}"), 0);
    }

    #[test]
    fn macros_are_seen_and_pointer_types_are_not_uses() {
        assert_eq!(offences("macro_rules! a { () => {\n unsafe {} \n} }"), 1);
        assert_eq!(offences("type A = unsafe fn(u8); type B = unsafe extern \"C\" fn();"), 0);
    }
}
