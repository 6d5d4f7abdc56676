//! Linearizability checkers: how they are called, and what their reports mean for a panel.

use crate::deadline::within;
use crate::judgement::{Anomaly, Certificate, Limits};
use crate::picture::{self, Picture};
use crate::seat::{Cut, Part, Settings};
use assay_check::{Answer, Budget, CheckError, CheckOptions, ModelKind, Refutation, Report};
use assay_history::{History, ValueId};
use assay_verdict::{Outcome, Undecided};
use std::time::Duration;

/// The history as the model takes it in, and the value registers begin with.
pub(crate) fn prepare<'h>(
    history: &'h History,
    model: ModelKind,
    settings: &Settings,
) -> (Cut<'h>, ValueId) {
    let verbs = model.info().verbs;
    let mut cut = Cut::without_dumps(history, |name| verbs.iter().any(|&(verb, _)| verb == name));
    if settings.initial == "null" {
        return (cut, ValueId::NULL);
    }
    // The value needs an id of the history's own pool, and histories do not change.
    let values = &mut cut.history.to_mut().values;
    let initial = values.parse_json(&settings.initial).expect("it was parsed for the panel");
    (cut, initial)
}

pub(crate) fn judge(
    history: &History,
    model: ModelKind,
    settings: &Settings,
    limits: &Limits,
    time: Duration,
) -> Part {
    let (cut, initial) = prepare(history, model, settings);
    let budget = Budget::new(limits.memory_bytes, limits.states);
    let options = CheckOptions { initial, budget: Some(&budget), ..CheckOptions::new(model) };
    let report = within(time, || budget.stop(), || assay_check::check(&cut.history, &options));
    match report {
        Ok(report) => part(&cut, model, &report),
        Err(error) => Part::unfit(history.len(), unfit(&error)),
    }
}

fn unfit(error: &CheckError) -> String {
    format!("line {}: {}", error.line, error.message)
}

fn part(cut: &Cut<'_>, model: ModelKind, report: &Report) -> Part {
    let history = &*cut.history;
    let outcome = match report.answer {
        Answer::Refuted => Outcome::Refuted,
        Answer::Undecided => Outcome::Undecided,
        Answer::Linearizable if report.ops_known == 0 => Outcome::NothingChecked,
        Answer::Linearizable => Outcome::Upheld,
    };
    let open: Vec<ValueId> = report.unfinished.iter().map(|one| one.part.key).collect();
    let consumed = cut.marked(|op| !open.contains(&history.key(history.op(op).key)));
    let mut part = Part::new(outcome, consumed);
    part.ops_judged = report.ops_checked as u64;
    part.anomalies = report.refutations.iter().map(|one| anomaly(cut, model, one)).collect();
    part.anomalies_total = (report.refutations.len() + report.refuted_not_shown) as u64;
    for one in &report.unfinished {
        part.undecided = Some(Undecided::BudgetExhausted);
        part.undecided_because.push(format!(
            "{}: the budget ran out; {} of {} operations can be explained",
            named(history, &one.part),
            one.prefix_ops,
            one.part.ops
        ));
    }
    part.evidence.push(format!(
        "{} operations on {} objects, {} decided without search, {} by search ({} configurations)",
        report.ops_checked,
        report.parts,
        report.parts_special,
        report.parts_search,
        report.configurations
    ));
    part.checked_again().settled()
}

fn named(history: &History, part: &assay_check::PartReport) -> String {
    let object = picture::object(history, part);
    if object.is_empty() { "the object".to_string() } else { object }
}

fn anomaly(cut: &Cut<'_>, model: ModelKind, refutation: &Refutation) -> Anomaly {
    let history = &*cut.history;
    let key = refutation.part.key;
    Anomaly {
        checker: format!("linearizability:{}", model.name()),
        kind: "not-linearizable".to_string(),
        title: format!(
            "{}: {}",
            named(history, &refutation.part),
            refutation.explanation.first().map_or("no order explains it", String::as_str)
        ),
        explanation: refutation.explanation.clone(),
        key: (!key.is_null()).then(|| history.values.show(key).to_string()),
        ops: refutation.core.iter().map(|&op| cut.place(op)).collect(),
        certificate: Certificate::of(assay_check::verify(history, &refutation.certificate)),
        picture: Some(Picture::Timeline(picture::refutation(history, model, refutation))),
    }
}
