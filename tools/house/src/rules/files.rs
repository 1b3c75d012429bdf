//! Files: none above 500 lines outside tests, with an aim of 250.
//!
//! A long regular table is fine; it says so itself with a `//! house: data table` line in its header.

use crate::report::{Offence, percentile};
use crate::source::Source;

const AIM_LINES: usize = 250;
const MOST_LINES: usize = 500;
const TABLE_MARKER: &str = "//! house: data table";

/// A file outside tests.
pub(super) struct File {
    path: String,
    /// Lines that are not for tests only.
    lines: usize,
    is_table: bool,
}

/// Measures all files that are not for tests as a whole.
pub(super) fn measure(sources: &[Source]) -> Vec<File> {
    let shipped = sources.iter().filter(|source| !source.is_test);
    shipped
        .map(|source| File {
            path: source.path.display().to_string(),
            lines: (1..=source.text.lines().count()).filter(|line| source.is_shipped(*line)).count(),
            is_table: has_table_marker(&source.text),
        })
        .collect()
}

fn has_table_marker(text: &str) -> bool {
    let mut header = text.lines().map(str::trim).take_while(|line| line.starts_with("//") || line.is_empty());
    header.any(|line| line == TABLE_MARKER)
}

/// The files that are too long.
pub(super) fn check(files: &[File]) -> Vec<Offence> {
    let long = files.iter().filter(|file| !file.is_table && file.lines > MOST_LINES);
    long.map(|file| {
        let what = format!("{} lines outside tests, at most {MOST_LINES} are allowed", file.lines);
        Offence::new("file length", &file.path, what)
    })
    .collect()
}

/// The distribution of lengths in one line, with the longest file by name.
pub(super) fn summary(files: &[File]) -> String {
    let counted: Vec<&File> = files.iter().filter(|file| !file.is_table).collect();
    let mut lengths: Vec<usize> = counted.iter().map(|file| file.lines).collect();
    lengths.sort_unstable();
    let above = lengths.len() - lengths.partition_point(|lines| *lines <= AIM_LINES);
    let [p50, p90] = [50, 90].map(|share| percentile(&lengths, share));
    let longest = counted.iter().max_by_key(|file| file.lines);
    let longest = longest.map_or(String::new(), |file| format!("  max {} {}", file.lines, file.path));
    let (count, tables) = (lengths.len(), files.len() - counted.len());
    format!(
        "files     {count:5}  lines p50 {p50}  p90 {p90}{longest}\n{:17}{above} above the aim of {AIM_LINES}  {tables} data tables\n",
        ""
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::sample;

    fn files(text: &str) -> Vec<File> {
        measure(&[sample("crates/a/src/lib.rs", text)])
    }

    #[test]
    fn no_file_is_too_long() {
        assert_eq!(check(&files(&"const A: u8 = 1;\n".repeat(501))).len(), 1);
        assert_eq!(check(&files(&"const A: u8 = 1;\n".repeat(500))).len(), 0);
    }

    #[test]
    fn test_lines_are_free() {
        let tests = format!("#[cfg(test)]\nmod tests {{\n{}}}\n", "\n".repeat(600));
        assert_eq!(check(&files(&("\n".repeat(500) + &tests))).len(), 0);
        assert_eq!(check(&files(&("\n".repeat(501) + &tests))).len(), 1);
    }

    #[test]
    fn tables_say_so_in_their_header() {
        let rows = "const A: u8 = 1;\n".repeat(501);
        assert_eq!(check(&files(&format!("//! Rows.\n{TABLE_MARKER}\n{rows}"))).len(), 0);
        assert_eq!(check(&files(&format!("{rows}// {TABLE_MARKER}\n"))).len(), 1);
    }

    #[test]
    fn the_summary_counts_files_above_the_aim() {
        let summary = summary(&files(&"\n".repeat(251)));
        assert!(summary.contains("max 251 crates/a/src/lib.rs"), "{summary}");
        assert!(summary.contains("1 above the aim of 250"), "{summary}");
    }
}
