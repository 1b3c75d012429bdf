//! All options of the server.
//!
//! house: data table

use std::net::SocketAddr;

use super::Described;
use super::setting::{Bytes, LogFormat, LogLevel, Origins, Raw, Seconds, Setting};

macro_rules! options {
    ($($name:ident: $type:ty = $default:expr, $meaning:literal;)*) => {
        /// How the server runs.
        #[derive(Clone, Debug, PartialEq)]
        pub struct ServerConfig { $(#[doc = $meaning] pub $name: $type,)* }

        /// Every option, in the order of the reference page.
        pub const OPTIONS: &[Described] = &[
            $(Described { name: stringify!($name), takes: <$type as Setting>::TAKES, meaning: $meaning },)*
        ];

        impl Default for ServerConfig {
            fn default() -> Self {
                Self { $($name: $default,)* }
            }
        }

        impl ServerConfig {
            /// Sets an option by its name.
            ///
            /// # Errors
            /// What was expected and received, when the value is not one that the option takes, or no option has this name.
            pub fn set(&mut self, name: &str, value: &Raw) -> Result<(), String> {
                match name {
                    $(stringify!($name) => self.$name = Setting::read(value)?,)*
                    other => return Err(format!("unknown option `{other}`")),
                }
                Ok(())
            }

            /// The value of an option as it is written in the file; nothing when no option has this name.
            pub fn show(&self, name: &str) -> Option<String> {
                match name {
                    $(stringify!($name) => Some(self.$name.write()),)*
                    _ => None,
                }
            }
        }
    };
}

options! {
    address: SocketAddr = SocketAddr::from(([127, 0, 0, 1], 7700)),
        "Address and port to listen on; port 0 takes a free one. Without access keys only an address of this machine is allowed";
    open_on_loopback: bool = false,
        "Where only this machine reaches the server, callers without a key may do everything even if there are keys";
    embed: bool = true,
        "Embed queries and documents with the model of the store; without, what brings no vector is found by words alone";
    searches: usize = 32,
        "Searches at the same time; one more is refused with 503 at once";
    writes: usize = 4,
        "Requests that write at the same time; one more is refused with 503 at once";
    connections: usize = 1024,
        "Open connections; one more is refused with 503 at once";
    body_limit: Bytes = Bytes(16 << 20),
        "Longest body of a request after decompression, apart from bulk ingest";
    bulk_limit: Bytes = Bytes(4 << 30),
        "Longest body of a bulk ingest after decompression";
    line_limit: Bytes = Bytes(8 << 20),
        "Longest line of a bulk ingest";
    query_length: usize = 4096,
        "Longest query or variant, in characters";
    most_variants: usize = 16,
        "Most variants of a query";
    most_hits: usize = 1000,
        "Most hits of one page (`k`)";
    deepest_hit: usize = 10_000,
        "Deepest hit that paging reaches (`offset` + `k`)";
    json_depth: usize = 64,
        "Deepest nesting of JSON";
    header_timeout: Seconds = Seconds::new(10),
        "How long a client may take to send the head of a request";
    body_timeout: Seconds = Seconds::new(30),
        "How long a client may take to send a body; in bulk ingest, how long between two parts of it";
    write_timeout: Seconds = Seconds::new(30),
        "How long a client may let an answer wait without reading any of it";
    request_timeout: Seconds = Seconds::new(30),
        "How long an answer may take";
    shutdown_grace: Seconds = Seconds::new(30),
        "How long running requests may take to finish after SIGTERM or SIGINT";
    cors_origins: Origins = Origins(Vec::new()),
        "Web origins whose pages may call the server, such as `https://app.example.com`; `*` is all";
    compression: bool = true,
        "Compress answers with gzip for clients that take it";
    log_format: LogFormat = LogFormat::Text,
        "How log lines are written";
    log_level: LogLevel = LogLevel::Info,
        "How much is logged";
    log_queries: bool = false,
        "Log the text of queries; documents are never logged";
}
