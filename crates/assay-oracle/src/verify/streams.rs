//! Whether a fact is true of a history: streams, queues, logs, locks and members.

use super::facts::Facts;
use crate::contract::Arg;
use assay_history::{NEVER, Op, OpIndex, Outcome, ValueId, View};
use std::collections::BTreeSet;

const SENDS: &[&str] =
    &["add", "append", "insert", "enqueue", "send", "produce", "publish", "push"];
const TAKES: &[&str] = &["dequeue", "consume", "poll", "recv", "receive", "deliver"];
const REST: &[&str] = &["drain", "final", "dump", "final-read"];

impl Facts<'_> {
    fn list(&self, value: ValueId) -> Vec<String> {
        match self.h.values.view(value) {
            View::List(items) => items.iter().map(|&item| self.text(item)).collect(),
            View::Null => Vec::new(),
            _ => vec![self.text(value)],
        }
    }

    fn ok(&self) -> impl Iterator<Item = Op> + '_ {
        self.h.ops().filter(|op| op.outcome() == Outcome::Ok)
    }

    fn position(&self, op: &Op) -> Option<i64> {
        let field = ["version", "revision", "offset"].iter().find_map(|f| self.at(op.output, f));
        let from_output = || self.h.values.as_int(field.unwrap_or(op.output));
        self.h.revision(op.index).or_else(from_output)
    }

    /// Whether the canonical order has one send before another.
    fn ordered(&self, a: &Op, b: &Op) -> bool {
        let mut sends = self.ok().filter(|op| op.key == a.key && self.is(op, SENDS));
        let positions = a.key == b.key && sends.all(|op| self.position(&op).is_some());
        match (self.position(a), self.position(b)) {
            (Some(a), Some(b)) if positions => a < b,
            _ => !positions && a.process == b.process && self.h.span(a).1 < self.h.span(b).0,
        }
    }

    /// Everything one consumer was handed of one stream.
    fn handed(&self, take: &Op) -> Vec<String> {
        let mine = |op: &Op| op.process == take.process && op.key == take.key;
        let takes = self.ok().filter(|op| mine(op) && self.is(op, TAKES));
        takes.flat_map(|op| self.list(op.output)).collect()
    }

    /// What an operation says stands at which offset of a log.
    fn entries(&self, op: &Op) -> Vec<(i64, String)> {
        if self.verb(op) == "append" {
            return self.position(op).map(|at| (at, self.text(op.input))).into_iter().collect();
        }
        let start = self.h.values.as_int(op.input).unwrap_or(0);
        let items = match self.h.values.view(op.output) {
            View::List(items) => items.to_vec(),
            View::Null => Vec::new(),
            _ => vec![op.output],
        };
        let entry = |(i, item): (usize, ValueId)| {
            let record = self.at(item, "offset").and_then(|o| self.h.values.as_int(o));
            match (record, self.at(item, "value")) {
                (Some(offset), Some(value)) => (offset, self.text(value)),
                _ => (start + i as i64, self.text(item)),
            }
        };
        items.into_iter().enumerate().map(entry).collect()
    }

    fn member(&self, op: &Op) -> String {
        let value = if op.input.is_null() { self.h.key(op.key) } else { op.input };
        self.text(value)
    }

    fn changes(&self, member: &str) -> Vec<Op> {
        let change = |op: &Op| ["join", "leave"].contains(&self.verb(op));
        self.possible().filter(|op| change(op) && self.member(op) == member).collect()
    }

    /// Whether the process of an acquire or renewal certainly still holds at a time.
    fn holding(&self, by: &Op, at: i64, margin: i64, ttl: i64, skew: i64) -> bool {
        let (start, end) = self.h.span(by);
        let granted = by.outcome() == Outcome::Ok && by.output != ValueId::FALSE;
        let taken = granted && ["acquire", "renew"].contains(&self.verb(by));
        let released = |op: &Op| {
            op.process == by.process
                && op.key == by.key
                && op.index > by.index
                && self.verb(op) == "release"
                && self.h.span(op).0 <= at.saturating_add(margin)
        };
        let expired = ttl >= 0 && at.saturating_add(margin) >= start.saturating_add(ttl - skew);
        let held = end.saturating_add(margin) <= at;
        taken && held && !expired && !self.possible().any(|op| released(&op))
    }

    fn nowhere(&self, drain: &Op, margin: i64, missing: &[Op]) -> bool {
        let of_queue = |op: &Op| op.key == drain.key;
        let outs = self.ok().filter(|op| of_queue(op) && (self.is(op, TAKES) || self.is(op, REST)));
        let outs: BTreeSet<String> = outs.flat_map(|op| self.list(op.output)).collect();
        let unknown = |op: &Op| op.outcome() == Outcome::Unknown && of_queue(op);
        let swallowers = self.h.ops().filter(unknown).filter(|op| self.is(op, TAKES)).count();
        let drains = self.h.ops().filter(unknown).filter(|op| self.verb(op) == "drain").count();
        let gone = |op: &Op| {
            of_queue(op)
                && op.outcome() == Outcome::Ok
                && self.is(op, SENDS)
                && self.before(op, drain, margin)
                && !outs.contains(&self.text(op.input))
        };
        let fine = drain.outcome() == Outcome::Ok && self.is(drain, REST) && drains == 0;
        let different: BTreeSet<OpIndex> = missing.iter().map(|op| op.index).collect();
        fine && different.len() > swallowers && missing.iter().all(gone)
    }

    pub(super) fn streams(&self, claim: &str, args: &[Arg]) -> Option<bool> {
        let op = |i| self.op(args, i);
        let int = |i: usize| match args.get(i)? {
            Arg::Int(int) => Some(*int),
            _ => None,
        };
        let text = |i: usize| match args.get(i)? {
            Arg::Text(text) => Some(text.as_str()),
            _ => None,
        };
        let rest = |from: usize| (from..args.len()).map(op).collect::<Option<Vec<Op>>>();
        let place = |seen: &[String], op: &Op| {
            let wanted = self.text(op.input);
            seen.iter().position(|item| *item == wanted)
        };
        Some(match claim {
            "ordered" => self.ordered(&op(0)?, &op(1)?),
            "delivered" => {
                let (send, take) = (op(0)?, op(1)?);
                let ok = take.outcome() == Outcome::Ok && self.is(&take, TAKES);
                let sent = self.is(&send, SENDS) && send.outcome() != Outcome::Fail;
                let there = self.list(take.output).contains(&self.text(send.input));
                ok && sent && send.key == take.key && there
            }
            "apart" => {
                let (later, take_later, first, take) = (op(0)?, op(1)?, op(2)?, op(3)?);
                let seen = self.handed(&take);
                let apart = place(&seen, &first)? as i64 - place(&seen, &later)? as i64;
                take_later.process == take.process && take_later.key == take.key && apart > int(4)?
            }
            "never_delivered" => {
                let (send, take, later) = (op(0)?, op(1)?, op(2)?);
                let seen = self.handed(&take);
                let settled = seen.len() as i64 - int(3)?;
                let early = (place(&seen, &later)? as i64) < settled;
                send.key == take.key && place(&seen, &send).is_none() && early
            }
            "sole" => {
                let send = op(0)?;
                let same = |op: &Op| op.key == send.key && op.input == send.input;
                self.possible().filter(|op| self.is(op, SENDS) && same(op)).count() == 1
            }
            "more_often_than_sent" => {
                let (wanted, takes) = (text(0)?, rest(1)?);
                let key = takes.first()?.key;
                let mut indices: Vec<OpIndex> = takes.iter().map(|op| op.index).collect();
                indices.sort();
                indices.dedup();
                let seen = indices.iter().map(|&i| self.h.op(i)).filter(|op| {
                    let taken = self.is(op, TAKES) || self.verb(op) == "drain";
                    op.key == key && op.outcome() == Outcome::Ok && taken
                });
                let seen = seen.flat_map(|op| self.list(op.output)).filter(|i| i == wanted);
                let sends = self.possible().filter(|op| self.is(op, SENDS) && op.key == key);
                seen.count() > sends.filter(|op| self.text(op.input) == wanted).count()
            }
            "nowhere" => self.nowhere(&op(0)?, int(1)?, &rest(2)?),
            _ => return self.logs(claim, args),
        })
    }

    fn logs(&self, claim: &str, args: &[Arg]) -> Option<bool> {
        let op = |i| self.op(args, i);
        let int = |i: usize| match args.get(i)? {
            Arg::Int(int) => Some(*int),
            _ => None,
        };
        let text = |i: usize| match args.get(i)? {
            Arg::Text(text) => Some(text.as_str()),
            _ => None,
        };
        Some(match claim {
            "gap" => {
                let entries = self.entries(&op(0)?);
                let (from, to) = (int(1)?, int(2)?);
                let jump = |pair: &[(i64, String)]| pair[0].0 == from && pair[1].0 == to;
                entries.windows(2).any(jump) && from + 1 != to
            }
            "entry" => self.entries(&op(0)?).contains(&(int(1)?, text(2)?.to_string())),
            "entry_differs" => {
                let of = |op: Op| self.entries(&op).into_iter().find(|e| Some(e.0) == int(2));
                of(op(0)?)?.1 != of(op(1)?)?.1
            }
            "appended_once" => {
                let (key, wanted) = (op(0)?.key, text(1)?);
                let append = |op: &Op| self.verb(op) == "append" && op.key == key;
                self.possible().filter(|op| append(op) && self.text(op.input) == wanted).count()
                    == 1
            }
            "reaches" => {
                let ok = op(0)?.outcome() == Outcome::Ok;
                ok && self.entries(&op(0)?).iter().any(|entry| Some(entry.0) == int(1))
            }
            "ends" => {
                let read = op(0)?;
                let whole = read.input.is_null() && self.verb(&read) != "append";
                let list = self.h.values.as_list(read.output).is_some();
                let end = self.entries(&read).last().map_or(-1, |entry| entry.0);
                whole && list && read.outcome() == Outcome::Ok && end == int(1)?
            }
            "not_in_log" => {
                let read = op(0)?;
                let whole = read.input.is_null() && self.h.values.as_list(read.output).is_some();
                whole && !self.entries(&read).iter().any(|entry| Some(entry.1.as_str()) == text(1))
            }
            _ => return self.owners(claim, args),
        })
    }

    fn owners(&self, claim: &str, args: &[Arg]) -> Option<bool> {
        let op = |i| self.op(args, i);
        let int = |i: usize| match args.get(i)? {
            Arg::Int(int) => Some(*int),
            _ => None,
        };
        let text = |i: usize| match args.get(i)? {
            Arg::Text(text) => Some(text.as_str()),
            _ => None,
        };
        Some(match claim {
            "holding" => self.holding(&op(0)?, int(1)?, int(2)?, int(3)?, int(4)?),
            "never_acquired" => {
                let release = op(0)?;
                let mine = |op: &Op| op.process == release.process && op.key == release.key;
                let tried = |op: &Op| self.verb(op) == "acquire" && op.index < release.index;
                let worked = release.outcome() == Outcome::Ok && self.verb(&release) == "release";
                worked && !self.possible().any(|op| mine(&op) && tried(&op))
            }
            "token" => {
                let by = op(0)?;
                let value = if self.verb(&by) == "use" { by.input } else { by.output };
                let value = self.at(value, "token").unwrap_or(value);
                by.outcome() == Outcome::Ok && self.h.values.as_int(value) == int(1)
            }
            "never_joined" => {
                let (view, wanted) = (op(0)?, text(1)?);
                let joined = self.changes(wanted).iter().any(|op| self.verb(op) == "join");
                self.list(view.output).iter().any(|item| item == wanted) && !joined
            }
            "lists" => {
                let there =
                    self.list(op(0)?.output).iter().any(|item| Some(item.as_str()) == text(1));
                let view = op(0)?.outcome() == Outcome::Ok && self.verb(&op(0)?) == "view";
                view && i64::from(there) == int(2)?
            }
            "last_change" => {
                let (last, margin) = (op(0)?, int(2)?);
                let changes = self.changes(text(1)?);
                let earlier = |op: &Op| op.index == last.index || self.before(op, &last, margin);
                let mine = changes.iter().any(|op| op.index == last.index);
                mine && last.outcome() == Outcome::Ok && changes.iter().all(earlier)
            }
            "settled_member" => {
                let starts = self.h.span(&op(0)?).0.min(self.h.span(&op(1)?).0);
                let over = |op: &Op| self.h.span(op).1 != NEVER && self.h.span(op).1 < starts;
                self.changes(text(2)?).iter().all(over)
            }
            _ => return None,
        })
    }
}
