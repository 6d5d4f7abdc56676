//! The second opinion: re-checks a refutation from the definitions in `docs/models.md`.
//!
//! It shares no code with the search that found the refutation and tries *all* orders, call by call.
//! It is made for the few calls of a witness; beyond its limits it gives up and never accepts.

use crate::{Certificate, ModelKind as M, Start};
use assay_history::{History, Op, OpIndex, Outcome, ProcessId, ValueId, View};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use {Act::*, State::*};

const CONFIGURATIONS_MAX: u64 = 2_000_000;
const BYTES_MAX: usize = 1 << 30;

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
    /// A register value that no core call can tell from other such values.
    Other,
    /// Any register value but these.
    Not(BTreeSet<State>),
    Count(i128),
    Members(BTreeSet<ValueId>),
    /// Characters of a text, or value ids: a log, a queue (front first), a stack (top last).
    Items(Vec<u32>),
    Holder(Option<ProcessId>),
    /// A lease: granted, active, used.
    Tokens(Option<i128>, bool, Option<i128>),
}

/// What an operation does, with what it is known to have returned.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Act {
    Sees(State),
    Sets(State),
    Swap(State, State),
    Unequal(State),
    Add(i128, Option<i128>),
    /// An element: whether it was in the set, if that is known, and whether it is afterwards.
    Element(ValueId, Option<bool>, bool),
    Append(Vec<u32>, Option<i128>),
    /// Takes this item, or whatever is there, off a queue (`true`) or a stack.
    Take(Option<u32>, bool),
    At(i128, u32),
    Grant(Option<i128>),
    /// Legal while this token is held; whether it still is afterwards.
    Holds(i128, bool),
    Use(i128),
}

struct Call {
    index: OpIndex,
    start: i64,
    end: i64,
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
    let chars = |v: ValueId| Some(text(v)?.chars().map(u32::from).collect::<Vec<u32>>());
    let flag = match values.view(output) {
        View::Bool(flag) => Some(Some(flag)),
        other => (other == View::Null).then_some(None),
    };
    let took_nothing = seen == Some(ValueId::NULL);
    Some(match (model, model.verb(history.type_name(op.op_type))?) {
        (_, "read" | "get" | "contains") if seen.is_none() => Sees(Other),
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
        (M::Queue, "dequeue") | (M::Stack, "pop") if took_nothing => Sees(Items(vec![])),
        (M::Queue, "dequeue") | (M::Stack, "pop") => {
            Take(seen.map(ValueId::bits), model == M::Queue)
        }
        // A null element could not be told from "was empty".
        (M::Queue | M::Stack, _) if input.is_null() => return None,
        (M::Queue | M::Stack, _) => Append(vec![input.bits()], None),
        (M::Log, "append") => Append(vec![input.bits()], int_or_null(output)?),
        (M::Log, _) if input.is_null() => {
            Sees(Items(values.as_list(output)?.iter().map(|v| v.bits()).collect()))
        }
        (M::Log, _) => At(int(input)?, output.bits()),
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
    let same = |legal: bool| legal.then(|| state.clone());
    match (state, act) {
        (Not(not), Sees(value)) => (!not.contains(value)).then(|| value.clone()),
        (Not(not), Swap(from, to)) => (!not.contains(from)).then(|| to.clone()),
        (Not(not), Unequal(from)) => Some(Not(not.iter().chain([from]).cloned().collect())),
        (_, Sees(seen)) => same(state == seen),
        (_, Sets(new)) => Some(new.clone()),
        (_, Swap(from, to)) => (state == from).then(|| to.clone()),
        (_, Unequal(from)) => same(state != from),
        (Count(n), Add(by, after)) => after.is_none_or(|a| a == n + by).then_some(Count(n + by)),
        (Members(set), Element(x, before, after)) => {
            let rest = set.iter().filter(|member| *member != x);
            let legal = before.is_none_or(|before| before == set.contains(x));
            legal.then(|| Members(rest.chain(after.then_some(x)).copied().collect()))
        }
        (Items(items), Append(more, offset)) => offset
            .is_none_or(|offset| offset == items.len() as i128)
            .then(|| Items([&items[..], more].concat())),
        (Items(items), Take(wanted, front)) => {
            let (x, rest) = if *front { items.split_first()? } else { items.split_last()? };
            wanted.is_none_or(|wanted| wanted == *x).then(|| Items(rest.to_vec()))
        }
        (Items(items), At(offset, x)) => {
            let there = usize::try_from(*offset).ok().and_then(|offset| items.get(offset));
            same(there.copied().unwrap_or(ValueId::NULL.bits()) == *x)
        }
        (&Tokens(granted, _, used), Grant(None)) => Some(Tokens(granted, false, used)),
        (&Tokens(old, _, used), &Grant(new)) => (new > old).then_some(Tokens(new, true, used)),
        (&Tokens(granted, active, used), &Holds(token, still)) => {
            (active && granted == Some(token)).then_some(Tokens(granted, still, used))
        }
        (&Tokens(granted, active, used), &Use(token)) => (used <= Some(token)
            && Some(token) <= granted)
            .then_some(Tokens(granted, active, Some(token))),
        _ => None,
    }
}

fn only_looks(act: &Act) -> bool {
    matches!(act, Sees(_) | Unequal(_) | At(..) | Holds(_, true))
        || matches!(act, Element(_, Some(before), after) if before == after)
}

/// Drops optional calls that no explanation needs, and sorts the others by what they do.
fn drop_needless(core: &[Call], optional: &mut Vec<Call>, model: M) {
    let in_core = |test: &dyn Fn(&Act) -> bool| core.iter().any(|call| test(&call.act));
    let unequal = in_core(&|act| matches!(act, Unequal(_)));
    // The values that core calls tell apart, and those that optional swaps turn into them.
    let tells = |call: &Call| match &call.act {
        Sees(value) | Swap(value, _) | Unequal(value) => Some(value.clone()),
        _ => None,
    };
    let mut told: BTreeSet<State> = core.iter().filter_map(tells).collect();
    while let Some(from) = optional.iter().find_map(|call| match &call.act {
        Swap(from, to) if told.contains(to) && !told.contains(from) => Some(from.clone()),
        _ => None,
    }) {
        told.insert(from);
    }
    for call in optional.iter_mut() {
        if let Sets(to @ Value(_)) | Swap(_, to @ Value(_)) = &mut call.act
            && !told.contains(to)
        {
            *to = Other;
        }
    }
    optional.retain(|call| match &call.act {
        // A value that cannot be told apart is good for one thing only: being unequal.
        Sets(Other) => unequal,
        Swap(from, Other) => unequal && told.contains(from),
        // Of a lease, only a grant ever makes another call legal.
        Grant(None) | Holds(..) | Use(_) => false,
        // An item and the call that takes it can be left out together, if neither is in the core.
        Append(x, _) if matches!(model, M::Queue | M::Stack) => {
            in_core(&|act| matches!(act, Take(Some(y), _) if x[0] == *y))
        }
        Take(Some(x), _) => in_core(&|act| matches!(act, Append(y, _) if *x == y[0])),
        act => !only_looks(act),
    });
    optional.sort_by(|a, b| (&a.act, a.start).cmp(&(&b.act, b.start)));
}

/// How far an order has got: the core calls placed, the optional calls used, the state they lead to.
#[derive(Clone)]
struct Point {
    placed: Vec<bool>,
    used: BTreeSet<usize>,
    state: State,
    order: Vec<u32>,
}

struct Search {
    core: Vec<Call>,
    optional: Vec<Call>,
}

impl Search {
    /// Whether the state that an optional call led to can still serve one of the `open` core calls.
    fn serves(&self, state: &State, act: &Act, open: &[usize]) -> bool {
        let mut open = open.iter().map(|&i| &self.core[i]);
        match (act, state) {
            // What is put in is seen as the beginning of a whole, by its place, or when it is taken.
            (Sets(_) | Append(..), Items(items)) => open.any(|call| match &call.act {
                Sees(Items(seen)) => seen.starts_with(items),
                At(offset, _) | Append(_, Some(offset)) => items.len() as i128 <= offset + 1,
                act => matches!(act, Take(..)) && items.len() <= self.core.len(),
            }),
            // A number still to be seen must be within reach of all that may come before it.
            (_, Count(now)) => open.all(|call| {
                let (Sees(Count(goal)) | Add(_, Some(goal))) = call.act else { return true };
                let before = self.core.iter().chain(&self.optional).filter(|c| c.start <= call.end);
                let (low, high) = before.fold((*now, 0), |(low, high), other| match other.act {
                    Add(by, _) => (low + by.min(0), high + by.max(0)),
                    _ => (low, high),
                });
                low <= goal && goal <= high
            }),
            _ => true,
        }
    }

    /// Set elements are independent, so an optional call is placed right before a core call needs it.
    fn put_right(&self, point: &mut Point, act: &Act, deadline: i64) -> bool {
        let Members(set) = &mut point.state else { return true };
        let wrong: Vec<ValueId> = match act {
            Sees(Members(seen)) => set.symmetric_difference(seen).copied().collect(),
            Element(x, Some(before), _) if set.contains(x) != *before => vec![*x],
            _ => vec![],
        };
        wrong.into_iter().all(|x| {
            let now = set.contains(&x);
            let fix = self.optional.iter().enumerate().filter(|(i, call)| {
                matches!(call.act, Element(y, _, after) if x == y && after != now)
                    && !point.used.contains(i)
            });
            let Some((i, call)) = fix.min_by_key(|(_, call)| call.start) else { return false };
            point.used.insert(i);
            point.order.push(call.index.0);
            if now {
                set.remove(&x)
            } else {
                set.insert(x)
            };
            call.start <= deadline
        })
    }

    /// Tries all orders and says how many configurations there are; an error if one explains the core.
    fn run(&self, start: State) -> Result<u64, String> {
        let placed = vec![false; self.core.len()];
        let first = Point { placed, used: BTreeSet::new(), state: start, order: vec![] };
        let mut queue = BTreeMap::from([((0, 0), vec![first])]);
        let mut seen: HashMap<(Vec<bool>, State), Vec<BTreeSet<usize>>> = HashMap::new();
        let mut configurations = 0;
        while let Some(mut entry) = queue.first_entry() {
            let Some(point) = entry.get_mut().pop() else {
                entry.remove();
                continue;
            };
            let open: Vec<usize> = (0..self.core.len()).filter(|&i| !point.placed[i]).collect();
            let Some(deadline) = open.iter().map(|&i| self.core[i].end).min() else {
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
            for next in self.successors(&point, &open, deadline) {
                let used = next.used.len();
                queue.entry((next.order.len() - used, used)).or_default().push(next);
            }
        }
        Ok(configurations)
    }

    /// All points one call further. A call can come next if no open core call ended before it began.
    fn successors(&self, point: &Point, open: &[usize], deadline: i64) -> Vec<Point> {
        let mut all = Vec::new();
        let can_come = |&&i: &&usize| self.core[i].start <= deadline;
        for &i in open.iter().filter(can_come) {
            let (call, mut next) = (&self.core[i], point.clone());
            // Of identical core calls the one that ends first goes first.
            let twin = |j: &usize| *j < i && self.core[*j].act == call.act;
            if open.iter().filter(can_come).any(twin)
                || !self.put_right(&mut next, &call.act, deadline)
            {
                continue;
            }
            let Some(state) = step(&next.state, &call.act) else { continue };
            let unchanged = state == point.state;
            next.state = state;
            next.placed[i] = true;
            next.order.push(call.index.0);
            // A call that only looks goes first as soon as it can: that only lifts constraints.
            if unchanged && only_looks(&call.act) {
                return vec![next];
            }
            all.push(next);
        }
        for (i, call) in self.optional.iter().enumerate() {
            // Identical optional calls are used in order of start.
            let twin =
                i > 0 && self.optional[i - 1].act == call.act && !point.used.contains(&(i - 1));
            let on_demand = matches!(call.act, Element(..));
            if twin || on_demand || call.start > deadline || point.used.contains(&i) {
                continue;
            }
            let Some(state) = step(&point.state, &call.act) else { continue };
            if self.serves(&state, &call.act, open) {
                let mut next = Point { state, ..point.clone() };
                next.used.insert(i);
                next.order.push(call.index.0);
                all.push(next);
            }
        }
        all
    }
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
    let (mut core, mut optional) = (Vec::new(), Vec::new());
    for op in history.ops() {
        let ((start, end), index) = (history.span(&op), op.index);
        let left_out =
            op.outcome() == Outcome::Fail || start > part.cut || (any && end < part.from);
        let rules = [
            (history.key(op.key) == key, "is on another key"),
            (op.outcome() == Outcome::Ok && start <= end, "did not end well"),
            (end <= part.cut, "ends after the cut"),
            (!any || start >= part.from, "begins before the window"),
        ];
        let broken = rules.iter().find(|(holds, _)| !holds);
        let in_core = listed.remove(&index);
        match broken {
            Some((_, why)) if in_core => return Err(format!("core operation {} {why}", index.0)),
            _ if left_out || !rules[0].0 => continue,
            _ => {}
        }
        let act = meaning(history, &op, model)
            .ok_or_else(|| format!("operation {} has no meaning in the model", index.0))?;
        if in_core {
            core.push(Call { index, start, end, act });
        } else {
            optional.push(Call { index, start, end: i64::MAX, act });
        }
    }
    if let Some(missing) = listed.first() {
        return Err(format!("core operation {} does not exist", missing.0));
    }
    core.sort_by_key(|call| call.end);
    drop_needless(&core, &mut optional, model);
    let start = match model {
        M::Register if any => Not(BTreeSet::new()),
        M::Register => Value(initial),
        M::Counter => Count(0),
        M::Set => Members(BTreeSet::new()),
        M::Mutex => Holder(None),
        M::Lease => Tokens(None, false, None),
        M::Kv | M::Queue | M::Stack | M::Log => Items(vec![]),
    };
    let search = Search { core, optional };
    let configurations = search.run(start)?;
    let (core, context) = (search.core.len(), search.optional.len());
    Ok(Verified { configurations, core, context })
}
