//! One try, and what must come of it.

use std::sync::OnceLock;

use serde_json::{Value, json};

use crate::world::{TRACES, Who, World};

/// One try.
pub(crate) struct Try {
    pub(crate) name: &'static str,
    pub(crate) who: Who,
    pub(crate) expected: u16,
    pub(crate) request: Vec<u8>,
}

/// All tries of this program use the same servers; those that write have their own.
pub(crate) fn shared() -> &'static World {
    static WORLD: OnceLock<World> = OnceLock::new();
    WORLD.get_or_init(World::new)
}

/// A request with more headers, which end in `\r\n` each, and a body.
pub(crate) fn request(line: &str, headers: &str, body: &[u8]) -> Vec<u8> {
    let length = if body.is_empty() { String::new() } else { format!("content-length: {}\r\n", body.len()) };
    let head = format!(
        "{line} HTTP/1.1\r\nhost: x\r\nx-request-id: t\r\nconnection: close\r\n{headers}{length}\r\n"
    );
    [head.as_bytes(), body].concat()
}

/// A try with a request line and nothing else.
pub(crate) fn plain(name: &'static str, who: Who, expected: u16, line: &str) -> Try {
    Try { name, who, expected, request: request(line, "KEY", b"") }
}

/// A try with a body of JSON.
pub(crate) fn post(name: &'static str, who: Who, expected: u16, path: &str, body: &[u8]) -> Try {
    let headers = "KEYcontent-type: application/json\r\n";
    Try { name, who, expected, request: request(&format!("POST {path}"), headers, body) }
}

/// A search that waits for all of its legs, at a fixed time.
pub(crate) fn search(name: &'static str, who: Who, expected: u16, mut ask: Value) -> Try {
    let usual = json!({"query": "rollback salaries", "k": 50, "now": "2026-02-01",
                       "deadline": {"soft_ms": 20000, "hard_ms": 20000}});
    for (field, value) in usual.as_object().unwrap() {
        ask.as_object_mut().unwrap().entry(field).or_insert(value.clone());
    }
    post(name, who, expected, "/v1/search", ask.to_string().as_bytes())
}

/// A question whose context is packed, at a fixed time.
pub(crate) fn ask(name: &'static str, who: Who, expected: u16, more: &Value) -> Try {
    let mut ask = json!({"query": "rollback salaries", "k": 30, "now": "2026-02-01", "stream": false,
                         "deadline": {"soft_ms": 20000, "hard_ms": 20000}});
    ask.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    post(name, who, expected, "/v1/ask", ask.to_string().as_bytes())
}

/// A tool of agents.
pub(crate) fn tool(name: &'static str, who: Who, expected: u16, tool: &str, arguments: &Value) -> Try {
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
                      "params": {"name": tool, "arguments": arguments}});
    let headers = "KEYcontent-type: application/json\r\naccept: application/json, text/event-stream\r\n";
    let made = request("POST /mcp", headers, call.to_string().as_bytes());
    // The tools answer only to a name of this machine.
    let made = String::from_utf8(made).unwrap().replacen("host: x", "host: localhost", 1);
    Try { name, who, expected, request: made.into_bytes() }
}

/// Documents as lines.
pub(crate) fn put(name: &'static str, who: Who, expected: u16, path: &str, lines: &str) -> Try {
    let headers = "KEYcontent-type: application/x-ndjson\r\n";
    Try { name, who, expected, request: request(&format!("PUT {path}"), headers, lines.as_bytes()) }
}

/// A try whose headers are its own.
pub(crate) fn with(name: &'static str, who: Who, expected: u16, line: &str, headers: &str) -> Try {
    Try { name, who, expected, request: request(line, headers, b"") }
}

impl Try {
    /// The bytes, with the key of the caller where `KEY` stands.
    fn bytes(&self, world: &World) -> Vec<u8> {
        let key = world
            .secrets
            .of(self.who)
            .map_or(String::new(), |key| format!("authorization: Bearer {key}\r\n"));
        let end = self
            .request
            .windows(4)
            .position(|four| four == b"\r\n\r\n")
            .map_or(self.request.len(), |at| at + 4);
        let (head, body) = self.request.split_at(end);
        let at = head.windows(3).position(|three| three == b"KEY");
        match at {
            Some(at) => [&head[..at], key.as_bytes(), &head[at + 3..], body].concat(),
            None => self.request.clone(),
        }
    }

    /// Makes the try in both worlds. They must answer the same, with the status that is expected, and without a word of what is hidden that
    /// was not in the question.
    fn made(&self, world: &World) -> Result<String, String> {
        let bytes = self.bytes(world);
        let [full, other] = world.twins(self.who).map(|server| timeless(&server.raw(&bytes)));
        if !full.starts_with("HTTP/1.") || full.get(9..12) != Some(&self.expected.to_string()) {
            return Err(format!("expected {}, received {full}", self.expected));
        }
        if full != other {
            return Err(format!("it shows that something is hidden\n{full}\n{other}"));
        }
        let asked = String::from_utf8_lossy(&self.request).to_lowercase().replace("%61", "a");
        // What a reader may not read is no secret to the other keys for the same source.
        let hidden = |trace: &&&str| [Who::Ann, Who::Nobody].contains(&self.who) || !trace.starts_with("bob");
        let seen = full.to_lowercase();
        let told =
            |trace: &&&str| seen.contains(&trace.to_lowercase()) && !asked.contains(&trace.to_lowercase());
        match TRACES.iter().filter(hidden).find(told) {
            Some(trace) => Err(format!("`{trace}` is in {full}")),
            None => Ok(full),
        }
    }

    /// Makes the try, and gives the answer.
    #[track_caller]
    pub(crate) fn check(&self, world: &World) -> String {
        self.made(world).unwrap_or_else(|why| panic!("{}: {why}", self.name))
    }
}

/// Makes all tries, and names all that succeed in what they try.
#[track_caller]
pub(crate) fn check_all(world: &World, tries: &[Try]) {
    let failed = |one: &Try| one.made(world).err().map(|why| format!("{}: {why}", one.name));
    let failed: Vec<String> = tries.iter().filter_map(failed).collect();
    assert!(failed.is_empty(), "{} of {} tries\n{}", failed.len(), tries.len(), failed.join("\n\n"));
}

/// What the clock says, and names that are drawn by chance: those of runs.
const CLOCK: [&str; 6] = [
    "\"at\":\"",
    "\"written_at\":\"",
    "\"started_at\":\"",
    "\"made_at\":\"",
    "\"id\":\"run-",
    "\"run\":\"run-",
];

/// Without the times at which servers answered, were written to and looked for links.
fn timeless(answer: &str) -> String {
    // How long something took is written in as many digits as it has.
    let timed = answer.contains("\"elapsed_s\":");
    let is_timed = |line: &str| line.starts_with("date: ") || timed && line.starts_with("content-length: ");
    let kept = answer.split_inclusive('\n').filter(|line| !is_timed(line)).collect::<String>();
    let mut parts = kept.split("\"elapsed_s\":");
    let first = parts.next().unwrap_or_default().to_owned();
    let kept = parts.fold(first, |out, part| out + &part[part.find(['}', ',']).unwrap_or(0)..]);
    CLOCK.iter().fold(kept, |text, name| {
        let mut parts = text.split(name);
        let first = parts.next().unwrap_or_default().to_owned();
        let named = name.trim_end_matches("run-");
        parts.fold(first, |out, part| out + named + &part[part.find('"').unwrap_or(0)..])
    })
}
