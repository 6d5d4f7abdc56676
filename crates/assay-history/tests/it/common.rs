//! What the tests of this crate share.

use assay_history::{Format, History, Op, OpIndex, Outcome, ReadError, ReadOptions, read};

pub fn read_text(text: &str) -> History {
    read_bytes(text.as_bytes()).unwrap_or_else(|error| panic!("{error}\nin:\n{text}"))
}

pub fn read_bytes(bytes: &[u8]) -> Result<History, ReadError> {
    read(bytes, &ReadOptions::default())
}

pub fn read_as(format: Format, text: &str) -> Result<History, ReadError> {
    read(text.as_bytes(), &ReadOptions { format: Some(format), ..ReadOptions::default() })
}

/// The message and line of the error that `text` must cause.
pub fn error_of(text: &str) -> (u64, String) {
    match read_bytes(text.as_bytes()) {
        Ok(history) => panic!("read {} operations, expected an error, in:\n{text}", history.len()),
        Err(error) => (error.line().unwrap_or(0), error.message()),
    }
}

pub fn op(history: &History, index: u32) -> Op {
    history.op(OpIndex(index))
}

/// An operation in one line: process, type, key, input, outcome, output and error.
pub fn brief(history: &History, op: &Op) -> String {
    let show = |id| history.values.show(id).to_string();
    let outcome = match op.outcome() {
        Outcome::Ok => "ok",
        Outcome::Fail => "fail",
        Outcome::Unknown => "unknown",
    };
    let key = show(history.key(op.key));
    format!(
        "{} {} {key} {} -> {outcome} {} {}",
        show(history.process(op.process)),
        history.type_name(op.op_type),
        show(op.input),
        show(op.output),
        show(op.error),
    )
}

pub fn briefs(history: &History) -> Vec<String> {
    history.ops().map(|op| brief(history, &op)).collect()
}

/// A row of all twelve columns; `change` replaces the fields that it names.
pub fn row(change: &[(&str, &str)]) -> String {
    let mut fields = vec![
        ("op_id", "1"),
        ("process_id", "0"),
        ("invoke_ts", "10"),
        ("complete_ts", "20"),
        ("op_type", "\"write\""),
        ("key", "\"x\""),
        ("input", "5"),
        ("output", "null"),
        ("error", "null"),
        ("timeout_marker", "false"),
        ("node_seen", "null"),
        ("fault_epoch", "null"),
    ];
    for (name, value) in change {
        match fields.iter_mut().find(|(known, _)| known == name) {
            Some(field) => field.1 = value,
            None => fields.push((name, value)),
        }
    }
    // A field whose value is "-" is left out.
    let fields = fields.iter().filter(|(_, value)| *value != "-");
    let fields: Vec<String> = fields.map(|(name, value)| format!("\"{name}\":{value}")).collect();
    format!("{{{}}}\n", fields.join(","))
}

pub const HEADER: &str = "{\"event\":\"header\",\"clock\":\"monotonic\"}\n";

pub fn footer(count: usize) -> String {
    format!("{{\"event\":\"footer\",\"sent\":{count},\"recorded\":{count}}}\n")
}
