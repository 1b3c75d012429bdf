//! Lines out of pieces of a body.

use crate::body::too_large;
use crate::error::ApiError;

/// A line that is not blank, or why it cannot be read.
pub(super) struct Line {
    /// Its number, from 1.
    pub(super) number: u64,
    /// The line.
    pub(super) text: Result<Vec<u8>, ApiError>,
}

/// Collects pieces, and gives lines. A line that is too long is passed over without being kept.
pub(super) struct Lines {
    limit: u64,
    held: Vec<u8>,
    /// Where the next line starts.
    start: usize,
    /// Up to here what is held has been looked at.
    looked: usize,
    number: u64,
    too_long: bool,
    ended: bool,
}

impl Lines {
    pub(super) fn new(limit: u64) -> Self {
        Self { limit, held: Vec::new(), start: 0, looked: 0, number: 0, too_long: false, ended: false }
    }

    pub(super) fn feed(&mut self, data: &[u8]) {
        // Once for each piece, not for each line.
        self.held.drain(..self.start);
        self.looked -= self.start;
        self.start = 0;
        self.held.extend_from_slice(data);
    }

    /// What is held is the last line.
    pub(super) fn end(&mut self) {
        self.ended = true;
    }

    /// The next line; nothing until more is fed.
    pub(super) fn next(&mut self) -> Option<Line> {
        loop {
            let bytes = self.cut()?;
            self.number += 1;
            let text = if std::mem::take(&mut self.too_long) || bytes.len() as u64 > self.limit {
                Err(too_large("the line", self.limit))
            } else if bytes.trim_ascii().is_empty() {
                continue;
            } else {
                Ok(bytes)
            };
            return Some(Line { number: self.number, text });
        }
    }

    fn cut(&mut self) -> Option<Vec<u8>> {
        if let Some(at) = self.held[self.looked..].iter().position(|byte| *byte == b'\n') {
            let end = self.looked + at;
            let line = self.held[self.start..end].to_vec();
            (self.start, self.looked) = (end + 1, end + 1);
            return Some(line);
        }
        if (self.held.len() - self.start) as u64 > self.limit {
            self.too_long = true;
            self.held.truncate(self.start);
        }
        self.looked = self.held.len();
        let last = self.ended && (self.too_long || self.start < self.held.len());
        last.then(|| self.held.split_off(self.start)).inspect(|_| self.looked = self.start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pieces: &[&str], limit: u64) -> Vec<(u64, Option<String>)> {
        let mut lines = Lines::new(limit);
        let mut seen = Vec::new();
        let mut take = |lines: &mut Lines| {
            while let Some(line) = lines.next() {
                seen.push((line.number, line.text.ok().map(|text| String::from_utf8(text).unwrap())));
            }
        };
        for piece in pieces {
            lines.feed(piece.as_bytes());
            take(&mut lines);
        }
        lines.end();
        take(&mut lines);
        seen
    }

    #[test]
    fn pieces_may_end_anywhere() {
        let expected =
            [(1, Some("one".to_owned())), (3, Some("two".to_owned())), (4, Some("last".to_owned()))];
        assert_eq!(read(&["o", "ne\n\ntw", "o\nla", "st"], 100), expected);
        assert_eq!(read(&["one\n \ntwo\nlast\n"], 100), expected);
        assert_eq!(read(&[], 100), []);
    }

    #[test]
    fn a_long_line_is_passed_over() {
        let expected = [(1, Some("a".to_owned())), (2, None), (3, Some("b".to_owned()))];
        assert_eq!(read(&["a\n0123456789\nb"], 5), expected);
        assert_eq!(read(&["a\n01234", "56789", "0123456789\n", "b\n"], 5), expected);
        assert_eq!(read(&["0123456", "7"], 5), [(1, None)]);
    }
}
