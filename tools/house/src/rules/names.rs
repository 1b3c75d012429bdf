//! Modules and files are named after what they hold, in the words of the domain.

use std::path::Path;

use syn::visit::{self, Visit};

use crate::report::Offence;
use crate::source::Source;

const EMPTY_NAMES: [&str; 9] =
    ["base", "common", "helper", "helpers", "manager", "misc", "new", "util", "utils"];
const EMPTY_ENDINGS: [&str; 4] = ["_base", "_helpers", "_manager", "_utils"];

/// The modules of a file, and the file itself, whose names say nothing.
pub(super) fn check(source: &Source) -> Vec<Offence> {
    if source.is_test {
        return Vec::new();
    }
    let mut visitor = Visitor { source, offences: Vec::new() };
    for name in path_names(&source.path).filter(|name| says_nothing(name)) {
        visitor.offences.push(offence(source.path.display().to_string(), name));
    }
    visitor.visit_file(&source.tree);
    visitor.offences
}

/// The names of the file and of its folders below the crate.
fn path_names(path: &Path) -> impl Iterator<Item = &str> {
    let names = path.iter().skip(2).filter_map(|name| name.to_str());
    names.map(|name| name.strip_suffix(".rs").unwrap_or(name))
}

fn says_nothing(name: &str) -> bool {
    EMPTY_NAMES.contains(&name) || EMPTY_ENDINGS.iter().any(|ending| name.ends_with(ending))
}

fn offence(place: String, name: &str) -> Offence {
    Offence::new("name", place, format!("`{name}` says nothing; name what it holds"))
}

struct Visitor<'a> {
    source: &'a Source,
    offences: Vec<Offence>,
}

impl<'ast> Visit<'ast> for Visitor<'_> {
    fn visit_item_mod(&mut self, module: &'ast syn::ItemMod) {
        let name = module.ident.to_string();
        // A module in another file is reported there, by its path.
        if module.content.is_some() && says_nothing(&name) {
            let place = self.source.place(module.mod_token.span.start().line);
            self.offences.push(offence(place, &name));
        }
        visit::visit_item_mod(self, module);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::sample;

    fn offences(path: &str, text: &str) -> usize {
        check(&sample(path, text)).len()
    }

    #[test]
    fn files_and_folders_have_telling_names() {
        assert_eq!(offences("crates/a/src/utils.rs", ""), 1);
        assert_eq!(offences("crates/a/src/common/mod.rs", ""), 1);
        assert_eq!(offences("crates/a/src/index_base.rs", ""), 1);
        assert_eq!(offences("crates/a/src/fuse/rrf.rs", ""), 0);
        assert_eq!(offences("crates/a/tests/common/mod.rs", ""), 0);
    }

    #[test]
    fn modules_have_telling_names() {
        assert_eq!(offences("crates/a/src/lib.rs", "mod helpers {}"), 1);
        assert_eq!(offences("crates/a/src/lib.rs", "mod ledger { mod new {} }"), 1);
        assert_eq!(offences("crates/a/src/lib.rs", "mod news {}"), 0);
    }
}
