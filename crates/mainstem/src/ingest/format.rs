//! What a text is written in, which decides how it is cut.

use std::path::Path;

/// What a text is written in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// Markdown: cut by headings.
    Markdown,
    /// Prose: cut by sentences.
    #[default]
    Text,
    /// HTML: read as headings and text, then cut by headings.
    Html,
    /// A programming language with a grammar: cut by functions, classes and the like.
    Code(Language),
    /// Anything else that has lines, with its name: cut by blocks of lines.
    Lines(&'static str),
    /// Not cut: the whole text is one chunk.
    Whole,
}

/// A programming language whose grammar is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// Rust.
    Rust,
    /// Python.
    Python,
    /// JavaScript, with or without JSX.
    JavaScript,
    /// TypeScript.
    TypeScript,
    /// TypeScript with JSX.
    Tsx,
    /// Go.
    Go,
    /// Java.
    Java,
    /// C.
    C,
    /// C++.
    Cpp,
}

impl Language {
    /// The name, as in a document's metadata.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Rust => "rust",
            Self::Python => "python",
            Self::JavaScript => "javascript",
            Self::TypeScript | Self::Tsx => "typescript",
            Self::Go => "go",
            Self::Java => "java",
            Self::C => "c",
            Self::Cpp => "cpp",
        }
    }
}

/// Endings of files that are text but are written by programs for programs.
const GENERATED: [&str; 8] = [".lock", ".svg", ".map", ".min.js", ".min.css", "-lock.json", ".sum", ".po"];

/// Endings of files that hold many documents.
const COLLECTIONS: [&str; 2] = ["jsonl", "ndjson"];

impl Format {
    /// The format of a file, by its name; a sentence when files of that name are left out.
    pub(super) fn of(path: &Path) -> Result<Self, &'static str> {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_ascii_lowercase();
        if GENERATED.iter().any(|ending| name.ends_with(ending)) {
            return Err("written by a program");
        }
        let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
        if COLLECTIONS.contains(&ending) {
            return Err("holds many documents; ingest it by itself");
        }
        Ok(Self::of_ending(ending))
    }

    fn of_ending(ending: &str) -> Self {
        match ending {
            "md" | "markdown" | "mdx" | "mkd" => Self::Markdown,
            "" | "txt" | "text" | "rst" | "adoc" | "org" | "tex" => Self::Text,
            "html" | "htm" | "xhtml" => Self::Html,
            other => language(other).map_or_else(|| Self::Lines(other_language(other)), Self::Code),
        }
    }

    /// The programming language, where it is one.
    pub fn language(self) -> Option<&'static str> {
        match self {
            Self::Code(language) => Some(language.as_str()),
            Self::Lines(name) => Some(name).filter(|name| !name.is_empty()),
            _ => None,
        }
    }
}

fn language(ending: &str) -> Option<Language> {
    Some(match ending {
        "rs" => Language::Rust,
        "py" | "pyi" => Language::Python,
        "js" | "jsx" | "mjs" | "cjs" => Language::JavaScript,
        "ts" | "mts" | "cts" => Language::TypeScript,
        "tsx" => Language::Tsx,
        "go" => Language::Go,
        "java" => Language::Java,
        "c" | "h" => Language::C,
        "cc" | "cpp" | "cxx" | "hpp" | "hh" | "hxx" => Language::Cpp,
        _ => return None,
    })
}

/// The name of a language without a grammar here; empty when the ending says nothing.
fn other_language(ending: &str) -> &'static str {
    match ending {
        "rb" => "ruby",
        "php" => "php",
        "cs" => "csharp",
        "kt" | "kts" => "kotlin",
        "swift" => "swift",
        "scala" => "scala",
        "sh" | "bash" | "zsh" => "shell",
        "sql" => "sql",
        "lua" => "lua",
        "r" => "r",
        "ex" | "exs" => "elixir",
        "hs" => "haskell",
        "css" | "scss" | "less" => "css",
        "json" => "json",
        "yaml" | "yml" => "yaml",
        "toml" => "toml",
        "xml" => "xml",
        "proto" => "protobuf",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_decide() {
        let of = |name: &str| Format::of(Path::new(name));
        assert_eq!(of("a/README.MD"), Ok(Format::Markdown));
        assert_eq!(of("LICENSE"), Ok(Format::Text));
        assert_eq!(of("x.test.tsx"), Ok(Format::Code(Language::Tsx)));
        assert_eq!(of("deploy.sh"), Ok(Format::Lines("shell")));
        assert!(of("Cargo.lock").is_err());
        assert!(of("a.min.js").is_err());
        assert!(of("corpus.jsonl").is_err());
    }
}
