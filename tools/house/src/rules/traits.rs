//! Traits: at most 3 required methods.
//!
//! A trait with more is usually the API of its first implementation under another name.

use syn::visit::{self, Visit};

use crate::report::Offence;
use crate::source::Source;

const MOST_REQUIRED: usize = 3;

/// A trait outside tests.
pub(super) struct Trait {
    name: String,
    place: String,
    /// Methods without a default.
    required: usize,
}

/// Measures all traits outside tests.
pub(super) fn measure(sources: &[Source]) -> Vec<Trait> {
    let mut traits = Vec::new();
    for source in sources {
        let mut visitor = Visitor { source, traits: &mut traits };
        visitor.visit_file(&source.tree);
    }
    traits
}

struct Visitor<'a> {
    source: &'a Source,
    traits: &'a mut Vec<Trait>,
}

impl<'ast> Visit<'ast> for Visitor<'_> {
    fn visit_item_trait(&mut self, item: &'ast syn::ItemTrait) {
        let line = item.trait_token.span.start().line;
        let is_required =
            |item: &&syn::TraitItem| matches!(item, syn::TraitItem::Fn(f) if f.default.is_none());
        if self.source.is_shipped(line) {
            self.traits.push(Trait {
                name: item.ident.to_string(),
                place: self.source.place(line),
                required: item.items.iter().filter(is_required).count(),
            });
        }
        visit::visit_item_trait(self, item);
    }
}

/// The traits that ask too much of an implementation.
pub(super) fn check(traits: &[Trait]) -> Vec<Offence> {
    let greedy = traits.iter().filter(|item| item.required > MOST_REQUIRED);
    greedy
        .map(|Trait { name, place, required }| {
            let what = format!("`{name}` requires {required} methods, at most {MOST_REQUIRED} are allowed");
            Offence::new("trait size", place, what)
        })
        .collect()
}

/// How many traits there are and what the largest asks for.
pub(super) fn summary(traits: &[Trait]) -> String {
    let most = traits.iter().map(|item| item.required).max().unwrap_or(0);
    format!("traits    {:5}  most required methods {most}\n", traits.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::sample;

    fn offences(text: &str) -> usize {
        check(&measure(&[sample("crates/a/src/lib.rs", text)])).len()
    }

    #[test]
    fn required_methods_are_few() {
        assert_eq!(offences("trait T { fn a(); fn b(); fn c(); fn d(); }"), 1);
        assert_eq!(offences("trait T { fn a(); fn b(); fn c(); fn d() {} type E; }"), 0);
        assert_eq!(offences("#[cfg(test)] trait T { fn a(); fn b(); fn c(); fn d(); }"), 0);
    }
}
