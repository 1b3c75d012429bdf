//! Finding the source files of the workspace, and which of them are for tests only.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::Failure;
use crate::source::Source;

/// Reads every `.rs` file under `crates` and `tools`, in path order.
pub(crate) fn load(root: &Path) -> Result<Vec<Source>, Failure> {
    let mut paths = BTreeSet::new();
    for folder in ["crates", "tools"] {
        collect(&root.join(folder), &mut paths)?;
    }
    if paths.is_empty() {
        return Err("no Rust files under `crates` and `tools`; run this in the workspace root".to_owned());
    }
    let mut sources = Vec::with_capacity(paths.len());
    for path in paths {
        let text = fs::read_to_string(&path).map_err(|error| unreadable(&path, &error))?;
        let relative = path.strip_prefix(root).unwrap_or(&path);
        sources.push(Source::parse(relative, text)?);
    }
    mark_test_files(&mut sources);
    Ok(sources)
}

fn collect(folder: &Path, paths: &mut BTreeSet<PathBuf>) -> Result<(), Failure> {
    for entry in fs::read_dir(folder).map_err(|error| unreadable(folder, &error))? {
        let path = entry.map_err(|error| unreadable(folder, &error))?.path();
        if path.is_dir() {
            if !path.ends_with("target") {
                collect(&path, paths)?;
            }
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            paths.insert(path);
        }
    }
    Ok(())
}

fn unreadable(path: &Path, error: &std::io::Error) -> Failure {
    format!("cannot read `{}`: {error}", path.display())
}

/// Marks the files behind `#[cfg(test)] mod name;`, which carry no attribute of their own.
fn mark_test_files(sources: &mut [Source]) {
    let roots: Vec<PathBuf> = sources.iter().flat_map(test_modules).collect();
    for source in sources {
        source.is_test |= roots
            .iter()
            .any(|root| source.path.starts_with(root) || source.path == root.with_extension("rs"));
    }
}

/// The paths, without extension, of the test modules that this file declares and other files hold.
fn test_modules(source: &Source) -> Vec<PathBuf> {
    let folder = module_folder(&source.path);
    let outside = source.tree.items.iter().filter_map(|item| match item {
        syn::Item::Mod(module) if module.content.is_none() => Some(module),
        _ => None,
    });
    outside
        .filter(|module| source.test_lines.contains(&module.mod_token.span.start().line))
        .map(|module| folder.join(module.ident.to_string()))
        .collect()
}

/// The folder where the modules that this file declares live.
fn module_folder(path: &Path) -> PathBuf {
    let is_root = ["lib.rs", "main.rs", "mod.rs"].iter().any(|name| path.ends_with(name));
    if is_root { path.with_file_name("") } else { path.with_extension("") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::sample;

    #[test]
    fn files_of_test_modules_are_tests() {
        let mut sources = [
            sample("crates/a/src/lib.rs", "mod b;\n#[cfg(test)]\nmod oracle;"),
            sample("crates/a/src/b.rs", "#[cfg(test)]\nmod cases;"),
            sample("crates/a/src/oracle.rs", "fn a() {}"),
            sample("crates/a/src/oracle/deep.rs", "fn a() {}"),
            sample("crates/a/src/b/cases.rs", "fn a() {}"),
            sample("crates/a/src/b/other.rs", "fn a() {}"),
        ];
        mark_test_files(&mut sources);
        let marked: Vec<bool> = sources.iter().map(|source| source.is_test).collect();
        assert_eq!(marked, [false, false, true, true, true, false]);
    }
}
