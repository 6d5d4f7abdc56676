//! Isolation checkers: how they are called, and what their reports mean for a panel.

use crate::deadline::within;
use crate::judgement::{Anomaly, Certificate, Limits};
use crate::picture::{self, Picture};
use crate::seat::{Cut, Part, Search, Settings};
use assay_history::{History, OpIndex, ReadError, Style, Txns};
use assay_txn::{Assume, CheckOptions, Report, SearchResult, explain, verify};
use assay_verdict::{Outcome, Undecided};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How many anomalies of each kind are told.
const OF_EACH_KIND_MAX: usize = 3;

/// The transactions of a history, and how to check them. A footer that counts as many operations
/// as there are proves that every write is here.
pub(crate) fn prepare<'h>(
    history: &'h History,
    style: Style,
    settings: &Settings,
    limits: &Limits,
) -> Result<(Cut<'h>, Txns, CheckOptions), ReadError> {
    let cut = Cut::without_dumps(history, |_| false);
    let txns = Txns::from_history(cut.history.clone().into_owned(), style)?;
    let counted = history.meta.sent == Some(history.len() as u64);
    let options = CheckOptions {
        recording_complete: settings.check.recording_complete || counted,
        bytes_max: limits.memory_bytes,
        ..settings.check
    };
    Ok((cut, txns, options))
}

pub(crate) fn judge(
    history: &History,
    style: Style,
    settings: &Settings,
    limits: &Limits,
    time: Duration,
) -> Part {
    let (cut, txns, options) = match prepare(history, style, settings, limits) {
        Ok(prepared) => prepared,
        Err(error) => return Part::unfit(history.len(), error.to_string()),
    };
    let mut report = match assay_txn::check(&txns, &options) {
        Ok(report) => report,
        Err(error) => {
            return Part::undecided(history.len(), Undecided::BudgetExhausted, error.to_string());
        }
    };
    if let Err(why) = prove(&txns, settings, limits, time, &mut report) {
        let why = format!("{why}: an order that was found does not hold. This is a bug in Assay");
        return Part::undecided(history.len(), Undecided::Crashed, why);
    }
    part(&cut, &txns, settings, &report)
}

fn prove(
    txns: &Txns,
    settings: &Settings,
    limits: &Limits,
    time: Duration,
    report: &mut Report,
) -> Result<(), String> {
    match settings.search {
        Search::Never => return Ok(()),
        Search::Auto if report.assume != Assume::default() => return Ok(()),
        Search::Auto | Search::Always => {}
    }
    let stop = AtomicBool::new(false);
    let bounds =
        assay_txn::Limits { steps_max: limits.states, bytes_max: limits.memory_bytes, stop: &stop };
    let no_realtime = settings.check.no_realtime;
    within(
        time,
        || stop.store(true, Ordering::Relaxed),
        || assay_txn::prove(txns, no_realtime, report, settings.claim, bounds),
    )
}

fn part(cut: &Cut<'_>, txns: &Txns, settings: &Settings, report: &Report) -> Part {
    let claim = settings.claim;
    let open = report.undecided.iter().any(|&model| claim.implied().has(model));
    let outcome = if report.ruled_out.has(claim) {
        Outcome::Refuted
    } else if report.reads == 0 {
        Outcome::NothingChecked
    } else if open {
        Outcome::Undecided
    } else {
        Outcome::Upheld
    };
    let mut part = Part::new(outcome, cut.marked(|_| true));
    part.ops_judged = (report.committed + report.unknown) as u64;
    if outcome == Outcome::Undecided {
        let gave_up = matches!(
            report.searched.as_ref().map(|searched| &searched.result),
            Some(SearchResult::GaveUp)
        );
        let (kind, why) = match (gave_up, settings.check.no_realtime) {
            (true, _) => (Undecided::BudgetExhausted, "no order was found within the budget"),
            (false, true) => (Undecided::WrongChecker, "real time was left out (no-realtime)"),
            (false, false) => (Undecided::BudgetExhausted, "the memory budget was too small"),
        };
        part.undecided = Some(kind);
        part.undecided_because.push(format!("{}: {why}", claim.name()));
        part.consumed.fill(false);
    }
    add_anomalies(&mut part, cut, txns, settings, report);
    part.scope_not_covered.clone_from(&report.not_covered);
    part.evidence.push(format!(
        "{}: {} committed, {} aborted, {} unknown transactions, {} reads, {} dependencies",
        claim.name(),
        report.committed,
        report.aborted,
        report.unknown,
        report.reads,
        report.edges
    ));
    part.checked_again().settled()
}

/// Only what the claim forbids is an anomaly here; the rest is evidence of what was seen.
fn add_anomalies(
    part: &mut Part,
    cut: &Cut<'_>,
    txns: &Txns,
    settings: &Settings,
    report: &Report,
) {
    for &(kind, count) in &report.counts {
        if !assay_txn::Models::ruled_out_by(&[kind]).has(settings.claim) {
            let line = format!("{} ({count} times) is allowed by the claim", kind.name());
            part.evidence.push(line);
            continue;
        }
        part.anomalies_total += count as u64;
        let of_kind = report.anomalies.iter().filter(|anomaly| anomaly.kind == kind);
        for found in of_kind.take(OF_EACH_KIND_MAX) {
            let story = explain(txns, found);
            let ops = story.txns.iter().map(|named| cut.place(OpIndex(named.txn.0))).collect();
            let told = story.txns.iter().map(|named| format!("{}: {}", named.name, named.text));
            part.anomalies.push(Anomaly {
                checker: txns.style.name().to_string(),
                kind: kind.name().to_string(),
                title: format!("{}: {}", kind.name(), kind.meaning()),
                explanation: told.chain(story.sentences.iter().cloned()).collect(),
                key: None,
                ops,
                certificate: Certificate::of(verify(txns, report.assume, found)),
                picture: Some(Picture::Ring(picture::ring(kind.name(), &story))),
            });
        }
    }
}
