//! What the README shows is what the program prints.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The commands of the README's console blocks, each with the output shown below it.
fn examples() -> Vec<(String, String)> {
    let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
    let blocks = readme.split("```console\n").skip(1).map(|block| block.split("```").next().unwrap());
    let mut examples = Vec::new();
    for line in blocks.flat_map(str::lines) {
        match line.strip_prefix("$ mainstem ") {
            Some(command) => examples.push((command.to_owned(), String::new())),
            None => examples.last_mut().unwrap().1.extend([line, "\n"]),
        }
    }
    examples
}

#[test]
fn every_example_prints_what_is_shown() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("readme");
    let samples = folder.join("recipes/first-look");
    std::fs::create_dir_all(&samples).unwrap();
    for entry in std::fs::read_dir(root().join("recipes/first-look")).unwrap() {
        let path = entry.unwrap().path();
        std::fs::copy(&path, samples.join(path.file_name().unwrap())).unwrap();
    }
    let examples = examples();
    assert!(examples.len() >= 3, "the README has lost its examples");
    for (command, shown) in examples {
        let mut program = Command::new(env!("CARGO_BIN_EXE_mainstem"));
        let output = program.args(command.split_whitespace()).current_dir(&folder).output().unwrap();
        assert!(output.status.success(), "`{command}`: {}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(String::from_utf8(output.stdout).unwrap(), shown, "`{command}`");
    }
}
