//! Lines of text, one at a time, with a bound on their length.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read as _};

use mainstem_core::diagnostic::Place;

use crate::EvalError;

/// The longest line that [`Lines`] accepts, in bytes without the line break: 1 MiB.
pub const MAX_LINE: usize = 1 << 20;

const BOM: &[u8] = b"\xEF\xBB\xBF";

/// A reader of text lines for untrusted files.
///
/// - A line longer than [`MAX_LINE`] is an error; the rest of it is never buffered.
/// - A line that is not UTF-8 is an error.
/// - `\n` and `\r\n` both end a line; the last line needs no end.
/// - A byte order mark at the start of the file is skipped, and so are blank lines.
#[derive(Debug)]
pub struct Lines<R> {
    reader: R,
    file: String,
    number: u64,
    buffer: Vec<u8>,
}

/// One line that is not blank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line<'a> {
    /// The number of the line in its file, from 1.
    pub number: u64,
    /// The text without the line break.
    pub text: &'a str,
}

impl Lines<Box<dyn BufRead>> {
    /// Opens the file at `path`; `-` is the standard input.
    ///
    /// # Errors
    /// [`EvalError::Io`] when the file cannot be opened.
    pub fn open(path: &str) -> Result<Self, EvalError> {
        if path == "-" {
            return Ok(Lines::new(Box::new(io::stdin().lock()), "standard input"));
        }
        let file = File::open(path)
            .map_err(|source| EvalError::Io { place: Place::default().in_file(path), source })?;
        Ok(Lines::new(Box::new(BufReader::with_capacity(1 << 16, file)), path))
    }
}

impl<R: BufRead> Lines<R> {
    /// Reads lines from `reader`; errors call the input `file`.
    pub fn new(reader: R, file: impl Into<String>) -> Self {
        Self { reader, file: file.into(), number: 0, buffer: Vec::new() }
    }

    /// The name of the input, as errors call it.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// The place of the line that was read last; the whole file before the first one.
    pub fn place(&self) -> Place {
        Place { file: Some(self.file.clone()), line: (self.number > 0).then_some(self.number), column: None }
    }

    /// The next line that is not blank, or `None` at the end of the input.
    ///
    /// # Errors
    /// [`EvalError::TooLarge`], [`EvalError::Encoding`] or [`EvalError::Io`]. Reading on after an error is safe but
    /// starts in the middle of the line that was too long.
    pub fn next_line(&mut self) -> Result<Option<Line<'_>>, EvalError> {
        if self.advance()? { self.current().map(Some) } else { Ok(None) }
    }

    /// Moves to the next line that is not blank; false at the end of the input.
    pub(super) fn advance(&mut self) -> Result<bool, EvalError> {
        while self.fill()? {
            if !content(&self.buffer, self.number).trim_ascii().is_empty() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The line that [`Lines::advance`] moved to.
    pub(super) fn current(&self) -> Result<Line<'_>, EvalError> {
        match std::str::from_utf8(content(&self.buffer, self.number)) {
            Ok(text) => Ok(Line { number: self.number, text }),
            Err(error) => Err(EvalError::Encoding { place: self.place(), at: error.valid_up_to() + 1 }),
        }
    }

    /// Reads the next line into the buffer; false at the end of the input.
    fn fill(&mut self) -> Result<bool, EvalError> {
        self.buffer.clear();
        let most = MAX_LINE + BOM.len() + b"\r\n".len();
        let read = self.reader.by_ref().take(most as u64).read_until(b'\n', &mut self.buffer);
        self.number += 1;
        match read {
            Err(source) => Err(EvalError::Io { place: Place::default().in_file(&self.file), source }),
            Ok(_) if content(&self.buffer, self.number).len() > MAX_LINE => {
                Err(EvalError::TooLarge { place: self.place(), limit: MAX_LINE })
            }
            Ok(bytes) => Ok(bytes > 0),
        }
    }
}

/// The bytes of a line without its line break and, on the first line, without the byte order mark.
fn content(buffer: &[u8], number: u64) -> &[u8] {
    let line = buffer.strip_suffix(b"\n").unwrap_or(buffer);
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    match line.strip_prefix(BOM) {
        Some(rest) if number == 1 => rest,
        _ => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(bytes: &[u8]) -> Result<Vec<(u64, String)>, EvalError> {
        let mut lines = Lines::new(bytes, "f");
        let mut out = Vec::new();
        while let Some(line) = lines.next_line()? {
            out.push((line.number, line.text.to_owned()));
        }
        Ok(out)
    }

    #[test]
    fn accepts_bom_crlf_blank_lines_and_a_missing_last_break() {
        let got = all(b"\xEF\xBB\xBFa b\r\n\r\n \t\nc").unwrap();
        assert_eq!(got, [(1, "a b".to_owned()), (4, "c".to_owned())]);
    }

    #[test]
    fn an_empty_input_has_no_lines() {
        assert!(all(b"").unwrap().is_empty());
        assert!(all(b"\xEF\xBB\xBF").unwrap().is_empty());
    }

    #[test]
    fn a_long_line_is_refused_without_being_held() {
        let endless = io::repeat(b'x').take(1 << 30);
        let mut lines = Lines::new(BufReader::new(endless), "f");
        let error = lines.next_line().unwrap_err();
        assert!(matches!(&error, EvalError::TooLarge { place, .. } if place.to_string() == "f:1"));
        assert!(lines.buffer.capacity() < 4 * MAX_LINE);
    }

    #[test]
    fn the_longest_line_is_accepted() {
        let mut bytes = b"\xEF\xBB\xBF".to_vec();
        bytes.resize(3 + MAX_LINE, b'x');
        bytes.extend_from_slice(b"\r\nnext\n");
        assert_eq!(all(&bytes).unwrap().len(), 2);
        bytes.insert(3, b'x');
        assert!(matches!(all(&bytes), Err(EvalError::TooLarge { .. })));
    }

    #[test]
    fn invalid_utf8_names_line_and_byte() {
        let error = all(b"ok\nab\xFFc\n").unwrap_err();
        assert!(matches!(&error, EvalError::Encoding { place, at: 3 } if place.to_string() == "f:2"));
    }

    #[test]
    fn a_missing_file_is_an_io_error_with_its_name() {
        let error = Lines::open("no/such/file.run").err().unwrap();
        assert!(matches!(&error, EvalError::Io { place, .. } if place.to_string() == "no/such/file.run"));
    }
}
