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

/// Copies the samples to a folder.
fn samples(folder: &Path) {
    for recipe in std::fs::read_dir(root().join("recipes")).unwrap().map(|entry| entry.unwrap().path()) {
        if !recipe.is_dir() {
            continue;
        }
        let copy = folder.join("recipes").join(recipe.file_name().unwrap());
        std::fs::create_dir_all(&copy).unwrap();
        for file in std::fs::read_dir(&recipe).unwrap().map(|entry| entry.unwrap().path()) {
            std::fs::copy(&file, copy.join(file.file_name().unwrap())).unwrap();
        }
    }
}

fn folder(test: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// Whether an output is what is shown, where a line `…` stands for any lines.
fn shows(shown: &str, output: &str) -> bool {
    let mut rest = output;
    for (at, part) in shown.split("…\n").enumerate() {
        match rest.find(part) {
            Some(found) if at > 0 || found == 0 => rest = &rest[found + part.len()..],
            _ => return false,
        }
    }
    rest.is_empty() || shown.ends_with("…\n")
}

#[test]
fn every_example_prints_what_is_shown() {
    let folder = folder("readme");
    samples(&folder);
    let examples = examples();
    assert!(examples.len() >= 4, "the README has lost its examples");
    for (command, shown) in examples {
        let mut program = Command::new(env!("CARGO_BIN_EXE_mainstem"));
        let output = program.args(command.split_whitespace()).current_dir(&folder).output().unwrap();
        assert!(output.status.success(), "`{command}`: {}", String::from_utf8_lossy(&output.stderr));
        let printed = String::from_utf8(output.stdout).unwrap();
        assert!(shows(&shown, &printed), "`{command}` prints\n{printed}\nand not\n{shown}");
    }
}

#[test]
fn lines_left_out_are_marked() {
    assert!(shows("a\n…\nc\n", "a\nb\nc\n") && shows("a\n…\n", "a\nb\n") && shows("a\n", "a\n"));
    assert!(!shows("b\n…\n", "a\nb\n") && !shows("a\n", "a\nb\n") && !shows("a\n…\nd\n", "a\nb\n"));
}

/// The shell blocks of a recipe, run in one shell as a reader would.
#[cfg(unix)]
#[test]
fn every_command_of_the_recipes_works() {
    let folder = folder("recipes");
    samples(&folder);
    let mut ran = 0;
    for recipe in std::fs::read_dir(folder.join("recipes")).unwrap().map(|entry| entry.unwrap().path()) {
        let text = std::fs::read_to_string(recipe.join("README.md")).unwrap();
        let blocks = text.split("```sh\n").skip(1).map(|block| block.split("```").next().unwrap());
        let script: String = blocks.collect();
        assert!(
            script.lines().filter(|line| line.starts_with("mainstem ")).count() >= 3,
            "{}",
            recipe.display()
        );
        let shell = format!("set -e\nmainstem() {{ \"$MAINSTEM\" \"$@\"; }}\n{script}");
        let mut command = Command::new("sh");
        command.env("MAINSTEM", env!("CARGO_BIN_EXE_mainstem")).current_dir(&folder).args(["-c", &shell]);
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}: {}", recipe.display(), String::from_utf8_lossy(&output.stderr));
        ran += 1;
    }
    assert_eq!(ran, 6);
}
