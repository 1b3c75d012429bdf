//! Where a server is, and names in its paths.

use std::fmt::Write as _;

use ureq::http::Uri;

use crate::Error;

/// The URL without what is too much at its end.
pub(crate) fn base(url: &str) -> Result<String, Error> {
    let trimmed = url.trim().trim_end_matches('/');
    let parsed: Uri = trimmed.parse().map_err(|_| Error::address(url))?;
    let known = matches!(parsed.scheme_str(), Some("http" | "https"));
    if !known || parsed.host().is_none_or(str::is_empty) || parsed.query().is_some() {
        return Err(Error::address(url));
    }
    Ok(trimmed.to_owned())
}

/// A name as one part of a path or of a query: all but letters, digits and `-._~` is written as `%` and two digits, slashes too.
pub fn encoded(name: &str) -> String {
    let mut out = String::new();
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(byte.into());
        } else {
            // Writing into a text does not fail.
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_one_part_of_a_path() {
        assert_eq!(encoded("wiki/a b#1?é"), "wiki%2Fa%20b%231%3F%C3%A9");
    }

    #[test]
    fn urls_of_http_are_taken() {
        assert_eq!(base(" http://127.0.0.1:7700/ ").unwrap(), "http://127.0.0.1:7700");
        assert_eq!(base("https://search.example.com/team").unwrap(), "https://search.example.com/team");
        for url in ["", "127.0.0.1:7700", "ftp://x", "http://", "http://x?y", "notes"] {
            assert!(base(url).is_err(), "{url}");
        }
    }
}
