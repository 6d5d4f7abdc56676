//! Putting a history together, record by record.
//!
//! Readers use it, and so does anything that records a history itself:
//!
//! ```
//! use assay_history::{Builder, Completion, Invocation, Outcome, OpIndex};
//! let mut b = Builder::new();
//! let (client, key, five) = (b.values().int(0), b.values().str("x"), b.values().int(5));
//! let op = b.invoke(Invocation::new(client, "write", 10).key(key).input(five));
//! b.complete(op, Completion::at(20));
//! let history = b.finish();
//! assert_eq!(history.op(OpIndex(0)).outcome(), Outcome::Ok);
//! ```

use crate::history::{
    ALL_COLUMNS, COMPLETED, Columns, FaultWindow, History, Meta, NEVER, OPS_MAX, OpIndex, TIMEOUT,
    TYPES_MAX,
};
use crate::value::{ValueId, Values};

/// The record written before an operation is sent.
#[derive(Clone, Copy, Debug)]
pub struct Invocation<'a> {
    /// Unique in the run; `None` numbers the operations from 0.
    pub op_id: Option<ValueId>,
    /// Who sends.
    pub process: ValueId,
    /// `read`, `write`, ...
    pub op_type: &'a str,
    /// When.
    pub ts: i64,
    /// The object addressed.
    pub key: ValueId,
    /// What is sent.
    pub input: ValueId,
    /// The node it is sent to.
    pub node_seen: ValueId,
    /// The fault window that is active.
    pub fault_epoch: ValueId,
    /// The record's number in its file.
    pub at: u32,
    /// Which columns the record has.
    pub columns: u16,
}

impl<'a> Invocation<'a> {
    /// An invocation by `process` at time `ts`, with everything else null.
    pub fn new(process: ValueId, op_type: &'a str, ts: i64) -> Invocation<'a> {
        let null = ValueId::NULL;
        Invocation {
            op_id: None,
            process,
            op_type,
            ts,
            key: null,
            input: null,
            node_seen: null,
            fault_epoch: null,
            at: 0,
            columns: ALL_COLUMNS,
        }
    }

    /// Sets the key.
    pub fn key(self, key: ValueId) -> Self {
        Invocation { key, ..self }
    }

    /// Sets the input.
    pub fn input(self, input: ValueId) -> Self {
        Invocation { input, ..self }
    }

    /// Sets the record number.
    pub fn at(self, at: u32) -> Self {
        Invocation { at, ..self }
    }
}

/// The record written after the answer came, or after it was given up.
#[derive(Clone, Copy, Debug)]
pub struct Completion {
    /// When; `None` for a timeout.
    pub ts: Option<i64>,
    /// What was received.
    pub output: ValueId,
    /// The error, or null.
    pub error: ValueId,
    /// Whether the outcome is unknown.
    pub timeout_marker: bool,
    /// The node that answered; null keeps what the invocation said.
    pub node_seen: ValueId,
    /// The fault window that was active; null keeps what the invocation said.
    pub fault_epoch: ValueId,
    /// The record's number in its file.
    pub at: u32,
    /// Which columns the record has.
    pub columns: u16,
}

impl Completion {
    /// A plain success at time `ts`, without output.
    pub fn at(ts: i64) -> Completion {
        let null = ValueId::NULL;
        Completion {
            ts: Some(ts),
            output: null,
            error: null,
            timeout_marker: false,
            node_seen: null,
            fault_epoch: null,
            at: 0,
            columns: 0,
        }
    }

    /// An outcome that nobody learnt.
    pub fn unknown() -> Completion {
        Completion { ts: None, timeout_marker: true, ..Completion::at(0) }
    }

    /// Sets the output.
    pub fn output(self, output: ValueId) -> Self {
        Completion { output, ..self }
    }

    /// Sets the error, which makes the outcome `fail`.
    pub fn error(self, error: ValueId) -> Self {
        Completion { error, ..self }
    }

    /// Sets the record number.
    pub fn record(self, at: u32) -> Self {
        Completion { at, ..self }
    }
}

/// Builds a [`History`].
#[derive(Debug, Default)]
pub struct Builder {
    history: History,
    /// The first few types: most histories have no others.
    type_cache: Vec<(ValueId, u16)>,
}

impl Builder {
    /// An empty history.
    pub fn new() -> Builder {
        let mut history = History::default();
        history.keys.intern(ValueId::NULL);
        Builder { history, type_cache: Vec::new() }
    }

    /// The pool that this history's values live in.
    pub fn values(&mut self) -> &mut Values {
        &mut self.history.values
    }

    /// The pool, to read.
    pub fn values_ref(&self) -> &Values {
        &self.history.values
    }

    /// What the history says about itself.
    pub fn meta(&mut self) -> &mut Meta {
        &mut self.history.meta
    }

    /// How many operations have been invoked.
    pub fn len(&self) -> usize {
        self.history.len()
    }

    /// Whether none has been invoked.
    pub fn is_empty(&self) -> bool {
        self.history.is_empty()
    }

    /// Notes the line of the next record, for formats whose records are not lines.
    pub(crate) fn record_line(&mut self, line: u32) {
        self.history.record_lines.push(line);
    }

    /// Declares a fault window.
    pub fn fault_window(&mut self, window: FaultWindow) {
        self.history.meta.fault_windows.push(window);
    }

    /// Adds an operation whose outcome is unknown until [`Builder::complete`] says otherwise.
    pub fn invoke(&mut self, call: Invocation<'_>) -> OpIndex {
        let op_type = self.history.values.str(call.op_type);
        let op_type = self.type_id(op_type).expect("fewer than TYPES_MAX operation types");
        self.invoke_typed(call, op_type)
    }

    /// Interns an operation type; a reader that has the name's id already saves the look-up.
    /// `None` once there are [`TYPES_MAX`] of them.
    pub(crate) fn type_id(&mut self, name: ValueId) -> Option<u16> {
        if let Some(&(_, id)) = self.type_cache.iter().find(|(cached, _)| *cached == name) {
            return Some(id);
        }
        let id = self.history.types.intern(name);
        if id as usize >= TYPES_MAX {
            return None;
        }
        if self.type_cache.len() < 16 {
            self.type_cache.push((name, id as u16));
        }
        Some(id as u16)
    }

    pub(crate) fn invoke_typed(&mut self, call: Invocation<'_>, op_type: u16) -> OpIndex {
        let h = &mut self.history;
        let index = h.cols.op_id.len();
        assert!(index < OPS_MAX, "a history holds fewer than 2^32 operations");
        let op_id = match call.op_id {
            Some(id) => id,
            None => h.values.int(index as i64),
        };
        let c = &mut h.cols;
        c.op_id.push(op_id);
        c.process.push(h.processes.intern(call.process));
        c.invoke_ts.push(call.ts);
        c.complete_ts.push(NEVER);
        c.op_type.push(op_type);
        c.key.push(h.keys.intern(call.key));
        c.input.push(call.input);
        c.output.push(ValueId::NULL);
        c.error.push(ValueId::NULL);
        c.node_seen.push(call.node_seen);
        c.fault_epoch.push(call.fault_epoch);
        c.invoke_at.push(call.at);
        c.complete_at.push(u32::MAX);
        c.flags.push(call.columns & ALL_COLUMNS);
        if !c.revision.is_empty() {
            c.revision.push(NEVER);
        }
        if !c.due_ts.is_empty() {
            c.due_ts.push(NEVER);
        }
        OpIndex(index as u32)
    }

    /// Says how an operation ended.
    pub fn complete(&mut self, op: OpIndex, end: Completion) {
        let (i, c) = (op.0 as usize, &mut self.history.cols);
        c.complete_ts[i] = end.ts.unwrap_or(NEVER);
        c.output[i] = end.output;
        c.error[i] = end.error;
        c.complete_at[i] = end.at;
        if !end.node_seen.is_null() {
            c.node_seen[i] = end.node_seen;
        }
        if !end.fault_epoch.is_null() {
            c.fault_epoch[i] = end.fault_epoch;
        }
        let timeout = if end.timeout_marker { TIMEOUT } else { 0 };
        c.flags[i] |= COMPLETED | timeout | (end.columns & ALL_COLUMNS);
    }

    /// Attaches an order hint to an operation.
    pub fn revision(&mut self, op: OpIndex, revision: i64) {
        let Columns { revision: column, op_id, .. } = &mut self.history.cols;
        column.resize(op_id.len(), NEVER);
        column[op.0 as usize] = revision;
    }

    /// Says when an operation was due.
    pub fn due(&mut self, op: OpIndex, due_ts: i64) {
        let Columns { due_ts: column, op_id, .. } = &mut self.history.cols;
        column.resize(op_id.len(), NEVER);
        column[op.0 as usize] = due_ts;
    }

    /// The operations put in so far, for readers that must look back.
    pub(crate) fn so_far(&self) -> &History {
        &self.history
    }

    /// The finished history.
    pub fn finish(mut self) -> History {
        self.history.cols.shrink();
        self.history
    }
}
