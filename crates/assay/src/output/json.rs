//! Results for programs. The fields are described in docs/formats/check-report.md.

use super::Checked;
use assay_check::{Algorithm, PartReport, Refutation};
use assay_history::{Finding, History, OpIndex};
use serde_json::{Map, Value, json};
use std::path::Path;

/// A result as one JSON object.
pub fn json(checked: &Checked) -> Value {
    let report = &checked.report;
    let refutations: Vec<Value> = report
        .refutations
        .iter()
        .zip(&checked.verified)
        .map(|(refutation, verified)| {
            let verified = match verified {
                Ok(v) => json!({"ok": true, "configurations": v.configurations}),
                Err(why) => json!({"ok": false, "reason": why}),
            };
            refutation_json(checked, refutation, verified)
        })
        .collect();
    let undecided: Vec<Value> = report
        .unfinished
        .iter()
        .map(|part| {
            json!({
                "object": part_json(&checked.history, &part.part),
                "prefix_ops": part.prefix_ops,
                "prefix_end": part.prefix_end,
                "open_ops": part.window_ops,
            })
        })
        .collect();
    json!({
        "file": checked.path.display().to_string(),
        "verdict": checked.exit.word().to_lowercase(),
        "exit_code": checked.exit as u8,
        "headline": checked.headline(),
        "model": report.model.name(),
        "ops_in": report.ops_in,
        "ops_checked": report.ops_checked,
        "ops_known": report.ops_known,
        "objects": report.parts,
        "objects_skipped": report.parts_skipped,
        "objects_without_search": report.parts_special,
        "objects_by_search": report.parts_search,
        "objects_refuted": report.refutations.len() + report.refuted_not_shown,
        "rechecked": checked.is_rechecked(),
        "refutations": refutations,
        "undecided": undecided,
        "findings": checked.findings,
        "calibration": checked.calibration.as_ref().map(|calibration| json!({
            "seed": calibration.seed,
            "asked": calibration.asked,
            "rows": calibration.rows,
            "cut": calibration.cut,
        })),
        "configurations": report.configurations,
        "memory_bytes_peak": report.memory_bytes_peak,
        "read_seconds": checked.read_time.as_secs_f64(),
        "check_seconds": checked.decide_time.as_secs_f64(),
        "witness_seconds": checked.witness_time.as_secs_f64(),
        "reproduce": checked.command,
    })
}

fn refutation_json(checked: &Checked, refutation: &Refutation, verified: Value) -> Value {
    let history = &checked.history;
    let ops = |ops: &[OpIndex]| ops.iter().map(|&op| op_json(history, op)).collect::<Vec<_>>();
    let ids = |ops: &[OpIndex]| {
        ops.iter().map(|&op| value_json(history, history.op(op).op_id)).collect::<Vec<_>>()
    };
    let orders: Vec<Value> = refutation
        .orders
        .iter()
        .map(|order| json!({"placed": ids(&order.placed), "stuck": ids(&order.stuck)}))
        .collect();
    json!({
        "object": part_json(history, &refutation.part),
        "explanation": refutation.explanation,
        "witness": {
            "core": ops(&refutation.core),
            "context": ops(&refutation.context),
            "minimal": refutation.minimal,
        },
        "orders": orders,
        "certificate": certificate_json(history, refutation),
        "verified": verified,
    })
}

/// A certificate with the operations named by their ids.
pub fn certificate_json(history: &History, refutation: &Refutation) -> Value {
    let certificate = &refutation.certificate;
    let time = |t: i64| if t == i64::MIN || t == i64::MAX { Value::Null } else { json!(t) };
    json!({
        "model": certificate.model.name(),
        "initial": value_json(history, certificate.initial),
        "key": value_json(history, certificate.key),
        "start": certificate.part.start,
        "from": time(certificate.part.from),
        "cut": time(certificate.part.cut),
        "core": certificate.core.iter()
            .map(|&op| value_json(history, history.op(op).op_id))
            .collect::<Vec<_>>(),
    })
}

fn part_json(history: &History, part: &PartReport) -> Value {
    let mut object = Map::new();
    object.insert("key".into(), value_json(history, part.key));
    if let Some(element) = part.element {
        object.insert("element".into(), value_json(history, element));
    }
    object.insert("ops".into(), json!(part.ops));
    let searched = part.algorithm == Algorithm::Search;
    object.insert("by_search".into(), json!(searched));
    Value::Object(object)
}

fn value_json(history: &History, value: assay_history::ValueId) -> Value {
    let text = history.values.show(value).to_string();
    serde_json::from_str(&text).unwrap_or(Value::String(text))
}

/// An operation with its twelve columns and where it stands.
fn op_json(history: &History, index: OpIndex) -> Value {
    let op = history.op(index);
    json!({
        "op_id": value_json(history, op.op_id),
        "process_id": value_json(history, history.process(op.process)),
        "invoke_ts": op.invoke_ts,
        "complete_ts": op.complete_ts,
        "op_type": history.type_name(op.op_type),
        "key": value_json(history, history.key(op.key)),
        "input": value_json(history, op.input),
        "output": value_json(history, op.output),
        "error": value_json(history, op.error),
        "timeout_marker": op.timeout_marker || !op.completed,
        "node_seen": value_json(history, op.node_seen),
        "fault_epoch": value_json(history, op.fault_epoch),
        "line": history.line(op.invoke_at),
    })
}

/// Findings as one JSON object.
pub fn findings_json(path: &Path, history: &History, findings: &[Finding]) -> Value {
    json!({
        "file": path.display().to_string(),
        "ops": history.len(),
        "findings": findings,
    })
}
