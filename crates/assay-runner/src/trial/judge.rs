//! What the checkers say about the history of a trial.

use super::record::{JudgedRecord, SharpnessRecord, TrialRecord};
use super::{Surroundings, TrialError, trouble};
use crate::event::RunEvent;
use crate::sabotage::Sabotage;
use crate::spec::CheckChoice;
use assay_history::{History, ReadOptions};
use assay_judge::{Ask, Judgement, Limits, Panel};
use assay_verdict::{Calibration, Checker, HistoryFields, Outcome};
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
    let ask = Ask {
        names: &choice.names,
        options: &choice.options,
        model: choice.model.as_deref(),
        model_options: &choice.model_options,
    };
    Panel::new(&ask).map_err(|error| format!("checker: {error}"))
}

/// Reads the history back, has it judged, and measures how sharp the checkers are on it.
pub fn judge(
    panel: &Panel,
    path: &Path,
    record: &mut TrialRecord,
    around: &Surroundings<'_>,
) -> Result<(), TrialError> {
    let file = File::open(path).map_err(|error| trouble("cannot read the history", error))?;
    let history = match assay_history::read(file, &ReadOptions::default()) {
        Ok(history) => history,
        Err(error) => {
            record.judged = JudgedRecord::unreadable(error.to_string());
            return Ok(());
        }
    };
    record.operations.recorded = history.len() as u64;
    let always_passes = around.sabotage == Some(Sabotage::CheckerAlwaysPasses);
    let judgement = blinded(panel.judge(&history, &limits()), always_passes);
    record.judged = JudgedRecord::of(&judgement, &history);
    if record.clock_jumps > 0 {
        let jumps = record.clock_jumps;
        let lacks = format!("a clock that never jumps ({jumps} jumps were seen)");
        record.judged.history = HistoryFields::Lacks(vec![lacks]);
    }
    if judgement.outcome == Outcome::Upheld {
        record.sharpness = Some(sharpness(panel, &history, record.spec.seed, around));
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

fn sharpness(
    panel: &Panel,
    history: &History,
    seed: u64,
    around: &Surroundings<'_>,
) -> SharpnessRecord {
    let mut sharp = SharpnessRecord::of(&panel.calibrate(history, around.plants, seed, &limits()));
    if around.sabotage == Some(Sabotage::CheckerAlwaysPasses) {
        // A checker that says yes to everything says yes to planted anomalies, too.
        sharp.rows.iter_mut().for_each(|row| row.3 = 0);
        if let Calibration::Done { caught, .. } = &mut sharp.calibration {
            *caught = 0;
        }
    }
    sharp
}

fn blinded(mut judgement: Judgement, always_passes: bool) -> Judgement {
    if always_passes && judgement.checker() == Checker::Completed {
        judgement.outcome = Outcome::Upheld;
        judgement.anomalies.clear();
        judgement.anomalies_total = 0;
    }
    judgement
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
