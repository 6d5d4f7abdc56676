//! Which planted anomalies break a promise by construction.
//!
//! What is planted is not always an anomaly: an element that is dropped from a final state may be
//! one whose write timed out. Whether it is must not be asked of the oracle that is being
//! calibrated. So each kind has a short argument here, from what was changed and what the other
//! operations say; where the argument does not apply, the copy is shown and not counted.

use crate::draft::{Draft, DraftOp};
use crate::options::{Group, Options};
use crate::slo::PLANTED_LATENCY_NS;
use crate::table::{ADD, FINAL, READ, RECONNECT, REMOVE, TAKE, WRITE};
use assay_history::{Outcome, ValueId, View};

/// What was planted, seen from both sides.
struct Planted<'d> {
    before: &'d Draft,
    after: &'d Draft,
    /// The operations that differ.
    changed: Vec<usize>,
    options: &'d Options,
}

/// Whether a change breaks the promise of an oracle by construction.
pub(crate) fn is_certain(
    oracle: &str,
    kind: &str,
    before: &Draft,
    after: &Draft,
    options: &Options,
) -> bool {
    let differs = |&i: &usize| {
        let (a, b) = (&before.ops[i], &after.ops[i]);
        (a.op.output, a.op.error, a.revision) != (b.op.output, b.op.error, b.revision)
    };
    let changed = (0..after.ops.len()).filter(differs).collect();
    let planted = Planted { before, after, changed, options };
    match kind {
        // Nobody sent it, joined, or asserted it.
        "phantom" | "inserted" | "never-joined" | "assertion-failed" => true,
        "lost" => !options.stale_reads_allowed && planted.is_lost(&[REMOVE, TAKE]),
        "lost-ack" => planted.is_lost(&[REMOVE, TAKE]),
        // What was handed to a consumer has had its effect all the same.
        "missing-effect" => planted.is_lost(&[REMOVE]),
        "rolled-back" => planted.is_rolled_back(),
        "duplicate-effect" => planted.is_repeated(),
        "repeated-delivery" => planted.is_delivery_repeated(),
        "duplicate" => !options.redelivery_allowed && planted.is_delivered_again(),
        "reordered" => options.reorder_window == 0 && planted.is_overtaken(),
        "wrong-total" => options.total.is_some() && planted.is_map(),
        "wrong-balance" => planted.is_far_off(),
        "two-holders" => oracle == "lock" && planted.is_held_twice(),
        "token-not-rising" => planted.is_token_older(),
        "truncated" => planted.is_shorter(),
        "divergence" => planted.is_different(),
        "changed-leaf" => oracle != "invariant" && planted.is_at_rest(),
        "stale-read" | "early-write" | "reordered-writes" => planted.is_version_older(oracle),
        // Everything failed, or took ten minutes.
        "too-many-errors" => options.slo.error_rate_max.is_some_and(|max| max < 1.0),
        "unavailable" => options.slo.availability_min.is_some_and(|min| min > 0.0),
        "too-slow-overall" => options.slo.throughput_min.is_some_and(|min| min > 0.0),
        "latency-exceeded" => {
            let slo = &options.slo;
            let limits = [slo.p50_ns_max, slo.p99_ns_max, slo.p999_ns_max];
            limits.into_iter().flatten().any(|limit| limit < PLANTED_LATENCY_NS)
        }
        "group-failing" => planted.is_group_failing(),
        _ => false,
    }
}

impl Planted<'_> {
    fn only(&self) -> Option<usize> {
        match self.changed[..] {
            [at] => Some(at),
            _ => None,
        }
    }

    fn of<'a>(&'a self, verbs: &'a [&str]) -> impl Iterator<Item = (usize, &'a DraftOp)> {
        let ops = self.after.ops.iter().enumerate();
        ops.filter(move |(_, op)| verbs.contains(&op.op_type.as_str()))
    }

    /// Whether one operation certainly ended before another began.
    fn before(&self, earlier: usize, later: usize) -> bool {
        let margin = self.options.clock_skew_ns.unwrap_or(0);
        let end = self.after.span(earlier).1;
        end.saturating_add(margin) < self.after.span(later).0
    }

    /// Everything that lists in an output hold.
    fn items(&self, draft: &Draft, output: ValueId) -> Vec<ValueId> {
        match draft.values.view(output) {
            View::List(items) => items.to_vec(),
            View::Map(flat) => {
                let lists = flat.chunks_exact(2).filter_map(|pair| draft.values.as_list(pair[1]));
                lists.flatten().copied().collect()
            }
            _ => Vec::new(),
        }
    }

    /// What stands in one state and, that often, not in the other.
    fn gone(&self, from: (&Draft, usize), to: (&Draft, usize)) -> Option<ValueId> {
        let mut left = self.items(from.0, from.0.ops[from.1].op.output);
        for item in self.items(to.0, to.0.ops[to.1].op.output) {
            if let Some(place) = left.iter().position(|&known| known == item) {
                left.swap_remove(place);
            }
        }
        left.pop()
    }

    /// The one operation that may have sent an element.
    fn sender(&self, element: ValueId) -> Option<usize> {
        let path = self.options.business_key.as_deref().unwrap_or("");
        let same = |op: &DraftOp| {
            let key = |value| at_path(self.after, value, path);
            op.op.input == element || key(op.op.input).is_some_and(|k| Some(k) == key(element))
        };
        let sent = self.after.ops.iter().enumerate().filter(|(_, op)| {
            let sends = [ADD, &["credit", "debit"]].concat().contains(&op.op_type.as_str());
            sends && op.op.outcome() != Outcome::Fail && same(op)
        });
        let sent: Vec<usize> = sent.map(|(i, _)| i).take(2).collect();
        if let [one] = sent[..] { Some(one) } else { None }
    }

    /// An element that was acknowledged before the state was read, that nobody takes away, and
    /// that is not there any more.
    fn is_lost(&self, taking: &[&[&str]]) -> bool {
        let Some(at) = self.only() else { return false };
        let Some(element) = self.gone((self.before, at), (self.after, at)) else { return false };
        let left = self.items(self.after, self.after.ops[at].op.output).contains(&element);
        let Some(sender) = self.sender(element) else { return false };
        let acked = self.after.ops[sender].op.outcome() == Outcome::Ok;
        let takers = self.of(&taking.concat()).next().is_some();
        acked && !left && !takers && self.before(sender, at)
    }

    /// A key whose shown value only one write can have put there, and a write that was acknowledged
    /// later, before the state was read. Nobody deletes the key or swaps its value.
    fn is_rolled_back(&self) -> bool {
        let Some(at) = self.only() else { return false };
        let pairs = |draft: &Draft| match draft.values.view(draft.ops[at].op.output) {
            View::Map(flat) => flat.chunks_exact(2).map(|p| (p[0], p[1])).collect(),
            _ => Vec::new(),
        };
        let was = pairs(self.before);
        let Some((key, shown)) = pairs(self.after).into_iter().find(|pair| !was.contains(pair))
        else {
            return false;
        };
        let here: Vec<_> = self.of(WRITE).filter(|(_, op)| op.key == key).collect();
        let writers: Vec<_> = here.iter().filter(|(_, op)| op.op.input == shown).collect();
        let [(old, _)] = writers[..] else { return false };
        let newer = here.iter().any(|(new, op)| {
            op.op.outcome() == Outcome::Ok && self.before(*old, *new) && self.before(*new, at)
        });
        let others = [REMOVE, &["cas"]].concat();
        newer && !self.of(&others).any(|(_, op)| op.key == key)
    }

    /// One request, and two effects in a state.
    fn is_repeated(&self) -> bool {
        let Some(at) = self.only() else { return false };
        let again = self.gone((self.after, at), (self.before, at));
        again.is_some_and(|element| self.sender(element).is_some())
    }

    /// The same effect of the same delivery once more.
    fn is_delivery_repeated(&self) -> bool {
        let (Some(at), Some(path)) = (self.only(), &self.options.delivery_key) else {
            return false;
        };
        let again = self.gone((self.after, at), (self.before, at));
        again.is_some_and(|effect| at_path(self.after, effect, path).is_some())
    }

    /// Sent once, and delivered twice to one consumer.
    fn is_delivered_again(&self) -> bool {
        let Some(at) = self.only() else { return false };
        let this = &self.after.ops[at];
        let twice = self.of(TAKE).any(|(i, op)| {
            let same =
                (op.key, op.process, op.op.output) == (this.key, this.process, this.op.output);
            i != at && op.op.outcome() == Outcome::Ok && same
        });
        let sender = self.sender(this.op.output);
        twice && sender.is_some_and(|sender| self.after.ops[sender].key == this.key)
    }

    /// One producer sent two elements, one after the other; one consumer gets the second first.
    fn is_overtaken(&self) -> bool {
        let [first, second] = self.changed[..] else { return false };
        let (early, late) = (&self.after.ops[first], &self.after.ops[second]);
        let senders = (self.sender(late.op.output), self.sender(early.op.output));
        let (Some(x), Some(y)) = senders else { return false };
        let (sx, sy) = (&self.after.ops[x], &self.after.ops[y]);
        let once = |element| {
            let ok = |op: &DraftOp| op.op.outcome() == Outcome::Ok && op.op.output == element;
            self.of(TAKE).filter(|(_, op)| ok(op)).count() == 1
        };
        let acked = sx.op.outcome() == Outcome::Ok && sy.op.outcome() == Outcome::Ok;
        let one_line = sx.process == sy.process && sx.key == sy.key && sx.key == early.key;
        let in_turn = self.before(x, y) && self.before(first, second);
        acked && one_line && in_turn && once(early.op.output) && once(late.op.output)
    }

    fn is_map(&self) -> bool {
        let is_map = |at: usize| {
            matches!(self.after.values.view(self.after.ops[at].op.output), View::Map(_))
        };
        self.only().is_some_and(is_map)
    }

    /// A balance is off by more than all credits and all debits together.
    fn is_far_off(&self) -> bool {
        let Some(at) = self.only() else { return false };
        let int = |draft: &Draft| draft.values.as_int(draft.ops[at].op.output);
        let (Some(was), Some(is)) = (int(self.before), int(self.after)) else { return false };
        let asked = self.of(&["credit", "debit"]);
        let sum = asked.map(|(_, op)| ints(self.after, op.op.input)).fold(0, i128::saturating_add);
        i128::from(is) - i128::from(was) > sum.saturating_mul(2)
    }

    /// A release did not happen, and another process got the lock all the same.
    fn is_held_twice(&self) -> bool {
        let Some(at) = self.only() else { return false };
        let (holder, key) = (self.after.ops[at].process, self.after.ops[at].key);
        let here = |verb: &'static str| {
            let ops = self.after.ops.iter().enumerate();
            ops.filter(move |(_, op)| op.op_type == verb && op.key == key)
        };
        let mut held = here("acquire")
            .filter(|(i, op)| op.process == holder && op.ok(&["acquire"]) && self.before(*i, at));
        let Some((held, _)) = held.next_back() else { return false };
        here("acquire").any(|(other, op)| {
            let (_, got) = self.after.span(other);
            let given_back = here("release").any(|(i, release)| {
                let possible = release.op.outcome() != Outcome::Fail;
                let (start, _) = self.after.span(i);
                release.process == holder
                    && possible
                    && start >= self.after.span(held).0
                    && start <= got
            });
            op.process != holder
                && op.ok(&["acquire"])
                && op.op.output != ValueId::FALSE
                && self.before(held, other)
                && self.before(at, other)
                && !given_back
        })
    }

    /// A token below one that was handed out before.
    fn is_token_older(&self) -> bool {
        let Some(at) = self.only() else { return false };
        let token = |i: usize| self.after.values.as_int(self.after.ops[i].op.output);
        self.of(&["acquire"]).any(|(i, op)| {
            op.ok(&["acquire"])
                && op.key == self.after.ops[at].key
                && self.before(i, at)
                && token(i) > token(at)
        })
    }

    /// Other reads of the same log whose items are plain elements.
    fn other_reads(&self, at: usize) -> impl Iterator<Item = (usize, &[ValueId])> {
        let key = self.after.ops[at].key;
        let values = &self.after.values;
        let reads = self
            .after
            .ops
            .iter()
            .enumerate()
            .filter(move |(i, op)| *i != at && op.key == key && (op.ok(READ) || op.ok(FINAL)));
        let lists = reads.filter_map(|(i, op)| Some((i, values.as_list(op.op.output)?)));
        lists.filter(|(_, items)| items.iter().all(|&item| values.as_list(item).is_none()))
    }

    /// A log that had been longer before.
    fn is_shorter(&self) -> bool {
        let Some(at) = self.only() else { return false };
        let Some(items) = self.after.values.as_list(self.after.ops[at].op.output) else {
            return false;
        };
        self.other_reads(at).any(|(i, longer)| self.before(i, at) && longer.len() > items.len())
    }

    /// Two reads show different entries at one place.
    fn is_different(&self) -> bool {
        let Some(at) = self.only() else { return false };
        let Some(items) = self.after.values.as_list(self.after.ops[at].op.output) else {
            return false;
        };
        let differs = |other: &[ValueId]| items.iter().zip(other).any(|(a, b)| a != b);
        self.other_reads(at).any(|(_, other)| differs(other))
    }

    /// Nothing was under way around the dumps, and there are several that showed the same.
    fn is_at_rest(&self) -> bool {
        let is_dump = |op: &DraftOp| op.ok(FINAL) || op.ok(&["replay"]);
        let ops = || (0..self.after.ops.len()).filter(|&i| is_dump(&self.after.ops[i]));
        let Some(begun) = ops().map(|i| self.after.span(i).0).min() else { return false };
        let quiet = [READ, FINAL, &["replay", "assert", "reconnect", "snapshot"]].concat();
        let mut others = (0..self.after.ops.len())
            .filter(|&i| !quiet.contains(&self.after.ops[i].op_type.as_str()));
        // With a declared convergence window, what is unknown has happened by now or never will.
        let settles = |i: usize| {
            let unknown = self.after.ops[i].op.outcome() == Outcome::Unknown;
            unknown && self.options.settle_ns.is_some() && self.after.span(i).0 < begun
        };
        let calm = others.all(|i| self.after.span(i).1 < begun || settles(i));
        let first = ops().next().map(|i| self.before.ops[i].op.output);
        let alike = ops().all(|i| Some(self.before.ops[i].op.output) == first);
        let mut nodes: Vec<ValueId> = ops().map(|i| self.after.ops[i].op.node_seen).collect();
        nodes.sort_unstable();
        nodes.dedup();
        calm && alike && nodes.len() > 1 && self.options.ignore_fields.is_empty()
    }

    /// A version that a session had left behind, where the system says which version is which.
    fn is_version_older(&self, oracle: &str) -> bool {
        let (earlier, verbs) = match oracle {
            "monotonic-reads" => (READ, READ),
            "read-your-writes" => (WRITE, READ),
            "monotonic-writes" => (WRITE, WRITE),
            "writes-follow-reads" => (READ, WRITE),
            _ => return false,
        };
        let reconnects = self.of(RECONNECT).next().is_some();
        let older = |&at: &usize| {
            let this = &self.after.ops[at];
            this.ok(verbs)
                && self.of(earlier).any(|(i, op)| {
                    op.ok(earlier)
                        && (op.process, op.key) == (this.process, this.key)
                        && this.revision.is_some()
                        && op.revision > this.revision
                        && self.before(i, at)
                })
        };
        !reconnects && self.changed.iter().any(older)
    }

    /// Every operation of a group failed, and that is too many.
    fn is_group_failing(&self) -> bool {
        let Some(&at) = self.changed.first() else { return false };
        let key = self.after.ops[at].key;
        let size = self.after.ops.iter().filter(|op| op.key == key).count();
        let limit = self.options.fairness.error_rate_max.is_some_and(|max| max < 1.0);
        limit && self.options.group == Group::Key && size >= crate::GROUP_OPS_MIN
    }
}

/// What stands in a value under names and places joined by dots.
fn at_path(draft: &Draft, value: ValueId, path: &str) -> Option<ValueId> {
    path.split('.').filter(|step| !step.is_empty()).try_fold(value, |value, step| {
        match draft.values.view(value) {
            View::Map(flat) => flat
                .chunks_exact(2)
                .find(|pair| draft.values.as_str(pair[0]) == Some(step))
                .map(|pair| pair[1]),
            View::List(items) => items.get(step.parse::<usize>().ok()?).copied(),
            _ => None,
        }
    })
}

/// The sum of all whole numbers in a value, each without its sign.
fn ints(draft: &Draft, value: ValueId) -> i128 {
    match draft.values.view(value) {
        View::Int(int) => i128::from(int).abs(),
        View::List(items) | View::Map(items) => {
            items.iter().map(|&item| ints(draft, item)).fold(0, i128::saturating_add)
        }
        _ => 0,
    }
}
