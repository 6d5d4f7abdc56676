//! What the page of a run shows beside its record: histories, fault windows, witnesses.

use crate::directory::RunDirectory;
use crate::faults::window::WindowRecord;
use crate::investigate::Investigation;
use crate::record::Material;
use crate::scenario::{ArmEnd, ArmRun};
use crate::trial::{HISTORY_PACKED, TrialRecord};
use assay_history::{History, Outcome, ReadOptions};
use assay_report::run::{
    FindingView, MarkView, OpRow, OpTable, Quiescence, Rerun, RunRecord, RunView, TrialView,
    WindowView,
};
use assay_verdict::Check;
use std::fs::File;
use std::path::Path;

/// Operations of all trials that are shown; what comes then is told by its numbers only.
const OPS_SHOWN_MAX: usize = 2_000_000;

/// The view of a run. A history that cannot be read any more leaves its trial without operations:
/// the page says so, and everything else stands.
pub fn view(material: &Material<'_>, record: &RunRecord, directory: &RunDirectory) -> RunView {
    let (mut trials, mut findings, mut shown) = (Vec::new(), Vec::new(), 0);
    for scenario in &material.scenarios {
        for (arm, _, end) in &scenario.arms {
            let ArmEnd::Ran(run) = end else { continue };
            for (name, trial) in &run.trials {
                let path = directory.trial(arm, name).join(HISTORY_PACKED);
                let mut view = trial_view(&scenario.id, arm, trial);
                if shown < OPS_SHOWN_MAX {
                    view.ops = operations(&path, trial.start_ns);
                    shown += view.ops.len();
                }
                let known = view.ops.len();
                view.marks.retain(|mark| mark.op < known);
                trials.push(view);
            }
            findings.extend(finding_view(run, findings.len() + 1));
        }
    }
    RunView { record: record.clone(), trials, findings }
}

fn trial_view(scenario: &str, arm: &str, trial: &TrialRecord) -> TrialView {
    let since = |ns: i64| u64::try_from(ns - trial.start_ns).unwrap_or(0);
    let marks = trial.judged.anomalies.iter().flat_map(|anomaly| {
        let mark = |op: &u32| MarkView { op: *op as usize, title: anomaly.title.clone() };
        anomaly.ops.iter().map(mark)
    });
    TrialView {
        scenario: scenario.to_string(),
        arm: arm.split_once('/').map_or(arm, |(_, arm)| arm).to_string(),
        seed: trial.spec.seed,
        purpose: trial.purpose.name().to_string(),
        duration_ns: trial.workload_ms * 1_000_000,
        ops: OpTable::default(),
        windows: trial.windows.iter().filter_map(|window| window_view(window, since)).collect(),
        marks: marks.collect(),
        quiescence: Quiescence {
            none_in_flight: shown(&trial.quiescence.in_flight, "0 "),
            nothing_pending: shown(&trial.quiescence.pending, "yes"),
            replicas_converged: shown(&trial.quiescence.converged, "yes"),
        },
    }
}

fn shown(text: &str, clean: &str) -> Check {
    match text {
        text if text.starts_with(clean) => Check::Clean(text.to_string()),
        text if text.starts_with("unknown") => Check::Unknown(text.to_string()),
        text => Check::Raised(text.to_string()),
    }
}

fn window_view(window: &WindowRecord, since: impl Fn(i64) -> u64) -> Option<WindowView> {
    let landing = window.landings.first()?;
    Some(WindowView {
        label: format!("{}: {} of {}", window.id, window.fault, window.target),
        start_ns: since(window.start_ns?),
        end_ns: window.end_ns.map(since),
        injector: landing.injector.clone(),
        victim: landing.victim.clone(),
        healed: match &window.trouble {
            Some(trouble) => Check::Raised(trouble.clone()),
            None => Check::Clean([window.undone.join("; "), window.proof.join("; ")].join(" — ")),
        },
    })
}

fn operations(path: &Path, start_ns: i64) -> OpTable {
    let read = File::open(path)
        .ok()
        .and_then(|file| assay_history::read(file, &ReadOptions::default()).ok());
    read.map_or_else(OpTable::default, |history| table(&history, start_ns))
}

fn table(history: &History, start_ns: i64) -> OpTable {
    let mut ops = OpTable::default();
    let since = |ns: i64| u64::try_from(ns - start_ns).unwrap_or(0);
    let null = |text: String| if text == "null" { String::new() } else { text };
    let text = |value: assay_history::ValueId| null(history.values.show(value).to_string());
    for op in history.ops() {
        let process = text(history.process(op.process));
        let key = text(history.key(op.key));
        let (node, epoch) = (text(op.node_seen), text(op.fault_epoch));
        let (input, output) = (text(op.input), text(op.output));
        let error = text(op.error);
        ops.push(&OpRow {
            process: &process,
            start_ns: since(op.invoke_ts),
            end_ns: op.complete_ts.map(since),
            late_ns: None,
            outcome: match op.outcome() {
                Outcome::Ok => assay_report::Outcome::Ok,
                Outcome::Fail => assay_report::Outcome::Fail,
                Outcome::Unknown => assay_report::Outcome::Unknown,
            },
            kind: history.type_name(op.op_type),
            key: &key,
            node: &node,
            epoch: &epoch,
            input: &input,
            output: if error.is_empty() { &output } else { &error },
        });
    }
    ops
}

fn finding_view(run: &ArmRun, number: usize) -> Option<FindingView> {
    let found = run.investigation.as_ref()?;
    let anomaly = found.first.judged.anomalies.first();
    let witness = anomaly.map(|anomaly| anomaly.story()).unwrap_or_default();
    let picture = anomaly.and_then(|anomaly| anomaly.picture.clone()).unwrap_or_default();
    Some(FindingView { finding: format!("F{number}"), witness, picture, reruns: reruns(found) })
}

fn reruns(found: &Investigation) -> Vec<Rerun> {
    let row = |changed: &str, runs: u64, violated: u64, says: &str| Rerun {
        changed: changed.to_string(),
        runs,
        violated,
        says: says.to_string(),
    };
    let [runs, violated] = found.reruns;
    let mut rows = vec![row("nothing: the same seed", runs, violated, "whether it comes back")];
    if let Some(shows) = found.tells.other_generator_shows_it {
        let says = "shows: not an artefact of one generator";
        rows.push(row("another generator", 1, u64::from(shows), says));
    }
    if let Some(shows) = found.tells.shows_without_fault {
        let says = "whether the fault is needed";
        rows.push(row("no fault at all", 1, u64::from(shows), says));
    }
    rows
}
