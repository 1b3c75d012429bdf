//! Server-sent events, as far as chat services send them.
//!
//! Only `data` matters. Lines may end with `\n`, `\r\n` or `\r`, several `data` lines make one event, and a colon opens a comment.

use std::io::{self, BufRead, Read as _};

/// No line is longer.
const LONGEST_LINE: u64 = 1 << 20;

/// The events of a stream.
pub(super) struct Events<R> {
    reader: R,
    first: bool,
}

impl<R: BufRead> Events<R> {
    pub(super) fn new(reader: R) -> Self {
        Self { reader, first: true }
    }

    /// The data of the next event; nothing at the end. What an event without its blank line said is lost, as the standard has it.
    pub(super) fn next(&mut self) -> io::Result<Option<String>> {
        let mut data: Option<String> = None;
        while let Some(line) = self.line()? {
            if line.is_empty() {
                if data.is_some() {
                    return Ok(data);
                }
                continue;
            }
            let (field, value) = line.split_once(':').unwrap_or((&line, ""));
            if field == "data" {
                let value = value.strip_prefix(' ').unwrap_or(value);
                data = Some(data.map_or_else(|| value.to_owned(), |before| before + "\n" + value));
            }
        }
        // Services that break off behind their last line are common; what they said is whole.
        Ok(data)
    }

    /// A line without its end; nothing at the end of the stream.
    fn line(&mut self) -> io::Result<Option<String>> {
        let mut bytes = Vec::new();
        let read = (&mut self.reader).take(LONGEST_LINE).read_until(b'\n', &mut bytes)?;
        if read == 0 {
            return Ok(None);
        }
        if bytes.last() == Some(&b'\n') {
            bytes.pop();
        } else if read as u64 == LONGEST_LINE {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "a line is longer than 1 MiB"));
        }
        if bytes.last() == Some(&b'\r') {
            bytes.pop();
        }
        let line = String::from_utf8(bytes)
            .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "a line is not UTF-8"))?;
        let line = if std::mem::take(&mut self.first) {
            line.trim_start_matches('\u{feff}').to_owned()
        } else {
            line
        };
        Ok(Some(line))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn events(text: &str) -> Vec<String> {
        let mut events = Events::new(text.as_bytes());
        std::iter::from_fn(|| events.next().unwrap()).collect()
    }

    #[test]
    fn events_are_read_as_the_standard_has_them() {
        let text = "\u{feff}: comment\n\ndata: a\n\nevent: x\r\nid: 1\r\ndata:b\r\ndata:  c\r\n\r\ndata\n\nretry: 3\n\ndata: d";
        assert_eq!(events(text), ["a", "b\n c", "", "d"]);
        assert!(events("").is_empty() && events("\n\n\n").is_empty());
    }

    #[test]
    fn a_line_without_end_is_refused() {
        let long = "data: ".to_owned() + &"x".repeat(2 << 20);
        assert!(Events::new(long.as_bytes()).next().is_err());
        assert!(Events::new(&b"data: \xff\n\n"[..]).next().is_err());
    }
}
