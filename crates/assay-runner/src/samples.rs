//! A machine block, and records of trials in which everything went well: what tests make worse.

use crate::arm::{self, Depth};
use crate::event::Purpose;
use crate::faults::action::Cutting;
use crate::faults::window::WindowRecord;
use crate::spec::TrialSpec;
use crate::trial::{
    AnomalyRecord, HealthRecord, JudgedRecord, LogRecord, OperationCounts, QuiescenceRecord,
    SharpnessRecord, TrialRecord,
};
use assay_plan::machine::Machine;
use assay_report::run::Planted;
use assay_verdict::{Calibration, Checker, HistoryFields, Landing, Outcome, Signal};

const BLOCK: &str = r#"
seed = 1
[system]
name = "kv"
nodes = 3
[workload]
generator = "register"
clients = 4
rate = 100
keys = 4
mix = { read = 1, write = 1 }
timeout = "1s"
[[nemesis]]
fault = "part-asym"
target = "leader -> others"
at = "1s"
for = "1s"
every = "3s"
landing = { injector = "bytes-dropped > 0", victim = "timeouts > 0" }
[checker]
name = "linearizability:register"
[budget]
release = "not provided — one machine. Revisit when: there are more."
[budget.smoke]
duration = "3s"
faults = 1
seeds = 1
[budget.hardening]
duration = "10s"
faults = 2
seeds = 3
clients = 8
"#;

/// The block, with a checker of this name.
pub fn machine(checker: &str) -> Machine {
    let text = BLOCK.replace("linearizability:register", checker);
    toml_edit::de::from_str(&text).expect("a machine block")
}

/// A trial of the block.
pub fn spec(machine: &Machine, depth: Depth, seed: u64) -> TrialSpec {
    let tier = arm::tier(machine, depth).expect("a tier");
    arm::trial("S1", machine, &tier, seed).expect("a trial")
}

/// A trial of it in which everything went well.
pub fn clean(spec: &TrialSpec) -> TrialRecord {
    const OPS: u64 = 1_000;
    let sent = 100 * spec.duration_ms / 1_000;
    TrialRecord {
        spec: spec.clone(),
        purpose: Purpose::Hardening,
        started: "2026-01-01T00:00:00Z".to_string(),
        ended: "2026-01-01T00:00:10Z".to_string(),
        start_ns: 0,
        workload_ms: spec.duration_ms,
        operations: OperationCounts {
            sent: OPS,
            sent_in_time: sent,
            recorded: OPS,
            ok: OPS,
            in_fault: 100,
            ..OperationCounts::default()
        },
        windows: spec.windows.iter().map(|window| landed(&window.id, &window.fault)).collect(),
        health: Some(HealthRecord { baseline: 100, after: 100 }),
        quiescence: QuiescenceRecord {
            in_flight: "0 operations in flight".to_string(),
            pending: "yes: nothing".to_string(),
            converged: "yes: all the same".to_string(),
            shown: true,
        },
        bypasses: Vec::new(),
        turned_away: 0,
        frames_lost: 0,
        lost: Vec::new(),
        down: Vec::new(),
        unwatched: None,
        silent_ms: None,
        finals_cut: false,
        clock_jumps: 0,
        log: LogRecord { lines: 10, ..LogRecord::default() },
        elections: None,
        judged: JudgedRecord {
            outcome: Outcome::Upheld,
            checker: Checker::Completed,
            ops_in: OPS,
            consumed: OPS,
            history: HistoryFields::Complete,
            ..JudgedRecord::unreadable(String::new())
        },
        sharpness: Some(SharpnessRecord {
            calibration: Calibration::Done { planted: 10, caught: 10 },
            rows: vec![Planted {
                checker: "linearizability:register".to_string(),
                kind: "stale-read".to_string(),
                planted: 12,
                caught: 11,
                certain: 10,
                certain_caught: 10,
            }],
            left_out: Vec::new(),
        }),
    }
}

/// The same trial with an anomaly of three operations that was complete after so many ms.
pub fn refuted(spec: &TrialSpec, after_ms: u64) -> TrialRecord {
    let mut record = clean(spec);
    record.sharpness = None;
    record.judged.outcome = Outcome::Refuted;
    record.judged.anomalies_total = 1;
    record.judged.anomalies = vec![AnomalyRecord {
        checker: "linearizability:register".to_string(),
        kind: "not-linearizable".to_string(),
        title: "k1: no order explains it".to_string(),
        explanation: Vec::new(),
        key: Some("k1".to_string()),
        ops: vec![3, 5, 8],
        until_ns: Some(i64::try_from(after_ms * 1_000_000).expect("a short time")),
        verified: Some(true),
        picture: None,
    }];
    record
}

fn landed(id: &str, fault: &str) -> WindowRecord {
    WindowRecord {
        id: id.to_string(),
        fault: fault.to_string(),
        target: "n1".to_string(),
        start_ns: Some(1_000_000_000),
        end_ns: Some(2_000_000_000),
        landings: vec![Landing {
            fault: format!("{id} of n1"),
            injector: Signal::counted("chunks dropped", 0, 9, 9),
            victim: Signal::counted("timeouts", 0, 5, 5),
        }],
        parts: Vec::new(),
        undone: Vec::new(),
        proof: Vec::new(),
        trouble: None,
        unhealed: None,
        awaited: None,
        frames_lost: 0,
        cutting: Cutting::Asymmetric,
    }
}
