//! One source file, read once and looked at by every rule.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use proc_macro2::TokenStream;

use crate::Failure;
use crate::tokens;

/// A Rust file with its tokens, its syntax tree and the lines of it that only tests use.
pub(crate) struct Source {
    /// The path relative to the workspace root.
    pub(crate) path: PathBuf,
    /// The text as written.
    pub(crate) text: String,
    /// The text as tokens, macro bodies included.
    pub(crate) tokens: TokenStream,
    /// The text as a syntax tree.
    pub(crate) tree: syn::File,
    /// The lines under `#[cfg(test)]` or `#[test]`, from 1.
    pub(crate) test_lines: BTreeSet<usize>,
    /// Whether the whole file is for tests or benchmarks.
    pub(crate) is_test: bool,
}

impl Source {
    /// Parses `text`; a file that is not Rust is a failure of the check, not an offence.
    pub(crate) fn parse(path: impl Into<PathBuf>, text: String) -> Result<Self, Failure> {
        let path = path.into();
        let explain =
            |error: &dyn std::fmt::Display| format!("`{}` is not valid Rust: {error}", path.display());
        let tokens: TokenStream = text.parse().map_err(|error| explain(&error))?;
        let tree = syn::parse_file(&text).map_err(|error| explain(&error))?;
        Ok(Self {
            test_lines: tokens::test_lines(&tokens),
            is_test: in_test_folder(&path),
            path,
            text,
            tokens,
            tree,
        })
    }

    /// Whether this line reaches users.
    pub(crate) fn is_shipped(&self, line: usize) -> bool {
        !self.is_test && !self.test_lines.contains(&line)
    }

    /// `path:line`, as compilers print it.
    pub(crate) fn place(&self, line: usize) -> String {
        format!("{}:{line}", self.path.display())
    }
}

/// Whether the path is `crates/NAME/tests/…` or `crates/NAME/benches/…`.
fn in_test_folder(path: &Path) -> bool {
    let folder = path.components().nth(2);
    folder.is_some_and(|folder| ["tests", "benches"].iter().any(|name| folder.as_os_str() == *name))
}

/// A file for the tests of the rules.
#[cfg(test)]
pub(crate) fn sample(path: &str, text: &str) -> Source {
    Source::parse(path, text.to_owned()).expect("test input is Rust")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_lines_outside_tests_are_shipped() {
        let source = sample("crates/a/src/lib.rs", "fn a() {}\n#[cfg(test)]\nmod tests {}\n");
        assert!(source.is_shipped(1));
        assert!(!source.is_shipped(2));
        assert!(!sample("crates/a/tests/b.rs", "fn a() {}").is_shipped(1));
        assert!(!sample("crates/a/benches/b.rs", "fn a() {}").is_shipped(1));
    }

    #[test]
    fn broken_source_is_named() {
        let failure = Source::parse("crates/a/src/lib.rs", "fn (".to_owned()).err();
        assert!(failure.is_some_and(|failure| failure.contains("crates/a/src/lib.rs")));
    }
}
