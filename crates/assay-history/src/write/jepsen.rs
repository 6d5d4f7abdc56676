//! Jepsen's operations, as EDN or JSON maps.

use super::{Moment, Out, moments};
use crate::history::{History, Op, OpIndex, Outcome, ProcessId};
use crate::role::Role;
use crate::show::{push, write_json_str};
use crate::value::{ValueId, View};
use std::io::{self, Write};

/// Writes Jepsen operations as EDN maps, one per line.
///
/// # Errors
/// Those of `out`, and [`io::ErrorKind::InvalidInput`] where Jepsen's one-at-a-time processes and
/// its strict order of records cannot express the history.
pub fn write_jepsen_edn(history: &History, out: &mut dyn Write) -> io::Result<()> {
    Records::new(history, out, Layout::Maps(&EDN)).write()
}

/// Writes Jepsen operations as JSON maps, one per line.
///
/// # Errors
/// As for [`write_jepsen_edn`].
pub fn write_jepsen_json(history: &History, out: &mut dyn Write) -> io::Result<()> {
    Records::new(history, out, Layout::Maps(&JSON)).write()
}

/// What a record looks like.
#[derive(Clone, Copy)]
pub(super) enum Layout {
    /// A map a line.
    Maps(&'static Spelling),
    /// A line of Porcupine's etcd logs.
    Log,
}

/// How the parts of a map are spelt.
pub(super) struct Spelling {
    /// The fields, in the order index, time, type, process, f, key, value, error.
    fields: [&'static str; 8],
    name: fn(&str, &mut String),
    value: fn(&History, ValueId, &mut String),
}

const EDN: Spelling = Spelling {
    fields: [
        "{:index ",
        ", :time ",
        ", :type ",
        ", :process ",
        ", :f ",
        ", :key ",
        ", :value ",
        ", :error ",
    ],
    name: |name, out| {
        if is_name(name) {
            out.push(':');
            out.push_str(name);
        } else {
            write_json_str(name, out);
        }
    },
    value: write_edn,
};

const JSON: Spelling = Spelling {
    fields: [
        "{\"index\":",
        ",\"time\":",
        ",\"type\":",
        ",\"process\":",
        ",\"f\":",
        ",\"key\":",
        ",\"value\":",
        ",\"error\":",
    ],
    name: write_json_str,
    value: |history, value, out| history.values.write_json(value, out),
};

pub(super) struct Records<'h, 'w> {
    pub(super) history: &'h History,
    pub(super) out: Out<'w>,
    layout: Layout,
    roles: Vec<Role>,
    keyed: bool,
    /// Whether every process is an integer; otherwise they are numbered.
    processes_are_integers: bool,
    /// What each process has open.
    open: Vec<Option<OpIndex>>,
    index: u64,
}

impl<'h, 'w> Records<'h, 'w> {
    pub(super) fn new(history: &'h History, out: &'w mut dyn Write, layout: Layout) -> Self {
        let mut processes = (0..history.process_count() as u32).map(ProcessId);
        let is_integer = |p| history.values.as_int(history.process(p)).is_some();
        Records {
            history,
            out: Out::new(out),
            layout,
            roles: history.types().map(|t| Role::of(history.type_name(t))).collect(),
            keyed: history.key_count() > 1,
            processes_are_integers: processes.all(is_integer),
            open: vec![None; history.process_count()],
            index: 0,
        }
    }

    pub(super) fn write(mut self) -> io::Result<()> {
        let moments = moments(self.history);
        for instant in moments.chunk_by(|a, b| a.at == b.at) {
            self.instant(instant)?;
        }
        self.out.finish()
    }

    /// Writes what happens at one time: all beginnings before all ends, since such operations
    /// overlap. Only a process that goes on at once must end one operation before it begins the
    /// next; that much order can be written for one process, not for two.
    fn instant(&mut self, moments: &[Moment]) -> io::Result<()> {
        let split = moments.partition_point(|moment| !moment.end);
        let (begins, ends) = moments.split_at(split);
        let mut going_on: Vec<Op> = Vec::new();
        for begin in begins {
            let op = begin.op(self.history);
            match self.open_of(&op) {
                Some(earlier) if self.ends_now(earlier, begin.at) => going_on.push(op),
                Some(earlier) => {
                    self.give_up(earlier)?;
                    self.begin(&op)?;
                }
                None => self.begin(&op)?,
            }
        }
        if let Some(other) = going_on.iter().find(|op| op.process != going_on[0].process) {
            return Err(self.impossible(
                other,
                "begins at the very time at which its process and another one end an operation; \
                 a clock this coarse leaves no order of records that says what overlapped",
            ));
        }
        for op in &going_on {
            match self.open_of(op) {
                Some(earlier) if self.ends_now(earlier, begins[0].at) => {
                    self.end(&earlier)?;
                }
                Some(earlier) => self.give_up(earlier)?,
                None => {}
            }
            self.begin(op)?;
        }
        for end in ends {
            let op = end.op(self.history);
            if self.open[op.process.0 as usize] == Some(op.index) {
                self.end(&op)?;
            }
        }
        Ok(())
    }

    fn open_of(&self, op: &Op) -> Option<Op> {
        self.open[op.process.0 as usize].map(|open| self.history.op(open))
    }

    fn ends_now(&self, op: Op, now: i64) -> bool {
        op.completed && super::times(self.history, &op).1 <= now
    }

    /// Ends an operation whose outcome nobody learnt, because its process goes on.
    fn give_up(&mut self, op: Op) -> io::Result<()> {
        let timeless = op.complete_ts.is_none() && op.outcome() == Outcome::Unknown;
        if timeless {
            return self.end(&op);
        }
        Err(self.impossible(&op, "is still open when its process begins another one"))
    }

    #[cold]
    pub(super) fn impossible(&self, op: &Op, why: &str) -> io::Error {
        let id = self.history.values.show(op.op_id);
        let line = self.history.line(op.invoke_at);
        let message = format!("this format cannot carry it: operation {id} (line {line}) {why}");
        io::Error::new(io::ErrorKind::InvalidInput, message)
    }

    fn begin(&mut self, op: &Op) -> io::Result<()> {
        self.open[op.process.0 as usize] = Some(op.index);
        match self.layout {
            Layout::Maps(spelling) => {
                self.head(spelling, op, Some(op.invoke_ts), "invoke");
                self.value(spelling, 6, op.input);
                self.tail()
            }
            Layout::Log => self.log_line(op, "invoke", op.input),
        }
    }

    fn end(&mut self, op: &Op) -> io::Result<()> {
        self.open[op.process.0 as usize] = None;
        let role = self.roles[op.op_type.0 as usize];
        let spelling = match self.layout {
            Layout::Maps(spelling) => spelling,
            Layout::Log => return self.log_end(op, role),
        };
        let (kind, value) = match op.outcome() {
            Outcome::Unknown => ("info", op.input),
            Outcome::Fail => ("fail", op.input),
            // Jepsen's word for a comparison that found a difference.
            Outcome::Ok if role == Role::Cas && op.output == ValueId::FALSE => ("fail", op.input),
            Outcome::Ok if role == Role::Answer => ("ok", op.output),
            Outcome::Ok if role == Role::Echo && !op.output.is_null() => ("ok", op.output),
            Outcome::Ok => ("ok", op.input),
        };
        self.head(spelling, op, op.complete_ts, kind);
        self.value(spelling, 6, value);
        let plain = self.history.values.as_str(op.error) == Some("fail") && kind == "fail";
        if !op.error.is_null() && !plain {
            self.value(spelling, 7, op.error);
        }
        self.tail()
    }

    fn head(&mut self, spelling: &'static Spelling, op: &Op, time: Option<i64>, kind: &str) {
        let Spelling { fields, name, .. } = spelling;
        let text = &mut self.out.text;
        text.push_str(fields[0]);
        push(self.index, text);
        if let Some(time) = time {
            text.push_str(fields[1]);
            push(time, text);
        }
        text.push_str(fields[2]);
        name(kind, text);
        text.push_str(fields[3]);
        let process = self.process(op);
        let text = &mut self.out.text;
        push(process, text);
        text.push_str(fields[4]);
        name(self.history.type_name(op.op_type), text);
        if self.keyed {
            self.value(spelling, 5, self.history.key(op.key));
        }
    }

    /// The number a process is written as.
    pub(super) fn process(&self, op: &Op) -> i64 {
        match self.history.values.as_int(self.history.process(op.process)) {
            Some(process) if self.processes_are_integers => process,
            _ => i64::from(op.process.0),
        }
    }

    fn value(&mut self, spelling: &'static Spelling, field: usize, value: ValueId) {
        self.out.text.push_str(spelling.fields[field]);
        (spelling.value)(self.history, value, &mut self.out.text);
    }

    fn tail(&mut self) -> io::Result<()> {
        self.index += 1;
        self.out.text.push('}');
        self.out.line()
    }
}

/// Whether a keyword of this name reads back as the same name.
pub(super) fn is_name(text: &str) -> bool {
    let bare = |c: char| c.is_ascii_alphanumeric() || "-_.?!*+<>=&$%/".contains(c);
    text.starts_with(|c: char| c.is_ascii_alphabetic()) && text.chars().all(bare)
}

pub(super) fn write_edn(history: &History, value: ValueId, out: &mut String) {
    match history.values.view(value) {
        View::Null => out.push_str("nil"),
        View::Str(text) if text.strip_prefix(':').is_some_and(is_name) => out.push_str(text),
        View::List(items) => {
            out.push('[');
            write_items(history, items, out);
            out.push(']');
        }
        View::Map(pairs) => {
            out.push('{');
            let sorted = history.values.sorted_pairs(pairs);
            let flat: Vec<ValueId> = sorted.iter().flat_map(|&(_, k, v)| [k, v]).collect();
            write_items(history, &flat, out);
            out.push('}');
        }
        // Numbers, booleans and strings are spelt as in JSON.
        View::Bool(_) | View::Int(_) | View::Number(_) | View::Str(_) => {
            history.values.write_json(value, out);
        }
    }
}

fn write_items(history: &History, items: &[ValueId], out: &mut String) {
    for (i, &item) in items.iter().enumerate() {
        if i > 0 {
            out.push(' ');
        }
        write_edn(history, item, out);
    }
}
