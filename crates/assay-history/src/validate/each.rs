//! Rules about single operations and their neighbours: V2 to V6 and V8.

use super::{Findings, Rule, Severity, ValidateOptions};
use crate::history::{ALL_COLUMNS, Column, History, NEVER, Op, OpIndex, Order, Outcome};
use std::collections::BTreeMap;

/// The columns an invocation has; all an operation can have that never completed.
const INVOKE_COLUMNS: u16 = Column::OpId.bit()
    | Column::ProcessId.bit()
    | Column::InvokeTs.bit()
    | Column::OpType.bit()
    | Column::Key.bit()
    | Column::Input.bit()
    | Column::NodeSeen.bit()
    | Column::FaultEpoch.bit();

/// The columns whose absence weakens a checker; of the others null can be assumed.
const NEEDED_COLUMNS: u16 = Column::CompleteTs.bit()
    | Column::Input.bit()
    | Column::Output.bit()
    | Column::TimeoutMarker.bit();

pub(super) fn check(findings: &mut Findings<'_>, options: &ValidateOptions<'_>) {
    let history = findings.history;
    let mut missing: BTreeMap<u16, (OpIndex, u64)> = BTreeMap::new();
    let mut open: Option<(Op, u64)> = None;
    for op in history.ops() {
        if history.meta.native {
            let expected = if op.completed { ALL_COLUMNS } else { INVOKE_COLUMNS };
            let absent = expected & !op.columns;
            if absent != 0 {
                missing.entry(absent).or_insert((op.index, 0)).1 += 1;
            }
        }
        if !op.completed {
            open.get_or_insert((op, 0)).1 += 1;
        }
        outcome(findings, &op);
    }
    columns(findings, &missing);
    never_completed(findings, open);
    one_at_a_time(findings);
    if options.nodes_needed {
        nodes(findings);
    }
}

/// V2.
fn columns(findings: &mut Findings<'_>, missing: &BTreeMap<u16, (OpIndex, u64)>) {
    for (&absent, &(first, count)) in missing {
        let op = findings.history.op(first);
        let names: Vec<&str> = Column::ALL
            .iter()
            .filter(|(column, _)| absent & column.bit() != 0)
            .map(|&(_, name)| name)
            .collect();
        let needed = absent & NEEDED_COLUMNS != 0;
        let severity = if needed { Severity::Weak } else { Severity::Note };
        let finding = findings.add(Rule::V2, severity, Some(&op), |_| {
            let what = format!("the record has no {}", names.join(", "));
            let why = if needed {
                "checkers are weak because a column that is left out cannot be told from one that \
                 was forgotten; null is assumed"
            } else {
                "null is assumed"
            };
            (what, why.to_string())
        });
        finding.more += count - 1;
    }
}

/// V3, V4 and V5.
fn outcome(findings: &mut Findings<'_>, op: &Op) {
    if op.completed && op.complete_ts.is_none() && !op.timeout_marker {
        findings.add(Rule::V3, Severity::Unsound, Some(op), |h| {
            let id = h.values.show(op.op_id);
            let what = format!("operation {id} has no complete_ts, and no timeout_marker either");
            let why = format!(
                "no checker can be sound because operation {id} may have timed out, and then \
                 taking it for done is a guess"
            );
            (what, why)
        });
    }
    if op.timeout_marker && !op.output.is_null() {
        findings.add(Rule::V3, Severity::Unsound, Some(op), |h| {
            let (id, output) = (h.values.show(op.op_id), h.values.show(op.output));
            let what =
                format!("the outcome of operation {id} is unknown, yet it has output {output}");
            let why = format!(
                "no checker can be sound because operation {id} either returned {output} or is \
                 unknown, not both"
            );
            (what, why)
        });
    }
    if let Some(end) = op.complete_ts.filter(|&end| end < op.invoke_ts) {
        let by_position = findings.history.meta.order == Order::Positions;
        let severity = if by_position { Severity::Note } else { Severity::Unsound };
        findings.add(Rule::V4, severity, Some(op), |h| {
            let (id, begin) = (h.values.show(op.op_id), op.invoke_ts);
            let what =
                format!("operation {id} completes at {end}, before its invocation at {begin}");
            let why = if by_position {
                "order comes from the position of the records, so only what is shown is wrong"
            } else {
                "no checker can be sound because real-time order is read from these times, and \
                 here they run backwards"
            };
            (what, why.to_string())
        });
    }
    too_early(findings, op);
    if !op.output.is_null() && !op.error.is_null() {
        findings.add(Rule::V5, Severity::Unsound, Some(op), |h| {
            let (id, output) = (h.values.show(op.op_id), h.values.show(op.output));
            let error = h.values.show(op.error);
            let what = format!("operation {id} has both output {output} and error {error}");
            let why = format!(
                "no checker can be sound because operation {id} either took effect or failed, \
                 not both"
            );
            (what, why)
        });
    }
}

/// V4, of the time an operation was due.
fn too_early(findings: &mut Findings<'_>, op: &Op) {
    let due = findings.history.due_ts(op.index);
    let Some(due) = due.filter(|&due| due > op.invoke_ts) else { return };
    findings.add(Rule::V4, Severity::Weak, Some(op), |h| {
        let (id, begin) = (h.values.show(op.op_id), op.invoke_ts);
        let what = format!("operation {id} was due at {due}, after its invocation at {begin}");
        let why = "checkers of service levels are weak because nothing is sent before it is due: \
                   two clocks were mixed, and how long clients waited is not known";
        (what, why.to_string())
    });
}

fn never_completed(findings: &mut Findings<'_>, open: Option<(Op, u64)>) {
    let Some((first, count)) = open else { return };
    let finding = findings.add(Rule::V3, Severity::Note, Some(&first), |h| {
        let what = format!("operation {} never completed", h.values.show(first.op_id));
        (what, "it counts as unknown: it may have taken effect at any later time".to_string())
    });
    finding.more = count - 1;
}

/// V6.
fn one_at_a_time(findings: &mut Findings<'_>) {
    let history = findings.history;
    if history.meta.pipelined {
        return;
    }
    let mut order: Vec<u32> = Vec::new();
    if !starts_rise(history) {
        order = (0..history.len() as u32).collect();
        order.sort_by_key(|&i| client_span(history, &history.op(OpIndex(i))).0);
    }
    // The last operation of each process, and when the process was free again.
    let mut last: Vec<Option<(OpIndex, i64)>> = vec![None; history.process_count()];
    for place in 0..history.len() {
        let index = OpIndex(order.get(place).copied().unwrap_or(place as u32));
        let op = history.op(index);
        let (start, end) = client_span(history, &op);
        let process = op.process.0 as usize;
        if let Some((earlier, _)) = last[process].filter(|&(_, free)| free > start) {
            findings.add(Rule::V6, Severity::Weak, Some(&op), |h| {
                let who = h.values.show(h.process(op.process));
                let earlier = h.op(earlier);
                let (id, line) = (h.values.show(earlier.op_id), h.line(earlier.invoke_at));
                let what =
                    format!("process {who} goes on while its operation {id} (line {line}) is open");
                let why = "checkers of sessions, locks and process order are weak because they \
                           take a process for one client that does one thing at a time";
                (what, why.to_string())
            });
        }
        last[process] = Some((index, end));
    }
}

fn starts_rise(history: &History) -> bool {
    match history.meta.order {
        Order::Timestamps => history.cols.invoke_ts.is_sorted(),
        Order::Positions => history.cols.invoke_at.is_sorted(),
    }
}

/// When a client was busy with an operation. One that it gave up without saying when did not keep
/// it busy; one that never completed did.
fn client_span(history: &History, op: &Op) -> (i64, i64) {
    let (start, end) = match history.meta.order {
        Order::Timestamps => (op.invoke_ts, op.complete_ts.unwrap_or(op.invoke_ts)),
        Order::Positions => (i64::from(op.invoke_at), i64::from(op.complete_at)),
    };
    (start, if op.completed { end } else { NEVER })
}

/// V8.
fn nodes(findings: &mut Findings<'_>) {
    let history = findings.history;
    let nameless = |op: &Op| op.node_seen.is_null() && op.outcome() != Outcome::Unknown;
    let mut without = history.ops().filter(nameless);
    let Some(first) = without.next() else { return };
    let rest = without.count() as u64;
    let finding = findings.add(Rule::V8, Severity::Weak, Some(&first), |h| {
        let what = format!("operation {} has no node_seen", h.values.show(first.op_id));
        let why = "checkers of replication, leadership and membership are weak because they must \
                   know which node answered";
        (what, why.to_string())
    });
    finding.more = rest;
}
