//! Rule V7: the fault windows and what operations say about them.

use super::{Findings, Rule, Severity};
use crate::history::{FaultWindow, NEVER, Op};

pub(super) fn check(findings: &mut Findings<'_>) {
    let history = findings.history;
    let windows = Windows::new(&history.meta.fault_windows);
    if windows.sorted.is_empty() {
        return epochs_without_windows(findings);
    }
    for op in history.ops() {
        epoch(findings, &windows, &op);
    }
}

/// Fault windows by start, with the latest end of all up to each: what cannot intersect is skipped.
struct Windows<'h> {
    sorted: Vec<(&'h FaultWindow, i64)>,
}

impl<'h> Windows<'h> {
    fn new(windows: &'h [FaultWindow]) -> Windows<'h> {
        let mut sorted: Vec<_> = windows.iter().map(|window| (window, window.end_ts)).collect();
        sorted.sort_by_key(|(window, _)| window.start_ts);
        let mut latest = i64::MIN;
        for (window, end_so_far) in &mut sorted {
            latest = latest.max(window.end_ts);
            *end_so_far = latest;
        }
        Windows { sorted }
    }

    /// All windows that touch the time from `start` to `end`.
    fn touching(&self, start: i64, end: i64) -> impl Iterator<Item = &'h FaultWindow> + '_ {
        let until = self.sorted.partition_point(|(window, _)| window.start_ts <= end);
        let back = self.sorted[..until].iter().rev();
        back.take_while(move |&&(_, end_so_far)| end_so_far >= start)
            .map(|&(window, _)| window)
            .filter(move |window| window.end_ts >= start)
    }
}

/// V7. An operation that only touches a window may carry its epoch or not; one without an end may
/// carry any later epoch, and must carry one only if it began inside.
fn epoch(findings: &mut Findings<'_>, windows: &Windows<'_>, op: &Op) {
    let (start, end) = (op.invoke_ts, op.complete_ts.unwrap_or(NEVER).max(op.invoke_ts));
    let mut may_carry = windows.touching(start, end);
    if op.fault_epoch.is_null() {
        let end = op.complete_ts.unwrap_or(start);
        let inside = |w: &&FaultWindow| start < w.end_ts && end > w.start_ts;
        let Some(window) = may_carry.find(inside) else { return };
        findings.add(Rule::V7, Severity::Weak, Some(op), |h| {
            let (id, epoch) = (h.values.show(op.op_id), h.values.show(window.epoch));
            let what = format!("operation {id} ran during fault {epoch}, but has no fault_epoch");
            let why = "verdicts under fault are weak because nobody can say which operations the \
                       fault overlapped";
            (what, why.to_string())
        });
    } else if may_carry.all(|window| window.epoch != op.fault_epoch) {
        findings.add(Rule::V7, Severity::Weak, Some(op), |h| {
            let (id, epoch) = (h.values.show(op.op_id), h.values.show(op.fault_epoch));
            let what =
                format!("operation {id} has fault_epoch {epoch}, which was not active in its time");
            let why = "verdicts under fault are weak because the recorder's epochs and the \
                       declared windows disagree";
            (what, why.to_string())
        });
    }
}

fn epochs_without_windows(findings: &mut Findings<'_>) {
    let history = findings.history;
    let mut stamped = history.ops().filter(|op| !op.fault_epoch.is_null());
    let Some(first) = stamped.next() else { return };
    let rest = stamped.count() as u64;
    let finding = findings.add(Rule::V7, Severity::Note, Some(&first), |h| {
        let epoch = h.values.show(first.fault_epoch);
        let what = format!("fault_epoch {epoch} has no fault line that says when it was");
        (what, "whether all operations under the fault are marked cannot be told".to_string())
    });
    finding.more = rest;
}
