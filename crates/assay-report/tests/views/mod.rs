//! Made-up runs to look at: the example record with histories that fit it.

// Each user of this file needs a part of it.
#![allow(dead_code)]

use assay_report::Outcome;
use assay_report::run::{
    FindingView, MarkView, OpRow, OpTable, Quiescence, Rerun, RunView, TrialView, WindowView, read,
};
use assay_report::{Bar, Lane, Role, Timeline, svg};
use assay_verdict::{Check, Signal};

/// The record all of them start from.
const EXAMPLE: &str = include_str!("../run/example.json");

const PROCESSES: u64 = 12;
const KEYS: u64 = 40;
const NODES: u64 = 5;
/// A trial is so long, whatever the number of operations in it.
pub const DURATION_NS: u64 = 60_000_000_000;
const FAULTS_NS: [(u64, u64); 2] =
    [(12_000_000_000, 21_000_000_000), (36_000_000_000, 44_500_000_000)];

/// A run with everything on it, and `ops` operations in each of its trials.
pub fn everything(ops: usize) -> RunView {
    let record = read(EXAMPLE).expect("the example is a run record");
    let mut trials: Vec<TrialView> =
        [11, 12].into_iter().map(|seed| trial("S1", seed, "hardening", ops)).collect();
    trials.push(broken("hardening", ops));
    trials.push(broken("reproduce", ops));
    RunView { record, trials, findings: vec![witness()] }
}

/// The same with one trial, which shows an anomaly.
pub fn one_trial(ops: usize) -> RunView {
    let record = read(EXAMPLE).expect("the example is a run record");
    RunView { record, trials: vec![broken("hardening", ops)], findings: vec![witness()] }
}

fn broken(purpose: &str, ops: usize) -> TrialView {
    let mut trial = trial("S2", 11, purpose, ops);
    let title = "order 8812 was delivered twice".to_string();
    let marks = [ops * 23 / 100, ops * 71 / 100];
    trial.marks = marks.map(|op| MarkView { op, title: title.clone() }).into();
    trial
}

fn trial(scenario: &str, seed: u64, purpose: &str, ops: usize) -> TrialView {
    let window = |&(start_ns, end_ns): &(u64, u64)| WindowView {
        label: "leader cut off, one way".into(),
        start_ns,
        end_ns: Some(end_ns),
        injector: Signal::counted("packets dropped", 0, 14_712, 14_712),
        victim: Signal::counted("timeouts per second", 0, 142, 0),
        healed: Check::Clean("all 5 nodes reach each other again, 41 ms after".into()),
    };
    let mut windows: Vec<WindowView> = FAULTS_NS.iter().map(window).collect();
    windows[1].label = "disk of n2 slow".into();
    windows[1].victim = Signal { during: None, ..windows[1].victim.clone() };
    TrialView {
        scenario: scenario.into(),
        arm: scenario.into(),
        seed,
        purpose: purpose.into(),
        duration_ns: DURATION_NS,
        ops: operations(seed, ops),
        counts: None,
        ops_left_out: String::new(),
        windows,
        marks: Vec::new(),
        quiescence: Quiescence {
            none_in_flight: Check::Clean("0 of 12 processes wait".into()),
            nothing_pending: Check::Clean("queues of 5 nodes are empty".into()),
            replicas_converged: Check::Unknown("n2 was not asked".into()),
        },
    }
}

/// Operations of which some run into the faults.
fn operations(seed: u64, ops: usize) -> OpTable {
    let mut random = Random(seed);
    let mut table = OpTable::default();
    let mut free = [0_u64; PROCESSES as usize];
    let pace = DURATION_NS / (ops as u64).max(1) * PROCESSES;
    for i in 0..ops as u64 {
        let process = i % PROCESSES;
        let slot = i / PROCESSES * pace + random.below(pace / 4 + 1);
        let start_ns = slot.max(free[process as usize]);
        let usual = 100_000 + random.below(pace / 3 + 1) * random.below(100) / 60;
        let key = random.below(KEYS);
        let struck = FAULTS_NS.iter().any(|&(from, to)| (from..to).contains(&start_ns));
        let (outcome, took) = match random.below(100) {
            0..8 if struck => (Outcome::Unknown, usual + pace),
            8..20 if struck => (Outcome::Fail, usual / 2),
            _ if struck => (Outcome::Ok, usual * 2),
            0 => (Outcome::Fail, usual / 2),
            _ => (Outcome::Ok, usual),
        };
        free[process as usize] = start_ns + took + 1;
        let (write, number) = (random.below(2) == 0, i.to_string());
        table.push(&OpRow {
            process: &process.to_string(),
            start_ns,
            end_ns: (outcome != Outcome::Unknown || i % 2 == 0).then_some(start_ns + took),
            late_ns: None,
            outcome,
            kind: if write { "enqueue" } else { "dequeue" },
            key: &format!("order-{key}"),
            node: &format!("n{}", 1 + i % NODES),
            epoch: if struck { "fault" } else { "calm" },
            input: if write { &number } else { "" },
            output: if outcome == Outcome::Ok && !write { &number } else { "" },
        });
    }
    table
}

fn witness() -> FindingView {
    let bar = |lane, start, end, label: &str| Bar {
        lane,
        start,
        end: Some(end),
        label: label.into(),
        ..Bar::default()
    };
    let timeline = Timeline {
        title: "order 8812 is delivered twice".into(),
        lanes: vec![Lane::new("process 3"), Lane::new("process 7")],
        bars: vec![
            bar(0, 0, 400, "enqueue 8812"),
            bar(0, 600, 900, "dequeue → 8812"),
            Bar { role: Role::Refuted, ..bar(1, 1_500, 1_900, "dequeue → 8812") },
        ],
        ..Timeline::default()
    };
    let rerun = |changed: &str, violated, says: &str| Rerun {
        changed: changed.into(),
        runs: 3,
        violated,
        says: says.into(),
    };
    FindingView {
        finding: "F1".into(),
        witness: vec![
            "Process 3 put order 8812 into the queue, once.".into(),
            "Process 3 took order 8812 and acknowledged it before the broker was killed.".into(),
            "Process 7 took order 8812 again, 600 ms after that acknowledgement.".into(),
        ],
        picture: svg(&timeline),
        reruns: vec![
            rerun("nothing: the same seed", 3, "it is no accident"),
            rerun("another host", 3, "it is not this machine"),
            rerun("a queue in memory instead of the system", 0, "harness and checker are sound"),
        ],
    }
}

/// Numbers that look random and are the same each time.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit.max(1)
    }
}
