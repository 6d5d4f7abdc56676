//! Writes down what clients do, each invocation before it is sent.
//!
//! The file is in the pair form of docs/formats/history.md. A process that is killed loses nothing
//! it was told: an invocation is handed to the kernel before `invoke` returns. Completions may wait
//! in memory for the next invocation; one that is lost with a killed recorder leaves an operation
//! of unknown outcome, which is true.
//!
//! Times are taken while the file is locked. So the windows of faults and the ends of operations
//! have one order, and an operation carries the epoch of a window exactly if it was open meanwhile.
//! Waiting for the lock makes an operation look longer, never shorter: that can hide an anomaly of
//! microseconds, and cannot invent one. For the same reason a clock that goes back is not followed:
//! what is written keeps the order in which it happened, and that the clock went back is counted.

use crate::clock::TrialClock;
use assay_workload::{Call, Reply};
use serde_json::Value;
use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard};

/// Latencies that are remembered, for percentiles of the last windows.
const LATENCIES_MAX: usize = 200_000;
/// A percentile of fewer operations says nothing.
const LATENCIES_MIN: usize = 10;

/// An operation that has been sent.
#[derive(Debug)]
pub struct OpenOp {
    id: u64,
    invoke_ns: i64,
    /// Kept back from the file; only where a test of the harness has the recorder cheat.
    unwritten: Option<Vec<u8>>,
}

/// A span of time in which a fault was on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Epoch {
    /// Its name.
    pub id: String,
    /// From.
    pub start_ns: i64,
    /// To; `None` while it is on.
    pub end_ns: Option<i64>,
}

impl Epoch {
    /// Whether it was on at some moment of a span.
    fn touches(&self, from: i64, to: i64) -> bool {
        self.start_ns <= to && self.end_ns.is_none_or(|end| end >= from)
    }

    /// Its line in the history.
    fn line(&self, end_ns: i64) -> String {
        let (id, start) = (quoted(&self.id), self.start_ns);
        format!(
            "{{\"event\":\"fault\",\"fault_epoch\":{id},\"start_ts\":{start},\
             \"end_ts\":{end_ns}}}\n"
        )
    }
}

/// Whether the recorder does its work, or a part of it on purpose not.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Honesty {
    /// It writes everything.
    #[default]
    Complete,
    /// It forgets operations that time out: the classic mistake, made to see whether it is noticed.
    ForgetsTimeouts,
}

/// Counts so far.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    /// Operations that took effect.
    pub ok: u64,
    /// Operations that did not.
    pub fail: u64,
    /// Operations of unknown outcome.
    pub unknown: u64,
    /// Operations that began or ended while a fault was on.
    pub in_fault: u64,
}

impl Counts {
    /// All that have ended.
    pub fn ended(&self) -> u64 {
        self.ok + self.fail + self.unknown
    }
}

struct Inner {
    file: File,
    /// Lines that are not in the file yet.
    waiting: Vec<u8>,
    next_id: u64,
    last_ns: i64,
    backwards: u64,
    epochs: Vec<Epoch>,
    counts: Counts,
    latencies: VecDeque<(i64, i64)>,
}

/// Writes the history of one trial.
pub struct Recorder {
    clock: Arc<TrialClock>,
    honesty: Honesty,
    inner: Mutex<Inner>,
}

impl Recorder {
    /// Begins a file; one that is there already is an error, because it is somebody's evidence.
    pub fn create(path: &Path, clock: Arc<TrialClock>, honesty: Honesty) -> io::Result<Recorder> {
        let file = File::options().append(true).create_new(true).open(path)?;
        let mut inner = Inner {
            file,
            waiting: Vec::with_capacity(64 << 10),
            next_id: 1,
            last_ns: 0,
            backwards: 0,
            epochs: Vec::new(),
            counts: Counts::default(),
            latencies: VecDeque::new(),
        };
        inner.waiting.extend_from_slice(
            b"{\"event\":\"header\",\"format\":\"assay-history\",\"version\":1,\
              \"clock\":\"monotonic\",\"time_unit\":\"ns\",\"pipelined\":false}\n",
        );
        inner.flush()?;
        Ok(Recorder { clock, honesty, inner: Mutex::new(inner) })
    }

    /// Writes that a call is about to be sent to `node`.
    pub fn invoke(&self, process: u64, call: &Call, node: &str) -> io::Result<OpenOp> {
        self.invoke_due(process, call, node, None)
    }

    /// The same for a call that was due at a time, which is written down, too: whoever measures
    /// latency counts from there, and whoever checks order from when it was sent.
    pub fn invoke_due(
        &self,
        process: u64,
        call: &Call,
        node: &str,
        due_ns: Option<i64>,
    ) -> io::Result<OpenOp> {
        let null = Value::Null;
        let key = call.key.as_ref().unwrap_or(&null);
        let tail = format!(
            ",\"op_type\":{},\"key\":{key},\"input\":{},\"node_seen\":{}",
            quoted(&call.op),
            call.input,
            quoted(node)
        );
        let mut inner = self.lock();
        let (id, now) = (inner.next_id, inner.now(&self.clock));
        inner.next_id += 1;
        // A clock that went back may say that it was sent before it was due: nothing is.
        let due = due_ns.map_or(String::new(), |due| format!(",\"due_ts\":{}", due.min(now)));
        let epoch = inner.epoch_of(now, now);
        let line = format!(
            "{{\"event\":\"invoke\",\"op_id\":{id},\"process_id\":{process},\"invoke_ts\":{now}\
             {tail},\"fault_epoch\":{epoch}{due}}}\n"
        );
        if self.honesty == Honesty::ForgetsTimeouts {
            return Ok(OpenOp { id, invoke_ns: now, unwritten: Some(line.into_bytes()) });
        }
        inner.waiting.extend_from_slice(line.as_bytes());
        inner.flush()?;
        Ok(OpenOp { id, invoke_ns: now, unwritten: None })
    }

    /// Writes what came of it. Gives how long it took, in nanoseconds.
    pub fn complete(&self, op: OpenOp, reply: &Reply) -> i64 {
        let (output, error, unknown, node, revision) = match reply {
            Reply::Ok { output, node, revision } => {
                (output.to_string(), "null".to_string(), false, node, *revision)
            }
            Reply::Fail { error, node } => ("null".into(), quoted(error), false, node, None),
            Reply::Unknown { error, node } => ("null".into(), quoted(error), true, node, None),
        };
        let node = node.as_deref().map_or("null".to_string(), quoted);
        let revision = revision.map_or(String::new(), |n| format!(",\"revision\":{n}"));
        let mut inner = self.lock();
        let now = inner.now(&self.clock);
        match reply {
            Reply::Ok { .. } => inner.counts.ok += 1,
            Reply::Fail { .. } => inner.counts.fail += 1,
            Reply::Unknown { .. } => inner.counts.unknown += 1,
        }
        let took = now - op.invoke_ns;
        inner.remember(now, took);
        let epoch = inner.epoch_of(op.invoke_ns, now);
        inner.counts.in_fault += u64::from(epoch != "null");
        if let Some(line) = op.unwritten {
            if unknown {
                return took;
            }
            inner.waiting.extend_from_slice(&line);
        }
        let (id, complete) = (op.id, if unknown { "null".into() } else { now.to_string() });
        let line = format!(
            "{{\"event\":\"complete\",\"op_id\":{id},\"complete_ts\":{complete},\
             \"output\":{output},\"error\":{error},\"timeout_marker\":{unknown},\
             \"node_seen\":{node},\"fault_epoch\":{epoch}{revision}}}\n"
        );
        inner.waiting.extend_from_slice(line.as_bytes());
        took
    }

    /// A fault is about to be injected.
    pub fn open_epoch(&self, id: &str) -> i64 {
        let mut inner = self.lock();
        let start_ns = inner.now(&self.clock);
        inner.epochs.push(Epoch { id: id.to_string(), start_ns, end_ns: None });
        start_ns
    }

    /// It is healed, and shown to be.
    pub fn close_epoch(&self, id: &str) -> i64 {
        let mut inner = self.lock();
        let now = inner.now(&self.clock);
        let Some(epoch) = inner.epochs.iter_mut().find(|epoch| epoch.id == id) else { return now };
        epoch.end_ns = Some(now);
        let line = epoch.line(now);
        inner.waiting.extend_from_slice(line.as_bytes());
        now
    }

    /// The windows that are open now.
    pub fn open_epochs(&self) -> Vec<String> {
        let inner = self.lock();
        let open = inner.epochs.iter().filter(|epoch| epoch.end_ns.is_none());
        open.map(|epoch| epoch.id.clone()).collect()
    }

    /// When the first window opened, if one has.
    pub fn first_epoch_ns(&self) -> Option<i64> {
        self.lock().epochs.iter().map(|epoch| epoch.start_ns).min()
    }

    /// Counts so far.
    pub fn counts(&self) -> Counts {
        self.lock().counts
    }

    /// The 99th percentile of how long operations took that were under way in the window that
    /// opened then, in nanoseconds; `None` if they are too few to tell. What began after it says
    /// nothing about it, and there may be so much of that that nothing else is seen. It counts from
    /// when they were sent: where clients cannot keep up they are later and later, with a fault or
    /// without, and that must not pass for a sign that one landed.
    pub fn latency_p99_ns(&self, start_ns: i64) -> Option<u64> {
        let inner = self.lock();
        let mut epochs = inner.epochs.iter().rev();
        let end_ns = epochs.find(|epoch| epoch.start_ns == start_ns).and_then(|epoch| epoch.end_ns);
        let recent = inner.latencies.iter().rev().take_while(|(ended, _)| *ended >= start_ns);
        let inside = recent.filter(|(ended, took)| end_ns.is_none_or(|end| ended - took <= end));
        p99(inside.map(|(_, took)| *took).collect())
    }

    /// The same of operations that ended in a span and that no fault has touched.
    pub fn calm_p99_ns(&self, from_ns: i64, to_ns: i64) -> Option<u64> {
        let inner = self.lock();
        let recent = inner.latencies.iter().rev().take_while(|(ended, _)| *ended >= from_ns);
        let is_over = |epoch: &&Epoch| epoch.start_ns < to_ns;
        let earlier: Vec<&Epoch> = inner.epochs.iter().filter(is_over).collect();
        let calm = recent.filter(|(ended, took)| {
            let touched = earlier.iter().any(|epoch| epoch.touches(ended - took, *ended));
            *ended < to_ns && !touched
        });
        p99(calm.map(|(_, took)| *took).collect())
    }

    /// How often the clock was behind the time written last.
    pub fn backwards(&self) -> u64 {
        self.lock().backwards
    }

    /// Ends the file with the driver's own count of operations sent, and syncs it. The number of
    /// operations recorded is left to whoever reads the file: a recorder cannot vouch for itself.
    /// A fault that was never healed is on until here.
    pub fn finish(&self, sent: u64) -> io::Result<()> {
        let mut inner = self.lock();
        let now = inner.last_ns.max(self.clock.recorded_ns());
        let open = inner.epochs.iter().filter(|epoch| epoch.end_ns.is_none());
        let open: String = open.map(|epoch| epoch.line(now)).collect();
        inner.waiting.extend_from_slice(open.as_bytes());
        let line = format!("{{\"event\":\"footer\",\"sent\":{sent}}}\n");
        inner.waiting.extend_from_slice(line.as_bytes());
        inner.flush()?;
        inner.file.sync_all()
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().expect("nothing panics while it holds the recorder")
    }
}

impl Inner {
    fn now(&mut self, clock: &TrialClock) -> i64 {
        let now = clock.recorded_ns();
        self.backwards += u64::from(now < self.last_ns);
        self.last_ns = self.last_ns.max(now);
        self.last_ns
    }

    /// The first window that was open at some moment of a span, as JSON.
    fn epoch_of(&self, from: i64, to: i64) -> String {
        let mut epochs = self.epochs.iter();
        epochs
            .find(|epoch| epoch.touches(from, to))
            .map_or("null".to_string(), |epoch| quoted(&epoch.id))
    }

    fn remember(&mut self, ended: i64, took: i64) {
        if self.latencies.len() == LATENCIES_MAX {
            self.latencies.pop_front();
        }
        self.latencies.push_back((ended, took));
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.write_all(&self.waiting)?;
        self.waiting.clear();
        Ok(())
    }
}

fn p99(mut took: Vec<i64>) -> Option<u64> {
    if took.len() < LATENCIES_MIN {
        return None;
    }
    let index = (took.len() - 1) * 99 / 100;
    let (_, p99, _) = took.select_nth_unstable(index);
    Some((*p99).max(0) as u64)
}

fn quoted(text: &str) -> String {
    Value::String(text.to_string()).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_history::{Outcome, ReadOptions, ValidateOptions, read, validate};
    use serde_json::json;

    fn ok(output: Value) -> Reply {
        Reply::Ok { output, node: Some("n2".into()), revision: Some(7) }
    }

    fn record(honesty: Honesty) -> (assay_history::History, Counts) {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("history.jsonl");
        let clock = Arc::new(TrialClock::start());
        let recorder = Recorder::create(&path, clock, honesty).expect("a file");
        let call = |op: &str, input| Call::new(op, Some(json!("x")), input);
        let write = recorder.invoke(0, &call("write", json!(5)), "n1").expect("written");
        let before = std::fs::read_to_string(&path).expect("text");
        let written = before.contains("\"op_type\":\"write\"");
        assert_eq!(written, honesty == Honesty::Complete, "before it is sent");
        recorder.open_epoch("pause-1");
        recorder.complete(write, &ok(Value::Null));
        let read_op = recorder.invoke(1, &call("read", Value::Null), "n2").expect("written");
        let unknown = Reply::Unknown { error: "timeout".into(), node: None };
        recorder.complete(read_op, &unknown);
        recorder.close_epoch("pause-1");
        let last = recorder.invoke(0, &call("read", Value::Null), "n1").expect("written");
        recorder.complete(last, &Reply::Fail { error: "no".into(), node: None });
        recorder.finish(3).expect("finished");
        let file = File::open(&path).expect("the file");
        (read(file, &ReadOptions::default()).expect("a history"), recorder.counts())
    }

    #[test]
    fn what_is_written_is_a_valid_history_with_epochs_and_outcomes() {
        let (history, counts) = record(Honesty::Complete);
        assert_eq!(history.len(), 3);
        let outcomes: Vec<Outcome> = history.ops().map(|op| op.outcome()).collect();
        assert_eq!(outcomes, [Outcome::Ok, Outcome::Unknown, Outcome::Fail]);
        assert_eq!((counts.ok, counts.fail, counts.unknown, counts.in_fault), (1, 1, 1, 2));
        let findings = validate(&history, &ValidateOptions::default());
        assert!(findings.is_empty(), "{findings:?}");
    }

    #[test]
    fn a_clock_that_jumps_changes_no_order_and_is_counted() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("history.jsonl");
        let clock = Arc::new(TrialClock::start());
        let recorder = Recorder::create(&path, Arc::clone(&clock), Honesty::Complete);
        let recorder = recorder.expect("a file");
        let call = Call::new("write", Some(json!("x")), json!(5));
        clock.skew(3_000_000_000);
        recorder.open_epoch("pause-1");
        let write = recorder.invoke(0, &call, "n1").expect("written");
        clock.skew(0);
        assert!(recorder.complete(write, &ok(Value::Null)) >= 0);
        recorder.close_epoch("pause-1");
        recorder.finish(1).expect("finished");
        assert_eq!(recorder.backwards(), 2);
        let file = File::open(&path).expect("the file");
        let history = read(file, &ReadOptions::default()).expect("a history");
        let findings = validate(&history, &ValidateOptions::default());
        assert!(findings.is_empty(), "{findings:?}");
    }

    #[test]
    fn an_operation_that_spans_a_whole_window_carries_its_epoch() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("history.jsonl");
        let clock = Arc::new(TrialClock::start());
        let recorder = Recorder::create(&path, clock, Honesty::Complete).expect("a file");
        let call = Call::new("read", Some(json!("x")), Value::Null);
        let long = recorder.invoke(0, &call, "n1").expect("written");
        recorder.open_epoch("pause-1");
        recorder.close_epoch("pause-1");
        recorder.complete(long, &ok(json!(1)));
        let after = recorder.invoke(0, &call, "n1").expect("written");
        recorder.complete(after, &ok(json!(1)));
        assert_eq!(recorder.counts().in_fault, 1, "the long one, and not the one after");
    }

    #[test]
    fn a_fault_that_is_never_healed_is_on_until_the_end() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("history.jsonl");
        let clock = Arc::new(TrialClock::start());
        let recorder = Recorder::create(&path, clock, Honesty::Complete).expect("a file");
        recorder.open_epoch("kill9-1");
        let call = Call::new("read", Some(json!("x")), Value::Null);
        let last = recorder.invoke(0, &call, "n1").expect("written");
        recorder.complete(last, &ok(json!(1)));
        recorder.finish(1).expect("finished");
        let file = File::open(&path).expect("the file");
        let history = read(file, &ReadOptions::default()).expect("a history");
        let findings = validate(&history, &ValidateOptions::default());
        assert!(findings.is_empty(), "{findings:?}");
        let text = std::fs::read_to_string(&path).expect("text");
        let lines = text.lines().filter(|line| line.contains("\"event\":\"fault\"")).count();
        assert_eq!((lines, recorder.counts().in_fault), (1, 1), "{text}");
    }

    #[test]
    fn a_recorder_that_forgets_timeouts_is_found_out_by_the_counts() {
        let (history, counts) = record(Honesty::ForgetsTimeouts);
        assert_eq!((history.len(), counts.ended()), (2, 3));
        assert_eq!(history.meta.sent, Some(3));
    }
}
