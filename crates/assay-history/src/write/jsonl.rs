//! Assay's JSON lines: see docs/formats/history.md.

use super::{Out, moments, times};
use crate::history::{Clock, History, Op, Order};
use crate::show::{push, write_json_str};
use crate::value::ValueId;
use std::io::{self, Write};

/// Writes Assay's JSON lines in pair form: an `invoke` and a `complete` line per operation, in time
/// order.
///
/// Where a history's order comes from positions, the positions are written as times: the order is
/// what a checker needs. A completion without a time comes last; an operation that never completed
/// has no
/// `complete` line.
///
/// # Errors
/// Those of `out`.
pub fn write_jsonl(history: &History, out: &mut dyn Write) -> io::Result<()> {
    let mut lines = Lines { history, out: Out::new(out) };
    lines.head()?;
    for moment in moments(history) {
        let op = moment.op(history);
        if moment.end {
            lines.complete(&op)?;
        } else {
            lines.invoke(&op)?;
        }
    }
    lines.foot()
}

/// Writes Assay's JSON lines, one line per operation, in the order of the history.
///
/// # Errors
/// Those of `out`.
pub fn write_jsonl_rows(history: &History, out: &mut dyn Write) -> io::Result<()> {
    let mut lines = Lines { history, out: Out::new(out) };
    lines.head()?;
    for op in history.ops() {
        lines.out.text.push_str("{\"event\":\"op\"");
        lines.sent(&op);
        lines.received(&op);
        lines.seen(&op);
        lines.due(&op);
        lines.revision(&op);
        lines.end()?;
    }
    lines.foot()
}

struct Lines<'h, 'w> {
    history: &'h History,
    out: Out<'w>,
}

impl Lines<'_, '_> {
    fn head(&mut self) -> io::Result<()> {
        let meta = &self.history.meta;
        let text = &mut self.out.text;
        text.push_str("{\"event\":\"header\",\"format\":\"assay-history\",\"version\":1");
        match meta.clock {
            Clock::Monotonic => text.push_str(",\"clock\":\"monotonic\""),
            Clock::Wall => text.push_str(",\"clock\":\"wall\""),
            Clock::Undeclared => {}
        }
        text.push_str(",\"time_unit\":\"ns\",\"pipelined\":");
        push(meta.pipelined, text);
        self.end()?;
        if meta.order == Order::Positions {
            // The times of fault windows mean nothing beside positions.
            return Ok(());
        }
        for window in &meta.fault_windows {
            self.out.text.push_str("{\"event\":\"fault\"");
            self.field(",\"fault_epoch\":", window.epoch);
            self.number(",\"start_ts\":", window.start_ts);
            self.number(",\"end_ts\":", window.end_ts);
            self.end()?;
        }
        Ok(())
    }

    fn foot(mut self) -> io::Result<()> {
        let meta = &self.history.meta;
        if meta.sent.is_some() || meta.recorded.is_some() {
            self.out.text.push_str("{\"event\":\"footer\"");
            for (name, count) in [(",\"sent\":", meta.sent), (",\"recorded\":", meta.recorded)] {
                if let Some(count) = count {
                    self.out.text.push_str(name);
                    push(count, &mut self.out.text);
                }
            }
            self.end()?;
        }
        self.out.finish()
    }

    fn invoke(&mut self, op: &Op) -> io::Result<()> {
        self.out.text.push_str("{\"event\":\"invoke\"");
        self.sent(op);
        self.seen(op);
        self.due(op);
        if !op.completed {
            self.revision(op);
        }
        self.end()
    }

    fn complete(&mut self, op: &Op) -> io::Result<()> {
        self.out.text.push_str("{\"event\":\"complete\"");
        self.field(",\"op_id\":", op.op_id);
        self.received(op);
        self.seen(op);
        self.revision(op);
        self.end()
    }

    /// The columns that are known before the operation is sent.
    fn sent(&mut self, op: &Op) {
        let history = self.history;
        self.field(",\"op_id\":", op.op_id);
        self.field(",\"process_id\":", history.process(op.process));
        self.number(",\"invoke_ts\":", times(history, op).0);
        self.out.text.push_str(",\"op_type\":");
        write_json_str(history.type_name(op.op_type), &mut self.out.text);
        self.field(",\"key\":", history.key(op.key));
        self.field(",\"input\":", op.input);
    }

    /// The columns that are known when the operation has completed.
    fn received(&mut self, op: &Op) {
        match op.complete_ts {
            Some(_) => self.number(",\"complete_ts\":", times(self.history, op).1),
            None => self.out.text.push_str(",\"complete_ts\":null"),
        }
        self.field(",\"output\":", op.output);
        self.field(",\"error\":", op.error);
        self.out.text.push_str(",\"timeout_marker\":");
        push(op.timeout_marker || !op.completed, &mut self.out.text);
    }

    fn seen(&mut self, op: &Op) {
        self.field(",\"node_seen\":", op.node_seen);
        self.field(",\"fault_epoch\":", op.fault_epoch);
    }

    fn due(&mut self, op: &Op) {
        // A time means nothing beside positions.
        let due = self.history.due_ts(op.index);
        if let Some(due) = due.filter(|_| self.history.meta.order == Order::Timestamps) {
            self.number(",\"due_ts\":", due);
        }
    }

    fn revision(&mut self, op: &Op) {
        if let Some(revision) = self.history.revision(op.index) {
            self.number(",\"revision\":", revision);
        }
    }

    fn field(&mut self, name: &str, value: ValueId) {
        self.out.text.push_str(name);
        self.history.values.write_json(value, &mut self.out.text);
    }

    fn number(&mut self, name: &str, number: i64) {
        self.out.text.push_str(name);
        push(number, &mut self.out.text);
    }

    fn end(&mut self) -> io::Result<()> {
        self.out.text.push('}');
        self.out.line()
    }
}
