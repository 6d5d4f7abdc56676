//! A history taken apart, so that something can be planted in a copy of it.

use assay_history::{
    Builder, Completion, History, Invocation, Meta, NEVER, Op, OpIndex, Order, Outcome, ValueId,
    Values, View,
};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

/// One way to break a promise in a copy of a history.
#[derive(Clone, Copy)]
pub struct Plant {
    /// The kind of anomaly that is planted.
    pub kind: &'static str,
    /// Changes the copy in one place; `false`, and nothing is changed, if the place chosen does not
    /// allow it.
    pub apply: fn(&mut Draft, &mut ChaCha8Rng) -> bool,
}

impl std::fmt::Debug for Plant {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Plant({})", self.kind)
    }
}

/// An operation of a [`Draft`], with its type and revision spelled out.
#[derive(Clone, Debug)]
pub struct DraftOp {
    /// The operation; its value ids belong to the draft's pool.
    pub op: Op,
    /// Its type.
    pub op_type: String,
    /// Its key.
    pub key: ValueId,
    /// Its process.
    pub process: ValueId,
    /// Its order hint.
    pub revision: Option<i64>,
    /// When it was due.
    pub due_ts: Option<i64>,
}

impl DraftOp {
    /// Whether it succeeded and is of one of these types.
    pub fn ok(&self, verbs: &[&str]) -> bool {
        self.op.outcome() == Outcome::Ok && verbs.contains(&self.op_type.as_str())
    }
}

/// A history that can be changed.
#[derive(Clone, Debug)]
pub struct Draft {
    /// All values.
    pub values: Values,
    /// All operations, in their order.
    pub ops: Vec<DraftOp>,
    meta: Meta,
}

impl Draft {
    /// A copy of a history.
    pub fn new(history: &History) -> Draft {
        let draft = |op: Op| DraftOp {
            op_type: history.type_name(op.op_type).to_string(),
            key: history.key(op.key),
            process: history.process(op.process),
            revision: history.revision(op.index),
            due_ts: history.due_ts(op.index),
            op,
        };
        let ops = history.ops().map(draft).collect();
        Draft { values: history.values.clone(), ops, meta: history.meta.clone() }
    }

    /// The changed history.
    pub fn finish(self) -> History {
        let mut b = Builder::new();
        *b.meta() = Meta { fault_windows: Vec::new(), ..self.meta };
        for draft in &self.ops {
            let op = &draft.op;
            let mut value = |id| import(&self.values, id, b.values());
            let call = Invocation {
                op_id: Some(value(op.op_id)),
                key: value(draft.key),
                input: value(op.input),
                node_seen: value(op.node_seen),
                fault_epoch: value(op.fault_epoch),
                at: op.invoke_at,
                columns: op.columns,
                ..Invocation::new(value(draft.process), &draft.op_type, op.invoke_ts)
            };
            let (output, error) = (value(op.output), value(op.error));
            let index = b.invoke(call);
            if op.completed {
                let mut end = Completion::at(0).output(output).error(error).record(op.complete_at);
                (end.ts, end.timeout_marker) = (op.complete_ts, op.timeout_marker);
                b.complete(index, end);
            }
            if let Some(revision) = draft.revision {
                b.revision(index, revision);
            }
            if let Some(due_ts) = draft.due_ts {
                b.due(index, due_ts);
            }
        }
        b.finish()
    }

    /// A random operation that succeeded and is of one of these types.
    pub fn pick(&self, verbs: &[&str], rng: &mut ChaCha8Rng) -> Option<usize> {
        let fits: Vec<usize> = (0..self.ops.len()).filter(|&i| self.ops[i].ok(verbs)).collect();
        (!fits.is_empty()).then(|| fits[rng.random_range(0..fits.len())])
    }

    /// A value nobody has used.
    pub fn fresh(&mut self, rng: &mut ChaCha8Rng) -> ValueId {
        self.values.int(-(1 << 40) - rng.random_range(0..1_000_000))
    }

    /// Changes one list inside an output: the output itself, or a value of a map.
    pub fn edit_list(
        &mut self,
        at: usize,
        rng: &mut ChaCha8Rng,
        edit: impl FnOnce(&mut Vec<ValueId>, &mut ChaCha8Rng) -> bool,
    ) -> bool {
        let output = self.ops[at].op.output;
        let (mut pairs, place) = match self.values.view(output) {
            View::List(items) if !items.is_empty() => (vec![(ValueId::NULL, output)], 0),
            View::Map(flat) => {
                let pairs: Vec<_> = flat.chunks_exact(2).map(|p| (p[0], p[1])).collect();
                let is_list = |v| self.values.as_list(v).is_some_and(|items| !items.is_empty());
                let lists: Vec<usize> = (0..pairs.len()).filter(|&i| is_list(pairs[i].1)).collect();
                if lists.is_empty() {
                    return false;
                }
                let place = lists[rng.random_range(0..lists.len())];
                (pairs, place)
            }
            _ => return false,
        };
        let mut items = self.values.as_list(pairs[place].1).unwrap_or_default().to_vec();
        if !edit(&mut items, rng) {
            return false;
        }
        pairs[place].1 = self.values.list(&items);
        let is_map = matches!(self.values.view(output), View::Map(_));
        self.ops[at].op.output = if is_map { self.values.map(&pairs) } else { pairs[0].1 };
        true
    }

    /// Changes one value of a map in an output.
    pub fn edit_map(
        &mut self,
        at: usize,
        rng: &mut ChaCha8Rng,
        edit: impl FnOnce(&mut Values, ValueId) -> ValueId,
    ) -> bool {
        let View::Map(flat) = self.values.view(self.ops[at].op.output) else { return false };
        let mut pairs: Vec<_> = flat.chunks_exact(2).map(|p| (p[0], p[1])).collect();
        if pairs.is_empty() {
            return false;
        }
        let place = rng.random_range(0..pairs.len());
        pairs[place].1 = edit(&mut self.values, pairs[place].1);
        self.ops[at].op.output = self.values.map(&pairs);
        true
    }

    /// When an operation began and ended, in the order of the history; the end is [`NEVER`] unless
    /// the outcome is known.
    pub fn span(&self, at: usize) -> (i64, i64) {
        let op = &self.ops[at].op;
        let (start, end) = match self.meta.order {
            Order::Timestamps => (op.invoke_ts, op.complete_ts.unwrap_or(NEVER)),
            Order::Positions => (i64::from(op.invoke_at), i64::from(op.complete_at)),
        };
        (start, if op.outcome() == Outcome::Unknown { NEVER } else { end })
    }

    /// The index an operation will have in the finished history.
    pub fn index(&self, at: usize) -> OpIndex {
        OpIndex(at as u32)
    }
}

/// Copies a value from one pool to another.
pub(crate) fn import(from: &Values, id: ValueId, to: &mut Values) -> ValueId {
    match from.view(id) {
        View::Null | View::Bool(_) => id,
        View::Int(int) => to.int(int),
        View::Number(text) => to.number(text),
        View::Str(text) => to.str(text),
        View::List(items) => {
            let items: Vec<ValueId> = items.iter().map(|&item| import(from, item, to)).collect();
            to.list(&items)
        }
        View::Map(flat) => {
            let flat: Vec<ValueId> = flat.iter().map(|&item| import(from, item, to)).collect();
            let pairs: Vec<_> = flat.chunks_exact(2).map(|p| (p[0], p[1])).collect();
            to.map(&pairs)
        }
    }
}
