//! Asking a node by HTTP, and asking by a command, both with a bound on time and size.

use crate::processes::kill_group;
use assay_drivers::http::Connection;
use assay_nemesis::{DialPorts, Process};
use serde_json::Value;
use std::ffi::OsString;
use std::io::Read;
use std::net::SocketAddr;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// How long a node or a command may take to answer.
pub(crate) const PROBE_TIME_MAX: Duration = Duration::from_secs(5);
/// How often to look whether a command has ended.
const COMMAND_STEP: Duration = Duration::from_millis(5);
/// Bytes of a command's output.
const OUTPUT_BYTES_MAX: u64 = 1 << 20;

/// Gets JSON from a node.
pub(crate) fn get_json(
    address: SocketAddr,
    path: &str,
    ports: &DialPorts,
    time_max: Duration,
) -> Result<Value, String> {
    let deadline = Instant::now() + time_max;
    let mut connection = Connection::of_probe(address, ports.clone());
    let answer = connection.request("GET", path, b"", deadline).map_err(|e| e.to_string())?;
    if answer.status != 200 {
        return Err(format!("{path} answered {}", answer.status));
    }
    serde_json::from_slice(&answer.body).map_err(|error| format!("{path}: no JSON: {error}"))
}

/// Runs a command: how it ended, and what it printed to standard output.
pub(crate) fn run_command(
    arguments: &[String],
    environment: &[(&'static str, OsString)],
    time_max: Duration,
) -> Result<(ExitStatus, String), String> {
    let (program, rest) = arguments.split_first().ok_or("an empty command")?;
    let mut child = Command::new(program)
        .args(rest)
        .envs(environment.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()
        .map_err(|error| format!("cannot run {program}: {error}"))?;
    let process = Process::of(child.id()).map_err(|error| error.to_string())?;
    let stdout = child.stdout.take().ok_or("no standard output")?;
    let (send, receive) = mpsc::channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let read = stdout.take(OUTPUT_BYTES_MAX).read_to_end(&mut bytes);
        // Nobody waits any more if the command took too long.
        let _too_late = send.send(read.map(|_| String::from_utf8_lossy(&bytes).into_owned()));
    });
    let until = Instant::now() + time_max;
    let status = loop {
        match child.try_wait().map_err(|error| error.to_string())? {
            Some(status) => break Some(status),
            None if Instant::now() > until => break None,
            None => std::thread::sleep(COMMAND_STEP),
        }
    };
    let Some(status) = status else {
        kill_group(&process).map_err(|error| error.to_string())?;
        child.wait().map_err(|error| error.to_string())?;
        return Err(format!("{program} did not end within {time_max:?}"));
    };
    // Something it left behind may hold its output open, so this wait has a bound as well.
    let output = receive.recv_timeout(time_max);
    let output = output.map_err(|_| format!("the output of {program} does not end"))?;
    Ok((status, output.map_err(|error| error.to_string())?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_give_their_output_or_are_ended() {
        let run = |script: &str, ms: u64| {
            let arguments = ["sh".to_string(), "-c".to_string(), script.to_string()];
            run_command(&arguments, &[], Duration::from_millis(ms))
        };
        let (status, output) = run("echo 12; exit 3", 60_000).expect("it ends");
        assert_eq!((status.code(), output.as_str()), (Some(3), "12\n"));
        assert!(run("exec sleep 600", 50).expect_err("it does not").contains("did not end"));
        assert!(run_command(&["/no/such".to_string()], &[], PROBE_TIME_MAX).is_err());
        assert!(run_command(&[], &[], PROBE_TIME_MAX).is_err());
    }
}
