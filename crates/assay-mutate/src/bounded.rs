//! A program under limits: time, memory, output, and nothing of it stays behind.

use crate::engine::{CannotCheck, Limits};
use rustix::process::{Pid, Resource, Rlimit, Signal, kill_process_group, prlimit};
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

static STOP: OnceLock<Arc<AtomicBool>> = OnceLock::new();

/// Setting it ends every engine that runs and lets none start, in the whole process.
pub fn stop_flag() -> Arc<AtomicBool> {
    Arc::clone(STOP.get_or_init(Arc::default))
}

/// How often to look whether to stop.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// How long the streams of a program that was ended may take to close.
const CLOSE_TIME_MAX: Duration = Duration::from_secs(5);

/// How often to look whether a program that closed its output is gone.
const LEAVE_STEP: Duration = Duration::from_millis(2);

/// How a program ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Ended {
    /// By itself, with a code.
    Exit(i32),
    /// By a signal that was not ours: most likely the memory was used up.
    Killed,
    /// It took too long.
    Time,
    /// It said too much.
    Output,
}

/// What a program said, and how it ended.
#[derive(Clone, Debug)]
pub struct Said {
    pub output: String,
    pub errors: String,
    pub ended: Ended,
}

/// Whether the limit on address space is for this program: a virtual machine reserves more than
/// it uses, and has a limit of its own.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Memory {
    Limited,
    Own,
}

/// A child with everything it started.
struct Group(Child);

impl Group {
    fn kill(&mut self) {
        if let Some(pid) = i32::try_from(self.0.id()).ok().and_then(Pid::from_raw) {
            // The only error is that all of it is gone.
            let _gone = kill_process_group(pid, Signal::KILL);
        }
    }

    /// Whether it ended by itself: after its output is closed that takes a moment.
    fn left(&mut self, until: Instant) -> bool {
        while matches!(self.0.try_wait(), Ok(None)) {
            if Instant::now() >= until {
                return false;
            }
            std::thread::sleep(LEAVE_STEP);
        }
        true
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.kill();
        let _reaped = self.0.wait();
    }
}

/// Runs a program to its end or to a limit.
pub fn run(
    mut command: Command,
    engine: &str,
    limits: &Limits,
    memory: Memory,
) -> Result<Said, CannotCheck> {
    let failed = |error: std::io::Error| CannotCheck::Start {
        engine: engine.to_string(),
        why: error.to_string(),
    };
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    // This thread waits for it, so that it also ends with a process that is killed.
    assay_kernel::jail::end_with_us(&mut command);
    let mut group = Group(command.spawn().map_err(failed)?);
    if memory == Memory::Limited {
        limit_memory(&group.0, limits);
    }
    let output = listen(group.0.stdout.take(), limits.output_bytes);
    let errors = listen(group.0.stderr.take(), limits.output_bytes);
    let until = Instant::now() + limits.time;
    let heard = wait(&output, until)?;
    let mut ended = match &heard {
        None => Some(Ended::Time),
        Some(heard) => heard.too_much.then_some(Ended::Output),
    };
    if ended.is_some() {
        group.kill();
    }
    // What was said until then still counts: the streams of the dead are closed.
    let soon = Instant::now() + CLOSE_TIME_MAX;
    let output = heard.map_or_else(|| wait(&output, soon), |heard| Ok(Some(heard)))?;
    let errors = wait(&errors, soon)?;
    if !group.left(soon.max(until)) {
        ended = ended.or(Some(Ended::Time));
        group.kill();
    }
    let status = group.0.wait().map_err(failed)?;
    let own = status.code().map_or(Ended::Killed, Ended::Exit);
    let text = |heard: Option<Heard>| {
        heard.map_or(String::new(), |h| String::from_utf8_lossy(&h.bytes).to_string())
    };
    Ok(Said { output: text(output), errors: text(errors), ended: ended.unwrap_or(own) })
}

fn limit_memory(child: &Child, limits: &Limits) {
    let bytes = limits.memory_mib.saturating_mul(1 << 20);
    let limit = Rlimit { current: Some(bytes), maximum: Some(bytes) };
    if let Some(pid) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
        // It may have ended by now, and then needs no limit.
        let _gone = prlimit(Some(pid), Resource::As, limit);
    }
}

/// What one stream said, when it is closed or says too much.
struct Heard {
    bytes: Vec<u8>,
    too_much: bool,
}

fn listen(stream: Option<impl Read + Send + 'static>, bytes_max: usize) -> Receiver<Heard> {
    let (tell, heard) = channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(stream) = stream {
            let mut limited = stream.take(bytes_max as u64 + 1);
            // A stream that breaks has ended; what was said until then counts.
            let _broken = limited.read_to_end(&mut bytes);
        }
        let too_much = bytes.len() > bytes_max;
        // Nobody may listen any more.
        let _gone = tell.send(Heard { bytes, too_much });
    });
    heard
}

/// Waits for a stream to end; nothing if it did not until then.
fn wait(stream: &Receiver<Heard>, until: Instant) -> Result<Option<Heard>, CannotCheck> {
    loop {
        if stop_flag().load(Ordering::Relaxed) {
            return Err(CannotCheck::Interrupted);
        }
        let left = until.saturating_duration_since(Instant::now());
        match stream.recv_timeout(left.min(LOOK_EVERY)) {
            Ok(heard) => return Ok(Some(heard)),
            Err(RecvTimeoutError::Timeout) if !left.is_zero() => {}
            Err(_) => return Ok(None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str, limits: &Limits) -> Said {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        run(command, "sh", limits, Memory::Limited).expect("a shell runs")
    }

    fn limits(seconds: u64) -> Limits {
        Limits { time: Duration::from_secs(seconds), output_bytes: 10_000, ..Limits::default() }
    }

    #[test]
    fn both_streams_and_the_code_are_told() {
        let said = shell("echo out; echo err >&2; exit 3", &limits(60));
        assert_eq!((said.output.as_str(), said.errors.as_str()), ("out\n", "err\n"));
        assert_eq!(said.ended, Ended::Exit(3));
    }

    #[test]
    fn who_says_too_much_is_ended_with_everything_it_started() {
        let said = shell("sleep 1000 & echo $!; yes", &limits(60));
        assert_eq!(said.ended, Ended::Output);
        let pid: u32 = said.output.lines().next().and_then(|l| l.parse().ok()).expect("a pid");
        // The signal was sent; dying takes its own time. It may wait to be reaped, but not run.
        let until = Instant::now() + Duration::from_secs(30);
        loop {
            let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
            if stat.is_empty() || stat.contains(") Z ") {
                break;
            }
            assert!(Instant::now() < until, "it still runs: {stat}");
            std::thread::yield_now();
        }
    }

    #[test]
    fn who_takes_too_long_is_ended_even_with_its_output_closed() {
        assert_eq!(shell("exec sleep 1000", &limits(1)).ended, Ended::Time);
        assert_eq!(shell("exec >&- 2>&-; exec sleep 1000", &limits(1)).ended, Ended::Time);
    }

    #[test]
    fn memory_has_a_limit() {
        let few = Limits { memory_mib: 64, ..limits(60) };
        // The limit comes a moment after the start.
        let told = "until [ \"$(ulimit -v)\" != unlimited ]; do :; done; ulimit -v";
        let said = shell(told, &few);
        assert_eq!(said.output.trim(), "65536", "{said:?}");
    }

    #[test]
    fn what_is_not_there_cannot_be_started() {
        let error = run(Command::new("/no/such"), "x", &limits(1), Memory::Own);
        assert!(matches!(error, Err(CannotCheck::Start { .. })), "{error:?}");
    }
}
