//! The package `maxsim-cpu`, in a child process that runs once per line we send.

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

/// The child and its two pipes.
pub(crate) struct Peer {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    pub(crate) version: String,
}

impl Peer {
    /// Starts the peer on the given shape; `None` when there is no interpreter or no maxsim-cpu in it.
    pub(crate) fn start(shape: [usize; 4], threads: usize) -> Option<Self> {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/maxsim_peer.py");
        let mut child = Command::new(interpreter()?)
            .arg(script)
            .args(shape.map(|n| n.to_string()))
            .env("RAYON_NUM_THREADS", threads.to_string())
            .env("OMP_NUM_THREADS", threads.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .ok()?;
        let (input, output) = (child.stdin.take()?, BufReader::new(child.stdout.take()?));
        let mut peer = Self { child, input, output, version: String::new() };
        let version = peer.line()?.strip_prefix("ready ")?.to_owned();
        peer.version = version;
        Some(peer)
    }

    /// One run; a child that stopped answering takes forever.
    pub(crate) fn turn(&mut self) -> Duration {
        let asked = writeln!(self.input, "run").and_then(|()| self.input.flush());
        let answer = asked.ok().and_then(|()| self.line()).and_then(|line| line.parse().ok());
        answer.map_or(Duration::MAX, Duration::from_secs_f64)
    }

    fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        self.output.read_line(&mut line).ok().filter(|&read| read > 0)?;
        Some(line.trim().to_owned())
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
