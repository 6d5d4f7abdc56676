//! Rules about a history as a whole: V1, V9, V10, V11.

use super::{Findings, Rule, Severity, ValidateOptions};
use crate::history::{Clock, History, OpIndex, Order};

pub(super) fn check(findings: &mut Findings<'_>, options: &ValidateOptions<'_>) {
    unique_ids(findings);
    known_types(findings, options.allowed_types);
    one_clock(findings);
    counts(findings, options.consumed);
    ignored_fields(findings);
}

/// V1.
fn unique_ids(findings: &mut Findings<'_>) {
    let history = findings.history;
    let ids = &history.cols.op_id;
    // Recorders that count give rising ids, which need no sorting.
    if ids.is_sorted_by(|a, b| a < b) {
        return;
    }
    let mut sorted: Vec<(u32, u32)> =
        ids.iter().enumerate().map(|(i, id)| (id.bits(), i as u32)).collect();
    sorted.sort_unstable();
    let mut repeats: Vec<(u32, u32)> = Vec::new();
    for same in sorted.chunk_by(|a, b| a.0 == b.0) {
        repeats.extend(same[1..].iter().map(|&(_, again)| (again, same[0].1)));
    }
    repeats.sort_unstable();
    for (again, first) in repeats {
        let (again, first) = (history.op(OpIndex(again)), history.op(OpIndex(first)));
        findings.add(Rule::V1, Severity::Unsound, Some(&again), |h| {
            let id = h.values.show(again.op_id);
            let differs = if again.output == first.output { "" } else { " with another output" };
            let first_line = h.line(first.invoke_at);
            let what =
                format!("op_id {id} stands here again{differs}; line {first_line} has it first");
            let why = format!(
                "no checker can be sound because two operations share op_id {id}: which \
                 completion belongs to which invocation is anybody's guess"
            );
            (what, why)
        });
    }
}

/// V9.
fn known_types(findings: &mut Findings<'_>, allowed: &[&str]) {
    let history = findings.history;
    if allowed.is_empty() {
        return;
    }
    for op_type in history.types() {
        let name = history.type_name(op_type);
        if allowed.contains(&name) {
            continue;
        }
        let mut of_type = history.ops().filter(|op| op.op_type == op_type);
        let Some(first) = of_type.next() else { continue };
        let rest = of_type.count() as u64;
        let finding = findings.add(Rule::V9, Severity::Unsound, Some(&first), |_| {
            let what = format!("op_type \"{name}\" is none of {}", allowed.join(", "));
            let why = format!(
                "no checker can be sound because the model does not say what \"{name}\" does; \
                 leaving those operations out would hide their effects"
            );
            (what, why)
        });
        finding.more += rest;
    }
}

/// V10.
fn one_clock(findings: &mut Findings<'_>) {
    let history = findings.history;
    if !history.meta.native || history.meta.order == Order::Positions || history.is_empty() {
        return;
    }
    let processes = history.process_count();
    match history.meta.clock {
        Clock::Monotonic => {}
        Clock::Wall if processes > 1 => {
            findings.add(Rule::V10, Severity::Unsound, None, |_| {
                let what = format!("a wall clock stamped the operations of {processes} processes");
                let why = "no checker can be sound because real-time order is read from these \
                           times, and wall clocks jump and differ";
                (what, why.to_string())
            });
        }
        Clock::Wall => {
            findings.add(Rule::V10, Severity::Note, None, |_| {
                let what = "a wall clock stamped the operations of the only process";
                let why = "their order is that of one process, which a jump of the clock can still \
                           reverse";
                (what.to_string(), why.to_string())
            });
        }
        Clock::Undeclared => {
            findings.add(Rule::V10, Severity::Note, None, |_| {
                let what = "no header declares the clock";
                let why = "the times are taken to come from one monotonic clock; if they do not, \
                           verdicts about real-time order are worth nothing";
                (what.to_string(), why.to_string())
            });
        }
    }
}

/// V11.
fn counts(findings: &mut Findings<'_>, consumed: Option<u64>) {
    let history = findings.history;
    let (meta, held) = (&history.meta, history.len() as u64);
    let claims = [
        (meta.sent, "the footer says that", "were sent"),
        (meta.recorded, "the footer says that", "were recorded"),
        (consumed, "of these", "were taken in by the checker"),
    ];
    for (count, who, what) in claims {
        let Some(count) = count.filter(|&count| count != held) else { continue };
        findings.add(Rule::V11, Severity::Unsound, None, |_| {
            let what = format!("the history holds {held} operations, {who} {count} {what}");
            let why = "no checker can be sound because the operations that are missing may be \
                       those that show the anomaly";
            (what, why.to_string())
        });
    }
    if let Some(line) = meta.torn_tail {
        let finding = findings.add(Rule::V11, Severity::Note, None, |_| {
            let what = "the last record is cut off in the middle and was dropped";
            let why = "a recorder that was killed leaves this; the operation it was about counts \
                       as unknown, or as never sent";
            (what.to_string(), why.to_string())
        });
        finding.line = Some(line);
    }
    if meta.native && meta.sent.is_none() && meta.recorded.is_none() && held > 0 {
        findings.add(Rule::V11, Severity::Note, None, |_| {
            let what = "no footer says how many operations were sent and recorded";
            let why = "whether operations are missing at the end cannot be told";
            (what.to_string(), why.to_string())
        });
    }
}

/// Fields that were dropped: a note under V2, since a misspelt column looks like this.
fn ignored_fields(findings: &mut Findings<'_>) {
    let ignored = &findings.history.meta.fields_ignored;
    if ignored.is_empty() {
        return;
    }
    let names: Vec<String> =
        ignored.iter().map(|(name, n)| format!("{name} ({n} times)")).collect();
    findings.add(Rule::V2, Severity::Note, None, |_: &History| {
        let what = format!("fields without a column were left out: {}", names.join(", "));
        (what, "no checker sees them; make sure that none is a misspelt column".to_string())
    });
}
