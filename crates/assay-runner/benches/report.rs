//! What the report of a large run takes, from its files to its page: `make bench`.
//!
//! A run directory is made up with one trial of a million operations, recorded as a run records
//! them. Then happens what `assay report --html` does: the record and the packed history are read,
//! the documents and the page are made, and the page is written to a file.

use assay_history::{Builder, Completion, Invocation, Packing, write_jsonl, write_packed};
use assay_plan::machine::Machine;
use assay_report::run::{RunRecord, page, read, render};
use assay_runner::arm::{self, Depth};
use assay_runner::event::Purpose;
use assay_runner::trial::{
    HISTORY_PACKED, JudgedRecord, LogRecord, OperationCounts, QuiescenceRecord, RECORD_NAME,
    TrialRecord,
};
use std::fs::File;
use std::path::Path;
use std::time::{Duration, Instant};

/// Operations of the run; a number as an argument says otherwise.
const OPS: u64 = 1_000_000;
/// The aim for all of it.
const AIM: Duration = Duration::from_secs(10);
const DURATION_NS: i64 = 60_000_000_000;
const RECORD: &str = include_str!("../../assay-report/tests/run/example.json");
/// Where the trial is, in the directory of the run.
const TRIAL: &str = "artifacts/S1/hardening-seed-1";
const BLOCK: &str = r#"
seed = 1
[system]
name = "kv"
nodes = 3
[workload]
generator = "register"
clients = 12
rate = 20000
keys = 40
mix = { read = 1, write = 1 }
timeout = "1s"
[checker]
name = "linearizability:register"
[budget]
release = "not provided — one machine. Revisit when: there are more."
[budget.smoke]
duration = "60s"
faults = 0
seeds = 1
"#;

/// Writes a history with times at which operations were due, several keys, clients and nodes.
fn history(path: &Path, ops: u64) {
    let mut builder = Builder::new();
    let nodes = ["n1", "n2", "n3"].map(|node| builder.values().str(node));
    let step_ns = DURATION_NS / ops.max(1) as i64;
    for number in 0..ops as i64 {
        let due = number * step_ns;
        let values = builder.values();
        let (process, input) = (values.int(number % 12), values.int(number));
        let key = values.str(&format!("order-{}", number * 7 % 40));
        let call = Invocation {
            node_seen: nodes[number as usize % nodes.len()],
            ..Invocation::new(process, "write", due + number % 50 * 1_000).key(key).input(input)
        };
        let sent = call.ts;
        let op = builder.invoke(call);
        builder.due(op, due);
        match number % 1_000 {
            0 => builder.complete(op, Completion::unknown()),
            took => builder.complete(op, Completion::at(sent + took * 1_000).output(input)),
        }
    }
    let mut file = File::create(path).expect("a file");
    let history = builder.finish();
    write_packed(Packing::Zstd, &mut file, |out| write_jsonl(&history, out)).expect("written");
}

fn trial(ops: u64) -> TrialRecord {
    let machine: Machine = toml_edit::de::from_str(BLOCK).expect("a machine block");
    let tier = arm::tier(&machine, Depth::Smoke).expect("a tier");
    TrialRecord {
        spec: arm::trial("S1", &machine, &tier, 1).expect("a trial"),
        purpose: Purpose::Hardening,
        started: "2026-01-01T00:00:00Z".to_string(),
        ended: "2026-01-01T00:01:00Z".to_string(),
        start_ns: 0,
        workload_ms: DURATION_NS as u64 / 1_000_000,
        operations: OperationCounts {
            sent: ops,
            sent_in_time: ops,
            recorded: ops,
            ok: ops - ops.div_ceil(1_000),
            unknown: ops.div_ceil(1_000),
            ..OperationCounts::default()
        },
        windows: Vec::new(),
        health: None,
        quiescence: QuiescenceRecord::default(),
        bypasses: Vec::new(),
        turned_away: 0,
        frames_lost: 0,
        lost: Vec::new(),
        down: Vec::new(),
        unwatched: None,
        silent_ms: None,
        finals_cut: false,
        clock_jumps: 0,
        log: LogRecord::default(),
        elections: None,
        judged: JudgedRecord::unreadable("made up".to_string()),
        sharpness: None,
    }
}

/// Makes the directory of a run. Gives the file of its record.
fn made_up(root: &Path, ops: u64) -> std::path::PathBuf {
    let directory = root.join(TRIAL);
    std::fs::create_dir_all(&directory).expect("a directory");
    history(&directory.join(HISTORY_PACKED), ops);
    let text = serde_json::to_vec(&trial(ops)).expect("a trial is JSON");
    std::fs::write(directory.join(RECORD_NAME), text).expect("written");
    let mut record: RunRecord = read(RECORD).expect("the example is a run record");
    record.scenarios[0].arms[0].artifacts = vec![format!("{TRIAL}/{HISTORY_PACKED}")];
    let path = root.join("results.json");
    let text = serde_json::to_vec(&record).expect("a record is JSON");
    std::fs::write(&path, text).expect("written");
    path
}

fn main() {
    let ops = std::env::args().find_map(|arg| arg.parse().ok()).unwrap_or(OPS);
    let directory = tempfile::tempdir().expect("a directory");
    let results = made_up(directory.path(), ops);
    let packed = directory.path().join(TRIAL).join(HISTORY_PACKED);
    let packed = std::fs::metadata(packed).expect("a history").len();
    println!("\nreport of a run, {ops} operations in one trial, {packed} bytes of packed history");
    let begun = Instant::now();
    let mut last = begun;
    let mut step = |what: &str| {
        println!("  {what:<34} {:>8.0} ms", last.elapsed().as_secs_f64() * 1e3);
        last = Instant::now();
    };
    let text = std::fs::read_to_string(&results).expect("a record");
    let record = read(&text).expect("a record");
    let documents = render(&record).expect("the example can be reported");
    step("record read, documents made");
    let view = assay_runner::page::view_of_old(&record, directory.path());
    step("history read, table made");
    let html = page(&view).expect("the example can be reported");
    step("page made");
    std::fs::write(directory.path().join("report.html"), &html).expect("written");
    step("page written");
    let took = begun.elapsed();
    // What was timed is what was meant: the operations are on the page.
    let shown: usize = view.trials.iter().map(|trial| trial.ops.len()).sum();
    assert_eq!(shown as u64, ops, "the page does not show the operations");
    assert!(!documents.is_empty());
    println!(
        "  all of it {:>33.0} ms   {} bytes   aim: under {} s: {}",
        took.as_secs_f64() * 1e3,
        html.len(),
        AIM.as_secs(),
        if took < AIM { "met" } else { "missed" }
    );
}
