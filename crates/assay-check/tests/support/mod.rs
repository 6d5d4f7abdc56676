//! What the checker's tests share: small histories as plain data, a brute-force checker and a
//! generator.
#![allow(dead_code, reason = "each test file uses its own part of this")]

pub mod brute;
pub mod generate;
pub mod harness;
pub mod mutate;
pub mod shrink;
pub mod text;

use assay_check::ModelKind;
use assay_history::{Builder, Completion, History, Invocation, OpIndex, Order, ValueId, Values};

/// A value.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum V {
    Null,
    Bool(bool),
    Int(i64),
    Str(String),
    List(Vec<V>),
}

impl V {
    pub fn str(text: &str) -> V {
        V::Str(text.to_owned())
    }

    pub fn int(&self) -> i64 {
        match self {
            V::Int(int) => *int,
            other => panic!("{other:?} should be an integer"),
        }
    }

    pub fn list(&self) -> &[V] {
        match self {
            V::List(items) => items,
            other => panic!("{other:?} should be a list"),
        }
    }

    pub fn id(&self, values: &mut Values) -> ValueId {
        match self {
            V::Null => ValueId::NULL,
            V::Bool(flag) => values.bool(*flag),
            V::Int(int) => values.int(*int),
            V::Str(text) => values.str(text),
            V::List(items) => {
                let ids: Vec<ValueId> = items.iter().map(|item| item.id(values)).collect();
                values.list(&ids)
            }
        }
    }
}

impl std::fmt::Display for V {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut values = Values::new();
        let id = self.id(&mut values);
        write!(f, "{}", values.show(id))
    }
}

/// How an operation ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    Ok,
    Fail,
    /// A completion says that nobody knows.
    TimedOut,
    /// There is no completion.
    Open,
}

impl End {
    pub fn is_unknown(self) -> bool {
        matches!(self, End::TimedOut | End::Open)
    }
}

/// An operation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Op {
    pub process: i64,
    pub f: &'static str,
    pub key: V,
    pub input: V,
    pub output: V,
    /// When it began: a time, or a record number in a case that is ordered by position.
    pub start: i64,
    pub end: i64,
    pub how: End,
}

/// A history and the question about it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Case {
    pub model: ModelKind,
    pub initial: V,
    /// In the order of their invocation records.
    pub ops: Vec<Op>,
    /// Whether real-time order comes from positions; times are then all the same.
    pub by_position: bool,
    /// Order hints, which must not change an answer.
    pub revisions: Vec<i64>,
}

impl Case {
    /// Forgets that an operation was ever sent.
    pub fn leave_out(&mut self, place: usize) {
        self.ops.remove(place);
        if !self.revisions.is_empty() {
            self.revisions.remove(place);
        }
    }

    /// The history, and the initial value in its pool.
    pub fn history(&self) -> (History, ValueId) {
        let mut b = Builder::new();
        if self.by_position {
            b.meta().order = Order::Positions;
        }
        let initial = self.initial.id(b.values());
        for op in &self.ops {
            let process = b.values().int(op.process);
            let (key, input, output) =
                (op.key.id(b.values()), op.input.id(b.values()), op.output.id(b.values()));
            let time = |t: i64| if self.by_position { 0 } else { t };
            let place = |t: i64| if self.by_position { t as u32 } else { 1 };
            let call = Invocation::new(process, op.f, time(op.start)).key(key).input(input);
            let index = b.invoke(call.at(place(op.start)));
            let error = b.values().str("refused");
            let done = match op.how {
                End::Ok => Completion::at(time(op.end)),
                End::Fail => Completion::at(time(op.end)).error(error),
                End::TimedOut => Completion::unknown(),
                End::Open => continue,
            };
            b.complete(index, done.output(output).record(place(op.end)));
        }
        for (i, &revision) in self.revisions.iter().enumerate() {
            b.revision(OpIndex(i as u32), revision);
        }
        (b.finish(), initial)
    }

    /// The history as JSON lines, one per operation, for a message.
    pub fn json_lines(&self) -> String {
        let mut out = String::new();
        if self.by_position {
            out.push_str("(ordered by position; times here are record numbers)\n");
        }
        for (i, op) in self.ops.iter().enumerate() {
            let end = if op.how.is_unknown() { "null".to_owned() } else { op.end.to_string() };
            let error = if op.how == End::Fail { "\"refused\"" } else { "null" };
            out.push_str(&format!(
                "{{\"op_id\":{i},\"process_id\":{},\"invoke_ts\":{},\"complete_ts\":{end},\"\
                 op_type\":\"{}\",\"key\":{},\"input\":{},\"output\":{},\"error\":{error},\"\
                 timeout_marker\":{},\"node_seen\":null,\"fault_epoch\":null}}\n",
                op.process,
                op.start,
                op.f,
                op.key,
                op.input,
                op.output,
                op.how.is_unknown(),
            ));
        }
        out
    }
}
