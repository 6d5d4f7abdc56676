//! The process of an adapter: started in a group of its own, written to and read from by threads,
//! killed with everything it started.
//!
//! Neither writing nor reading may ever block a call: an adapter that does not read fills its pipe,
//! one that does not write leaves its reader waiting. So both are done by threads, and a call only
//! waits for what comes out of a channel, as long as it wants.

use super::among::{ClientProcesses, Listed};
use super::protocol::Answer;
use crate::json_lines::{LineBuffer, READ_BYTES_MAX};
use assay_nemesis::{Process, ProcessState};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use std::io::{self, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::time::{Duration, Instant};

/// Lines that may wait to be read by an adapter. Calls stop long before.
const WAITING_LINES_MAX: usize = 1024;
/// Answers that may wait to be looked at; beyond it the adapter has to wait.
const WAITING_ANSWERS_MAX: usize = 64;
/// How long an adapter that closed its output may take to end by itself, so that its exit status
/// can be told.
const FAREWELL_TIME_MAX: Duration = Duration::from_millis(200);
/// How long a killed process may take to be gone.
const KILL_TIME_MAX: Duration = Duration::from_secs(5);
/// How often to look.
pub(crate) const LOOK_STEP: Duration = Duration::from_millis(1);

/// What came from an adapter.
#[derive(Debug)]
pub(crate) enum Heard {
    Answer(Answer),
    /// A line that is no answer: its number from 1, and what is wrong with it. Nothing follows.
    Malformed {
        line: u64,
        why: String,
    },
    /// It closed its output. Nothing follows.
    Closed,
}

/// A running adapter.
#[derive(Debug)]
pub(crate) struct AdapterProcess {
    child: Child,
    lines: SyncSender<Vec<u8>>,
    pub(crate) heard: Receiver<Heard>,
    /// Only while it runs can a fault hit it.
    listed: Option<Listed>,
}

impl AdapterProcess {
    pub(crate) fn spawn(
        mut command: Command,
        among: &ClientProcesses,
    ) -> io::Result<AdapterProcess> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).process_group(0);
        among.mark(&mut command);
        let mut child = command.spawn()?;
        let stdin = child.stdin.take().expect("standard input is a pipe");
        let stdout = child.stdout.take().expect("standard output is a pipe");
        let (lines, to_write) = sync_channel(WAITING_LINES_MAX);
        let (hears, heard) = sync_channel(WAITING_ANSWERS_MAX);
        // From here on dropping kills, also if a thread cannot be started.
        let listed = among.list(child.id());
        let process = AdapterProcess { child, lines, heard, listed };
        let thread = |name: &str| std::thread::Builder::new().name(format!("adapter-{name}"));
        thread("in").spawn(move || write_lines(stdin, &to_write))?;
        thread("out").spawn(move || read_answers(stdout, &hears))?;
        Ok(process)
    }

    /// Hands over a line. `false`: it was not, and nobody will ever read it.
    pub(crate) fn say(&self, line: Vec<u8>) -> bool {
        match self.lines.try_send(line) {
            Ok(()) => true,
            Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) => false,
        }
    }

    /// Ends it, and says how it ended if it did so by itself.
    pub(crate) fn end(self) -> Option<String> {
        let until = Instant::now() + FAREWELL_TIME_MAX;
        loop {
            if let Some(how) = self.ended() {
                return Some(how);
            }
            if Instant::now() >= until {
                return None;
            }
            std::thread::sleep(LOOK_STEP);
        }
    }

    /// How it ended. Looks without collecting it: until it is collected its number stays its own,
    /// and the signal to its group cannot hit somebody else.
    fn ended(&self) -> Option<String> {
        let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        let status = waitid(WaitId::Pid(self.pid()?), look).ok()??;
        match (status.exit_status(), status.terminating_signal()) {
            (Some(code), _) => Some(format!("exit status {code}")),
            (None, Some(signal)) => Some(format!("signal {signal}")),
            (None, None) => None,
        }
    }

    /// Whether it is stopped, and cannot answer whatever it wants.
    pub(crate) fn is_frozen(&self) -> bool {
        let process = Process::of(self.child.id());
        process.is_ok_and(|process| matches!(process.state(), Ok(ProcessState::Stopped)))
    }

    fn pid(&self) -> Option<Pid> {
        i32::try_from(self.child.id()).ok().and_then(Pid::from_raw)
    }
}

impl Drop for AdapterProcess {
    /// Kills it and all of its group. The threads are not waited for: they end with the pipes, and
    /// a pipe may be held open by something that has left the group.
    fn drop(&mut self) {
        self.listed = None;
        if let Some(pid) = self.pid() {
            // The only error is that nobody is left.
            let _nobody = kill_process_group(pid, Signal::KILL);
        }
        let until = Instant::now() + KILL_TIME_MAX;
        while matches!(self.child.try_wait(), Ok(None)) && Instant::now() < until {
            std::thread::sleep(LOOK_STEP);
        }
    }
}

fn write_lines(mut stdin: ChildStdin, lines: &Receiver<Vec<u8>>) {
    while let Ok(line) = lines.recv() {
        if stdin.write_all(&line).is_err() {
            return;
        }
    }
}

fn read_answers(mut stdout: ChildStdout, hears: &SyncSender<Heard>) {
    let mut buffer = LineBuffer::default();
    let mut chunk = [0; READ_BYTES_MAX];
    let mut number = 0;
    loop {
        match stdout.read(&mut chunk) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Ok(0) | Err(_) => break,
            Ok(count) => buffer.push(&chunk[..count]),
        }
        while let Some(line) = buffer.take() {
            number += 1;
            let answer = line.map_err(|error| error.to_string());
            let answer = answer.and_then(|line| Answer::parse(&line).map_err(|e| e.to_string()));
            let (heard, last) = match answer {
                Ok(answer) => (Heard::Answer(answer), false),
                Err(why) => (Heard::Malformed { line: number, why }, true),
            };
            if hears.send(heard).is_err() || last {
                return;
            }
        }
    }
    // Nobody listens any more: then it does not matter.
    let _unheard = hears.send(Heard::Closed);
}
