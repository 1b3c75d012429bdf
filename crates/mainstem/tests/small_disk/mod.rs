//! A small disk: a real file system of a few megabytes, seen by one process and gone with it.
#![allow(dead_code, reason = "each test program uses a part of this")]

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Where the small disk is, for the process that runs on it.
const DISK: &str = "MAINSTEM_TEST_DISK";

/// Two ways to a name space in which a file system can be mounted: that of the root user, and that of anybody where the system lets them.
const WAYS: [&[&str]; 2] = [&["unshare", "-m"], &["unshare", "-r", "-m"]];

/// Mounts the first argument with the size of the second, and runs the rest.
const MOUNT: &str = "mount -t tmpfs -o size=\"$2\" mainstem \"$1\" && shift 2 && exec \"$@\"";

/// The folder of the disk, in the process that runs on it.
pub(crate) fn here() -> Option<PathBuf> {
    std::env::var_os(DISK).map(PathBuf::from)
}

/// Runs a test of this test program on a disk of so many bytes, and fails if it fails. Where no disk can be had, says why.
pub(crate) fn run(test: &str, bytes: u64) {
    let mount = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{test}-{}", std::process::id()));
    fs::create_dir_all(&mount).unwrap();
    let program = std::env::current_exe().unwrap();
    match WAYS.iter().find(|way| in_space(way, &mount, bytes, Path::new("true")).is_ok()) {
        Some(way) => {
            let mut command = command(way, &mount, bytes, &program);
            command.args([test, "--exact", "--nocapture", "--test-threads=1"]).env(DISK, &mount);
            let output = command.output().unwrap();
            let [said, complaint] =
                [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes));
            assert!(output.status.success() && said.contains("1 passed"), "{said}\n{complaint}");
            print!("{said}");
        }
        None => say_why(&mount, bytes),
    }
    let _ = fs::remove_dir_all(&mount);
}

fn command(way: &[&str], mount: &Path, bytes: u64, program: &Path) -> Command {
    let mut command = Command::new(way[0]);
    command.args(&way[1..]).args(["sh", "-c", MOUNT, "sh"]).arg(mount).arg(bytes.to_string()).arg(program);
    command
}

fn in_space(way: &[&str], mount: &Path, bytes: u64, program: &Path) -> Result<(), String> {
    let said = |output: Output| {
        let complaint = || String::from_utf8_lossy(&output.stderr).trim().to_owned();
        output.status.success().then_some(()).ok_or_else(complaint)
    };
    command(way, mount, bytes, program).output().map_err(|error| error.to_string()).and_then(said)
}

/// Says past the capture of the test program why no small disk can be had.
fn say_why(mount: &Path, bytes: u64) {
    for way in WAYS {
        let why = in_space(way, mount, bytes, Path::new("true")).err().unwrap_or_default();
        let _ = writeln!(std::io::stderr(), "skipped: a full disk, because `{}` fails: {why}", way.join(" "));
    }
}

/// Takes up room on the disk until it is dropped.
pub(crate) struct Ballast(PathBuf);

impl Ballast {
    pub(crate) fn new(disk: &Path, bytes: u64) -> Self {
        let path = disk.join("ballast");
        fs::write(&path, vec![b'x'; bytes as usize]).unwrap();
        Self(path)
    }

    /// Takes up everything but so many bytes.
    pub(crate) fn all_but(disk: &Path, left: u64) -> Self {
        let path = disk.join("ballast");
        let mut file = fs::File::create(&path).unwrap();
        while file.write_all(&[b'x'; 4096]).is_ok() {}
        let length = file.metadata().unwrap().len();
        file.set_len(length.saturating_sub(left)).unwrap();
        Self(path)
    }
}

impl Drop for Ballast {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}
