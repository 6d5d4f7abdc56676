//! Whether a fact is true of a history: operations, sessions, values and states.

use super::measures;
use crate::contract::{Arg, Fact};
use assay_history::{Clock, History, Op, OpIndex, Order, Outcome, ValueId, View};

const READS: &[&str] = &["read", "get"];
const WRITES: &[&str] = &["write", "put"];
const ADDS: &[&str] = &["add", "append", "insert", "enqueue", "send", "produce", "publish", "push"];
const REMOVES: &[&str] = &["remove", "delete", "del"];
const TAKES: &[&str] = &["dequeue", "consume", "poll", "recv", "receive", "deliver"];
const STATES: &[&str] = &["final", "dump", "final-read"];

/// A history, asked about its operations.
pub(super) struct Facts<'h> {
    pub h: &'h History,
}

/// Whether a fact holds; `None` if it does not even make sense.
pub(super) fn holds(h: &History, reference: Option<&History>, fact: &Fact) -> Option<bool> {
    let facts = Facts { h };
    let (claim, args) = (&*fact.claim, &fact.args[..]);
    if claim == "reference_differs" {
        let theirs = Facts { h: reference? };
        let (a, b) = (facts.op(args, 0)?, theirs.op(args, 1)?);
        let answer = |f: &Facts<'_>, op: &Op| (op.outcome(), f.text(op.output));
        let same_id = facts.text(a.op_id) == theirs.text(b.op_id);
        return Some(same_id && answer(&facts, &a) != answer(&theirs, &b));
    }
    let known = facts.sessions(claim, args).or_else(|| facts.states(claim, args));
    known.or_else(|| facts.streams(claim, args)).or_else(|| measures::holds(&facts, claim, args))
}

impl<'h> Facts<'h> {
    pub fn op(&self, args: &[Arg], i: usize) -> Option<Op> {
        match args.get(i)? {
            Arg::Op(op) if (op.0 as usize) < self.h.len() => Some(self.h.op(*op)),
            _ => None,
        }
    }

    pub fn verb(&self, op: &Op) -> &'h str {
        self.h.type_name(op.op_type)
    }

    pub fn is(&self, op: &Op, verbs: &[&str]) -> bool {
        verbs.contains(&self.verb(op))
    }

    pub fn text(&self, value: ValueId) -> String {
        self.h.values.show(value).to_string()
    }

    pub fn possible(&self) -> impl Iterator<Item = Op> + '_ {
        self.h.ops().filter(|op| op.outcome() != Outcome::Fail)
    }

    pub fn before(&self, a: &Op, b: &Op, margin: i64) -> bool {
        let wall = self.h.meta.clock == Clock::Wall && self.h.meta.order == Order::Timestamps;
        let comparable = !wall || a.process == b.process || margin > 0;
        comparable && self.h.span(a).1.saturating_add(margin) < self.h.span(b).0
    }

    /// The value at a path of names and places; names may have dots in them.
    pub fn at(&self, value: ValueId, path: &str) -> Option<ValueId> {
        if path.is_empty() {
            return Some(value);
        }
        let rest = |name: &str| match path.strip_prefix(name)? {
            "" => Some(""),
            rest => rest.strip_prefix('.'),
        };
        let inner = |(name, value): (String, ValueId)| self.at(value, rest(&name)?);
        match self.h.values.view(value) {
            View::List(items) => {
                let (place, rest) = path.split_once('.').unwrap_or((path, ""));
                self.at(*items.get(place.parse::<usize>().ok()?)?, rest)
            }
            _ => self.pairs(value).into_iter().find_map(inner),
        }
    }

    pub fn pairs(&self, value: ValueId) -> Vec<(String, ValueId)> {
        let View::Map(flat) = self.h.values.view(value) else { return Vec::new() };
        let name = |id| self.h.values.as_str(id).map_or_else(|| self.text(id), str::to_string);
        let mut pairs: Vec<_> = flat.chunks(2).map(|pair| (name(pair[0]), pair[1])).collect();
        pairs.sort();
        pairs
    }

    fn items(&self, value: ValueId) -> Vec<ValueId> {
        match self.h.values.view(value) {
            View::List(items) => items.to_vec(),
            View::Null => Vec::new(),
            _ => vec![value],
        }
    }

    /// What an operation's output lists for the key of another.
    fn listed(&self, state: &Op, of: &Op) -> Vec<ValueId> {
        let key = self.h.key(of.key);
        let pairs = self.pairs(state.output);
        // What a consumer is handed is an element, even if it is a map.
        let is_map = matches!(self.h.values.view(state.output), View::Map(_));
        if !is_map || self.is(state, TAKES) {
            return self.items(state.output);
        }
        let all = key.is_null() || state.key == of.key;
        let name = self.h.values.as_str(key).map_or_else(|| self.text(key), str::to_string);
        let chosen = pairs.into_iter().filter(|(n, _)| all || *n == name);
        chosen.flat_map(|(_, value)| self.items(value)).collect()
    }

    fn value(&self, op: &Op) -> ValueId {
        self.at(op.output, "value").unwrap_or(op.output)
    }

    fn version(&self, op: &Op) -> Option<i64> {
        let field = ["version", "revision", "offset"].iter().find_map(|f| self.at(op.output, f));
        let echo = self.is(op, WRITES) && op.output == op.input;
        let own = (self.is(op, WRITES) || self.is(op, ADDS)) && !echo;
        let own = own.then_some(op.output);
        let from_output = || self.h.values.as_int(field.or(own)?);
        self.h.revision(op.index).or_else(from_output)
    }

    /// The operations that may have written a value of a key; `None` if the key is not plain.
    fn writers(&self, key: &Op, value: ValueId) -> Option<Vec<OpIndex>> {
        let mut found = Vec::new();
        for op in self.possible().filter(|op| op.key == key.key) {
            let swap = self.verb(&op) == "cas" && op.output != ValueId::FALSE;
            let written = if swap { *self.items(op.input).get(1)? } else { op.input };
            match self.verb(&op) {
                "cas" if !swap => {}
                "cas" | "write" | "put" if written == value => found.push(op.index),
                verb if REMOVES.contains(&verb) && value.is_null() => found.push(op.index),
                "cas" | "write" | "put" | "reconnect" => {}
                verb if [READS, STATES, REMOVES].concat().contains(&verb) => {}
                _ => return None,
            }
        }
        Some(found)
    }

    fn session(&self, a: &Op, b: &Op) -> bool {
        let between = (a.index.0 + 1..b.index.0).map(|i| self.h.op(OpIndex(i)));
        let mut own = between.filter(|op| op.process == a.process);
        a.process == b.process
            && a.index < b.index
            && self.h.span(a).1 <= self.h.span(b).0
            && !own.any(|op| self.verb(&op) == "reconnect")
    }

    fn returns(&self, read: &Op, write: &Op) -> bool {
        let value = self.value(read);
        let reads = self.is(read, READS) && read.outcome() == Outcome::Ok;
        reads && read.key == write.key && self.writers(read, value) == Some(vec![write.index])
    }

    fn sessions(&self, claim: &str, args: &[Arg]) -> Option<bool> {
        let op = |i| self.op(args, i);
        let int = |i: usize| match args.get(i)? {
            Arg::Int(int) => Some(*int),
            _ => None,
        };
        let ok = |op: &Op| op.outcome() == Outcome::Ok;
        Some(match claim {
            "ok" => ok(&op(0)?),
            "before" => self.before(&op(0)?, &op(1)?, int(2)?),
            "key" => op(0)?.key == op(1)?.key,
            "other_process" => op(0)?.process != op(1)?.process,
            "session" => self.session(&op(0)?, &op(1)?),
            "version" => self.version(&op(0)?) == Some(int(1)?),
            "below" => int(0)? < int(1)?,
            "atmost" => int(0)? <= int(1)?,
            "unequal" => int(0)? != int(1)?,
            "verb" => matches!(args.get(1)?, Arg::Text(verb) if verb == self.verb(&op(0)?)),
            "reads" => ok(&op(0)?) && self.is(&op(0)?, READS),
            "writes" => op(0)?.outcome() != Outcome::Fail && self.is(&op(0)?, WRITES),
            "known" => {
                let reads = self.is(&op(0)?, READS);
                let value = if reads { self.value(&op(0)?) } else { op(0)?.input };
                ok(&op(0)?) && !value.is_null() && (reads || self.is(&op(0)?, WRITES))
            }
            "initial" => {
                let (read, null) = (op(0)?, ValueId::NULL);
                let nobody = self.writers(&read, null)?.is_empty();
                ok(&read) && self.is(&read, READS) && self.value(&read).is_null() && nobody
            }
            "returns" => self.returns(&op(0)?, &op(1)?),
            "once" => self.writers(&op(0)?, self.value(&op(0)?))?.len() == 1,
            "same" => self.value(&op(0)?) == self.value(&op(1)?),
            "differ" => self.value(&op(0)?) != self.value(&op(1)?),
            "unwritten" => {
                let (read, value) = (op(0)?, self.value(&op(0)?));
                let nobody = self.writers(&read, value)?.is_empty();
                ok(&read) && self.is(&read, READS) && !value.is_null() && nobody
            }
            "path" => {
                let ops: Vec<Op> = (0..args.len()).map(op).collect::<Option<_>>()?;
                let edge = |pair: &[Op]| {
                    let ordered = ok(&pair[0]) && self.session(&pair[0], &pair[1]);
                    ordered || self.returns(&pair[1], &pair[0])
                };
                ops.len() >= 2 && ops.windows(2).all(edge)
            }
            "assert_failed" => {
                let holds = self.at(op(0)?.output, "ok").unwrap_or(op(0)?.output);
                let failed = op(0)?.outcome() == Outcome::Fail || holds == ValueId::FALSE;
                self.verb(&op(0)?) == "assert" && failed
            }
            _ => return None,
        })
    }

    /// How often an output lists something, at a path inside its items.
    fn times(&self, state: &Op, of: &Op, path: &str, wanted: &str) -> i64 {
        let keyed = |&item: &ValueId| self.text(self.at(item, path).unwrap_or(item));
        self.listed(state, of).iter().filter(|item| keyed(item) == wanted).count() as i64
    }

    /// Whether an operation, if it took effect, put something in.
    fn sends(&self, op: &Op, path: &str, wanted: &str) -> bool {
        let apart = [STATES, TAKES, READS, &["contains", "drain"]].concat();
        let sent = self.at(op.input, path).map(|id| self.text(id));
        !self.is(op, &apart) && sent.as_deref() == Some(wanted)
    }

    /// Whether what a final state shows of a key cannot have come last.
    fn cannot_be_last(&self, dump: &Op, last: &Op, wanted: &str, margin: i64) -> bool {
        let name = self.h.key(last.key);
        let name = self.h.values.as_str(name).map_or(self.text(name), str::to_string);
        let found = match self.h.key(dump.key).is_null() {
            false => dump.output,
            true => {
                let pairs = self.pairs(dump.output);
                pairs.iter().find(|p| p.0 == name).map_or(ValueId::NULL, |p| p.1)
            }
        };
        let of_key = self.possible().filter(|op| op.key == last.key);
        let mut writers = of_key.filter(|op| {
            let other = self.is(op, REMOVES) || self.verb(op) == "cas";
            other || (self.is(op, WRITES) && op.input == found)
        });
        let too_early = |op: &Op| self.before(op, last, margin);
        let too_late = |op: &Op| self.before(dump, op, margin);
        let plain = self.is(last, WRITES) && self.is(dump, STATES) && self.text(found) == wanted;
        plain && writers.all(|op| self.is(&op, WRITES) && (too_early(&op) || too_late(&op)))
    }

    fn states(&self, claim: &str, args: &[Arg]) -> Option<bool> {
        let op = |i| self.op(args, i);
        let text = |i: usize| match args.get(i)? {
            Arg::Text(text) => Some(text.as_str()),
            _ => None,
        };
        let number = |i: usize| match args.get(i)? {
            Arg::Int(int) => Some(*int),
            _ => None,
        };
        let ok = |op: &Op| op.outcome() == Outcome::Ok;
        Some(match claim {
            "sent" => self.sends(&op(0)?, text(1)?, text(2)?),
            "holds" => {
                let times = self.times(&op(0)?, &op(1)?, text(2)?, text(3)?);
                // What is neither a list nor a map shows neither presence nor absence.
                let shape = self.h.values.view(op(0)?.output);
                let shows = matches!(shape, View::List(_) | View::Map(_) | View::Null);
                ok(&op(0)?) && shows && times == number(4)?
            }
            "kept" => {
                let add = op(0)?;
                let same = |op: &Op| op.input == add.input || op.input.is_null();
                let gone = |op: &Op| op.key == add.key && self.is(op, REMOVES) && same(op);
                !self.possible().any(|op| gone(&op))
            }
            "unremoved" => {
                let key = op(0)?.key;
                !self.possible().any(|op| op.key == key && self.is(&op, REMOVES))
            }
            "knows" => {
                let (known, wanted) = (op(0)?, text(1)?);
                let seen = self.items(known.output).iter().any(|&item| self.text(item) == wanted);
                ok(&known) && (self.sends(&known, "", wanted) || seen)
            }
            "twice" => {
                let (a, b, path, wanted) = (op(0)?, op(1)?, text(2)?, text(3)?);
                let seen = self.times(&a, &a, path, wanted).min(self.times(&b, &b, path, wanted));
                let view = a.process == b.process && self.is(&a, TAKES) && self.is(&b, TAKES);
                let enough = if a.index == b.index { seen >= 2 } else { view && seen >= 1 };
                ok(&a) && ok(&b) && enough
            }
            "rejected" => {
                let (view, path, wanted) = (op(1)?, text(2)?, text(3)?);
                let tried = self.sends(&op(0)?, path, wanted);
                let nobody = !self.possible().any(|op| self.sends(&op, path, wanted));
                tried && nobody && self.times(&view, &view, path, wanted) > 0
            }
            "unsent" => {
                let (view, wanted) = (op(0)?, text(1)?);
                let mut others = self.possible().filter(|op| op.key == view.key);
                let shown = ok(&view) && self.times(&view, &view, "", wanted) > 0;
                shown && !others.any(|op| self.sends(&op, "", wanted))
            }
            "cannot_be_last" => self.cannot_be_last(&op(0)?, &op(1)?, text(2)?, number(3)?),
            "differ_at" => {
                let at = |op: Op| self.at(op.output, text(2)?).map(|id| self.text(id));
                at(op(0)?) != at(op(1)?)
            }
            _ => return None,
        })
    }
}
