//! What the checkers say about the history of a trial.

use super::metrics;
use super::record::{JudgedRecord, SharpnessRecord, TrialRecord};
use super::{Surroundings, TrialError, trouble};
use crate::event::{Phase, RunEvent};
use crate::spec::CheckChoice;
use assay_history::ReadOptions;
use assay_judge::{Ask, Limits, Panel, PanelError};
use assay_verdict::{Calibration, HistoryFields, Outcome};
use std::fs::File;
use std::io;
use std::path::Path;
use std::time::Duration;

/// How long the checkers of one trial may take, and their calibration again.
const CHECK_TIME_MAX: Duration = Duration::from_secs(60);
/// How hard histories are packed: a good part of what there is to gain, at hardly any cost.
const ZSTD_LEVEL: i32 = 3;

fn limits() -> Limits {
    Limits { time: CHECK_TIME_MAX, ..Limits::default() }
}

/// The checkers of a trial, ready to judge; everything that can be wrong with them is wrong here.
pub fn panel(choice: &CheckChoice) -> Result<Panel, String> {
    Panel::new(&ask(choice)).map_err(|error| format!("checker: {error}"))
}

/// Whether the checkers of a trial pass what is known to be good and refute what is known to be
/// bad: `Ok(Err(_))` says which of them does not.
///
/// # Errors
/// If there are no such checkers, so that nobody can be tested.
pub fn self_test(choice: &CheckChoice) -> Result<Result<(), String>, String> {
    match Panel::new(&ask(choice)) {
        Ok(_) => Ok(Ok(())),
        Err(error @ PanelError::SelfTest { .. }) => Ok(Err(error.to_string())),
        Err(error) => Err(error.to_string()),
    }
}

fn ask(choice: &CheckChoice) -> Ask<'_> {
    Ask {
        names: &choice.names,
        options: &choice.options,
        model: choice.model.as_deref(),
        model_options: &choice.model_options,
    }
}

/// Reads the history back, has it judged, and measures how sharp the checkers are on it.
pub fn judge(
    panel: &Panel,
    path: &Path,
    record: &mut TrialRecord,
    around: &Surroundings<'_>,
) -> Result<(), TrialError> {
    around.events.begin(Phase::Judging, Some(CHECK_TIME_MAX));
    let file = File::open(path).map_err(|error| trouble("cannot read the history", error))?;
    let history = match assay_history::read(file, &ReadOptions::default()) {
        Ok(history) => history,
        Err(error) => {
            record.judged = JudgedRecord::unreadable(error.to_string());
            return Ok(());
        }
    };
    record.operations.recorded = history.len() as u64;
    let figures = metrics::lines(&history, record.start_ns, &record.windows);
    std::fs::write(path.with_file_name(metrics::METRICS_NAME), figures)
        .map_err(|error| trouble("cannot write the figures", error))?;
    let judgement = panel.judge(&history, &limits());
    record.judged = JudgedRecord::of(&judgement, &history);
    record.judged.groups = panel.groups(&history);
    let lacks = lacks(panel, record);
    lower(&mut record.judged.history, lacks);
    if judgement.outcome == Outcome::Upheld {
        around.events.begin(Phase::Calibrating, Some(CHECK_TIME_MAX));
        let calibrated = panel.calibrate(&history, around.plants, record.spec.seed, &limits());
        record.sharpness = Some(SharpnessRecord::of(&calibrated));
    }
    let caught = record.sharpness.as_ref().and_then(|sharp| match sharp.calibration {
        Calibration::Done { planted, caught } => Some([caught, planted]),
        Calibration::NotDone => None,
    });
    around.events.emit(&RunEvent::Judged {
        outcome: record.judged.outcome,
        consumed: record.judged.consumed,
        anomalies: record.judged.anomalies_total,
        caught,
    });
    Ok(())
}

/// What a history cannot show because of how its trial went, whatever its columns hold. What the
/// harness did to it is another matter: [`TrialRecord::spoiled`].
fn lacks(panel: &Panel, record: &TrialRecord) -> Vec<String> {
    let mut lacks = Vec::new();
    if record.finals_cut {
        let seconds = super::FINAL_SILENCE_MAX.as_secs();
        lacks.push(format!("last reads (the system did not answer them for {seconds} s)"));
    }
    let readers = panel.needing_rest();
    let rest = &record.quiescence;
    if !readers.is_empty() && !rest.shown {
        lacks.push(format!(
            "a system at rest, whose final state {} reads (in flight: {}; nothing pending: {}; \
             replicas converged: {})",
            readers.join(" and "),
            rest.in_flight,
            rest.pending,
            rest.converged
        ));
    }
    lacks
}

fn lower(history: &mut HistoryFields, lacks: Vec<String>) {
    match history {
        _ if lacks.is_empty() => {}
        HistoryFields::Lacks(fields) | HistoryFields::Spoiled(fields) => fields.extend(lacks),
        HistoryFields::Complete | HistoryFields::Unknown => *history = HistoryFields::Lacks(lacks),
    }
}

/// Packs a history; the plain file goes when the packed one is safe.
pub fn pack(path: &Path) -> io::Result<()> {
    let packed = path.with_extension("jsonl.zst");
    let mut target = tempfile_beside(&packed)?;
    zstd::stream::copy_encode(File::open(path)?, &mut target.0, ZSTD_LEVEL)?;
    target.0.sync_all()?;
    std::fs::rename(&target.1, &packed)?;
    std::fs::remove_file(path)
}

fn tempfile_beside(path: &Path) -> io::Result<(File, std::path::PathBuf)> {
    let unfinished = path.with_extension("zst.unfinished");
    Ok((File::create(&unfinished)?, unfinished))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arm::Depth;
    use crate::samples::{clean, machine, spec};

    #[test]
    fn what_was_left_out_keeps_a_trial_from_passing() {
        let spec = spec(&machine("linearizability:register"), Depth::Hardening, 1);
        let panel = panel(&spec.check).expect("a checker");
        assert_eq!(lacks(&panel, &clean(&spec)), Vec::<String>::new());
        let cut = TrialRecord { finals_cut: true, ..clean(&spec) };
        let said = lacks(&panel, &cut);
        assert!(said[0].contains("last reads"), "{said:?}");
    }

    /// What a trial lacks whose system was asked about its rest in vain, by checker.
    #[test]
    fn only_a_system_at_rest_has_a_final_state_to_be_judged() {
        let rows = [
            ("linearizability:register", "no: n1 is behind", false),
            ("no-lost-ack", "no: n1 is behind", true),
            ("no-lost-ack", "unknown: the description has no [quiescence.pending]", true),
            ("no-lost-ack", "yes: all the same", false),
            ("replicas", "no: n1 is behind", true),
            ("membership", "unknown: nobody says so", true),
        ];
        for (checker, pending, lacking) in rows {
            let spec = spec(&machine(checker), Depth::Hardening, 1);
            let panel = panel(&spec.check).expect("a checker");
            let mut record = clean(&spec);
            record.quiescence.pending = pending.to_string();
            record.quiescence.shown = pending.starts_with("yes");
            let lacks = lacks(&panel, &record);
            lower(&mut record.judged.history, lacks);
            match record.judged.history {
                HistoryFields::Lacks(fields) => {
                    assert!(lacking, "{checker}, {pending}: {fields:?}");
                    assert!(fields[0].contains("a system at rest"), "{fields:?}");
                    assert!(fields[0].contains(pending), "{fields:?}");
                }
                other => assert!(!lacking, "{checker}, {pending}: {other:?}"),
            }
        }
    }
}
