//! Writing results: to standard output or to a file.

use std::fs::File;
use std::io::{self, BufWriter, Write};

use mainstem_core::diagnostic::Place;

use crate::failure::Problem;

/// Writes text to a file, or to standard output when none is named. Colours are stripped where they would not show.
pub(crate) fn write(path: Option<&str>, text: &str) -> Result<(), Problem> {
    let name = path.unwrap_or("standard output");
    let written = match path {
        Some(path) => to_file(path, text),
        None => to_stdout(text),
    };
    written.map_err(|source| Problem::Write { place: Place::default().in_file(name), source })
}

fn to_file(path: &str, text: &str) -> io::Result<()> {
    let mut file = BufWriter::new(File::create(path)?);
    file.write_all(anstream::adapter::strip_str(text).to_string().as_bytes())?;
    file.flush()
}

fn to_stdout(text: &str) -> io::Result<()> {
    let mut out = anstream::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        // Whoever reads us has seen enough, as in `mainstem fuse … | head`.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}

/// Prints a note for people.
pub(crate) fn note(text: &str) {
    anstream::eprintln!("note: {text}");
}

/// Prints what may be a mistake and stops nothing.
pub(crate) fn warn(text: &str) {
    anstream::eprintln!("warning: {text}");
}
