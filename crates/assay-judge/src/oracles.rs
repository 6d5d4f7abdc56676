//! All other checkers: how they are called, and what their reports mean for a panel.

use crate::judgement::{Anomaly, Certificate};
use crate::picture::{self, Picture};
use crate::seat::{Part, Settings};
use assay_history::History;
use assay_oracle::{Answer, CheckReport, Oracle, knows_verb, verify};
use assay_verdict::audit::OracleKind;
use assay_verdict::{Outcome, Undecided};

/// The longest title; the whole sentence stands in the explanation.
const TITLE_CHARS_MAX: usize = 160;

pub(crate) fn judge(
    history: &History,
    oracle: &dyn Oracle,
    looks_at: OracleKind,
    settings: &Settings,
) -> Part {
    let report = match oracle.check(history, &settings.oracle) {
        Ok(report) => report,
        Err(error) => return Part::unfit(history.len(), error.to_string()),
    };
    let outcome = match report.answer {
        Answer::Upheld => Outcome::Upheld,
        Answer::Refuted => Outcome::Refuted,
        Answer::Undecided => Outcome::Undecided,
        Answer::NothingChecked => Outcome::NothingChecked,
    };
    // What is measured has no type; what is judged by its meaning must be understood.
    let measured = looks_at == OracleKind::ServiceLevels;
    let known: Vec<bool> =
        history.types().map(|t| measured || knows_verb(history.type_name(t))).collect();
    let consumed = history.glances().map(|op| known[op.op_type.0 as usize]).collect();
    let mut part = Part::new(outcome, consumed);
    part.ops_judged = report.ops_checked as u64;
    part.anomalies = anomalies(history, &report, settings);
    part.anomalies_total = report.anomaly_count() as u64;
    if outcome == Outcome::Undecided {
        part.undecided = Some(match is_whole(history) {
            true => Undecided::WrongChecker,
            false => Undecided::HistoryCutShort,
        });
        part.lacks.clone_from(&report.undecided_because);
    }
    part.undecided_because = report.undecided_because;
    part.scope_not_covered = report.scope_not_covered;
    part.evidence = report.evidence;
    part.checked_again().settled()
}

/// Whether the history ends where its run did, as far as it says so itself.
pub(crate) fn is_whole(history: &History) -> bool {
    let held = history.len() as u64;
    let agrees = |count: Option<u64>| count.is_none_or(|count| count == held);
    let meta = &history.meta;
    agrees(meta.sent) && agrees(meta.recorded) && meta.torn_tail.is_none()
}

fn anomalies(history: &History, report: &CheckReport, settings: &Settings) -> Vec<Anomaly> {
    let reference = settings.oracle.reference.as_deref();
    let one = |found: &assay_oracle::Anomaly| {
        let key = found.ops.first().map(|&op| history.key(history.op(op).key));
        let mut title: String = found.explanation.chars().take(TITLE_CHARS_MAX).collect();
        if title.len() < found.explanation.len() {
            title.push('…');
        }
        let verified = verify(history, reference, &found.certificate);
        let timeline = picture::operations(history, &found.kind, &found.ops);
        Anomaly {
            checker: report.checker.to_string(),
            kind: found.kind.to_string(),
            title: format!("{}: {title}", found.kind),
            explanation: vec![found.explanation.clone()],
            key: key.filter(|key| !key.is_null()).map(|key| history.values.show(key).to_string()),
            ops: found.ops.clone(),
            certificate: Certificate::of(verified.map_err(|why| why.to_string())),
            picture: (!found.ops.is_empty()).then_some(Picture::Timeline(timeline)),
        }
    };
    report.anomalies.iter().map(one).collect()
}
