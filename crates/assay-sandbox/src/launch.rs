//! Starting a keeper for a call, hearing what the call writes, and how it ended.

use crate::gate::{Gate, Taken, take};
use crate::helper::Helper;
use crate::interrupt::Interrupt;
use crate::job::{End, Inside, Job, Report, receive, send};
use assay_kernel::cgroup::Group;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use std::io::{self, Read};
use std::net::Shutdown;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// How much longer than the call a keeper may take.
const GRACE: Duration = Duration::from_secs(20);
/// Between two looks at a group that is to become empty.
const STEP: Duration = Duration::from_millis(5);

/// Why a call did not take place, or its end is not known.
#[derive(Debug, thiserror::Error)]
pub enum CallError {
    /// The keeper cannot be started or spoken to.
    #[error("cannot {doing} the keeper of a sandbox: {source}")]
    Keeper {
        /// What was tried.
        doing: &'static str,
        /// Why not.
        source: io::Error,
    },
    /// The sandbox cannot be made.
    #[error("cannot make a sandbox ({doing}): {why}")]
    Confine {
        /// What failed.
        doing: String,
        /// Why.
        why: String,
    },
    /// Processes of the call may still be there. The sandbox must not be used again.
    #[error("a call could not be ended; this sandbox must not be used again")]
    Stuck,
    /// It was not to be used again.
    #[error("this sandbox was given up, because a call in it could not be ended")]
    GivenUp,
    /// Its directory for what is gone afterwards.
    #[error("no place for a call: {0}")]
    Scratch(#[from] crate::workspace::WorkspaceError),
}

/// Which of the standard streams.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stream {
    /// Standard output.
    Out,
    /// Standard error.
    Error,
}

/// What a keeper said, and why it was let go if it was.
pub(crate) enum Heard {
    Inside(Inside),
    Ended(End),
}

/// What a call has to do with on this side.
pub(crate) struct Asker<'a> {
    /// Where its memory is counted.
    pub group: Option<&'a Group>,
    /// Where the network inside leads, if it leads somewhere.
    pub gate: Option<&'a Gate>,
    /// What ends it early.
    pub interrupt: &'a Interrupt,
}

/// Makes a call. Besides what was heard of it, whether a process was killed for memory.
pub(crate) fn launch(
    helper: &Helper,
    job: &Job,
    asker: &Asker,
    hear: &mut dyn FnMut(Stream, &[u8]),
) -> Result<(Heard, bool), CallError> {
    let group = asker.group;
    let failed = |doing| move |source| CallError::Keeper { doing, source };
    let (line, theirs) = UnixStream::pair().map_err(failed("make a line to"))?;
    let mut command = Command::new(&helper.program);
    command.args(helper.with("keep")).env_clear().current_dir("/");
    // Signals of a terminal are for whoever asked: a keeper ends when it is let go.
    command.process_group(0);
    command.stdin(Stdio::from(OwnedFd::from(theirs)));
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    if let Some(group) = group {
        let joined = group.join_on_exec(&mut command);
        joined.map_err(|error| failed("limit the memory of")(io::Error::other(error)))?;
    }
    let mut child = command.spawn().map_err(failed("start"))?;
    // The command holds the other end of the line, and would keep it open.
    drop(command);
    let kills = || group.and_then(|group| group.memory_counts().ok()).map_or(0, |c| c.oom_kills);
    let kills_before = kills();
    let heard = Line { line, until: Instant::now() + job.limits.wall + GRACE, cause: None }
        .follow(job, &mut child, asker, hear);
    if heard.is_err() {
        let _gone = child.kill();
    }
    let _reaped = child.wait();
    let was_killed = kills() > kills_before;
    let by_memory = Ok((Heard::Ended(End::MemoryLimit), true));
    match heard {
        Ok(Heard::Inside(Inside::Ended { end: End::Signalled(9), .. })) if was_killed => by_memory,
        Ok(Heard::Ended(End::Signalled(9))) if was_killed => by_memory,
        // The keeper itself was killed, and everybody with it; that has to be seen.
        Err(CallError::Keeper { .. }) if was_killed && group.is_some_and(empties) => by_memory,
        heard => heard.map(|heard| (heard, was_killed)),
    }
}

/// Waits until nobody is in a group any longer.
fn empties(group: &Group) -> bool {
    let until = Instant::now() + GRACE;
    while group.pids().is_ok_and(|pids| !pids.is_empty()) {
        if Instant::now() >= until {
            return false;
        }
        std::thread::sleep(STEP);
    }
    true
}

/// The line to a keeper.
struct Line {
    line: UnixStream,
    until: Instant,
    /// Why it was let go.
    cause: Option<End>,
}

impl Line {
    fn follow(
        mut self,
        job: &Job,
        child: &mut Child,
        asker: &Asker,
        hear: &mut dyn FnMut(Stream, &[u8]),
    ) -> Result<Heard, CallError> {
        let failed = |doing| move |source| CallError::Keeper { doing, source };
        send(&self.line, job).map_err(failed("tell"))?;
        let pipes = (child.stdout.take(), child.stderr.take());
        let mut streams: Vec<(Stream, OwnedFd)> = Vec::new();
        streams.extend(pipes.0.map(|pipe| (Stream::Out, OwnedFd::from(pipe))));
        streams.extend(pipes.1.map(|pipe| (Stream::Error, OwnedFd::from(pipe))));
        let mut left = job.limits.output_bytes;
        let mut report = None;
        // Open for as long as the call takes.
        let mut opened = None;
        let mut buffer = vec![0; 1 << 16];
        // The streams end when nobody is left who has them: after the keeper.
        while report.is_none() || !streams.is_empty() {
            let ready = self.wait(&streams, report.is_none(), asker.interrupt)?;
            if ready.interrupted {
                self.let_go(End::Interrupted);
            }
            if ready.reported {
                match asker.gate.filter(|_| opened.is_none()).map(|gate| (gate, take(&self.line))) {
                    Some((gate, Ok(Taken::Listener(listener)))) => {
                        opened = Some(gate.open(listener).map_err(failed("open the gate of"))?);
                    }
                    Some((_, Ok(Taken::Word(begin)))) => report = Some(self.hear(&begin)?),
                    Some((_, Err(error))) => return Err(failed("hear of")(error)),
                    None => report = Some(self.hear(&[])?),
                }
            }
            let mut ended = Vec::new();
            for at in ready.streams {
                let (stream, pipe) = &streams[at];
                match rustix::io::read(pipe, &mut buffer) {
                    Ok(0) => ended.push(at),
                    Ok(length) => {
                        let taken = (length as u64).min(left) as usize;
                        left -= taken as u64;
                        hear(*stream, &buffer[..taken]);
                        if taken < length {
                            self.let_go(End::OutputLimit);
                        }
                    }
                    Err(Errno::INTR) => {}
                    Err(error) => return Err(failed("hear of")(error.into())),
                }
            }
            ended.into_iter().rev().for_each(|at| _ = streams.remove(at));
        }
        self.conclude(report)
    }

    /// What the keeper says, of which the beginning was read already.
    fn hear(&self, begin: &[u8]) -> Result<Report, CallError> {
        let failed = |source| CallError::Keeper { doing: "hear of", source };
        receive(begin.chain(&self.line)).map_err(failed)
    }

    fn let_go(&mut self, why: End) {
        if self.cause.is_none() {
            self.cause = Some(why);
            // If it has hung up already there is nothing to tell.
            let _gone = self.line.shutdown(Shutdown::Write);
        }
    }

    fn wait(
        &self,
        streams: &[(Stream, OwnedFd)],
        is_awaited: bool,
        interrupt: &Interrupt,
    ) -> Result<Ready, CallError> {
        let line = self.line.as_fd();
        let interesting = |is: bool| if is { PollFlags::IN } else { PollFlags::empty() };
        let mut events = vec![
            PollFd::from_borrowed_fd(interrupt.signal(), interesting(self.cause.is_none())),
            PollFd::from_borrowed_fd(line, interesting(is_awaited)),
        ];
        events.extend(streams.iter().map(|(_, pipe)| PollFd::new(pipe, PollFlags::IN)));
        if !is_awaited {
            // A line that has hung up is always ready, whether that is interesting or not.
            events[1] = PollFd::from_borrowed_fd(interrupt.signal(), PollFlags::empty());
        }
        loop {
            let left = self.until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(CallError::Stuck);
            }
            match poll(&mut events, Timespec::try_from(left).ok().as_ref()) {
                Ok(0) | Err(Errno::INTR) => continue,
                Err(error) => {
                    return Err(CallError::Keeper { doing: "wait for", source: error.into() });
                }
                Ok(_) => {}
            }
            let is_ready = |at: usize| !events[at].revents().is_empty();
            return Ok(Ready {
                interrupted: is_ready(0),
                reported: is_ready(1),
                streams: (2..events.len()).filter(|at| is_ready(*at)).map(|at| at - 2).collect(),
            });
        }
    }

    fn conclude(self, report: Option<Report>) -> Result<Heard, CallError> {
        let silent = |signal: Option<i32>| match signal {
            Some(signal) => Ok(Heard::Ended(End::Signalled(signal))),
            None => Err(CallError::Confine {
                doing: "the process inside".to_string(),
                why: "it ended without a word".to_string(),
            }),
        };
        match report {
            Some(Report::Stuck) | None => Err(CallError::Stuck),
            Some(Report::Inside(Inside::Failed { doing, why })) => {
                Err(CallError::Confine { doing, why })
            }
            // What it was let go for came first, even if it ended at the same moment.
            Some(_) if self.cause.is_some() => {
                Ok(Heard::Ended(self.cause.unwrap_or(End::Interrupted)))
            }
            Some(Report::Inside(inside)) => Ok(Heard::Inside(inside)),
            Some(Report::TimeLimit) => Ok(Heard::Ended(End::TimeLimit)),
            Some(Report::LetGo) => Ok(Heard::Ended(End::Interrupted)),
            Some(Report::Silent { signal }) => silent(signal),
        }
    }
}

struct Ready {
    interrupted: bool,
    reported: bool,
    streams: Vec<usize>,
}
