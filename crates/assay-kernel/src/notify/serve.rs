//! Answering stopped calls, one after the other, in a thread of its own.
//!
//! Nothing here may wait for anything but the next call: all threads of the watched process wait
//! for this one. A call that is to be slow is put aside until its time has come.

use super::clock;
use super::filter::Call;
use super::listener::{Answer, Listener, Stopped};
use super::paths::{file_of, is_below, open_flags};
use super::rules::{CallRule, Calls, Deed, Errno};
use super::tap::{Imposed, State, lock};
use super::vdso::ExecSeen;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

/// Each call that waits is a thread of the watched process; no process here has more.
const HELD_MAX: usize = 32_768;

/// A call that is kept waiting: when it ends, its number, and the rule that keeps it.
type Held = Reverse<(Instant, u64, u64)>;

/// Answers the calls of one process and its children.
pub(super) struct Server {
    pub(super) listener: Arc<Listener>,
    pub(super) state: Arc<State>,
    /// Who follows the process into new programs, if its clock is watched.
    pub(super) tracer: Option<Sender<ExecSeen>>,
    held: BinaryHeap<Held>,
}

fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::SeqCst);
}

impl Server {
    pub(super) fn new(
        listener: Arc<Listener>,
        state: Arc<State>,
        tracer: Option<Sender<ExecSeen>>,
    ) -> Server {
        Server { listener, state, tracer, held: BinaryHeap::new() }
    }

    /// Answers until nobody is left to ask.
    pub(super) fn run(mut self) {
        // Without the kernel's word there is nothing left to do but to let go.
        while let Ok((woken, asked, over)) = self.wait() {
            if woken {
                self.let_go_of_lifted();
            }
            self.let_go_of_due(Instant::now());
            if asked {
                match self.listener.receive() {
                    Ok(Some(stopped)) => self.answer(&stopped),
                    Ok(None) => {}
                    Err(_) => break,
                }
            } else if over {
                break;
            }
        }
        self.state.served.store(false, Ordering::SeqCst);
    }

    /// Waits for a call, a change of rules, or the end of a delay.
    fn wait(&self) -> rustix::io::Result<(bool, bool, bool)> {
        let left = self.held.peek().map(|Reverse((due, ..))| {
            let left = due.saturating_duration_since(Instant::now());
            let nanoseconds = i64::from(left.subsec_nanos());
            Timespec { tv_sec: left.as_secs() as i64, tv_nsec: nanoseconds }
        });
        let mut events = [
            PollFd::new(&self.state.wake, PollFlags::IN),
            PollFd::new(&self.listener, PollFlags::IN),
        ];
        match poll(&mut events, left.as_ref()) {
            Err(rustix::io::Errno::INTR) => return Ok((false, false, false)),
            polled => _ = polled?,
        }
        let over = PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL;
        let [wake, calls] = [events[0].revents(), events[1].revents()];
        let woken = wake.contains(PollFlags::IN);
        if woken {
            let _count = rustix::io::read(&self.state.wake, &mut [0; 8]);
        }
        Ok((woken, calls.contains(PollFlags::IN), calls.intersects(over)))
    }

    fn let_go_of_due(&mut self, now: Instant) {
        while self.held.peek().is_some_and(|Reverse((due, ..))| *due <= now) {
            if let Some(Reverse((_, id, _))) = self.held.pop() {
                self.listener.reply(id, Answer::Continue);
            }
        }
    }

    fn let_go_of_lifted(&mut self) {
        let on: Vec<u64> = lock(&self.state.rules).iter().map(|rule| rule.number).collect();
        let (keep, go): (Vec<Held>, Vec<Held>) =
            self.held.drain().partition(|Reverse((_, _, rule))| on.contains(rule));
        self.held = keep.into();
        for Reverse((_, id, _)) in go {
            self.listener.reply(id, Answer::Continue);
        }
    }

    fn answer(&mut self, stopped: &Stopped) {
        count(&self.state.counters.seen);
        let answer = match Call::numbered(stopped.call) {
            None => Answer::Continue,
            Some(Call::Exec) => return self.follow(stopped),
            Some(call @ (Call::Sync | Call::SyncMapping | Call::SyncAll)) => {
                count(&self.state.counters.syncs);
                return self.answer_by_rules(stopped, call, Calls::Syncs);
            }
            Some(call @ (Call::Write | Call::CopyTo | Call::Truncate | Call::OpenAt)) => {
                count(&self.state.counters.writes);
                return self.answer_by_rules(stopped, call, Calls::Writes);
            }
            #[cfg(target_arch = "x86_64")]
            Some(call @ (Call::Open | Call::Create)) => {
                count(&self.state.counters.writes);
                return self.answer_by_rules(stopped, call, Calls::Writes);
            }
            Some(call) => self.tell_time(stopped, call),
        };
        self.listener.reply(stopped.id, answer);
    }

    fn follow(&self, stopped: &Stopped) {
        let exec = ExecSeen { id: stopped.id, thread: stopped.thread };
        let sent = self.tracer.as_ref().is_some_and(|tracer| tracer.send(exec).is_ok());
        if !sent {
            self.listener.reply(stopped.id, Answer::Continue);
        }
    }

    fn tell_time(&self, stopped: &Stopped, call: Call) -> Answer {
        let counters = &self.state.counters;
        count(&counters.clock_reads);
        let rules = lock(&self.state.clocks);
        if rules.is_empty() {
            return Answer::Continue;
        }
        // Nothing must be written to somebody else who has got the number of a thread that ended.
        if !self.listener.is_valid(stopped.id) {
            return Answer::Continue;
        }
        let Ok(answer) = clock::tell(stopped, call, &rules) else {
            count(&counters.clock_missed);
            return Answer::Continue;
        };
        count(&counters.clock_moved);
        rules.iter().for_each(|rule| count(&rule.hits));
        answer
    }

    /// Answers while the rules are held, so that a rule that was lifted has met its last call.
    fn answer_by_rules(&mut self, stopped: &Stopped, call: Call, calls: Calls) {
        let state = Arc::clone(&self.state);
        let rules = lock(&state.rules);
        let counters = &state.counters;
        let hit = rules.iter().any(|on| on.rule.calls == calls).then(|| {
            if call == Call::SyncAll {
                // It is about every directory there is.
                let on = |on: &&Arc<Imposed<CallRule>>| hits(on, call, None, &on.rule.below);
                let rule = rules.iter().filter(|on| on.rule.calls == calls).find(on);
                return rule.map(|rule| (rule, rule.rule.below.clone()));
            }
            let file = file_of(stopped, call);
            // Only now it is certain that it was this thread's file.
            let file = file.ok().filter(|_| self.listener.is_valid(stopped.id));
            if file.is_none() {
                count(&counters.unknown);
            }
            let file = file?;
            let flags = open_flags(stopped, call);
            let rule =
                rules.iter().find(|on| on.rule.calls == calls && hits(on, call, flags, &file));
            rule.map(|rule| (rule, file))
        });
        let Some((rule, file)) = hit.flatten() else {
            self.listener.reply(stopped.id, Answer::Continue);
            return;
        };
        match rule.rule.deed {
            Deed::Fail(errno) => {
                // First the count: whoever sees the effect has to find it counted.
                count(&counters.failed);
                count(&rule.hits);
                state.hit(&file);
                if !self.listener.reply(stopped.id, Answer::Fail(errno.code())) {
                    // Nobody was left to feel it.
                    counters.failed.fetch_sub(1, Ordering::SeqCst);
                    rule.hits.fetch_sub(1, Ordering::SeqCst);
                }
            }
            Deed::Delay(delay) => {
                if self.held.len() >= HELD_MAX {
                    self.listener.reply(stopped.id, Answer::Continue);
                    return;
                }
                count(&counters.delayed);
                count(&rule.hits);
                state.hit(&file);
                self.hold(stopped.id, delay, rule.number);
            }
        }
    }

    fn hold(&mut self, id: u64, delay: Duration, rule: u64) {
        self.held.push(Reverse((Instant::now() + delay, id, rule)));
    }
}

/// Whether a rule hits this call; counts it if the rule is about it.
fn hits(on: &Imposed<CallRule>, call: Call, open_flags: Option<i32>, file: &Path) -> bool {
    let rule = &on.rule;
    if !is_below(file, &rule.below) || !concerns(rule.deed, call, open_flags, file) {
        return false;
    }
    let nth = on.matched.fetch_add(1, Ordering::SeqCst) + 1;
    nth >= rule.from_nth && rule.share.hits(nth)
}

/// Whether a disk in that state would let this call feel it.
fn concerns(deed: Deed, call: Call, open_flags: Option<i32>, file: &Path) -> bool {
    match (deed, open_flags) {
        // It has no way to say so.
        (Deed::Fail(_), _) if call == Call::SyncAll => false,
        (Deed::Fail(Errno::ReadOnly), _) => true,
        (Deed::Fail(Errno::NoSpace), Some(flags)) => flags & libc::O_CREAT != 0 && !file.exists(),
        // To cut a file off needs no space.
        (Deed::Fail(Errno::NoSpace), None) => call != Call::Truncate,
        (Deed::Fail(Errno::Io) | Deed::Delay(_), flags) => flags.is_none(),
    }
}
