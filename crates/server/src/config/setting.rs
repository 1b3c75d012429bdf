//! The kinds of values that options take.

use std::net::SocketAddr;
use std::time::Duration;

/// A value as it was written, before its option has looked at it.
#[derive(Clone, Debug, PartialEq)]
pub enum Raw {
    /// A text. All that comes from the environment and from flags is one.
    Text(String),
    /// A whole number.
    Whole(i64),
    /// Yes or no.
    Flag(bool),
    /// A list of texts.
    List(Vec<String>),
    /// Anything else, by the name of its kind.
    Other(&'static str),
}

impl Raw {
    fn received(&self) -> String {
        match self {
            Self::Text(text) => format!("`{text}`"),
            Self::Whole(number) => format!("`{number}`"),
            Self::Flag(flag) => format!("`{flag}`"),
            Self::List(_) => "a list".to_owned(),
            Self::Other(kind) => format!("a value of kind {kind}"),
        }
    }
}

/// A kind of value.
pub trait Setting: Sized {
    /// What is taken, in words.
    const TAKES: &'static str;

    /// Reads a value.
    ///
    /// # Errors
    /// What was expected and received.
    fn read(raw: &Raw) -> Result<Self, String>;

    /// The value as it is written in the file.
    fn write(&self) -> String;
}

fn refuse<T: Setting>(raw: &Raw) -> String {
    format!("expected {}, received {}", T::TAKES, raw.received())
}

impl Setting for SocketAddr {
    const TAKES: &'static str = "an address and a port";

    fn read(raw: &Raw) -> Result<Self, String> {
        match raw {
            Raw::Text(text) => text.trim().parse().map_err(|_| refuse::<Self>(raw)),
            _ => Err(refuse::<Self>(raw)),
        }
    }

    fn write(&self) -> String {
        format!("\"{self}\"")
    }
}

impl Setting for usize {
    const TAKES: &'static str = "a whole number ≥ 1";

    fn read(raw: &Raw) -> Result<Self, String> {
        let number = match raw {
            Raw::Whole(number) => usize::try_from(*number).ok(),
            Raw::Text(text) => text.trim().parse().ok(),
            _ => None,
        };
        number.filter(|number| *number >= 1).ok_or_else(|| refuse::<Self>(raw))
    }

    fn write(&self) -> String {
        self.to_string()
    }
}

impl Setting for bool {
    const TAKES: &'static str = "`true` or `false`";

    fn read(raw: &Raw) -> Result<Self, String> {
        match raw {
            Raw::Flag(flag) => Ok(*flag),
            Raw::Text(text) => text.trim().parse().map_err(|_| refuse::<Self>(raw)),
            _ => Err(refuse::<Self>(raw)),
        }
    }

    fn write(&self) -> String {
        self.to_string()
    }
}

/// A number of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bytes(pub u64);

const SIZES: [(&str, u64); 4] = [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10), ("B", 1)];

impl Setting for Bytes {
    const TAKES: &'static str = "a size such as `16MiB`";

    fn read(raw: &Raw) -> Result<Self, String> {
        let bytes = match raw {
            Raw::Whole(number) => u64::try_from(*number).ok(),
            Raw::Text(text) => with_unit(text, &SIZES, 1),
            _ => None,
        };
        bytes.filter(|bytes| *bytes >= 1).map(Self).ok_or_else(|| refuse::<Self>(raw))
    }

    fn write(&self) -> String {
        let fits = |(_, size): &&(&str, u64)| self.0.is_multiple_of(*size);
        let (unit, size) = SIZES.iter().find(fits).unwrap_or(&SIZES[3]);
        format!("\"{}{unit}\"", self.0 / size)
    }
}

/// A span of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seconds(pub Duration);

/// In milliseconds.
const SPANS: [(&str, u64); 4] = [("ms", 1), ("h", 3_600_000), ("m", 60_000), ("s", 1000)];

/// A day. Clocks cannot count on without end, and nobody waits so long.
const LONGEST_SPAN: u64 = 24 * 3_600_000;

impl Seconds {
    /// So many seconds.
    pub const fn new(seconds: u64) -> Self {
        Self(Duration::from_secs(seconds))
    }
}

impl Setting for Seconds {
    const TAKES: &'static str = "a time such as `10s`, at most `24h`";

    fn read(raw: &Raw) -> Result<Self, String> {
        let milliseconds = match raw {
            Raw::Whole(number) => u64::try_from(*number).ok().and_then(|seconds| seconds.checked_mul(1000)),
            Raw::Text(text) => with_unit(text, &SPANS, 1000),
            _ => None,
        };
        let span = milliseconds.filter(|span| (1..=LONGEST_SPAN).contains(span)).map(Duration::from_millis);
        span.map(Self).ok_or_else(|| refuse::<Self>(raw))
    }

    fn write(&self) -> String {
        let milliseconds = self.0.as_millis();
        if milliseconds.is_multiple_of(1000) {
            format!("\"{}s\"", milliseconds / 1000)
        } else {
            format!("\"{milliseconds}ms\"")
        }
    }
}

/// A whole number with one of the units; `bare` is the unit of a number without one.
fn with_unit(text: &str, units: &[(&str, u64)], bare: u64) -> Option<u64> {
    let text = text.trim();
    let unit = units.iter().find_map(|(unit, size)| Some((text.strip_suffix(unit)?, *size)));
    let (number, size) = unit.unwrap_or((text, bare));
    number.trim().parse::<u64>().ok()?.checked_mul(size)
}

/// Web origins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origins(pub Vec<String>);

impl Setting for Origins {
    const TAKES: &'static str = "a list of web origins, or them with commas between";

    fn read(raw: &Raw) -> Result<Self, String> {
        let origins: Vec<String> = match raw {
            Raw::List(origins) => origins.clone(),
            Raw::Text(text) => text
                .split(',')
                .map(|origin| origin.trim().to_owned())
                .filter(|origin| !origin.is_empty())
                .collect(),
            _ => return Err(refuse::<Self>(raw)),
        };
        let is_origin = |origin: &&String| {
            let host = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
            *origin == "*" || host.is_some_and(|host| !host.is_empty() && !host.contains(['/', ' ']))
        };
        match origins.iter().find(|origin| !is_origin(origin)) {
            Some(other) => {
                Err(format!("expected an origin such as `https://app.example.com`, received `{other}`"))
            }
            None => Ok(Self(origins)),
        }
    }

    fn write(&self) -> String {
        format!("[{}]", self.0.iter().map(|origin| format!("\"{origin}\"")).collect::<Vec<_>>().join(", "))
    }
}

macro_rules! words {
    ($(#[$meta:meta])* $name:ident, $takes:literal: $($(#[$doc:meta])* $variant:ident = $word:literal,)*) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name { $($(#[$doc])* $variant,)* }

        impl Setting for $name {
            const TAKES: &'static str = $takes;

            fn read(raw: &Raw) -> Result<Self, String> {
                match raw {
                    $(Raw::Text(text) if text.trim() == $word => Ok(Self::$variant),)*
                    _ => Err(refuse::<Self>(raw)),
                }
            }

            fn write(&self) -> String {
                match self { $(Self::$variant => format!("\"{}\"", $word),)* }
            }
        }
    };
}

words! {
    /// How log lines are written.
    LogFormat, "`text` or `json`":
    /// For people.
    Text = "text",
    /// One JSON object a line.
    Json = "json",
}

words! {
    /// How much is logged.
    LogLevel, "`off`, `error`, `warn`, `info` or `debug`":
    /// Nothing.
    Off = "off",
    /// What went wrong in the server.
    Error = "error",
    /// And what may become a problem.
    Warn = "warn",
    /// And every request.
    Info = "info",
    /// And more about each.
    Debug = "debug",
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text<T: Setting>(text: &str) -> Result<T, String> {
        T::read(&Raw::Text(text.to_owned()))
    }

    #[test]
    fn values_are_written_as_they_are_read() {
        for size in ["16MiB", "1GiB", "1500B", "3KiB"] {
            assert_eq!(text::<Bytes>(size).unwrap().write(), format!("\"{size}\""));
        }
        for span in ["10s", "250ms"] {
            assert_eq!(text::<Seconds>(span).unwrap().write(), format!("\"{span}\""));
        }
        assert_eq!(text::<Seconds>("5m").unwrap(), Seconds::new(300));
        assert_eq!(Bytes::read(&Raw::Whole(2048)).unwrap(), Bytes(2048));
        assert_eq!(
            text::<Origins>("https://a.example, *").unwrap().write(),
            "[\"https://a.example\", \"*\"]"
        );
    }

    #[test]
    fn what_is_refused_says_what_was_expected() {
        assert_eq!(text::<usize>("0").unwrap_err(), "expected a whole number ≥ 1, received `0`");
        assert_eq!(usize::read(&Raw::Whole(-1)).unwrap_err(), "expected a whole number ≥ 1, received `-1`");
        assert!(
            text::<Bytes>("lots").is_err()
                && text::<Seconds>("0s").is_err()
                && text::<Bytes>("99999999999GiB").is_err()
        );
        assert!(text::<Seconds>("25h").is_err() && text::<Seconds>("24h").is_ok());
        assert!(text::<Origins>("app.example.com").unwrap_err().contains("`app.example.com`"));
        assert!(text::<LogFormat>("xml").is_err() && text::<SocketAddr>("7700").is_err());
    }
}
