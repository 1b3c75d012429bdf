//! The Python package ranx, in a child process that gets the lists once and then does what each further line says.

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use crate::lists::Raw;

/// The child and its two pipes.
pub(crate) struct Peer {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    pub(crate) version: String,
}

/// One query's fused list.
pub(crate) type Named = Vec<(String, f64)>;

impl Peer {
    /// Starts the peer on these queries; `None` when there is no interpreter or no ranx in it.
    pub(crate) fn start(queries: &[Raw], threads: usize) -> Option<Self> {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/fuse/ranx_peer.py");
        let mut child = Command::new(interpreter()?)
            .arg(script)
            .env("NUMBA_NUM_THREADS", threads.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .ok()?;
        let (input, output) = (child.stdin.take()?, BufReader::new(child.stdout.take()?));
        let mut peer = Self { child, input, output, version: String::new() };
        let lists = serde_json::to_string(queries).ok()?;
        peer.version = peer.ask(&lists)?.strip_prefix("ready ").map(str::to_owned)?;
        Some(peer)
    }

    /// The seconds that fusing all queries took; a child that stopped answering takes forever.
    pub(crate) fn turn(&mut self) -> f64 {
        self.ask("run").and_then(|line| line.parse().ok()).unwrap_or(f64::INFINITY)
    }

    /// The fused lists, by query.
    pub(crate) fn fused(&mut self) -> Option<Vec<Named>> {
        serde_json::from_str(&self.ask("show")?).ok()
    }

    fn ask(&mut self, line: &str) -> Option<String> {
        writeln!(self.input, "{line}").and_then(|()| self.input.flush()).ok()?;
        let mut answer = String::new();
        self.output.read_line(&mut answer).ok().filter(|&read| read > 0)?;
        Some(answer.trim().to_owned())
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        // It may have ended already, which is as good.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// `MAINSTEM_PEERS_PYTHON`, or the environment `.peers` at the repository root.
fn interpreter() -> Option<PathBuf> {
    let local = || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../.peers/bin/python"));
    Some(std::env::var_os("MAINSTEM_PEERS_PYTHON").map_or_else(local, PathBuf::from))
        .filter(|path| path.exists())
}
