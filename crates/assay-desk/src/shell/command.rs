//! Runs one command of the contract: no shell, no input, a limit on time and output, and everything
//! it started ends with it.

use rustix::process::{Pid, Signal, kill_process_group};
use std::io::Read;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// More output than this is not kept; the command goes on.
pub(super) const OUTPUT_BYTES_MAX: usize = 16 << 20;
/// Variables every command gets.
const ENVIRONMENT: [&str; 14] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "LANG",
    "LC_ALL",
    "TZ",
    "TMPDIR",
    "CARGO_HOME",
    "RUSTUP_HOME",
    "GOPATH",
    "GOCACHE",
    "PYENV_ROOT",
    "VIRTUAL_ENV",
];

/// What came of a command.
pub(super) struct Ran {
    /// The exit code; none if a signal or the time limit ended it.
    pub exit: Option<i32>,
    /// How long it took.
    pub ms: u64,
    /// Its output.
    pub stdout: Vec<u8>,
    /// What it said besides, and why it was ended.
    pub stderr: Vec<u8>,
}

/// Runs a program in a directory.
pub(super) fn run(argv: &[String], directory: &Path, extra: &[String], limit: Duration) -> Ran {
    let begun = Instant::now();
    let failed = |why: String| Ran {
        exit: None,
        ms: 0,
        stdout: Vec::new(),
        stderr: format!("not started: {why}\n").into_bytes(),
    };
    let Some((program, arguments)) = argv.split_first() else {
        return failed("no program is named".to_string());
    };
    let mut command = Command::new(program);
    command.args(arguments).current_dir(directory).env_clear().process_group(0);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    for name in ENVIRONMENT.iter().copied().chain(extra.iter().map(String::as_str)) {
        if let Some(value) = std::env::var_os(name) {
            command.env(name, value);
        }
    }
    // So that runs can be compared, and nothing is drawn for a terminal.
    command.env("CI", "1").env("NO_COLOR", "1").env("PYTHONDONTWRITEBYTECODE", "1");
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) => return failed(format!("{program}: {error}")),
    };
    let stdout = drain(child.stdout.take());
    let stderr = drain(child.stderr.take());
    let (exit, why) = wait(&mut child, begun, limit);
    // What it left running would hold the pipes open, and is over with the command.
    end_group(&child);
    let mut stderr = collect(stderr);
    stderr.extend(why.into_bytes());
    let ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
    Ran { exit, ms, stdout: collect(stdout), stderr }
}

fn wait(child: &mut Child, begun: Instant, limit: Duration) -> (Option<i32>, String) {
    let mut pause = Duration::from_micros(200);
    loop {
        match child.try_wait() {
            Ok(Some(status)) => {
                let signal = status.signal().map(|signal| format!("ended by signal {signal}\n"));
                return (status.code(), signal.unwrap_or_default());
            }
            Ok(None) if begun.elapsed() < limit => {
                std::thread::sleep(pause);
                pause = (pause * 2).min(Duration::from_millis(10));
            }
            Ok(None) => {
                end_group(child);
                _ = child.wait();
                return (None, format!("ended: it took longer than {} s\n", limit.as_secs()));
            }
            Err(error) => return (None, format!("cannot be waited for: {error}\n")),
        }
    }
}

fn end_group(child: &Child) {
    if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
        _ = kill_process_group(group, Signal::KILL);
    }
}

/// Reads everything and keeps the beginning.
fn drain(source: Option<impl Read + Send + 'static>) -> mpsc::Receiver<Vec<u8>> {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let mut kept = Vec::new();
        if let Some(mut source) = source {
            let mut buffer = vec![0u8; 64 << 10];
            while let Ok(read @ 1..) = source.read(&mut buffer) {
                let room = OUTPUT_BYTES_MAX.saturating_sub(kept.len());
                kept.extend_from_slice(&buffer[..read.min(room)]);
            }
        }
        _ = sender.send(kept);
    });
    receiver
}

/// A grandchild in a group of its own may hold a pipe open: that is not waited for.
fn collect(receiver: mpsc::Receiver<Vec<u8>>) -> Vec<u8> {
    receiver.recv_timeout(Duration::from_secs(5)).unwrap_or_default()
}
