//! A history as the oracles read it: one row per operation, with the conventions for names.
//!
//! The conventions are those of Jepsen's workloads and Assay's models: `read`, `write`, `add`,
//! `enqueue`, ... with the value in `input` or `output`. A **final state** is an operation of type
//! `final`, `dump` or `final-read` whose output is a list of elements or a map.

use assay_history::{
    Clock, History, NEVER, OpIndex, Order, Outcome, ProcessId, ValueId, Values, View,
};
use rustc_hash::FxHashMap;

/// Reads one value.
pub(crate) const READ: &[&str] = &["read", "get"];
/// Replaces one value.
pub(crate) const WRITE: &[&str] = &["write", "put"];
/// Adds an element.
pub(crate) const ADD: &[&str] =
    &["add", "append", "insert", "enqueue", "send", "produce", "publish", "push"];
/// Takes an element away.
pub(crate) const REMOVE: &[&str] = &["remove", "delete", "del"];
/// Hands elements to a consumer.
pub(crate) const TAKE: &[&str] = &["dequeue", "consume", "poll", "recv", "receive", "deliver"];
/// Shows the whole state.
pub(crate) const FINAL: &[&str] = &["final", "dump", "final-read"];
/// Begins a new session of the same process.
pub(crate) const RECONNECT: &[&str] = &["reconnect"];

/// Types that only one oracle gives a meaning to.
const OTHERS: &[&str] = &[
    "acquire",
    "assert",
    "balance",
    "cas",
    "credit",
    "debit",
    "dec",
    "decrement",
    "drain",
    "inc",
    "increment",
    "join",
    "leave",
    "release",
    "renew",
    "replay",
    "sample",
    "snapshot",
    "transfer",
    "txn",
    "use",
    "view",
];

/// Whether operations of this type mean anything to any oracle. What has no meaning is read over,
/// and whoever counts what was consumed must know.
pub fn knows_verb(verb: &str) -> bool {
    [READ, WRITE, ADD, REMOVE, TAKE, FINAL, RECONNECT, OTHERS].concat().contains(&verb)
}

/// One operation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row<'h> {
    pub index: OpIndex,
    pub process: ProcessId,
    pub verb: &'h str,
    pub key: ValueId,
    pub input: ValueId,
    pub output: ValueId,
    pub outcome: Outcome,
    pub start: i64,
    pub end: i64,
    pub node: ValueId,
}

impl Row<'_> {
    pub fn is(&self, verbs: &[&str]) -> bool {
        verbs.contains(&self.verb)
    }

    pub fn ok(&self) -> bool {
        self.outcome == Outcome::Ok
    }

    /// Took effect, or may have.
    pub fn possible(&self) -> bool {
        self.outcome != Outcome::Fail
    }
}

/// The rows of a history, with what is needed to speak about them.
pub(crate) struct Table<'h> {
    pub history: &'h History,
    pub values: &'h Values,
    pub rows: Vec<Row<'h>>,
}

impl<'h> Table<'h> {
    pub fn new(history: &'h History) -> Table<'h> {
        let row = |glance: assay_history::Glance| Row {
            index: glance.index,
            process: glance.process,
            verb: history.type_name(glance.op_type),
            key: history.key(glance.key),
            input: glance.input,
            output: glance.output,
            outcome: glance.outcome,
            start: glance.start,
            end: glance.end,
            node: history.op(glance.index).node_seen,
        };
        let rows = history.glances().map(row).collect();
        Table { history, values: &history.values, rows }
    }

    pub fn row(&self, op: OpIndex) -> &Row<'h> {
        &self.rows[op.0 as usize]
    }

    /// A value as JSON text.
    pub fn text(&self, value: ValueId) -> String {
        self.values.show(value).to_string()
    }

    /// A value as people would name it: strings without quotes.
    pub fn name(&self, value: ValueId) -> String {
        match self.values.as_str(value) {
            Some(text) => text.to_string(),
            None => self.text(value),
        }
    }

    /// An operation in words: who, what, where it stands.
    pub fn say(&self, op: OpIndex) -> String {
        let row = self.row(op);
        let mut words = format!("client {}'s {}", self.process(row.process), row.verb);
        if !row.input.is_null() {
            words += &format!(" of {}", clip(self.text(row.input)));
        }
        if !row.key.is_null() {
            words += &format!(" on {}", self.text(row.key));
        }
        if row.outcome == Outcome::Unknown {
            words += " (outcome unknown)";
        }
        words + &format!(" [{}]", self.place(op))
    }

    pub fn process(&self, process: ProcessId) -> String {
        self.name(self.history.process(process))
    }

    /// Where an operation stands: its line, or its number where there are no lines.
    pub fn place(&self, op: OpIndex) -> String {
        match self.history.line(self.history.op(op).invoke_at) {
            0 => format!("operation {}", op.0),
            line => format!("line {line}"),
        }
    }

    /// How far apart two times of different processes must be to say which came first; `None` if
    /// that cannot be said at all.
    pub fn margin(&self, skew_ns: Option<i64>) -> Option<i64> {
        let wall = self.history.meta.clock == Clock::Wall;
        if self.history.meta.order == Order::Timestamps && wall { skew_ns } else { Some(0) }
    }

    /// The final states that were read, by their start.
    pub fn dumps(&self) -> Vec<Row<'h>> {
        let is_dump = |row: &&Row<'h>| row.ok() && row.is(FINAL);
        let mut dumps: Vec<Row<'h>> = self.rows.iter().filter(is_dump).copied().collect();
        dumps.sort_by_key(|row| (row.start, row.index));
        dumps
    }

    /// What a state holds for a key: the list itself, or what a map has under the key (all its
    /// values for no key). `None` if the state says nothing about that key.
    pub fn elements(&self, state: &Row<'_>, key: ValueId) -> Option<Vec<ValueId>> {
        if !state.key.is_null() && state.key != key {
            return None;
        }
        match self.values.view(state.output) {
            View::List(items) => Some(items.to_vec()),
            View::Map(pairs) if key.is_null() || state.key == key => {
                Some(pairs.chunks_exact(2).flat_map(|pair| self.items(pair[1])).collect())
            }
            View::Map(pairs) => {
                let name = self.name(key);
                let found = pairs.chunks_exact(2).find(|pair| self.name(pair[0]) == name);
                Some(found.map(|pair| self.items(pair[1])).unwrap_or_default())
            }
            View::Null => Some(Vec::new()),
            _ => None,
        }
    }

    /// A list's items, or the value itself.
    pub fn items(&self, value: ValueId) -> Vec<ValueId> {
        match self.values.view(value) {
            View::List(items) => items.to_vec(),
            View::Null => Vec::new(),
            _ => vec![value],
        }
    }

    /// Operations other than `excepted` verbs that were under way while `[from, to]` passed, and
    /// operations of unknown outcome that began before `to`.
    pub fn in_flight(&self, from: i64, to: i64, excepted: &[&str]) -> (Vec<OpIndex>, Vec<OpIndex>) {
        let (mut known, mut unknown) = (Vec::new(), Vec::new());
        for row in self.rows.iter().filter(|row| !row.is(excepted) && row.start <= to) {
            if row.end == NEVER {
                unknown.push(row.index);
            } else if row.end >= from {
                known.push(row.index);
            }
        }
        (known, unknown)
    }

    /// The value at a path of field names and list places; the empty path is the value itself.
    pub fn at_path(&self, value: ValueId, path: &str) -> Option<ValueId> {
        let mut at = value;
        for part in path.split('.').filter(|part| !part.is_empty()) {
            at = match self.values.view(at) {
                View::List(items) => *items.get(part.parse::<usize>().ok()?)?,
                View::Map(_) => self.values.field(at, part)?,
                _ => return None,
            };
        }
        Some(at)
    }

    /// The version the system gave an operation: its revision, or `version`, `revision` or
    /// `offset` in its output, or an output that is a number where the operation writes (a write
    /// whose output repeats its input is an echo and says nothing).
    pub fn version(&self, row: &Row<'_>) -> Option<i64> {
        if let Some(revision) = self.history.revision(row.index) {
            return Some(revision);
        }
        let fields = ["version", "revision", "offset"];
        let field = fields.iter().find_map(|name| self.values.field(row.output, name));
        match field {
            Some(id) => self.values.as_int(id),
            None if row.is(WRITE) && row.output == row.input => None,
            None if row.is(WRITE) || row.is(ADD) => self.values.as_int(row.output),
            None => None,
        }
    }

    /// The value a read returned: `value` where the output is a record with one.
    pub fn value_read(&self, row: &Row<'_>) -> ValueId {
        self.values.field(row.output, "value").unwrap_or(row.output)
    }
}

/// Groups rows by something, in the order of first appearance.
pub(crate) fn group_by<'a, 'h, K: std::hash::Hash + Eq + Copy>(
    rows: impl Iterator<Item = &'a Row<'h>>,
    key: impl Fn(&Row<'h>) -> K,
) -> Vec<(K, Vec<&'a Row<'h>>)>
where
    'h: 'a,
{
    let mut places: FxHashMap<K, usize> = FxHashMap::default();
    let mut groups: Vec<(K, Vec<&Row<'h>>)> = Vec::new();
    for row in rows {
        let name = key(row);
        let place = *places.entry(name).or_insert_with(|| {
            groups.push((name, Vec::new()));
            groups.len() - 1
        });
        groups[place].1.push(row);
    }
    groups
}

/// Shortens long text for a sentence.
pub(crate) fn clip(text: String) -> String {
    const CHARS_MAX: usize = 60;
    match text.char_indices().nth(CHARS_MAX) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}

/// A count with thousands separated: `4,217`.
pub(crate) fn count(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
