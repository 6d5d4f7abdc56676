//! The history itself: one row per operation, stored by column.

use crate::lines::RecordLines;
use crate::value::{ValueId, Values};
use rustc_hash::FxHashMap;
use serde::Serialize;

/// The place of an operation in its history, from 0, in the order of invocation records.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize)]
pub struct OpIndex(pub u32);

/// A process (client, session or connection) of one history, numbered from 0.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct ProcessId(pub u32);

/// A key (object) of one history, numbered from 0; key 0 is always `null`, "no key".
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct KeyId(pub u32);

/// An operation type (`read`, `write`, ...) of one history, numbered from 0.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct TypeId(pub u16);

/// The end of an operation that may still take effect at any later time.
pub const NEVER: i64 = i64::MAX;

/// The most operations one history can hold.
pub const OPS_MAX: usize = u32::MAX as usize - 1;

/// The most operation types one history can have; more is a recorder that mixed up its columns.
pub const TYPES_MAX: usize = 1_000;

/// What is known about an operation's effect.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// It took effect, once, between invocation and completion.
    Ok,
    /// It did not take effect and never will.
    Fail,
    /// It may take effect at any time after its invocation, or never.
    Unknown,
}

/// Where the real-time order of a history comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Order {
    /// From `invoke_ts` and `complete_ts`; equal times count as overlapping.
    Timestamps,
    /// From the position of the records: one recorder wrote them in the order they happened.
    Positions,
}

/// The clock that stamped the operations.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Clock {
    /// One monotonic clock: times of different processes can be compared.
    Monotonic,
    /// A wall clock, which may jump or differ between processes.
    Wall,
    /// The history does not say.
    Undeclared,
}

/// A span of time in which a fault was active.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FaultWindow {
    /// The id operations carry as `fault_epoch`.
    pub epoch: ValueId,
    /// When the fault began.
    pub start_ts: i64,
    /// When it had healed.
    pub end_ts: i64,
    /// The record it was read from, for messages.
    pub at: u32,
}

/// What a history says about itself, and what its reader noticed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Meta {
    /// Where real-time order comes from.
    pub order: Order,
    /// The declared clock.
    pub clock: Clock,
    /// Processes may have several operations open at once.
    pub pipelined: bool,
    /// Whether the format carries all twelve columns (foreign formats do not).
    pub native: bool,
    /// How many operations the workload sent, if the footer says so.
    pub sent: Option<u64>,
    /// How many operations the recorder wrote, if the footer says so.
    pub recorded: Option<u64>,
    /// The fault windows of the run.
    pub fault_windows: Vec<FaultWindow>,
    /// The record number of a last line that a killed recorder left half-written; it was dropped.
    pub torn_tail: Option<u64>,
    /// Records that are no client operations (a nemesis, log chatter), by count.
    pub records_skipped: u64,
    /// Fields the format does not define, with how often each was seen.
    pub fields_ignored: Vec<(String, u64)>,
}

impl Default for Meta {
    fn default() -> Self {
        Meta {
            order: Order::Timestamps,
            clock: Clock::Undeclared,
            pipelined: false,
            native: true,
            sent: None,
            recorded: None,
            fault_windows: Vec::new(),
            torn_tail: None,
            records_skipped: 0,
            fields_ignored: Vec::new(),
        }
    }
}

/// The twelve columns of an operation record, in their order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Column {
    /// Unique in the run.
    OpId,
    /// Client, session or connection.
    ProcessId,
    /// When it was sent.
    InvokeTs,
    /// When the answer came, or null.
    CompleteTs,
    /// `read`, `write`, `cas`, ...
    OpType,
    /// The object addressed.
    Key,
    /// What was sent.
    Input,
    /// What was received.
    Output,
    /// The error code.
    Error,
    /// Whether the outcome is unknown.
    TimeoutMarker,
    /// Which node answered.
    NodeSeen,
    /// Which fault window was active.
    FaultEpoch,
}

impl Column {
    /// All columns with their names in files.
    pub const ALL: [(Column, &'static str); 12] = [
        (Column::OpId, "op_id"),
        (Column::ProcessId, "process_id"),
        (Column::InvokeTs, "invoke_ts"),
        (Column::CompleteTs, "complete_ts"),
        (Column::OpType, "op_type"),
        (Column::Key, "key"),
        (Column::Input, "input"),
        (Column::Output, "output"),
        (Column::Error, "error"),
        (Column::TimeoutMarker, "timeout_marker"),
        (Column::NodeSeen, "node_seen"),
        (Column::FaultEpoch, "fault_epoch"),
    ];

    /// This column's bit in a set of columns.
    pub const fn bit(self) -> u16 {
        1 << self as u8
    }
}

/// The set of all twelve columns.
pub const ALL_COLUMNS: u16 = 0x0fff;

pub(crate) const TIMEOUT: u16 = 1 << 12;
pub(crate) const COMPLETED: u16 = 1 << 13;

/// One operation, with its interned names. [`History::op`] makes it; it is a copy, not a reference.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Op {
    /// Where it stands in the history.
    pub index: OpIndex,
    /// Unique in the run.
    pub op_id: ValueId,
    /// Who issued it.
    pub process: ProcessId,
    /// When it was sent.
    pub invoke_ts: i64,
    /// When the answer came.
    pub complete_ts: Option<i64>,
    /// What kind of operation.
    pub op_type: TypeId,
    /// The object addressed.
    pub key: KeyId,
    /// What was sent.
    pub input: ValueId,
    /// What was received.
    pub output: ValueId,
    /// The error, or null.
    pub error: ValueId,
    /// Whether the recorder marked the outcome as unknown.
    pub timeout_marker: bool,
    /// Whether a completion was recorded at all.
    pub completed: bool,
    /// Which node answered.
    pub node_seen: ValueId,
    /// Which fault window was active.
    pub fault_epoch: ValueId,
    /// Which record (line, for line formats) held the invocation.
    pub invoke_at: u32,
    /// Which record held the completion.
    pub complete_at: u32,
    /// Which of the twelve columns the records had.
    pub columns: u16,
}

impl Op {
    /// The outcome: unknown if marked or never completed, fail if there is an error, else ok.
    #[inline]
    pub fn outcome(&self) -> Outcome {
        if self.timeout_marker || !self.completed {
            Outcome::Unknown
        } else if !self.error.is_null() {
            Outcome::Fail
        } else {
            Outcome::Ok
        }
    }
}

/// What a checker needs of an operation. [`History::glances`] walks them without touching the
/// other columns.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Glance {
    /// Where it stands in the history.
    pub index: OpIndex,
    /// Who issued it.
    pub process: ProcessId,
    /// What kind of operation.
    pub op_type: TypeId,
    /// The object addressed.
    pub key: KeyId,
    /// What was sent.
    pub input: ValueId,
    /// What was received.
    pub output: ValueId,
    /// What is known about its effect.
    pub outcome: Outcome,
    /// When it began, in this history's order.
    pub start: i64,
    /// When it ended; [`NEVER`] unless the outcome is known.
    pub end: i64,
}

/// Interned names of one kind: id to value and back.
#[derive(Clone, Default, Debug)]
pub(crate) struct Names {
    pub(crate) values: Vec<ValueId>,
    ids: FxHashMap<ValueId, u32>,
}

impl Names {
    pub(crate) fn intern(&mut self, value: ValueId) -> u32 {
        let next = self.values.len() as u32;
        let id = *self.ids.entry(value).or_insert(next);
        if id == next {
            self.values.push(value);
        }
        id
    }
}

/// What clients did and saw. Built by a reader or a [`crate::Builder`]; never changed afterwards.
///
/// About 60 bytes an operation plus its share of the value pool.
#[derive(Clone, Default, Debug)]
pub struct History {
    /// All values of all columns.
    pub values: Values,
    /// What the history says about itself.
    pub meta: Meta,
    pub(crate) processes: Names,
    pub(crate) keys: Names,
    pub(crate) types: Names,
    pub(crate) cols: Columns,
    /// Line of each record where records are not lines; empty where record number = line number.
    pub(crate) record_lines: RecordLines,
}

#[derive(Clone, Default, Debug)]
pub(crate) struct Columns {
    pub(crate) op_id: Vec<ValueId>,
    pub(crate) process: Vec<u32>,
    pub(crate) invoke_ts: Vec<i64>,
    pub(crate) complete_ts: Vec<i64>,
    pub(crate) op_type: Vec<u16>,
    pub(crate) key: Vec<u32>,
    pub(crate) input: Vec<ValueId>,
    pub(crate) output: Vec<ValueId>,
    pub(crate) error: Vec<ValueId>,
    pub(crate) node_seen: Vec<ValueId>,
    pub(crate) fault_epoch: Vec<ValueId>,
    pub(crate) invoke_at: Vec<u32>,
    pub(crate) complete_at: Vec<u32>,
    pub(crate) flags: Vec<u16>,
    /// Order hints; empty unless some record has one, then [`NEVER`] where a record has none.
    pub(crate) revision: Vec<i64>,
    /// When operations were due; empty and [`NEVER`] likewise.
    pub(crate) due_ts: Vec<i64>,
}

impl Columns {
    /// Gives back what growing left over.
    pub(crate) fn shrink(&mut self) {
        let ids = [&mut self.op_id, &mut self.input, &mut self.output, &mut self.error];
        ids.into_iter().for_each(Vec::shrink_to_fit);
        [&mut self.node_seen, &mut self.fault_epoch].into_iter().for_each(Vec::shrink_to_fit);
        let numbers =
            [&mut self.process, &mut self.key, &mut self.invoke_at, &mut self.complete_at];
        numbers.into_iter().for_each(Vec::shrink_to_fit);
        let times = [&mut self.invoke_ts, &mut self.complete_ts, &mut self.due_ts];
        times.into_iter().for_each(Vec::shrink_to_fit);
        self.revision.shrink_to_fit();
        [&mut self.op_type, &mut self.flags].into_iter().for_each(Vec::shrink_to_fit);
    }

    /// The rows at these places.
    fn rows(&self, places: &[OpIndex]) -> Columns {
        fn pick<T: Copy>(column: &[T], places: &[OpIndex]) -> Vec<T> {
            places.iter().filter_map(|op| column.get(op.0 as usize)).copied().collect()
        }
        Columns {
            op_id: pick(&self.op_id, places),
            process: pick(&self.process, places),
            invoke_ts: pick(&self.invoke_ts, places),
            complete_ts: pick(&self.complete_ts, places),
            op_type: pick(&self.op_type, places),
            key: pick(&self.key, places),
            input: pick(&self.input, places),
            output: pick(&self.output, places),
            error: pick(&self.error, places),
            node_seen: pick(&self.node_seen, places),
            fault_epoch: pick(&self.fault_epoch, places),
            invoke_at: pick(&self.invoke_at, places),
            complete_at: pick(&self.complete_at, places),
            flags: pick(&self.flags, places),
            // Empty unless some record has one.
            revision: pick(&self.revision, places),
            due_ts: pick(&self.due_ts, places),
        }
    }
}

impl History {
    /// How many operations there are.
    pub fn len(&self) -> usize {
        self.cols.op_id.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All operations, in the order of their invocation records.
    pub fn ops(&self) -> impl ExactSizeIterator<Item = Op> + '_ {
        (0..self.len() as u32).map(|i| self.op(OpIndex(i)))
    }

    /// What a checker needs of every operation, in the order of their invocation records.
    pub fn glances(&self) -> impl ExactSizeIterator<Item = Glance> + Clone + '_ {
        let c = &self.cols;
        let by_time = self.meta.order == Order::Timestamps;
        let times = c.invoke_ts.iter().zip(&c.complete_ts);
        let places = c.invoke_at.iter().zip(&c.complete_at);
        let names = c.process.iter().zip(&c.op_type).zip(&c.key);
        let values = c.input.iter().zip(&c.output).zip(&c.error);
        let rows = c.flags.iter().zip(names).zip(values).zip(times.zip(places)).enumerate();
        rows.map(move |(i, (((flags, names), values), (times, places)))| {
            let (((process, op_type), key), ((input, output), error)) = (names, values);
            let outcome = if flags & TIMEOUT != 0 || flags & COMPLETED == 0 {
                Outcome::Unknown
            } else if error.is_null() {
                Outcome::Ok
            } else {
                Outcome::Fail
            };
            let (start, end) = if by_time {
                (*times.0, *times.1)
            } else {
                (i64::from(*places.0), i64::from(*places.1))
            };
            Glance {
                index: OpIndex(i as u32),
                process: ProcessId(*process),
                op_type: TypeId(*op_type),
                key: KeyId(*key),
                input: *input,
                output: *output,
                outcome,
                start,
                end: if outcome == Outcome::Unknown { NEVER } else { end },
            }
        })
    }

    /// One operation.
    #[inline]
    pub fn op(&self, index: OpIndex) -> Op {
        let (i, c) = (index.0 as usize, &self.cols);
        let flags = c.flags[i];
        Op {
            index,
            op_id: c.op_id[i],
            process: ProcessId(c.process[i]),
            invoke_ts: c.invoke_ts[i],
            complete_ts: (c.complete_ts[i] != NEVER).then_some(c.complete_ts[i]),
            op_type: TypeId(c.op_type[i]),
            key: KeyId(c.key[i]),
            input: c.input[i],
            output: c.output[i],
            error: c.error[i],
            timeout_marker: flags & TIMEOUT != 0,
            completed: flags & COMPLETED != 0,
            node_seen: c.node_seen[i],
            fault_epoch: c.fault_epoch[i],
            invoke_at: c.invoke_at[i],
            complete_at: c.complete_at[i],
            columns: flags & ALL_COLUMNS,
        }
    }

    /// When an operation began and ended in this history's order. The end is [`NEVER`] unless the
    /// outcome is known: an operation that timed out may still take effect later.
    #[inline]
    pub fn span(&self, op: &Op) -> (i64, i64) {
        let (start, end) = match self.meta.order {
            Order::Timestamps => (op.invoke_ts, op.complete_ts.unwrap_or(NEVER)),
            Order::Positions => (i64::from(op.invoke_at), i64::from(op.complete_at)),
        };
        (start, if op.outcome() == Outcome::Unknown { NEVER } else { end })
    }

    /// The order hint (a revision the system assigned) of an operation, if its record has one.
    pub fn revision(&self, index: OpIndex) -> Option<i64> {
        self.cols.revision.get(index.0 as usize).copied().filter(|&r| r != NEVER)
    }

    /// Whether any operation has an order hint.
    pub fn has_revisions(&self) -> bool {
        !self.cols.revision.is_empty()
    }

    /// When an operation was due, if its record says so: arrivals at a fixed rate are due at a time
    /// whether or not somebody is free to send them.
    pub fn due_ts(&self, index: OpIndex) -> Option<i64> {
        self.cols.due_ts.get(index.0 as usize).copied().filter(|&due| due != NEVER)
    }

    /// Whether any operation was due at a time.
    pub fn has_due_times(&self) -> bool {
        !self.cols.due_ts.is_empty()
    }

    /// Since when an operation was waited for: when it was due, else when it was sent. Latency
    /// counts from here, or a system that keeps its clients from sending looks quick; what an
    /// operation may have seen depends on when it was sent, so [`History::span`] begins there.
    #[inline]
    pub fn wanted_ts(&self, op: &Op) -> i64 {
        self.due_ts(op.index).map_or(op.invoke_ts, |due| due.min(op.invoke_ts))
    }

    /// The operations that pass a test, as a history of their own, and where each stands here. Ids
    /// of keys, values and processes, line numbers and what the history says about itself stay;
    /// types are only those that are left.
    pub fn select(&self, keep: impl Fn(&Op) -> bool) -> (History, Vec<OpIndex>) {
        let places: Vec<OpIndex> = self.ops().filter(|op| keep(op)).map(|op| op.index).collect();
        let mut cols = self.cols.rows(&places);
        // A type that no operation has would still be a type of the history: number them anew.
        let mut types = Names::default();
        for op_type in &mut cols.op_type {
            *op_type = types.intern(self.types.values[usize::from(*op_type)]) as u16;
        }
        let part = History {
            values: self.values.clone(),
            meta: self.meta.clone(),
            processes: self.processes.clone(),
            keys: self.keys.clone(),
            types,
            cols,
            record_lines: self.record_lines.clone(),
        };
        (part, places)
    }

    /// How many different keys there are, counting `null`.
    pub fn key_count(&self) -> usize {
        self.keys.values.len()
    }

    /// How many processes there are.
    pub fn process_count(&self) -> usize {
        self.processes.values.len()
    }

    /// The value of a key.
    pub fn key(&self, key: KeyId) -> ValueId {
        self.keys.values[key.0 as usize]
    }

    /// The value that names a process.
    pub fn process(&self, process: ProcessId) -> ValueId {
        self.processes.values[process.0 as usize]
    }

    /// The name of an operation type.
    pub fn type_name(&self, op_type: TypeId) -> &str {
        self.values.as_str(self.types.values[op_type.0 as usize]).unwrap_or("?")
    }

    /// The id of an operation type, if any operation has it.
    pub fn find_type(&self, name: &str) -> Option<TypeId> {
        (0..self.types.values.len() as u16).map(TypeId).find(|&t| self.type_name(t) == name)
    }

    /// All operation types.
    pub fn types(&self) -> impl Iterator<Item = TypeId> + use<> {
        (0..self.types.values.len() as u16).map(TypeId)
    }

    /// The line a record came from.
    pub fn line(&self, record: u32) -> u64 {
        u64::from(self.record_lines.get(record).unwrap_or(record))
    }

    /// How many bytes the history holds on the heap.
    pub fn heap_bytes(&self) -> usize {
        // Ten columns of four bytes, two times of eight, type and flags of two.
        let per_op = 10 * 4 + 2 * 8 + 2 * 2;
        self.cols.op_id.capacity() * per_op
            + (self.cols.revision.capacity() + self.cols.due_ts.capacity()) * 8
            + self.record_lines.heap_bytes()
            + self.values.heap_bytes()
    }
}
