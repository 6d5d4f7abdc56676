//! Why a witness has no explanation, in plain words.

use super::words::{phrase, sentence};
use crate::kind::ModelKind;
use crate::report::Refutation;
use assay_history::{History, OpIndex, Outcome, ValueId};

/// A few sentences: the reason first, then the operations it rests on.
pub(crate) fn explain(history: &History, refutation: &Refutation) -> Vec<String> {
    let model = refutation.certificate.model;
    let mut lines = Vec::new();
    let reason = match model {
        ModelKind::Register => register_reason(history, refutation),
        _ => None,
    };
    lines.push(reason.unwrap_or_else(|| general_reason(history, refutation)));
    lines.extend(refutation.core.iter().map(|&op| sentence(history, model, op) + "."));
    lines
}

/// "Client 3 read 4 although every write of 4 ..."
fn register_reason(history: &History, refutation: &Refutation) -> Option<String> {
    let model = refutation.certificate.model;
    refutation.core.iter().rev().find_map(|&index| {
        let op = history.op(index);
        if model.verb(history.type_name(op.op_type)) != Some("read") {
            return None;
        }
        let read = sentence(history, model, index);
        let value = history.values.show(op.output);
        let (start, end) = history.span(&op);
        let sources = writes_of(history, refutation, op.output);
        if sources.is_empty() {
            return (op.output != refutation.certificate.initial)
                .then(|| format!("{read}, but nothing ever wrote {value} to this key."));
        }
        let spans: Vec<(i64, i64)> =
            sources.iter().map(|&source| history.span(&history.op(source))).collect();
        if spans.iter().all(|span| span.0 > end) {
            return (op.output != refutation.certificate.initial).then(|| {
                format!("{read}, although every write of {value} was invoked only after that.")
            });
        }
        let written_by = spans.iter().map(|span| span.1).max()?;
        // Something else was certainly there after every write of the value and before the read.
        let between = refutation.core.iter().find(|&&other| {
            let (other_start, other_end) = history.span(&history.op(other));
            shows_other_value(history, model, other, op.output)
                && written_by < other_start
                && other_end < start
        })?;
        Some(format!(
            "{read}, although every write of {value} had completed by t={written_by} and {} \
             happened after that and before the read began.",
            phrase_of(history, model, *between)
        ))
    })
}

fn phrase_of(history: &History, model: ModelKind, index: OpIndex) -> String {
    let client = history.values.show(history.process(history.op(index).process)).to_string();
    format!("\"client {client} {}\"", phrase(history, model, index))
}

/// The value a register certainly held at some moment of an operation.
fn shown_value(history: &History, model: ModelKind, index: OpIndex) -> Option<ValueId> {
    let op = history.op(index);
    match model.verb(history.type_name(op.op_type))? {
        "read" => Some(op.output),
        "write" => Some(op.input),
        _ => match history.values.as_list(op.input) {
            Some(&[_, to]) if op.output != ValueId::FALSE => Some(to),
            _ => None,
        },
    }
}

/// Whether a register certainly held something else than `value` at some moment of an operation.
fn shows_other_value(history: &History, model: ModelKind, index: OpIndex, value: ValueId) -> bool {
    let op = history.op(index);
    let compared_unequal = model.verb(history.type_name(op.op_type)) == Some("cas")
        && op.output == ValueId::FALSE
        && history.values.as_list(op.input).is_some_and(|pair| pair.first() == Some(&value));
    compared_unequal || shown_value(history, model, index).is_some_and(|shown| shown != value)
}

/// All operations on the witness's key that may have written a value.
fn writes_of(history: &History, refutation: &Refutation, value: ValueId) -> Vec<OpIndex> {
    let model = refutation.certificate.model;
    let wrote = |op: &assay_history::Op| {
        history.key(op.key) == refutation.certificate.key
            && op.outcome() != Outcome::Fail
            && model.verb(history.type_name(op.op_type)) != Some("read")
            && shown_value(history, model, op.index) == Some(value)
    };
    history.ops().filter(wrote).map(|op| op.index).collect()
}

fn general_reason(history: &History, refutation: &Refutation) -> String {
    let model = refutation.certificate.model;
    let count = refutation.core.len();
    let Some(order) = refutation.orders.first() else {
        return format!("No order of these {count} operations fits the {} model.", model.name());
    };
    let stuck: Vec<String> = order.stuck.iter().map(|&op| phrase_of(history, model, op)).collect();
    let placed: Vec<String> = order.placed.iter().map(|&op| phrase(history, model, op)).collect();
    // The end of the order is what matters; the beginning of a long one only tires.
    const SHOWN_MAX: usize = 4;
    let skipped = placed.len().saturating_sub(SHOWN_MAX);
    let so_far = match placed.len() {
        0 => "at the start".to_string(),
        _ if skipped == 0 => format!("after {}", placed.join(", then ")),
        _ => format!("after {skipped} others, then {}", placed[skipped..].join(", then ")),
    };
    let others = match (refutation.orders_all, refutation.orders.len()) {
        (true, 1) => ", and every other order ends earlier or the same way",
        (true, _) => ", and no other order gets further",
        // Not all orders were tried one by one; that none fits was found in another way.
        (false, _) => ", to name one of the longest that were tried",
    };
    format!(
        "No order of these {count} operations fits the {} model: {so_far}, {} cannot \
         follow{others}.",
        model.name(),
        stuck.join(" and ")
    )
}
