//! Lines of a file of documents, one at a time. Unlike the reader of rankings, it goes on behind a line that is too long.

use std::io::{self, BufRead, Read as _};

/// The longest line that is read, in bytes: 32 MiB.
pub(super) const MAX_LINE: usize = 32 << 20;

const BOM: &[u8] = b"\xEF\xBB\xBF";

/// A reader of lines with a bound on their length.
pub(super) struct Lines<R> {
    reader: R,
    limit: usize,
    buffer: Vec<u8>,
    number: u64,
    bytes: u64,
}

/// A line that is not blank, or why it cannot be read.
pub(super) type Line<'a> = Result<&'a str, String>;

impl<R: BufRead> Lines<R> {
    pub(super) fn new(reader: R, limit: usize) -> Self {
        Self { reader, limit, buffer: Vec::new(), number: 0, bytes: 0 }
    }

    /// The number of the line that was read last, from 1.
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// How many bytes have been read.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The next line that is not blank; `None` at the end.
    pub(super) fn next_line(&mut self) -> io::Result<Option<Line<'_>>> {
        loop {
            let read = self.fill()?;
            if read == 0 {
                return Ok(None);
            }
            if self.buffer.len() > self.limit {
                let whole = read + self.skip_rest()?;
                return Ok(Some(Err(format!("{whole} bytes long, expected at most {}", self.limit))));
            }
            if !content(&self.buffer, self.number).trim_ascii().is_empty() {
                break;
            }
        }
        let line = std::str::from_utf8(content(&self.buffer, self.number));
        Ok(Some(line.map_err(|error| format!("not UTF-8 at byte {}", error.valid_up_to() + 1))))
    }

    fn fill(&mut self) -> io::Result<u64> {
        self.buffer.clear();
        let read = self.reader.by_ref().take(self.limit as u64 + 1).read_until(b'\n', &mut self.buffer)?;
        self.number += u64::from(read > 0);
        self.bytes += read as u64;
        Ok(read as u64)
    }

    /// Moves behind the line break without keeping what is before it.
    fn skip_rest(&mut self) -> io::Result<u64> {
        let ended = self.buffer.last() == Some(&b'\n');
        self.buffer.clear();
        let read = if ended { 0 } else { self.reader.skip_until(b'\n')? as u64 };
        self.bytes += read;
        Ok(read)
    }
}

/// The line without white space behind it and, at the start of the file, without the byte order mark.
fn content(buffer: &[u8], number: u64) -> &[u8] {
    let buffer = buffer.trim_ascii_end();
    match buffer.strip_prefix(BOM) {
        Some(rest) if number == 1 => rest,
        _ => buffer,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn goes_on_behind_lines_that_cannot_be_read() {
        let mut lines = Lines::new(&b"\xEF\xBB\xBFone\r\n\n0123456789ABCDEF\n\xFF\nlast"[..], 10);
        let mut seen = Vec::new();
        while let Some(line) = lines.next_line().unwrap() {
            let line = line.map(str::to_owned);
            seen.push(line);
        }
        assert_eq!(seen[0].as_deref(), Ok("one"));
        assert!(seen[1].as_ref().unwrap_err().contains("17 bytes"));
        assert!(seen[2].as_ref().unwrap_err().contains("not UTF-8"));
        assert_eq!(seen[3].as_deref(), Ok("last"));
        assert_eq!((lines.number(), lines.bytes()), (5, 32));
    }
}
