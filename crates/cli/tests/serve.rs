//! `mainstem serve` as a process: signals, sudden death, and the examples of the documentation.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod command;
mod letters;

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use command::Folder;
use letters::Service;

/// A server in a folder.
struct Served {
    child: Child,
    address: String,
}

impl Served {
    fn start(folder: &Folder) -> Self {
        let mut command = folder.command("--store s serve --address 127.0.0.1:0 --log-level error");
        // The model takes time, and is no part of what is tested here.
        command.env("MAINSTEM_MODELS", folder.0.join("no-models"));
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address =
            line.trim().strip_prefix("listening on http://").unwrap_or_else(|| panic!("{line}")).to_owned();
        Self { child, address }
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        stream
    }

    /// A whole answer, head and body.
    fn ask(&self, request: &str) -> String {
        let mut stream = self.connect();
        let request = request.replacen("\r\n", "\r\nhost: x\r\nconnection: close\r\n", 1);
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    fn has(&self, id: &str) -> bool {
        self.ask(&format!("GET /v1/documents/s/{id} HTTP/1.1\r\n\r\n")).starts_with("HTTP/1.1 200")
    }

    fn signal(&self, name: &str) {
        let sent = Command::new("kill").args([name, &self.child.id().to_string()]).status().unwrap();
        assert!(sent.success());
    }

    fn exit_code(mut self) -> Option<i32> {
        self.child.wait().unwrap().code()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A bulk ingest whose lines are sent one part at a time.
struct Upload {
    stream: TcpStream,
    answers: BufReader<TcpStream>,
}

impl Upload {
    fn start(server: &Served) -> Self {
        let mut stream = server.connect();
        let head = "PUT /v1/sources/s/documents HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\
                    content-type: application/x-ndjson\r\nconnection: close\r\n\r\n";
        stream.write_all(head.as_bytes()).unwrap();
        let answers = BufReader::new(stream.try_clone().unwrap());
        Self { stream, answers }
    }

    fn send(&mut self, ids: impl Iterator<Item = String>) -> std::io::Result<()> {
        self.stream.write_all(chunk(ids).as_bytes())
    }

    fn end(&mut self) {
        self.stream.write_all(b"0\r\n\r\n").unwrap();
    }

    /// The id of the next line that was acknowledged; nothing at the end.
    fn acknowledged(&mut self) -> Option<String> {
        loop {
            let mut line = String::new();
            if self.answers.read_line(&mut line).ok()? == 0 {
                return None;
            }
            if let Some((_, rest)) = line.split_once("\"id\":\"").filter(|_| line.contains("\"stored\"}")) {
                return rest.split('"').next().map(str::to_owned);
            }
        }
    }
}

/// Documents as one part of a body.
fn chunk(ids: impl Iterator<Item = String>) -> String {
    let lines: Vec<String> =
        ids.map(|id| format!("{{\"id\":\"{id}\",\"text\":\"document {id}\"}}\n")).collect();
    let lines = lines.concat();
    format!("{:x}\r\n{lines}\r\n", lines.len())
}

#[test]
fn sigterm_finishes_what_has_begun_and_exits_with_0() {
    let folder = Folder::new("serve-sigterm");
    let server = Served::start(&folder);
    let mut upload = Upload::start(&server);
    upload.send((0..3).map(|at| format!("early{at}"))).unwrap();
    assert_eq!(upload.acknowledged().as_deref(), Some("early0"));
    server.signal("-TERM");
    // From the signal on nobody is let in; when that is, is up to the system.
    while let Ok(mut stream) = TcpStream::connect(&server.address) {
        let _ = stream.write_all(b"GET /v1/sources HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
        std::thread::sleep(Duration::from_millis(10));
    }
    upload.send((0..3).map(|at| format!("late{at}"))).unwrap();
    upload.end();
    let rest: Vec<String> = std::iter::from_fn(|| upload.acknowledged()).collect();
    assert_eq!(rest, ["early1", "early2", "late0", "late1", "late2"]);
    assert_eq!(server.exit_code(), Some(0));
    let again = Served::start(&folder);
    assert!(again.has("early0") && again.has("late2"));
    again.signal("-INT");
    assert_eq!(again.exit_code(), Some(0));
    let doctor = folder.stdout("--store s doctor");
    assert!(doctor.starts_with("all is well: 6 documents"), "{doctor}");
}

#[test]
fn what_was_acknowledged_survives_sudden_death() {
    let folder = Folder::new("serve-kill");
    let mut promised = BTreeSet::new();
    for round in 0..4 {
        let mut server = Served::start(&folder);
        let mut upload = Upload::start(&server);
        let mut sender = upload.stream.try_clone().unwrap();
        // The server dies while lines are still being sent.
        let sending = std::thread::spawn(move || {
            for part in 0..400 {
                let chunk = chunk((0..20).map(|at| format!("{round}-{part}-{at}")));
                if sender.write_all(chunk.as_bytes()).is_err() {
                    break;
                }
            }
        });
        let mut acknowledged = 0;
        while acknowledged < 100 + 50 * round {
            promised.insert(upload.acknowledged().unwrap());
            acknowledged += 1;
        }
        server.child.kill().unwrap();
        promised.extend(std::iter::from_fn(|| upload.acknowledged()));
        server.child.wait().unwrap();
        sending.join().unwrap();
    }
    let server = Served::start(&folder);
    let lost: Vec<&String> = promised.iter().filter(|id| !server.has(id)).collect();
    assert!(lost.is_empty(), "{} of {} are lost: {lost:?}", lost.len(), promised.len());
    assert!(promised.len() >= 700);
    let found = server.ask(
        "POST /v1/search HTTP/1.1\r\ncontent-type: application/json\r\ncontent-length: 23\r\n\r\n{\"query\": \"document\"  }",
    );
    assert!(found.contains("\"hits\":[{"), "{found}");
}

#[test]
fn texts_without_vectors_are_embedded_by_the_model_of_the_store() {
    let (folder, service) = (Folder::new("serve-embed"), Service::start());
    let models = |arguments: &str| {
        let mut command = folder.command(arguments);
        let output = command.env("MAINSTEM_MODELS", folder.0.join("no-models")).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{arguments}: {}", command::stderr(&output));
    };
    folder.file("first.jsonl", "{\"id\":\"first\",\"text\":\"cccc\"}\n");
    models(&format!("model add letters --url {}", service.url));
    models("--store s ingest first.jsonl --source s --model letters");
    service.asked();
    let server = Served::start(&folder);
    let put = |lines: &str| {
        let head = format!(
            "PUT /v1/sources/s/documents HTTP/1.1\r\ncontent-type: application/x-ndjson\r\ncontent-length: {}\r\n\r\n",
            lines.len()
        );
        server.ask(&(head + lines))
    };
    let two = "{\"id\":\"1\",\"text\":\"aaaa\"}\n{\"id\":\"2\",\"text\":\"bbbb\"}\n";
    assert!(put(two).contains("\"added\":2"));
    assert_eq!(service.asked(), ["aaaa", "bbbb"]);
    assert!(put(two).contains("\"unchanged\":2"));
    assert_eq!(service.asked(), Vec::<String>::new(), "what is there needs no model");
    assert!(server.ask("GET /v1/sources HTTP/1.1\r\n\r\n").contains("\"vectors\":3"));
    let body = r#"{"query":"bab","k":1,"channels":["dense"],"deadline":{"soft_ms":20000,"hard_ms":20000}}"#;
    let length = body.len();
    let head = format!(
        "POST /v1/search HTTP/1.1\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n"
    );
    let found = server.ask(&(head + body));
    assert!(found.contains("{\"hits\":[{\"id\":\"s/2#0\""), "{found}");
    let related = server.ask("GET /v1/documents/s/2/related HTTP/1.1\r\n\r\n");
    assert!(related.contains("\"channel\":\"dense\""), "{related}");
}

#[test]
fn a_second_server_is_told_why_it_cannot_start() {
    let folder = Folder::new("serve-twice");
    let server = Served::start(&folder);
    let second = folder.run("--store s serve --address 127.0.0.1:0");
    assert_eq!(second.status.code(), Some(2));
    assert!(command::stderr(&second).contains("error[E0304]"), "{}", command::stderr(&second));
    let taken = folder.run(&format!("--store other serve --address {}", server.address));
    assert_eq!(taken.status.code(), Some(2));
    assert!(command::stderr(&taken).contains("another program listens there"), "{}", command::stderr(&taken));
    let open = folder.run("--store other serve --address 0.0.0.0:0");
    assert_eq!(open.status.code(), Some(2));
    assert!(command::stderr(&open).contains("without access keys"), "{}", command::stderr(&open));
}

#[test]
fn settings_of_a_source_count_from_when_it_is_there() {
    let folder = Folder::new("serve-absent");
    folder.file("mainstem.toml", "[weights]\nchat = 0\n");
    let mut command = folder.command("--store s serve --address 127.0.0.1:0 --log-level error");
    command.env("MAINSTEM_MODELS", folder.0.join("no-models"));
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let mut log = child.stderr.take().unwrap();
    let address =
        line.trim().strip_prefix("listening on http://").unwrap_or_else(|| panic!("{line}")).to_owned();
    let server = Served { child, address };
    let send = |method: &str, path: &str, body: &str| {
        let head = format!("content-type: application/json\r\ncontent-length: {}", body.len());
        server.ask(&format!("{method} {path} HTTP/1.1\r\n{head}\r\n\r\n{body}"))
    };
    for source in ["chat", "wiki"] {
        let stored =
            send("PUT", &format!("/v1/sources/{source}/documents"), "{\"id\":\"a\",\"text\":\"rollback\"}");
        assert!(stored.contains("\"stored\":1"), "{stored}");
    }
    let found = send("POST", "/v1/search", "{\"query\": \"rollback\"}");
    assert!(
        found.contains("wiki/a#0") && !found.contains("chat/a#0"),
        "the weight 0 leaves `chat` out: {found}"
    );
    server.signal("-TERM");
    let mut told = String::new();
    log.read_to_string(&mut told).unwrap();
    assert_eq!(told, "warning: `mainstem.toml` names the source `chat`, which the store does not have yet\n");
    assert_eq!(server.exit_code(), Some(0));
}

#[test]
fn logs_tell_of_requests_and_not_of_what_was_asked() {
    let folder = Folder::new("serve-logs");
    let mut command = folder.command("--store s serve --address 127.0.0.1:0 --log-format json");
    command.env("MAINSTEM_MODELS", folder.0.join("no-models"));
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let mut log = child.stderr.take().unwrap();
    let address = line.trim().strip_prefix("listening on http://").unwrap().to_owned();
    let server = Served { child, address };
    let body = "{\"query\": \"salaries of the board\"}";
    let length = body.len();
    let head = format!(
        "POST /v1/search HTTP/1.1\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n"
    );
    assert!(server.ask(&(head + body)).starts_with("HTTP/1.1 200"));
    server.ask("GET /v1/documents/secret/plan HTTP/1.1\r\n\r\n");
    server.signal("-TERM");
    let mut lines = String::new();
    log.read_to_string(&mut lines).unwrap();
    assert_eq!(server.exit_code(), Some(0));
    let request = lines.lines().find(|line| line.contains("/v1/search")).unwrap();
    let request: serde_json::Value = serde_json::from_str(request).unwrap();
    assert_eq!((&request["status"], &request["method"]), (&200.into(), &"POST".into()));
    assert!(request["request_id"].is_string() && request["ms"].is_number());
    assert!(!lines.contains("salaries") && !lines.contains("secret"), "{lines}");
}

/// The console blocks of a page: each command with the output shown below it.
fn examples(page: &str) -> Vec<(String, String)> {
    let blocks = page.split("```console\n").skip(1).map(|block| block.split("```").next().unwrap());
    let mut examples: Vec<(String, String)> = Vec::new();
    for line in blocks.flat_map(str::lines) {
        match (line.strip_prefix("$ "), examples.last_mut()) {
            (Some(command), _) => examples.push((command.to_owned(), String::new())),
            (None, Some((command, _))) if command.ends_with('\\') => command.extend(["\n", line]),
            (None, last) => last.unwrap().1.extend([line, "\n"]),
        }
    }
    examples
}

/// Whether an output is what is shown, where `…` stands for anything.
fn shows(shown: &str, output: &str) -> bool {
    let parts: Vec<&str> = shown.trim_end().split('…').collect();
    let (Some((first, middle)), output) = (parts.split_first(), output.trim_end()) else { return false };
    let (Some(mut rest), Some((last, middle))) = (output.strip_prefix(first), middle.split_last()) else {
        return shown.trim_end() == output;
    };
    for part in middle {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

#[test]
fn what_is_left_out_is_marked() {
    assert!(shows("a…c…e\n", "abcde\n") && shows("a", "a\n") && shows("a…", "abc") && shows("{…}", "{a}b}"));
    assert!(!shows("a…d", "abc") && !shows("a", "ab") && !shows("b…", "abc") && !shows("a…x…c", "abc"));
}

#[test]
fn the_demo_shows_its_page_even_without_a_browser() {
    let folder = Folder::new("serve-demo");
    let mut command = folder.command("demo --open");
    // No program is found on this path, a browser neither.
    command.env("PATH", folder.0.join("nothing")).env("MAINSTEM_MODELS", folder.0.join("no-models"));
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let (address, rest) = line.trim().strip_prefix("http://").and_then(|url| url.split_once('/')).unwrap();
    assert_eq!(rest, "?now=2026-01-31");
    let server = Served { child, address: address.to_owned() };
    assert!(server.ask("GET / HTTP/1.1\r\n\r\n").contains("<title>Mainstem</title>"));
    let reports = server.ask("GET /v1/reports HTTP/1.1\r\n\r\n");
    assert!(
        reports.contains("\"examples\"") && reports.contains("why did we stop using Quickbill"),
        "{reports}"
    );
    // The judged questions are searched by meaning although no model is here, others by words alone.
    let search = |query: &str| {
        let body = format!("{{\"query\":\"{query}\",\"k\":1}}");
        let head = "content-type: application/json\r\ncontent-length:";
        server.ask(&format!("POST /v1/search HTTP/1.1\r\n{head} {}\r\n\r\n{body}", body.len()))
    };
    let known = search("why did we stop using Quickbill");
    assert!(known.contains("e1020-quickbill") && known.contains("slack/dense"), "{known}");
    assert!(!search("Quickbill").contains("slack/dense"));
    server.signal("-TERM");
    assert_eq!(server.exit_code(), Some(0));
}

/// The pages whose examples run here.
const PAGES: [&str; 2] = ["http.md", "access.md"];

#[test]
fn every_example_of_the_documentation_works() {
    if Command::new("curl").arg("--version").output().is_err() {
        println!("SKIPPED: curl is not installed");
        return;
    }
    for page in PAGES {
        check_examples(page);
    }
    let folder = Folder::new("serve-help");
    let server = Served::start(&folder);
    let help = folder.stdout("serve --help");
    let example = help.lines().find(|line| line.trim_start().starts_with("curl ")).unwrap();
    let script = example.replace("127.0.0.1:7700", &server.address);
    let output = Command::new("sh").args(["-c", &script]).output().unwrap();
    assert!(
        command::stdout(&output).starts_with("{\"hits\":[]"),
        "`{example}`: {}",
        command::stdout(&output)
    );
}

#[test]
fn no_page_has_examples_that_nothing_runs() {
    let docs = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let mut asking = Vec::new();
    for file in std::fs::read_dir(&docs).unwrap().flatten() {
        let name = file.file_name().into_string().unwrap();
        if file.path().extension().is_none_or(|ending| ending != "md") {
            continue;
        }
        let text = std::fs::read_to_string(file.path()).unwrap();
        let calls = |text: &str| text.matches("curl -").count();
        if calls(&text) > 0 {
            let run: usize = examples(&text).iter().map(|(command, _)| calls(command)).sum();
            assert_eq!(calls(&text), run, "`{name}` has a call that is no example");
            asking.push(name);
        }
    }
    asking.sort_unstable();
    // The one example of `mcp.md` runs with the tests of agents.
    assert_eq!(asking, ["access.md", "http.md", "mcp.md"]);
}

fn check_examples(page: &str) {
    let docs = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let text = std::fs::read_to_string(docs.join(page)).unwrap();
    let folder = Folder::new(&format!("serve-docs-{page}"));
    let server = Served::start(&folder);
    let examples = examples(&text);
    assert!(examples.len() >= 10, "the page has lost its examples");
    let here = std::path::Path::new(env!("CARGO_BIN_EXE_mainstem")).parent().unwrap().to_owned();
    let others = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths(std::iter::once(here).chain(std::env::split_paths(&others))).unwrap();
    for (command, shown) in examples {
        let script = command
            .replace("127.0.0.1:7700", &server.address)
            .replace("mainstem key", "mainstem --store s key");
        let mut shell = Command::new("sh");
        let output = shell.args(["-c", &script]).env("PATH", &path).current_dir(&folder.0).output().unwrap();
        assert!(output.status.success(), "`{command}`: {}", command::stderr(&output));
        let printed = command::stdout(&output);
        assert!(shows(&shown, &printed), "`{command}` prints\n{printed}\nand not\n{shown}");
    }
}
