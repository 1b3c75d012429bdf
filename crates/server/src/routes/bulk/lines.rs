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
    /// Up to here what is held has been looked at.
    looked: usize,
    number: u64,
    too_long: bool,
    ended: bool,
}

impl Lines {
    pub(super) fn new(limit: u64) -> Self {
        Self { limit, held: Vec::new(), looked: 0, number: 0, too_long: false, ended: false }
    }

    pub(super) fn feed(&mut self, data: &[u8]) {
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
            let rest = self.held.split_off(self.looked + at + 1);
            let mut line = std::mem::replace(&mut self.held, rest);
            line.pop();
            self.looked = 0;
            return Some(line);
        }
        if self.held.len() as u64 > self.limit {
            self.too_long = true;
            self.held.clear();
        }
        self.looked = self.held.len();
        let last = self.ended && (self.too_long || !self.held.is_empty());
        last.then(|| {
            self.looked = 0;
            std::mem::take(&mut self.held)
        })
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
