//! The plan of the defects as trials, and how they are run: by `assay reproduce`, two at a time.
//!
//! The plan has two scenarios for each defect of the embedded store, an honest one and a canary.
//! Nobody wires the two together by hand: they belong together if their trials are the same but for
//! the defect. So a canary that is made easier than its honest twin has no twin any more, and
//! [`table`] says so.

use assay_plan::machine::{Expectation, Machine};
use assay_runner::arm::{self, Depth};
use assay_runner::spec::TrialSpec;
use assay_runner::trial::TrialRecord;
use assay_verdict::Outcome;
use serde_json::{Value, json};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

const PLAN: &str = include_str!("../../../../examples/plans/kv-defects.md");
/// Each trial is three nodes, their proxies and their clients: more would wait for each other.
const TRIALS_AT_ONCE: usize = 2;
/// A trial of a few seconds that takes longer than this hangs.
const TRIAL_TIME_MAX: Duration = Duration::from_secs(180);
/// How often to look whether a trial is over.
const LOOK_STEP: Duration = Duration::from_millis(50);
/// What `assay reproduce` says when the violation shows, and when it does not.
const SHOWS: i32 = 1;
const DOES_NOT: i32 = 0;

/// A defect, and the two scenarios about it.
pub struct Row {
    /// Its name.
    pub defect: String,
    /// Who is to find it.
    pub checker: String,
    honest: Scenario,
    canary: Scenario,
}

/// Which store a trial is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Store {
    /// Without any defect: the claim is upheld.
    Honest,
    /// With one: the claim is refuted.
    Defective,
}

struct Scenario {
    id: String,
    machine: Machine,
}

impl Scenario {
    /// A trial of the smallest tier: what it finds, the larger ones find as well.
    fn trial(&self, seed: u64) -> TrialSpec {
        let tier = arm::tier(&self.machine, Depth::Smoke).expect("the plan has a smoke budget");
        arm::trial(&self.id, &self.machine, &tier, seed).expect("the plan can be run")
    }
}

impl Row {
    /// One trial.
    pub fn trial(&self, store: Store, seed: u64) -> TrialSpec {
        match store {
            Store::Honest => self.honest.trial(seed),
            Store::Defective => self.canary.trial(seed),
        }
    }
}

/// The rows of the plan, in its order.
pub fn table() -> Vec<Row> {
    let plan = assay_plan::parse(PLAN);
    let scenarios = plan.scenarios.iter().map(|scenario| {
        let block = scenario.block.as_ref().expect("every scenario has a machine block");
        Scenario { id: scenario.id.to_string(), machine: block.machine.clone() }
    });
    let is_canary = |s: &Scenario| s.machine.expect == Some(Expectation::Refuted);
    let (canaries, mut honest): (Vec<_>, Vec<_>) = scenarios.partition(is_canary);
    let rows = canaries.into_iter().map(|canary| {
        let spec = canary.trial(1);
        let twin = honest.iter().position(|one| {
            without_defects(&one.trial(1), &spec.scenario) == without_defects(&spec, &spec.scenario)
                && defects(&one.trial(1)).is_empty()
        });
        let twin = twin.unwrap_or_else(|| panic!("{} has no honest twin", canary.id));
        let [defect] = &defects(&spec)[..] else { panic!("{} has one defect", canary.id) };
        let (defect, checker) = (defect.clone(), spec.check.names.join(", "));
        Row { defect, checker, honest: honest.remove(twin), canary }
    });
    let rows = rows.collect();
    let lonely: Vec<&str> = honest.iter().map(|one| one.id.as_str()).collect();
    assert!(lonely.is_empty(), "without a canary their pass is worth nothing: {lonely:?}");
    rows
}

fn defects(spec: &TrialSpec) -> Vec<String> {
    let names = spec.system.options.get("defects").and_then(Value::as_array);
    let name = |name: &Value| name.as_str().unwrap_or_default().to_string();
    names.into_iter().flatten().map(name).collect()
}

fn without_defects(spec: &TrialSpec, name: &str) -> TrialSpec {
    let mut spec = TrialSpec { scenario: name.to_string(), ..spec.clone() };
    spec.system.options.insert("defects".to_string(), json!([]));
    spec
}

/// How a trial ended.
pub struct Ended {
    /// What was run.
    pub spec: TrialSpec,
    /// What was written about it.
    pub record: Result<TrialRecord, String>,
    status: ExitStatus,
}

impl Ended {
    /// Why this is not what such a store must show; nothing if it is.
    pub fn complaint(&self, store: Store) -> Option<String> {
        let record = match &self.record {
            Ok(record) => record,
            Err(why) => return Some(why.clone()),
        };
        let (code, landed) = (self.status.code(), record.landed());
        let unlanded = landed < record.windows.len() as u64;
        match store {
            Store::Defective if code == Some(SHOWS) => None,
            Store::Honest if unlanded => Some(format!("a fault did not land: {}", record.result())),
            Store::Honest if code == Some(DOES_NOT) && is_upheld(record) => None,
            _ => Some(format!("{}: {}", self.status, record.result())),
        }
    }
}

fn is_upheld(record: &TrialRecord) -> bool {
    record.judged.outcome == Outcome::Upheld
}

/// Where the trials of this program are written, so that each can be run again by hand.
pub fn place() -> PathBuf {
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join("defects");
    std::fs::create_dir_all(&place).expect("the directory of the build can be written");
    place
}

/// The file of a trial, written.
pub fn write(spec: &TrialSpec) -> PathBuf {
    let file = place().join(format!("{}-seed-{}.json", spec.scenario, spec.seed));
    let text = serde_json::to_string_pretty(spec).expect("a trial is JSON");
    std::fs::write(&file, text).expect("the trial can be written");
    file
}

/// Runs trials, [`TRIALS_AT_ONCE`]; `watch` hears of each as it ends. In the order of `specs`.
pub fn run_all(specs: &[TrialSpec], watch: impl Fn(&Ended) + Sync) -> Vec<Ended> {
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..TRIALS_AT_ONCE.min(specs.len()) {
            scope.spawn(|| {
                while let Some((number, spec)) = take(&next, specs) {
                    let ended = run(spec);
                    watch(&ended);
                    done.lock().expect("nothing panics while it holds this").push((number, ended));
                }
            });
        }
    });
    let mut done = done.into_inner().expect("nothing panics while it holds this");
    done.sort_by_key(|(number, _)| *number);
    done.into_iter().map(|(_, ended)| ended).collect()
}

fn take<'s>(next: &AtomicUsize, specs: &'s [TrialSpec]) -> Option<(usize, &'s TrialSpec)> {
    let number = next.fetch_add(1, Ordering::Relaxed);
    specs.get(number).map(|spec| (number, spec))
}

fn run(spec: &TrialSpec) -> Ended {
    let file = write(spec);
    let (out, err) = (file.with_extension("out"), file.with_extension("err"));
    let create = |path: &Path| File::create(path).expect("the answer can be written");
    let child = Command::new(env!("CARGO_BIN_EXE_assay"))
        .args(["reproduce", "--format", "json"])
        .arg(&file)
        .stdout(create(&out))
        .stderr(create(&err))
        .spawn();
    let status = wait(child.expect("assay runs"), &file);
    let read = |path: &Path| std::fs::read_to_string(path).expect("the answer can be read");
    let record = recorded(&read(&out)).map_err(|why| format!("{status}: {why}: {}", read(&err)));
    Ended { spec: spec.clone(), record, status }
}

fn recorded(text: &str) -> Result<TrialRecord, String> {
    let mut value: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let fields = value.as_object_mut().ok_or("no record")?;
    // Said by the command, not a part of the record.
    for name in ["reproduced", "tries", "could_not_have_shown"] {
        fields.remove(name);
    }
    serde_json::from_value(value).map_err(|error| error.to_string())
}

fn wait(mut child: Child, file: &Path) -> ExitStatus {
    let until = Instant::now() + TRIAL_TIME_MAX;
    loop {
        if let Some(status) = child.try_wait().expect("a child can be waited for") {
            return status;
        }
        if Instant::now() >= until {
            child.kill().expect("a child can be killed");
            child.wait().expect("a killed child ends");
            panic!("no end after {TRIAL_TIME_MAX:?}: assay reproduce {}", file.display());
        }
        thread::park_timeout(LOOK_STEP);
    }
}
