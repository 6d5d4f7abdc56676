//! Clients at work: one thread each, in an open or a closed loop.
//!
//! In an open loop every operation is due at a time that was fixed before the run. A client that is
//! kept waiting sends what has become due meanwhile as soon as it can, and that it was late is
//! counted: a system that stalls does not get fewer requests for it (no coordinated omission). In a
//! closed loop a client sends its next operation when it has the answer to the last.

use crate::clock::TrialClock;
use crate::recorder::Recorder;
use assay_sut::Client;
use assay_workload::{Call, Reply, Resend, Script};
use std::io;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

/// An operation that is sent later than this after it was due is late.
pub const LATE_NS_MIN: i64 = 10_000_000;
/// The longest nap of a client, so that it hears soon that it is to stop.
const NAP_MAX: Duration = Duration::from_millis(20);

/// What all clients of a trial share.
pub struct Crew<'t> {
    /// Where everything is written down.
    pub recorder: &'t Recorder,
    /// What time it is.
    pub clock: &'t TrialClock,
    /// The names of the nodes.
    pub nodes: &'t [String],
    /// When a client gives up waiting.
    pub timeout: Duration,
    /// How often an operation of unknown outcome is sent again, if it has an id.
    pub retries: u32,
    /// Whether that is another operation.
    pub resend: Resend,
    /// No operation is sent from then on, in milliseconds since the start.
    pub until_ms: AtomicU64,
    /// Set when everything is to end at once.
    pub stop: AtomicBool,
    /// Operations sent: the driver's own count, beside the recorder's.
    pub sent: AtomicU64,
    /// Operations without an answer yet.
    pub in_flight: AtomicU64,
    /// Operations that were sent late.
    pub late: AtomicU64,
    /// The latest of them, in nanoseconds.
    pub late_ns_max: AtomicU64,
    /// When each client last began or ended an operation, in nanoseconds of the trial.
    active_ns: Vec<AtomicI64>,
    next_process: AtomicU64,
}

/// How a client keeps time.
pub enum Pace {
    /// As fast as answers come.
    Closed,
    /// At these times, in nanoseconds since the start of the workload.
    Open(Box<dyn Iterator<Item = i64> + Send>),
}

impl<'t> Crew<'t> {
    /// A crew; `clients` of its processes are numbered from 0.
    pub fn new(
        recorder: &'t Recorder,
        clock: &'t TrialClock,
        nodes: &'t [String],
        clients: usize,
    ) -> Crew<'t> {
        Crew {
            recorder,
            clock,
            nodes,
            timeout: Duration::from_secs(1),
            retries: 0,
            resend: Resend::OwnOperation,
            until_ms: AtomicU64::new(u64::MAX),
            stop: AtomicBool::new(false),
            sent: AtomicU64::new(0),
            in_flight: AtomicU64::new(0),
            late: AtomicU64::new(0),
            late_ns_max: AtomicU64::new(0),
            active_ns: (0..clients).map(|_| AtomicI64::new(clock.now_ns())).collect(),
            next_process: AtomicU64::new(clients as u64),
        }
    }

    /// For how long the client that was idle the longest has done nothing, in milliseconds. One
    /// with nothing left to do is not idle.
    pub fn silent_ms(&self) -> u64 {
        let now = self.clock.now_ns();
        let idle = self.active_ns.iter().map(|at| now - at.load(Ordering::Relaxed).min(now));
        u64::try_from(idle.max().unwrap_or(0) / 1_000_000).unwrap_or(0)
    }

    fn note_active(&self, number: usize, at_ns: i64) {
        if let Some(active) = self.active_ns.get(number) {
            active.store(at_ns, Ordering::Relaxed);
        }
    }

    /// Works until the time is up, the script ends, everything is to stop, or the client is given
    /// up: it would fail whatever it is asked at once and without sending it.
    pub fn work(
        &self,
        number: usize,
        client: &mut dyn Client,
        script: &mut dyn Script,
        pace: Pace,
        start_ns: i64,
    ) -> io::Result<()> {
        let mut due = match pace {
            Pace::Closed => None,
            Pace::Open(times) => Some(times),
        };
        loop {
            let mut due_ns = None;
            if let Some(times) = &mut due {
                let Some(at) = times.next() else { return Ok(()) };
                if !self.wait_until(start_ns + at) {
                    return Ok(());
                }
                self.note_late(self.clock.now_ns() - (start_ns + at));
                due_ns = Some(start_ns + at);
            }
            if self.is_over() {
                return Ok(());
            }
            let Some(call) = script.next() else {
                self.note_active(number, i64::MAX);
                return Ok(());
            };
            self.note_active(number, self.clock.now_ns());
            let reply = self.send(number, number as u64, client, &call, due_ns)?;
            self.note_active(number, self.clock.now_ns());
            script.observe(&call, &reply);
            if client.is_given_up() {
                return Ok(());
            }
        }
    }

    /// A process nobody else has.
    pub fn new_process(&self) -> u64 {
        self.next_process.fetch_add(1, Ordering::Relaxed)
    }

    /// One operation by a process of its own, outside of the workload.
    pub fn alone(
        &self,
        process: u64,
        client: &mut dyn Client,
        call: &Call,
        time_max: Duration,
    ) -> io::Result<Reply> {
        self.recorded(0, process, call, None, |_| client.call(call, time_max))
    }

    /// One operation of the workload and, where it has an id, its retries.
    ///
    /// Most systems with ids give a retry the outcome of the first try. Then all tries together are
    /// one operation, from the first sending to the last answer; two operations would claim a
    /// second effect that nobody promised. Where each try has to be judged, each is recorded.
    pub fn send(
        &self,
        number: usize,
        process: u64,
        client: &mut dyn Client,
        call: &Call,
        due_ns: Option<i64>,
    ) -> io::Result<Reply> {
        let retries = if call.id.is_some() { self.retries } else { 0 };
        match self.resend {
            Resend::SameOperation => self.recorded(number, process, call, due_ns, |crew| {
                crew.until_known(retries, || client.call(call, crew.timeout))
            }),
            Resend::OwnOperation => {
                let (mut tries_left, mut due_ns) = (retries, due_ns);
                loop {
                    let timeout = self.timeout;
                    // Only the first try was due at a time; the others follow it.
                    let due_ns = due_ns.take();
                    let reply = self
                        .recorded(number, process, call, due_ns, |_| client.call(call, timeout))?;
                    let is_unknown = matches!(reply, Reply::Unknown { .. });
                    if !is_unknown || tries_left == 0 || self.stop.load(Ordering::Relaxed) {
                        return Ok(reply);
                    }
                    tries_left -= 1;
                }
            }
        }
    }

    /// Tries until the outcome is known. A failure after an unknown try says nothing about that
    /// try, so the whole stays unknown.
    fn until_known(&self, retries: u32, mut attempt: impl FnMut() -> Reply) -> Reply {
        let first = attempt();
        if !matches!(first, Reply::Unknown { .. }) {
            return first;
        }
        for _ in 0..retries {
            if self.stop.load(Ordering::Relaxed) {
                break;
            }
            let again = attempt();
            if matches!(again, Reply::Ok { .. }) {
                return again;
            }
        }
        first
    }

    fn recorded(
        &self,
        number: usize,
        process: u64,
        call: &Call,
        due_ns: Option<i64>,
        perform: impl FnOnce(&Self) -> Reply,
    ) -> io::Result<Reply> {
        let node = call.node.unwrap_or(number) % self.nodes.len().max(1);
        let name = self.nodes.get(node).map_or("", String::as_str);
        self.sent.fetch_add(1, Ordering::Relaxed);
        self.in_flight.fetch_add(1, Ordering::Relaxed);
        let written = self.recorder.invoke_due(process, call, name, due_ns);
        let reply = written.map(|op| {
            let reply = perform(self);
            self.recorder.complete(op, &reply);
            reply
        });
        self.in_flight.fetch_sub(1, Ordering::Relaxed);
        reply
    }

    pub(crate) fn is_over(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
            || self.clock.now_ms() >= self.until_ms.load(Ordering::Relaxed)
    }

    /// Waits for a time; says no if the work is over before.
    pub(crate) fn wait_until(&self, at_ns: i64) -> bool {
        loop {
            if self.is_over() {
                return false;
            }
            let Ok(left) = u64::try_from(at_ns - self.clock.now_ns()) else { return true };
            if left == 0 {
                return true;
            }
            std::thread::sleep(Duration::from_nanos(left).min(NAP_MAX));
        }
    }

    pub(crate) fn note_late(&self, by_ns: i64) {
        if by_ns >= LATE_NS_MIN {
            self.late.fetch_add(1, Ordering::Relaxed);
            self.late_ns_max.fetch_max(by_ns as u64, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recorder::Honesty;
    use serde_json::json;
    use std::sync::Arc;

    /// Answers by rule: the n-th call of each hundred is unknown.
    struct Echo {
        calls: u64,
        unknown_every: u64,
    }

    impl Client for Echo {
        fn call(&mut self, call: &Call, _: Duration) -> Reply {
            self.calls += 1;
            if self.calls.is_multiple_of(self.unknown_every) {
                return Reply::Unknown { error: "timeout".into(), node: None };
            }
            Reply::Ok { output: call.input.clone(), node: None, revision: None }
        }
    }

    /// Is given up with its third call.
    struct GivenUp(u64);

    impl Client for GivenUp {
        fn call(&mut self, _: &Call, _: Duration) -> Reply {
            self.0 += 1;
            Reply::Fail { error: "not sent".into(), node: None }
        }

        fn is_given_up(&self) -> bool {
            self.0 >= 3
        }
    }

    #[test]
    fn a_client_that_is_given_up_sends_nothing_more() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("history.jsonl");
        let clock = Arc::new(TrialClock::start());
        let recorder =
            Recorder::create(&path, Arc::clone(&clock), Honesty::Complete).expect("file");
        let nodes = ["n1".to_string()];
        let crew = Crew::new(&recorder, &clock, &nodes, 1);
        let mut script = Writes { left: u64::MAX, seen: Vec::new() };
        crew.work(0, &mut GivenUp(0), &mut script, Pace::Closed, 0).expect("recorded");
        assert_eq!(crew.sent.load(Ordering::Relaxed), 3, "it would go on for ever");
    }

    struct Writes {
        left: u64,
        seen: Vec<Reply>,
    }

    impl Script for Writes {
        fn next(&mut self) -> Option<Call> {
            self.left = self.left.checked_sub(1)?;
            let mut call = Call::new("write", Some(json!("x")), json!(self.left));
            call.id = Some(self.left.to_string());
            Some(call)
        }

        fn observe(&mut self, _: &Call, reply: &Reply) {
            self.seen.push(reply.clone());
        }
    }

    fn run(
        resend: Resend,
        retries: u32,
        unknown_every: u64,
        pace: Pace,
    ) -> (u64, Vec<Reply>, assay_history::History) {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("history.jsonl");
        let clock = Arc::new(TrialClock::start());
        let recorder =
            Recorder::create(&path, Arc::clone(&clock), Honesty::Complete).expect("file");
        let nodes = ["n1".to_string()];
        let mut crew = Crew::new(&recorder, &clock, &nodes, 1);
        (crew.retries, crew.resend) = (retries, resend);
        let mut script = Writes { left: 10, seen: Vec::new() };
        let mut client = Echo { calls: 0, unknown_every };
        crew.work(0, &mut client, &mut script, pace, 0).expect("recorded");
        let sent = crew.sent.load(Ordering::Relaxed);
        recorder.finish(sent).expect("finished");
        let file = std::fs::File::open(&path).expect("the file");
        let history = assay_history::read(file, &assay_history::ReadOptions::default());
        (sent, script.seen, history.expect("a history"))
    }

    #[test]
    fn tries_are_one_operation_or_many_as_the_system_promises() {
        for (resend, more) in [(Resend::OwnOperation, true), (Resend::SameOperation, false)] {
            let (sent, seen, history) = run(resend, 2, 3, Pace::Closed);
            assert_eq!(history.len() as u64, sent);
            assert_eq!(sent > 10, more, "{resend:?}");
            assert_eq!(seen.len(), 10, "the script hears of the last try only");
            assert!(seen.iter().all(|reply| matches!(reply, Reply::Ok { .. })));
            let findings = assay_history::validate(&history, &Default::default());
            assert!(findings.is_empty(), "{findings:?}");
        }
    }

    #[test]
    fn an_open_loop_sends_what_is_due_and_counts_what_is_late() {
        let due = Pace::Open(Box::new([0, 1_000, 2_000].into_iter()));
        let (sent, ..) = run(Resend::OwnOperation, 0, u64::MAX, due);
        assert_eq!(sent, 3, "no more than was due");
    }

    #[test]
    fn when_an_operation_was_due_is_in_the_history_and_never_after_it_was_sent() {
        let directory = tempfile::tempdir().expect("a directory");
        let clock = Arc::new(TrialClock::start());
        let path = directory.path().join("history.jsonl");
        let recorder = Recorder::create(&path, Arc::clone(&clock), Honesty::Complete);
        let recorder = recorder.expect("file");
        let call = Call::new("read", Some(json!("x")), json!(null));
        recorder.invoke(1, &call, "n1").expect("written");
        let now = clock.now_ns();
        recorder.invoke_due(2, &call, "n1", Some(now + 60_000_000_000)).expect("written");
        recorder.invoke_due(3, &call, "n1", Some(now - 5_000_000_000)).expect("written");
        let file = std::fs::File::open(&path).expect("the file");
        let history = assay_history::read(file, &Default::default()).expect("a history");
        let due = |op: &assay_history::Op| history.due_ts(op.index);
        let sent: Vec<_> = history.ops().map(|op| op.invoke_ts).collect();
        let due: Vec<_> = history.ops().map(|op| due(&op)).collect();
        assert_eq!(due, [None, Some(sent[1]), Some(now - 5_000_000_000)]);
    }
}
