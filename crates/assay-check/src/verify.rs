//! The second opinion: re-checks a refutation from the definitions in `docs/models.md`.
//!
//! It shares no code with the search that found the refutation and tries *all* orders, call by call.
//! It is made for the few calls of a witness; beyond its limit it gives up and never accepts.

use crate::{Certificate, ModelKind as M, Start};
use assay_history::{History, Op, OpIndex, Outcome, ProcessId, ValueId, View};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use {Act::*, State::*};

const CONFIGURATIONS_MAX: u64 = 1_000_000;

/// How much was looked at to confirm a refutation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Verified {
    /// Configurations (calls placed, state) that were looked at; none explains the core.
    pub configurations: u64,
    /// Operations that must have taken effect.
    pub core: usize,
    /// Operations that may have, and could matter.
    pub context: usize,
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum State {
    Value(ValueId),
    Not(BTreeSet<State>), // any register value but these
    Count(i128),
    Members(BTreeSet<ValueId>),
    Items(Vec<u32>), // characters, or value ids: a log, a queue (front first), a stack (top last)
    Holder(Option<ProcessId>),
    Tokens(Option<i128>, bool, Option<i128>), // of a lease: granted, active, used
}

/// What an operation does, with what it is known to have returned.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Act {
    Sees(State),
    Sets(State),
    Swap(State, State),
    Unequal(State),
    Add(i128, Option<i128>),
    Element(ValueId, Option<bool>, bool), // whether it was in the set, if known, and is afterwards
    Append(Vec<u32>, Option<i128>),
    Take(Option<u32>, bool), // this item or any, off a queue (`true`) or a stack
    At(i128, u32),
    Grant(Option<i128>),
    Holds(i128, bool), // legal while this token is held; whether it still is afterwards
    Use(i128),
}

struct Call {
    index: OpIndex,
    start: i64,
    end: i64,
    in_core: bool,
    act: Act,
}

/// What an operation means, or `None` if the model has no such operation. An unknown call that would
/// do nothing (`cas` compares unequal, nothing to dequeue) is one that never takes effect.
fn meaning(history: &History, op: &Op, model: M) -> Option<Act> {
    let (values, input) = (&history.values, op.input);
    let seen = (op.outcome() == Outcome::Ok).then_some(op.output);
    let output = seen.unwrap_or(ValueId::NULL);
    let int = |v: ValueId| values.as_int(v).map(i128::from);
    let int_or_null = |v: ValueId| if v.is_null() { Some(None) } else { int(v).map(Some) };
    let text = |v: ValueId| if v.is_null() { Some("") } else { values.as_str(v) };
    let chars = |v: ValueId| Some(text(v)?.chars().map(u32::from).collect());
    let flag = match values.view(output) {
        View::Bool(flag) => Some(Some(flag)),
        other => (other == View::Null).then_some(None),
    };
    Some(match (model, model.verb(history.type_name(op.op_type))?) {
        (_, "read" | "get" | "contains") if seen.is_none() => Sees(Count(0)),
        (M::Register, "read") => Sees(Value(output)),
        (M::Register, "write") => Sets(Value(input)),
        (M::Register, _) => match *values.as_list(input)? {
            [from, _] if seen == Some(ValueId::FALSE) => Unequal(Value(from)),
            [from, to] => Swap(Value(from), Value(to)),
            _ => return None,
        },
        (M::Kv, "get") => Sees(Items(chars(output)?)),
        (M::Kv, "put") => Sets(Items(chars(input)?)),
        (M::Kv, _) => Append(chars(input)?, None),
        (M::Counter, "read") => Sees(Count(int(output)?)),
        (M::Counter, "dec") => Add(-int_or_null(input)?.unwrap_or(1), int_or_null(output)?),
        (M::Counter, _) => Add(int_or_null(input)?.unwrap_or(1), int_or_null(output)?),
        (M::Set, "read") => Sees(Members(values.as_list(output)?.iter().copied().collect())),
        (M::Set, "contains") => Element(input, flag?, flag??),
        (M::Set, "add") => Element(input, flag?.map(|new| !new), true),
        (M::Set, _) => Element(input, flag?, false),
        (_, "dequeue" | "pop") if seen == Some(ValueId::NULL) => Sees(Items(vec![])),
        (_, verb @ ("dequeue" | "pop")) => Take(seen.map(ValueId::bits), verb == "dequeue"),
        // A null element could not be told from "was empty".
        (M::Queue | M::Stack, _) if input.is_null() => return None,
        (M::Queue | M::Stack, _) => Append(vec![input.bits()], None),
        (M::Log, "append") => Append(vec![input.bits()], int_or_null(output)?),
        (M::Log, _) if !input.is_null() => At(int(input)?, output.bits()),
        (M::Log, _) => Sees(Items(values.as_list(output)?.iter().map(|v| v.bits()).collect())),
        (M::Mutex, "acquire") => Swap(Holder(None), Holder(Some(op.process))),
        (M::Mutex, _) => Swap(Holder(Some(op.process)), Holder(None)),
        (M::Lease, "acquire") if seen.is_none() => Grant(None),
        (M::Lease, "acquire") => Grant(Some(int(output)?)),
        (M::Lease, "use") => Use(int(input)?),
        (M::Lease, verb) => Holds(int(input)?, verb == "renew"),
    })
}

/// The state after a call, or `None` if the call is not legal.
fn step(state: &State, act: &Act) -> Option<State> {
    match (state, act) {
        (Not(not), Sees(value)) if !not.contains(value) => Some(value.clone()),
        (Not(not), Swap(from, to)) if !not.contains(from) => Some(to.clone()),
        (Not(not), Unequal(from)) => Some(Not(not.iter().chain([from]).cloned().collect())),
        (_, Sees(seen)) if state == seen => Some(state.clone()),
        (_, Sets(new)) => Some(new.clone()),
        (_, Swap(from, to)) if state == from => Some(to.clone()),
        (_, Unequal(from)) if state != from => Some(state.clone()),
        (Count(n), Add(by, after)) if after.is_none_or(|a| a == n + by) => Some(Count(n + by)),
        (Members(set), Element(x, before, after)) => {
            let rest = set.iter().filter(|member| *member != x);
            let legal = before.is_none_or(|before| before == set.contains(x));
            legal.then(|| Members(rest.chain(after.then_some(x)).copied().collect()))
        }
        (Items(items), Append(more, offset)) => {
            let legal = offset.is_none_or(|offset| offset == items.len() as i128);
            legal.then(|| Items([&items[..], more].concat()))
        }
        (Items(items), Take(wanted, front)) => {
            let (x, rest) = if *front { items.split_first()? } else { items.split_last()? };
            wanted.is_none_or(|wanted| wanted == *x).then(|| Items(rest.to_vec()))
        }
        (Items(items), At(offset, x)) => {
            let there = usize::try_from(*offset).ok().and_then(|offset| items.get(offset));
            (there.unwrap_or(&ValueId::NULL.bits()) == x).then(|| state.clone())
        }
        (&Tokens(max, _, used), Grant(None)) => Some(Tokens(max, false, used)),
        (&Tokens(max, _, used), &Grant(t)) if t > max => Some(Tokens(t, true, used)),
        (&Tokens(max, true, used), &Holds(t, on)) if max == Some(t) => Some(Tokens(max, on, used)),
        (&Tokens(max, on, used), &Use(t)) => {
            (used <= Some(t) && Some(t) <= max).then_some(Tokens(max, on, Some(t)))
        }
        _ => None,
    }
}

fn only_looks(act: &Act) -> bool {
    matches!(act, Sees(_) | Unequal(_) | At(..) | Holds(_, true))
        || matches!(act, Element(_, Some(before), after) if before == after)
}

/// Drops what no explanation needs, and puts identical calls side by side.
fn simplify(calls: &mut Vec<Call>) {
    // An element of all sets seen that no other core call is about, and that a call which began before
    // them can have added, was there in time: nothing depends on it.
    let in_time = |call: &Call| match call.act {
        Element(x, before, true) if before != Some(true) => {
            let fits = |other: &Call| match &other.act {
                Sees(Members(seen)) => seen.contains(&x) && call.start <= other.start,
                act => !matches!(act, Element(y, ..) if x == *y),
            };
            calls.iter().filter(|other| other.in_core).all(fits).then_some(x)
        }
        _ => None,
    };
    let there: BTreeSet<ValueId> = calls.iter().filter_map(in_time).collect();
    calls.retain_mut(|call| match &mut call.act {
        Sees(Members(seen)) if call.in_core => {
            seen.retain(|x| !there.contains(x));
            true
        }
        Element(x, ..) if there.contains(x) => false,
        // Of a lease, only a grant ever makes another call legal.
        Grant(None) | Holds(..) | Use(_) => call.in_core,
        act => call.in_core || !only_looks(act),
    });
    let by_time = |call: &Call| if call.in_core { call.end } else { call.start };
    calls.sort_by(|a, b| (&a.act, by_time(a)).cmp(&(&b.act, by_time(b))));
    calls.sort_by_key(|call| !call.in_core);
}

/// Whether an optional call that led to `state` can serve one of the core calls still `open`; if not,
/// it can be left out or come later.
fn serves(calls: &[Call], open: &[&Call], act: &Act, state: &State) -> bool {
    match (act, state) {
        (_, Value(_)) => calls
            .iter()
            .any(|call| !matches!(call.act, Sets(_)) && step(state, &call.act).is_some()),
        // What is put in is seen as the beginning of a whole, by its place, or when it is taken.
        (Sets(Items(more)) | Append(more, _), Items(items)) => {
            open.iter().any(|call| match &call.act {
                Sees(Items(seen)) => seen.starts_with(items),
                At(offset, _) | Append(_, Some(offset)) => items.len() as i128 <= offset + 1,
                Take(x, _) => items.len() <= calls.len() && *x == more.first().copied(),
                _ => false,
            })
        }
        // Elements are independent: each is changed right before it is seen, in order.
        (Element(x, _, after), Members(set)) => open.iter().any(|call| match &call.act {
            Sees(Members(seen)) => {
                let wrong = set.symmetric_difference(seen).next();
                seen.contains(x) == *after && wrong.is_none_or(|wrong| wrong > x)
            }
            Element(y, before, _) => x == y && *before == Some(*after),
            _ => false,
        }),
        // A number still to be seen must be within reach of all that may come before it.
        (_, Count(now)) => open.iter().all(|call| {
            let (Sees(Count(goal)) | Add(_, Some(goal))) = call.act else { return true };
            let (mut low, mut high) = (*now, 0);
            for other in calls.iter().filter(|other| other.start <= call.end) {
                let Add(by, _) = other.act else { continue };
                (low, high) = (low + by.min(0), high + by.max(0));
            }
            low <= goal && goal <= high
        }),
        _ => true,
    }
}

/// How far an order has got: the core calls placed, the optional calls used, the state they lead to.
#[derive(Clone)]
struct Point {
    placed: BTreeSet<usize>,
    used: BTreeSet<usize>,
    state: State,
    order: Vec<u32>,
}

/// All points one call further.
fn successors(calls: &[Call], point: &Point, open: &[&Call], deadline: i64) -> Vec<Point> {
    let mut all = Vec::new();
    let free = |i: usize| !point.placed.contains(&i) && !point.used.contains(&i);
    for (i, call) in calls.iter().enumerate() {
        // Of identical core calls the one that ends first goes first, of others the one that begins.
        let twin = |j: &usize| calls[*j].act == call.act && calls[*j].in_core == call.in_core;
        let mut twins = (0..i).rev().take_while(twin);
        if !free(i) || call.start > deadline || twins.any(|j| free(j) && calls[j].start <= deadline)
        {
            continue;
        }
        let Some(state) = step(&point.state, &call.act) else { continue };
        if !call.in_core && !serves(calls, open, &call.act, &state) {
            continue;
        }
        let unchanged = state == point.state;
        let mut next = Point { state, ..point.clone() };
        if call.in_core { &mut next.placed } else { &mut next.used }.insert(i);
        next.order.push(call.index.0);
        // A call that only looks goes first as soon as it can: that only lifts constraints.
        if unchanged && only_looks(&call.act) {
            return vec![next];
        }
        all.push(next);
    }
    all
}

/// Tries all orders and says how many configurations there are; an error if one explains the core.
fn explore(calls: &[Call], start: State) -> Result<u64, String> {
    let first =
        Point { placed: BTreeSet::new(), used: BTreeSet::new(), state: start, order: vec![] };
    let (mut queue, mut pushed) = (BTreeMap::from([((0, 0, 0), first)]), 0);
    let mut seen: HashMap<(BTreeSet<usize>, State), Vec<BTreeSet<usize>>> = HashMap::new();
    let mut configurations = 0;
    while let Some((_, point)) = queue.pop_first() {
        let core = calls.iter().enumerate().filter(|(_, call)| call.in_core);
        let open: Vec<&Call> =
            core.filter(|(i, _)| !point.placed.contains(i)).map(|(_, call)| call).collect();
        // A call can come next if no core call that is still open ended before it began.
        let Some(deadline) = open.iter().map(|call| call.end).min() else {
            return Err(format!("an explanation exists: operations {:?}", point.order));
        };
        // A point is no better than one that got as far with fewer optional calls.
        let known = seen.entry((point.placed.clone(), point.state.clone())).or_default();
        if known.iter().any(|used| used.is_subset(&point.used)) {
            continue;
        }
        known.push(point.used.clone());
        configurations += 1;
        if configurations > CONFIGURATIONS_MAX {
            return Err("too large to re-check".to_owned());
        }
        for next in successors(calls, &point, &open, deadline) {
            pushed += 1;
            queue.insert((next.placed.len(), next.used.len(), pushed), next);
        }
    }
    Ok(configurations)
}

/// Re-checks a refutation. The error says why the certificate proves nothing: it is malformed, or an
/// order explains its core, or there are too many orders to look at.
pub fn verify(history: &History, certificate: &Certificate) -> Result<Verified, String> {
    let Certificate { model, initial, key, part, .. } = *certificate;
    let any = part.start == Start::Any;
    let mut listed: BTreeSet<OpIndex> = certificate.core.iter().copied().collect();
    if listed.len() < certificate.core.len() || (any && model != M::Register) {
        return Err("an operation is listed twice, or the model cannot start in any state".into());
    }
    let mut calls = Vec::new();
    for op in history.ops() {
        let ((start, end), index) = (history.span(&op), op.index);
        let rules = [
            (history.key(op.key) == key, "is on another key"),
            (op.outcome() == Outcome::Ok && start <= end, "did not end well"),
            (end <= part.cut, "ends after the cut"),
            (!any || start >= part.from, "begins before the window"),
        ];
        let in_core = listed.remove(&index);
        if let (true, Some((_, why))) = (in_core, rules.iter().find(|(holds, _)| !holds)) {
            return Err(format!("core operation {} {why}", index.0));
        }
        let left_out = start > part.cut || (any && end < part.from);
        if rules[0].0 && op.outcome() != Outcome::Fail && !left_out {
            let act = meaning(history, &op, model)
                .ok_or_else(|| format!("operation {} has no meaning in the model", index.0))?;
            calls.push(Call { index, start, end, in_core, act });
        }
    }
    if let Some(missing) = listed.first() {
        return Err(format!("core operation {} does not exist", missing.0));
    }
    simplify(&mut calls);
    let configurations = explore(
        &calls,
        match model {
            M::Register if any => Not(BTreeSet::new()),
            M::Register => Value(initial),
            M::Counter => Count(0),
            M::Set => Members(BTreeSet::new()),
            M::Mutex => Holder(None),
            M::Lease => Tokens(None, false, None),
            M::Kv | M::Queue | M::Stack | M::Log => Items(vec![]),
        },
    )?;
    let core = certificate.core.len();
    Ok(Verified { configurations, core, context: calls.len() - core })
}
