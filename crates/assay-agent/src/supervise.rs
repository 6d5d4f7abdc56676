//! A run from beginning to end: starts the keeper, listens, and holds the limits.

use crate::acp::{Conversation, Prompt, converse};
use crate::decode::Decode;
use crate::event::{AgentEvent, RateLimit, Usage};
use crate::keeper::{End, Report};
use crate::leave::Leave;
use crate::outcome::Outcome;
use crate::output::{Line, Lines, Log, Written};
use crate::sandbox::Protection;
use crate::streams::{Heard, read, write, write_lines};
use crate::task::{Cancel, Limits, Task};
use futures::channel::mpsc::{UnboundedSender, unbounded};
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use std::io;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant};

/// Pieces of output that may wait; beyond it the agent has to.
const WAITING_MAX: usize = 64;
/// How long a keeper may take to end everything. It takes 10 seconds at most for the family.
const END_TIME_MAX: Duration = Duration::from_secs(20);
/// How long an agent may take to leave when its turn is over and its input is closed.
const GOODBYE_TIME_MAX: Duration = Duration::from_secs(5);
/// Lines that are no messages, shown one by one; after that they are only logged.
const NOISE_EVENTS_MAX: u32 = 1000;
/// How often to look whether the run was called off.
const CANCEL_STEP: Duration = Duration::from_millis(50);
/// How often to look whether the keeper is gone.
const LOOK_STEP: Duration = Duration::from_millis(2);

/// How an agent is talked to.
pub(crate) enum Talk {
    /// It gets nothing.
    Silent(Box<dyn Decode>),
    /// It gets the prompt and the end of input.
    Prompt(Box<dyn Decode>),
    /// It is spoken with.
    Acp,
}

/// How a run went.
pub(crate) struct Run {
    pub outcome: Outcome,
    pub protection: Protection,
    pub usage: Option<Usage>,
    pub output_bytes: u64,
    pub stdout: Written,
    pub stderr: Written,
    pub stragglers: u32,
}

/// Starts a keeper and stays until it is gone.
pub(crate) fn supervise(
    mut keeper: Command,
    talk: Talk,
    task: &Task,
    events: &mut dyn FnMut(AgentEvent),
) -> io::Result<Run> {
    let stdin = if matches!(talk, Talk::Silent(_)) { Stdio::null() } else { Stdio::piped() };
    keeper.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped());
    let log = |name: &str| Log::create(&task.log.join(name), task.kept_bytes);
    let logs = [log("stdout.log")?, log("stderr.log")?];
    let child = Kept { child: keeper.spawn()? };
    let (tell, heard) = sync_channel(WAITING_MAX);
    let mut listener = Listener::new(child, logs, task, events);
    listener.connect(talk, task, &tell)?;
    drop(tell);
    listener.listen(&heard);
    listener.finish(task)
}

/// A moment after another; a time that no clock can hold is as good as a year.
fn later(from: Instant, by: Duration) -> Instant {
    const YEAR: Duration = Duration::from_secs(365 * 86_400);
    from.checked_add(by).unwrap_or_else(|| from + YEAR)
}

/// A keeper that does not outlive this.
struct Kept {
    child: Child,
}

impl Kept {
    fn pid(&self) -> Option<Pid> {
        i32::try_from(self.child.id()).ok().and_then(Pid::from_raw)
    }

    /// Asks it to end everything.
    fn end(&self) {
        if let Some(pid) = self.pid() {
            // The only error is that it is gone.
            let _gone = kill_process(pid, Signal::TERM);
        }
    }

    /// Waits until it is gone; whether it is.
    fn gone(&mut self, time: Duration) -> bool {
        let until = Instant::now() + time;
        while matches!(self.child.try_wait(), Ok(None)) {
            if Instant::now() >= until {
                return false;
            }
            std::thread::sleep(LOOK_STEP);
        }
        true
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(None)) {
            self.end();
            if !self.gone(END_TIME_MAX)
                && let Some(pid) = self.pid()
            {
                let _gone = kill_process_group(pid, Signal::KILL);
                let _reaped = self.child.wait();
            }
        }
    }
}

/// Everything that is known while a run goes on.
struct Listener<'a> {
    keeper: Kept,
    out: Stream,
    err: Stream,
    limits: Limits,
    cancel: Cancel,
    leave: Leave,
    events: &'a mut dyn FnMut(AgentEvent),
    decode: Option<Box<dyn Decode>>,
    /// Where lines go that are understood elsewhere. Dropping it ends that conversation.
    acp: Option<UnboundedSender<String>>,
    started: Instant,
    last_heard: Instant,
    noise: u32,
    usage: Option<Usage>,
    limit: Option<RateLimit>,
    finished_well: bool,
    /// Why it was told to end, and until when it has to be gone.
    ending: Option<(Outcome, Instant)>,
    /// Its turn is over: until when it may leave by itself.
    goodbye: Option<Instant>,
}

struct Stream {
    log: Log,
    lines: Lines,
    ended: bool,
}

impl<'a> Listener<'a> {
    fn new(
        keeper: Kept,
        logs: [Log; 2],
        task: &Task,
        events: &'a mut dyn FnMut(AgentEvent),
    ) -> Listener<'a> {
        let now = Instant::now();
        let [out, err] = logs.map(|log| Stream { log, lines: Lines::default(), ended: false });
        Listener {
            keeper,
            out,
            err,
            limits: task.limits,
            cancel: task.cancel.clone(),
            leave: task.leave.clone(),
            events,
            decode: None,
            acp: None,
            started: now,
            last_heard: now,
            noise: 0,
            usage: None,
            limit: None,
            finished_well: false,
            ending: None,
            goodbye: None,
        }
    }

    fn connect(&mut self, talk: Talk, task: &Task, tell: &SyncSender<Heard>) -> io::Result<()> {
        let child = &mut self.keeper.child;
        let (stdin, stdout, stderr) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take());
        if let Some(stdout) = stdout {
            read("out", stdout, tell.clone(), Heard::Out, Heard::OutEnd)?;
        }
        if let Some(stderr) = stderr {
            read("err", stderr, tell.clone(), Heard::Err, Heard::ErrEnd)?;
        }
        match (talk, stdin) {
            (Talk::Silent(decode), _) | (Talk::Prompt(decode), None) => self.decode = Some(decode),
            (Talk::Prompt(decode), Some(stdin)) => {
                self.decode = Some(decode);
                write(stdin, task.prompt.clone())?;
            }
            (Talk::Acp, stdin) => {
                let (forward, incoming) = unbounded();
                let (outgoing, lines) = std::sync::mpsc::channel();
                self.acp = Some(forward);
                if let Some(stdin) = stdin {
                    write_lines(stdin, lines)?;
                }
                let (prompt, work) = (task.prompt.clone(), task.work.clone());
                let (attachments, tell) = (task.attachments.clone(), tell.clone());
                let prompt = Prompt { text: prompt, attachments };
                let leave = task.leave.clone();
                converse(Conversation { prompt, work, leave, incoming, outgoing, tell })?;
            }
        }
        Ok(())
    }

    /// Until both streams have ended, which they do when the keeper has.
    fn listen(&mut self, heard: &Receiver<Heard>) {
        while !(self.out.ended && self.err.ended) {
            self.hold_limits();
            if self.ending.as_ref().is_some_and(|(_, until)| Instant::now() >= *until) {
                return;
            }
            match heard.recv_timeout(self.until_next_limit()) {
                Ok(heard) => self.hear(heard),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    fn until_next_limit(&self) -> Duration {
        let next = match (&self.ending, self.goodbye) {
            (Some((_, until)), _) => *until,
            (None, Some(until)) => until.min(later(self.started, self.limits.wall)),
            (None, None) => {
                later(self.started, self.limits.wall).min(later(self.last_heard, self.limits.idle))
            }
        };
        next.saturating_duration_since(Instant::now()).min(CANCEL_STEP)
    }

    fn hold_limits(&mut self) {
        let now = Instant::now();
        // Who waits for an answer need not say anything.
        if matches!(&self.leave, Leave::Asked(questions) if questions.is_waiting()) {
            self.last_heard = now;
        }
        let cause = if self.out.log.bytes + self.err.log.bytes > self.limits.output_bytes {
            Outcome::OutputLimit
        } else if self.cancel.is_cancelled() {
            Outcome::Cancelled
        } else if now >= later(self.started, self.limits.wall) {
            Outcome::WallTimeout
        } else if self.goodbye.is_some_and(|until| now >= until) {
            // It did what it was asked for and only did not leave.
            Outcome::Exited { code: 0 }
        } else if self.goodbye.is_none() && now >= later(self.last_heard, self.limits.idle) {
            Outcome::IdleTimeout
        } else {
            return;
        };
        self.end(cause);
    }

    fn end(&mut self, cause: Outcome) {
        if self.ending.is_none() {
            self.ending = Some((cause, Instant::now() + END_TIME_MAX));
            self.keeper.end();
        }
    }

    fn hear(&mut self, heard: Heard) {
        match heard {
            Heard::Out(bytes) => self.out(&bytes),
            Heard::Err(bytes) => self.err(&bytes),
            Heard::OutEnd => {
                self.out.ended = true;
                let mut last = Vec::new();
                self.out.lines.finish(&mut |line| last.push(line));
                last.into_iter().for_each(|line| self.line(line));
                self.acp = None;
            }
            Heard::ErrEnd => self.err.ended = true,
            // That a conversation breaks off when its agent is ended says nothing about the agent.
            Heard::Event(_) if self.ending.is_some() => {}
            Heard::Event(event) => self.say(event),
            Heard::TurnOver(Ok(())) => {
                self.goodbye = Some(Instant::now() + GOODBYE_TIME_MAX);
                self.acp = None;
            }
            // If its output has ended it has, too, and how is told by the keeper.
            Heard::TurnOver(Err(_)) if self.out.ended => {}
            Heard::TurnOver(Err(why)) => {
                let cause = match self.limit {
                    Some(limit) => Outcome::RateLimited { limit },
                    None => Outcome::Unintelligible { why },
                };
                self.end(cause);
            }
        }
    }

    fn out(&mut self, bytes: &[u8]) {
        if self.ending.is_some() {
            return;
        }
        self.last_heard = Instant::now();
        // A full disk must not keep an agent from being watched.
        let _unlogged = self.out.log.push(bytes);
        let mut lines = Vec::new();
        self.out.lines.push(bytes, |line| lines.push(line));
        lines.into_iter().for_each(|line| self.line(line));
    }

    fn err(&mut self, bytes: &[u8]) {
        if self.ending.is_some() {
            return;
        }
        self.last_heard = Instant::now();
        let _unlogged = self.err.log.push(bytes);
        let mut lines = Vec::new();
        self.err.lines.push(bytes, |line| lines.push(line));
        for line in lines {
            if let Line::Whole(text) = line {
                self.say(AgentEvent::Stderr { text: crate::event::shortened(&text) });
            }
        }
    }

    fn line(&mut self, line: Line) {
        let events = match (line, &mut self.decode, &self.acp) {
            (Line::TooLong, ..) => vec![AgentEvent::noise("a line too long to be a message")],
            (Line::Whole(line), Some(decode), _) => decode.line(&line),
            // Programs that greet whoever starts them are forgiven; nothing else is a message.
            (Line::Whole(line), None, Some(acp)) if line.trim_start().starts_with('{') => {
                // The conversation is over: then it is not a part of it.
                let _unheard = acp.unbounded_send(line);
                Vec::new()
            }
            (Line::Whole(line), None, _) => vec![AgentEvent::noise(&line)],
        };
        events.into_iter().for_each(|event| self.say(event));
    }

    fn say(&mut self, event: AgentEvent) {
        match &event {
            AgentEvent::Usage(usage) => self.usage = Some(*usage),
            AgentEvent::Failed { limit: Some(limit), .. } => self.limit = Some(*limit),
            AgentEvent::Finished { ok, .. } => self.finished_well = *ok,
            AgentEvent::Noise { .. } | AgentEvent::Stderr { .. } => {
                self.noise += 1;
                if self.noise > NOISE_EVENTS_MAX {
                    return;
                }
            }
            _ => {}
        }
        (self.events)(event);
    }

    fn finish(mut self, task: &Task) -> io::Result<Run> {
        let gone = self.keeper.gone(END_TIME_MAX);
        let report = if gone { Report::read(&task.log) } else { None };
        let unknown = Protection::None { why: "how the run ended is not known".to_string() };
        let (end, protection, stragglers) = match report {
            Some(report) => (Some(report.end), report.protection, report.stragglers),
            None => (None, unknown, 0),
        };
        let outcome = match (self.ending.take(), end) {
            (_, Some(End::SpawnFailed(why))) => Outcome::SpawnFailed { why },
            (Some((cause, _)), _) => cause,
            (None, Some(End::Exited(_))) if self.limit.is_some() && !self.finished_well => {
                Outcome::RateLimited { limit: self.limit.unwrap_or_default() }
            }
            (None, Some(End::Exited(code))) => Outcome::Exited { code },
            (None, Some(End::Signalled(signal))) => Outcome::Signalled { signal },
            (None, Some(End::Ended)) => Outcome::Signalled { signal: Signal::TERM.as_raw() },
            (None, None) => {
                Outcome::SpawnFailed { why: "its keeper ended without a word".to_string() }
            }
        };
        Ok(Run {
            outcome,
            protection,
            usage: self.usage,
            output_bytes: self.out.log.bytes + self.err.log.bytes,
            stdout: self.out.log.finish()?,
            stderr: self.err.log.finish()?,
            stragglers,
        })
    }
}
