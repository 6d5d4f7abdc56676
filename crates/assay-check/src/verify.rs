//! The second opinion: re-checks a refutation from the definitions in `docs/models.md`.
//!
//! It shares no code with the search that found the refutation and tries *all* orders of the few
//! calls of a witness; beyond its limit it gives up and never accepts.

use crate::{Certificate, ModelKind as M, Start};
use assay_history::{History, Op, OpIndex, Outcome, ProcessId, ValueId};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use {Act::*, State::*};

/// Configurations times calls: what a configuration costs grows with how many there are.
const STEPS_MAX: u64 = 50_000_000;
const COMPARISONS_MAX: usize = 5_000_000;

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
    Element(ValueId, Option<bool>, bool), // was in the set, if known; is afterwards
    Append(Vec<u32>, Option<i128>),
    Take(Option<u32>, bool), // this item or any, off a queue (`true`) or a stack
    At(i128, u32),
    Grant(Option<i128>),
    Holds(Option<i128>, bool), // legal while this token is held; whether it still is afterwards
    Use(Option<i128>),
}

struct Call {
    index: OpIndex,
    start: i64,
    end: i64,
    in_core: bool,
    act: Act,
}

/// What an operation means, or `None` if the model has no such operation. An unknown call that
/// would do nothing (`cas` compares unequal, nothing to dequeue) is one that never takes effect.
fn meaning(history: &History, op: &Op, model: M) -> Option<Act> {
    let (values, input) = (&history.values, op.input);
    let seen = (op.outcome() == Outcome::Ok).then_some(op.output);
    let output = seen.unwrap_or(ValueId::NULL);
    let int = |v: ValueId| values.as_int(v).map(i128::from);
    let int_or_null = |v: ValueId| if v.is_null() { Some(None) } else { int(v).map(Some) };
    let text = |v: ValueId| if v.is_null() { Some("") } else { values.as_str(v) };
    let chars = |v: ValueId| Some(text(v)?.chars().map(u32::from).collect());
    let flag = (!output.is_null()).then_some(output == ValueId::TRUE);
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
        (M::Set, _) if flag == Some(false) && output != ValueId::FALSE => return None,
        (M::Set, "contains") => Element(input, flag, flag?),
        (M::Set, "add") => Element(input, flag.map(|new| !new), true),
        (M::Set, _) => Element(input, flag, false),
        (_, "dequeue" | "pop") if seen == Some(ValueId::NULL) => Sees(Items(vec![])),
        (_, verb @ ("dequeue" | "pop")) => Take(seen.map(ValueId::bits), verb == "dequeue"),
        (M::Queue | M::Stack, _) if input.is_null() => return None, // null means "was empty"
        (M::Queue | M::Stack, _) => Append(vec![input.bits()], None),
        (M::Log, "append") => Append(vec![input.bits()], int_or_null(output)?),
        (M::Log, _) if !input.is_null() => At(int(input)?, output.bits()),
        (M::Log, _) => Sees(Items(values.as_list(output)?.iter().map(|v| v.bits()).collect())),
        (M::Mutex, "acquire") => Swap(Holder(None), Holder(Some(op.process))),
        (M::Mutex, _) => Swap(Holder(Some(op.process)), Holder(None)),
        (M::Lease, "acquire") if seen.is_none() => Grant(None),
        (M::Lease, "acquire") => Grant(Some(int(output)?)),
        (M::Lease, "use") => Use(Some(int(input)?)),
        (M::Lease, verb) => Holds(Some(int(input)?), verb == "renew"),
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
        (Members(set), Element(x, was, is)) if was.is_none_or(|was| was == set.contains(x)) => {
            let rest = set.iter().filter(|member| *member != x);
            Some(Members(rest.chain(is.then_some(x)).copied().collect()))
        }
        (Items(items), Append(more, at)) if at.is_none_or(|at| at == items.len() as i128) => {
            Some(Items([&items[..], more].concat()))
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
        (&Tokens(max, true, used), &Holds(t, on)) if max == t => Some(Tokens(max, on, used)),
        (&Tokens(max, on, old), &Use(t)) if old <= t && t <= max => Some(Tokens(max, on, t)),
        _ => None,
    }
}

/// Whether the effect of a call, if it has one, never makes another call legal.
fn helps_nobody(act: &Act) -> bool {
    matches!(act, Sees(_) | Unequal(_) | At(..) | Holds(..) | Use(_) | Grant(None))
        || matches!(act, Element(_, Some(before), after) if before == after)
}

/// Whether an optional call that led to `state` can serve one of the core calls still `open`; if
/// not, it can be left out or come later. `calls` begins with the core.
fn serves(calls: &[Call], open: &[&Call], act: &Act, state: &State) -> bool {
    let core = calls.partition_point(|call| call.in_core);
    match (act, state) {
        // What is put in is seen as the beginning of a whole, by its place, or when it is taken.
        (Sets(Items(new)) | Append(new, _), Items(all)) => open.iter().any(|c| match &c.act {
            Sees(Items(seen)) => seen.starts_with(all),
            At(offset, _) | Append(_, Some(offset)) => all.len() as i128 <= offset + 1,
            Take(x, _) => all.len() <= core && *x == new.first().copied(),
            _ => false,
        }),
        // A number still to be seen must be within reach of all that counts down and up.
        (_, Count(now)) => {
            let by = |call: &Call| if let Add(by, _) = call.act { by } else { 0 };
            let low = now + calls.iter().map(|call| by(call).min(0)).sum::<i128>();
            let high = calls.iter().map(|call| by(call).max(0)).sum();
            let far = |n: i128| n < low || n > high;
            !open.iter().any(|c| matches!(c.act, Sees(Count(n)) | Add(_, Some(n)) if far(n)))
        }
        (act, _) => !matches!(act, Element(..)),
    }
}

/// How far an order has got: the calls placed, the state they lead to, the order itself.
#[derive(Clone)]
struct Point {
    placed: BTreeSet<usize>,
    state: State,
    order: Vec<u32>,
}

/// Elements of a set are independent: optional calls that change one are placed right before the
/// core call that needs it. If there are too few, that call stays illegal.
fn put_right(calls: &[Call], point: &mut Point, act: &Act, ready: &dyn Fn(usize) -> bool) {
    let Members(set) = &mut point.state else { return };
    let wrong: Vec<ValueId> = match act {
        Sees(Members(seen)) => set.symmetric_difference(seen).copied().collect(),
        Element(x, Some(before), _) if set.contains(x) != *before => vec![*x],
        _ => vec![],
    };
    for x in wrong {
        let now = set.contains(&x);
        let first = calls.partition_point(|c| c.in_core || c.act < Element(x, None, false));
        let fits = |i: usize| matches!(calls[i].act, Element(y, _, is) if (y, is) == (x, !now));
        let Some(i) = (first..calls.len()).find(|&i| ready(i) && fits(i)) else { return };
        point.placed.insert(i);
        point.order.push(calls[i].index.0);
        let _changed = set.remove(&x) || set.insert(x);
    }
}

/// Tries all orders and says how many configurations there are; an error if one explains the core.
fn explore(calls: &[Call], core: usize, state: State) -> Result<u64, String> {
    let first = Point { placed: BTreeSet::new(), state, order: vec![] };
    let mut queue = BTreeMap::from([((0, 0, 0), first)]);
    let mut seen: HashMap<(BTreeSet<usize>, State), Vec<BTreeSet<usize>>> = HashMap::new();
    let (mut configurations, mut comparisons) = (1, 0);
    while let Some((_, point)) = queue.pop_first() {
        if configurations * calls.len() as u64 > STEPS_MAX || comparisons > COMPARISONS_MAX {
            return Err("too large to re-check".to_owned());
        }
        let free = |i: usize| !point.placed.contains(&i);
        let open: Vec<&Call> = (0..core).filter(|&i| free(i)).map(|i| &calls[i]).collect();
        let end = open.iter().map(|call| call.end).min();
        let deadline = end.ok_or_else(|| format!("an explanation exists: {:?}", point.order))?;
        // A call can come next if no open core call ended before it began.
        let ready = |i: usize| free(i) && calls[i].start <= deadline;
        for (i, call) in calls.iter().enumerate().filter(|&(i, _)| ready(i)) {
            // Identical calls go in order: of their ends in the core, of their starts elsewhere.
            let twin = |j: &usize| calls[*j].act == call.act && calls[*j].in_core == call.in_core;
            let serves = |state: State| serves(calls, &open, &call.act, &state);
            let waits = (0..i).rev().take_while(twin).any(ready);
            if waits || !(call.in_core || step(&point.state, &call.act).is_some_and(serves)) {
                continue;
            }
            let mut next = point.clone();
            put_right(calls, &mut next, &call.act, &ready);
            let Some(state) = step(&next.state, &call.act) else { continue };
            next.state = state;
            next.placed.insert(i);
            next.order.push(call.index.0);
            // A point is no better than one that got as far with fewer optional calls.
            let mut placed = next.placed.clone();
            let used = placed.split_off(&core);
            let rank = (placed.len(), used.len(), configurations);
            let known = seen.entry((placed, next.state.clone())).or_default();
            comparisons += known.len();
            if !known.iter().any(|fewer| fewer.is_subset(&used)) {
                known.push(used);
                queue.insert(rank, next);
                configurations += 1;
            }
        }
    }
    Ok(configurations)
}

/// Re-checks a refutation. The error says why the certificate proves nothing.
pub fn verify(history: &History, certificate: &Certificate) -> Result<Verified, String> {
    let Certificate { model, initial, key, part, .. } = *certificate;
    let any = part.start == Start::Any;
    let mut listed: BTreeSet<OpIndex> = certificate.core.iter().copied().collect();
    let missing = listed.last().is_some_and(|last| last.0 as usize >= history.len());
    if missing || listed.len() < certificate.core.len() {
        return Err("the core lists an operation twice, or one that does not exist".into());
    }
    let mut calls = Vec::new();
    for op in history.ops() {
        let ((start, end), index) = (history.span(&op), op.index);
        let rules = [
            (history.key(op.key) == key, "is on another key"),
            (op.outcome() == Outcome::Ok && start <= end, "did not end well"),
            (end <= part.cut, "ends after the cut"),
            (!any || start >= part.from, "begins before the window"),
            (!any || model == M::Register, "cannot start in any state"),
        ];
        let in_core = listed.remove(&index);
        if let (true, Some((_, why))) = (in_core, rules.iter().find(|(holds, _)| !holds)) {
            return Err(format!("core operation {} {why}", index.0));
        }
        let kept = rules[0].0 && start <= part.cut && (!any || end >= part.from);
        if kept && op.outcome() != Outcome::Fail {
            let act = meaning(history, &op, model)
                .ok_or_else(|| format!("operation {} has no meaning in the model", index.0))?;
            if in_core || !helps_nobody(&act) {
                calls.push(Call { index, start, end, in_core, act });
            }
        }
    }
    // Register values that no call compares with are all alike: let one stand for them.
    let compares = |call: &Call| match &call.act {
        Sees(value) | Swap(value, _) | Unequal(value) => Some(value.clone()),
        _ => None,
    };
    let compared: BTreeSet<State> = calls.iter().filter_map(compares).collect();
    let dull = |act: &Act| matches!(act, Sets(v @ Value(_)) if !compared.contains(v));
    calls.iter_mut().filter(|call| dull(&call.act)).for_each(|call| call.act = Sets(Holder(None)));
    calls.sort_by_cached_key(|c| (!c.in_core, c.act.clone(), [c.start, c.end][c.in_core as usize]));
    let start = match model {
        M::Register if any => Not(BTreeSet::new()),
        M::Register => Value(initial),
        M::Counter => Count(0),
        M::Set => Members(BTreeSet::new()),
        M::Mutex => Holder(None),
        M::Lease => Tokens(None, false, None),
        M::Kv | M::Queue | M::Stack | M::Log => Items(vec![]),
    };
    let core = certificate.core.len();
    let configurations = explore(&calls, core, start)?;
    Ok(Verified { configurations, core, context: calls.len() - core })
}
