//! What the page of a run shows beside its record: histories, fault windows, witnesses.

use crate::directory::RunDirectory;
use crate::faults::window::WindowRecord;
use crate::files::read_json;
use crate::investigate::Investigation;
use crate::record::Material;
use crate::scenario::{ArmEnd, INVESTIGATION_NAME};
use crate::trial::{HISTORY_PACKED, RECORD_NAME, TrialRecord};
use assay_history::{History, Outcome, ReadOptions};
use assay_report::run::{
    FindingView, MarkView, OpCounts, OpRow, OpTable, Quiescence, Rerun, RunRecord, RunView,
    TrialView, WindowView,
};
use assay_verdict::Check;
use std::borrow::Cow;
use std::fs::File;
use std::path::{Path, PathBuf};

/// Operations of all trials that are shown; what comes then is told by its numbers only.
const OPS_SHOWN_MAX: u64 = 2_000_000;

/// A trial with where it belongs and where it is.
struct Shown<'t> {
    scenario: &'t str,
    arm: String,
    directory: PathBuf,
    trial: Cow<'t, TrialRecord>,
}

/// The view of a run. A history that cannot be read any more leaves its trial without operations:
/// the page says so, and everything else stands.
pub fn view(material: &Material<'_>, record: &RunRecord, directory: &RunDirectory) -> RunView {
    let (mut trials, mut findings) = (Vec::new(), Vec::new());
    for scenario in &material.scenarios {
        for (arm, _, end) in &scenario.arms {
            let ArmEnd::Ran(run) = end else { continue };
            trials.extend(run.trials.iter().map(|(name, trial)| Shown {
                scenario: &scenario.id,
                arm: arm.clone(),
                directory: directory.trial(arm, name),
                trial: Cow::Borrowed(trial),
            }));
            let found = run.investigation.as_ref();
            findings.extend(found.map(|found| finding_view(found, findings.len() + 1)));
        }
    }
    assembled(record, trials, findings)
}

/// The view of a run that is over, from its record and what lies beside it. What is no longer there
/// is not on the page.
pub fn view_of_old(record: &RunRecord, root: &Path) -> RunView {
    let (mut trials, mut findings) = (Vec::new(), Vec::new());
    for scenario in &record.scenarios {
        for arm in &scenario.arms {
            let directories: Vec<&Path> =
                arm.artifacts.iter().filter_map(|path| Path::new(path).parent()).collect();
            for directory in &directories {
                let directory = root.join(directory);
                let Ok(Some(trial)) = read_json::<TrialRecord>(&directory.join(RECORD_NAME)) else {
                    continue;
                };
                let (scenario, arm, trial) = (&scenario.id, arm.id.clone(), Cow::Owned(trial));
                trials.push(Shown { scenario, arm, directory, trial });
            }
            let above = directories.first().and_then(|directory| directory.parent());
            let found = above.and_then(|above| {
                let path = root.join(above).join(INVESTIGATION_NAME);
                read_json::<Investigation>(&path).ok().flatten()
            });
            findings.extend(found.map(|found| finding_view(&found, findings.len() + 1)));
        }
    }
    findings.truncate(record.findings.len());
    assembled(record, trials, findings)
}

fn assembled(record: &RunRecord, trials: Vec<Shown<'_>>, findings: Vec<FindingView>) -> RunView {
    let sizes = trials.iter().map(|shown| {
        let trial = &shown.trial;
        (trial.is_violation(), trial.operations.recorded)
    });
    let chosen = chosen(&sizes.collect::<Vec<_>>());
    let view = |(shown, is_chosen): (Shown<'_>, bool)| {
        let trial = &*shown.trial;
        let mut view = trial_view(shown.scenario, &shown.arm, trial);
        if !is_chosen {
            view.ops_left_out = format!("a page shows at most {OPS_SHOWN_MAX} in all trials");
            return view;
        }
        match operations(&shown.directory, trial.start_ns) {
            Some(ops) => view.ops = ops,
            None => view.ops_left_out = "their history cannot be read any more".to_string(),
        }
        view
    };
    let trials = trials.into_iter().zip(chosen).map(view).collect();
    RunView { record: record.clone(), trials, findings }
}

/// Which trials show their operations: those with a violation first, then the others in their
/// order, each as a whole and as long as there is room. The first is shown in any case: a page
/// with nothing to look at helps nobody.
fn chosen(trials: &[(bool, u64)]) -> Vec<bool> {
    let mut order: Vec<usize> = (0..trials.len()).collect();
    order.sort_by_key(|&at| !trials[at].0);
    let (mut used, mut shown) = (0, vec![false; trials.len()]);
    for at in order {
        let ops = trials[at].1;
        shown[at] = used == 0 || used + ops <= OPS_SHOWN_MAX;
        used += if shown[at] { ops } else { 0 };
    }
    shown
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
        counts: Some(OpCounts {
            ok: trial.operations.ok,
            fail: trial.operations.fail,
            unknown: trial.operations.unknown,
        }),
        ops_left_out: String::new(),
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
        healed: match window.trouble() {
            Some(trouble) => Check::Raised(trouble.to_string()),
            None => Check::Clean([window.undone.join("; "), window.proof.join("; ")].join(" — ")),
        },
    })
}

fn operations(directory: &Path, start_ns: i64) -> Option<OpTable> {
    let read = File::open(directory.join(HISTORY_PACKED))
        .ok()
        .and_then(|file| assay_history::read(file, &ReadOptions::default()).ok());
    read.map(|history| table(&history, start_ns))
}

/// The operations; where they were due at times, with how late they were sent.
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
            late_ns: history
                .has_due_times()
                .then(|| (op.invoke_ts - history.wanted_ts(&op)).unsigned_abs()),
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

fn finding_view(found: &Investigation, number: usize) -> FindingView {
    let anomaly = found.first.judged.anomalies.first();
    let witness = anomaly.map(|anomaly| anomaly.story()).unwrap_or_default();
    let picture = anomaly.and_then(|anomaly| anomaly.picture.clone()).unwrap_or_default();
    FindingView { finding: format!("F{number}"), witness, picture, reruns: reruns(found) }
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
        let name = found.tells.other_generator.as_deref().unwrap_or("not named");
        let says = "shows: not an artefact of one generator";
        rows.push(row(&format!("another generator: {name}"), 1, u64::from(shows), says));
    }
    if let Some(shows) = found.tells.other_draws_show_it {
        let says = "shows: not an artefact of one seed";
        let changed = "the same generator: another seed, pace and choice of keys";
        rows.push(row(changed, 1, u64::from(shows), says));
    }
    if let Some(shows) = found.tells.shows_without_fault {
        let says = "whether the fault is needed";
        rows.push(row("no fault at all", 1, u64::from(shows), says));
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arm::Depth;
    use crate::samples::{clean, machine, spec};

    /// What the page says of the first window of a trial after something was done to it.
    #[test]
    fn only_what_was_undone_is_called_healed() {
        type Done = fn(&mut WindowRecord);
        let rows: [(Done, bool, &str); 4] = [
            (|w| w.undone.push("n1 reaches n2".to_string()), true, "n1 reaches n2"),
            (|w| w.unhealed = Some("n2 did not start".to_string()), false, "n2 did not start"),
            (|w| w.unhealed = Some("it took too long".to_string()), false, "it took too long"),
            (|w| w.trouble = Some("no such process".to_string()), false, "no such process"),
        ];
        let spec = spec(&machine("linearizability:register"), Depth::Hardening, 1);
        for (done, is_healed, words) in rows {
            let mut trial = clean(&spec);
            done(&mut trial.windows[0]);
            let view = trial_view("S1", "S1", &trial);
            let healed = &view.windows[0].healed;
            assert_eq!(matches!(healed, Check::Clean(_)), is_healed, "{healed:?}");
            assert!(healed.text().contains(words), "{healed:?}");
        }
    }

    #[test]
    fn what_was_refuted_is_shown_first_and_nothing_is_shown_in_part() {
        let most = OPS_SHOWN_MAX;
        type Row<'r> = (&'r [(bool, u64)], &'r [bool]);
        let rows: [Row<'_>; 5] = [
            (&[(false, 10), (true, 10)], &[true, true]),
            (&[(false, most), (true, 10)], &[false, true]),
            (&[(false, most - 10), (true, 10), (false, 1)], &[true, true, false]),
            (&[(false, most + 1), (false, 5)], &[true, false]),
            (&[], &[]),
        ];
        for (trials, expected) in rows {
            assert_eq!(chosen(trials), expected, "{trials:?}");
        }
    }
}
