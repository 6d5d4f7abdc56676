//! Transactions out of a general history.

use super::{MopIn, Style, Txns, TxnsBuilder};
use crate::history::{History, NEVER, Op, Outcome};
use crate::read::ReadError;
use crate::value::{ValueId, Values, View};

impl Txns {
    /// Reads every operation of a history as a transaction: its input is a list of
    /// micro-operations, and so is the output of one that committed.
    ///
    /// # Errors
    /// If an operation is no transaction; the error names its line.
    pub fn from_history(history: History, style: Style) -> Result<Txns, ReadError> {
        let mut builder = TxnsBuilder::new(style);
        for op in history.ops() {
            add(&mut builder, &history, &op, style).map_err(|message| {
                let at = if op.completed { op.complete_at } else { op.invoke_at };
                ReadError::record(history.line(at), message)
            })?;
        }
        let mut txns = builder.finish();
        txns.meta = history.meta;
        txns.record_lines = history.record_lines;
        txns.values = history.values;
        Ok(txns)
    }
}

fn add(builder: &mut TxnsBuilder, history: &History, op: &Op, style: Style) -> Result<(), String> {
    let (start, end) = history.span(op);
    let outcome = op.outcome();
    let txn = builder.invoke(history.process(op.process), start, op.invoke_at);
    if op.completed {
        builder.complete(txn, outcome, (end != NEVER).then_some(end), op.complete_at);
    }
    let values = &history.values;
    let answered = outcome == Outcome::Ok && !op.output.is_null();
    let mops = if answered { op.output } else { op.input };
    for &mop in list_of(values, mops, "a transaction")? {
        let [f, key, value] = *list_of(values, mop, "a micro-operation")? else {
            return Err(not_a_mop(values, mop));
        };
        let View::Str(f) = values.view(f) else { return Err(not_a_mop(values, mop)) };
        let kind = MopKind::named(f).ok_or_else(|| not_a_mop(values, mop))?;
        kind.fits(style)?;
        kind.has_value(value)?;
        kind.has_number(values, value, style, answered)?;
        let list = match kind {
            MopKind::Read if answered && style.reads_lists() => match value {
                ValueId::NULL => Some(&[][..]),
                _ => Some(list_of(values, value, "what a read returned")?),
            },
            _ => None,
        };
        // Without an answer nobody knows what a read returned.
        let known = if answered { outcome } else { Outcome::Unknown };
        builder.mop(txn, kind.mop(key, value, list, known))?;
    }
    Ok(())
}

fn list_of<'v>(values: &'v Values, id: ValueId, what: &str) -> Result<&'v [ValueId], String> {
    values.as_list(id).ok_or_else(|| format!("{what} must be a list, not {}", values.show(id)))
}

fn not_a_mop(values: &Values, mop: ValueId) -> String {
    bad_mop(&values.show(mop).to_string())
}

pub(crate) fn bad_mop(text: &str) -> String {
    const SHOWN_CHARS_MAX: usize = 60;
    let shown: String = text.chars().take(SHOWN_CHARS_MAX).collect();
    format!(
        "{shown} is no micro-operation: expected [\"r\", key, value], [\"append\", key, value], \
         [\"w\", key, value], [\"add\", key, value] or [\"inc\", key, number]"
    )
}

/// The kinds of micro-operations by name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum MopKind {
    Append,
    Write,
    Add,
    Inc,
    Read,
}

impl MopKind {
    pub(crate) fn named(name: &str) -> Option<MopKind> {
        Some(match name.strip_prefix(':').unwrap_or(name) {
            "append" => MopKind::Append,
            "w" | "write" => MopKind::Write,
            "add" => MopKind::Add,
            "inc" => MopKind::Inc,
            "r" | "read" => MopKind::Read,
            _ => return None,
        })
    }

    pub(crate) fn fits(self, style: Style) -> Result<(), String> {
        let other = match (self, style) {
            (MopKind::Read, _)
            | (MopKind::Append, Style::ListAppend)
            | (MopKind::Write, Style::RwRegister)
            | (MopKind::Add, Style::SetAdd)
            | (MopKind::Inc, Style::CounterInc) => return Ok(()),
            (MopKind::Append, _) => "append belongs to lists: use list-append",
            (MopKind::Write, _) => "w belongs to registers: use rw-register",
            (MopKind::Add, _) => "add belongs to sets: use set-add",
            (MopKind::Inc, _) => "inc belongs to counters: use counter-inc",
        };
        Err(format!("this is no {} history: {other}", style.name()))
    }

    /// Whether what is written can be told from nothing at all.
    pub(crate) fn has_value(self, value: ValueId) -> Result<(), String> {
        if self != MopKind::Read && value.is_null() {
            return Err(
                "a transaction writes null, which cannot be told from a key that was never \
                        written: write another value"
                    .to_string(),
            );
        }
        Ok(())
    }

    /// Whether a counter is moved by a positive integer and, where a read was answered, holds an
    /// integer.
    pub(crate) fn has_number(
        self,
        values: &Values,
        value: ValueId,
        style: Style,
        answered: bool,
    ) -> Result<(), String> {
        if style != Style::CounterInc || (self == MopKind::Read && !answered) {
            return Ok(());
        }
        match (self, values.view(value)) {
            (MopKind::Read, View::Int(_) | View::Null) => Ok(()),
            (MopKind::Read, _) => {
                Err(format!("a read of a counter returned {}, no integer", values.show(value)))
            }
            (_, View::Int(1..)) => Ok(()),
            _ => Err(format!(
                "a counter is incremented by {}: only by a positive integer, else its values have \
                 no order",
                values.show(value)
            )),
        }
    }

    /// The micro-operation; `list` is what a read of a list returned.
    pub(crate) fn mop(
        self,
        key: ValueId,
        value: ValueId,
        list: Option<&[ValueId]>,
        outcome: Outcome,
    ) -> MopIn<'_> {
        match (self, list) {
            (MopKind::Append | MopKind::Add | MopKind::Inc, _) => MopIn::Append(key, value),
            (MopKind::Write, _) => MopIn::Write(key, value),
            (MopKind::Read, _) if outcome != Outcome::Ok => MopIn::ReadUnknown(key),
            (MopKind::Read, Some(list)) => MopIn::ReadList(key, list),
            (MopKind::Read, None) => MopIn::ReadValue(key, value),
        }
    }
}
