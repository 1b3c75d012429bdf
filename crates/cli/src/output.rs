//! Writing results: to standard output or to a file.

use std::borrow::Cow;
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
    anstream::eprintln!("note: {}", plain(text));
}

/// Prints what may be a mistake and stops nothing.
pub(crate) fn warn(text: &str) {
    anstream::eprintln!("warning: {}", plain(text));
}

/// Text of documents, of a server or of the command line, as a terminal may show it: what would move the cursor, set a title or turn the
/// direction of writing is written out. Lines and tabs stay.
pub(crate) fn plain(text: &str) -> Cow<'_, str> {
    shown(text, |char| matches!(char, '\n' | '\t'))
}

/// The same for what is one line, such as a title or a name.
pub(crate) fn line(text: &str) -> Cow<'_, str> {
    shown(text, |_| false)
}

fn shown(text: &str, stays: impl Fn(char) -> bool) -> Cow<'_, str> {
    let acts = |char: char| !stays(char) && acts(char);
    if !text.contains(acts) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for char in text.chars() {
        if acts(char) { out.push_str(&picture(char)) } else { out.push(char) }
    }
    Cow::Owned(out)
}

/// Whether a terminal would do something else than show it.
pub(crate) fn acts(char: char) -> bool {
    char.is_control()
        || matches!(char, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{2028}' | '\u{2029}')
}

/// How such a character is shown: by its picture where Unicode has one, else by its number.
pub(crate) fn picture(char: char) -> String {
    let number = match u32::from(char) {
        control @ 0..0x20 => 0x2400 + control,
        0x7f => 0x2421,
        _ => return char.escape_unicode().to_string(),
    };
    char::from_u32(number).map(String::from).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_acts_is_shown_and_the_rest_stays() {
        assert_eq!(plain("\u{1b}]0;pwn\u{7}\u{1b}[2J"), "␛]0;pwn␇␛[2J");
        assert_eq!(plain("a\u{202e}b\u{2066}c\u{9b}d\u{7f}"), "a\\u{202e}b\\u{2066}c\\u{9b}d␡");
        assert_eq!(plain("two\nlines\tand a tab\r"), "two\nlines\tand a tab␍");
        assert_eq!(line("two\nlines"), "two␊lines");
        let usual = "Größe 東京 عربي 👩‍💻";
        assert!(matches!(plain(usual), Cow::Borrowed(same) if same == usual));
    }
}
