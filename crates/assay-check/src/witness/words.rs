//! Operations in words.

use crate::kind::ModelKind;
use assay_history::{History, OpIndex, Outcome, ValueId};

/// What an operation did, without who and when: "read 4", "wrote 5".
pub fn phrase(history: &History, model: ModelKind, index: OpIndex) -> String {
    let op = history.op(index);
    let show = |value: ValueId| short(&history.values.show(value).to_string());
    let name = history.type_name(op.op_type);
    let verb = model.verb(name).unwrap_or(name);
    let known = op.outcome() == Outcome::Ok;
    let output = if known { show(op.output) } else { "?".to_string() };
    let silent = !known || op.output.is_null();
    match (model, verb) {
        (ModelKind::Log, "read") if !op.input.is_null() => {
            format!("read offset {} → {output}", show(op.input))
        }
        (_, "read" | "get") => format!("read {output}"),
        (_, "write" | "put") => format!("wrote {}", show(op.input)),
        (_, "cas") => match (history.values.as_list(op.input), op.output) {
            (Some(&[from, to]), ValueId::FALSE) if known => {
                format!("compared with {} (to write {}): unequal", show(from), show(to))
            }
            (Some(&[from, to]), _) => format!("swapped {} for {}", show(from), show(to)),
            _ => format!("cas {}", show(op.input)),
        },
        (_, "dequeue" | "pop") if known && op.output.is_null() => format!("{verb}: empty"),
        (_, "dequeue" | "pop") => format!("{verb} → {output}"),
        (ModelKind::Set, "contains") => format!("contains {} → {output}", show(op.input)),
        (ModelKind::Mutex, _) => format!("{verb}d the lock"),
        (_, "acquire") => format!("acquired token {output}"),
        _ if silent => format!("{verb} {}", show(op.input)),
        _ => format!("{verb} {} → {output}", show(op.input)),
    }
}

/// Who did what when: "client 3 read 4 from t=10 to t=20 (line 7)".
pub fn sentence(history: &History, model: ModelKind, index: OpIndex) -> String {
    let op = history.op(index);
    let (start, _) = history.span(&op);
    let client = short(&history.values.show(history.process(op.process)).to_string());
    let line = history.line(op.invoke_at);
    let what = phrase(history, model, index);
    match op.outcome() {
        Outcome::Unknown => {
            format!("client {client} {what} at t={start}, outcome unknown (line {line})")
        }
        _ => {
            let (_, end) = history.span(&op);
            format!("client {client} {what} from t={start} to t={end} (line {line})")
        }
    }
}

/// Long values are cut: a witness should be readable.
fn short(text: &str) -> String {
    const CHARS_MAX: usize = 60;
    if text.chars().count() <= CHARS_MAX {
        return text.to_string();
    }
    let head: String = text.chars().take(CHARS_MAX / 2).collect();
    let tail: Vec<char> = text.chars().rev().take(CHARS_MAX / 2 - 1).collect();
    format!("{head}…{}", tail.into_iter().rev().collect::<String>())
}
