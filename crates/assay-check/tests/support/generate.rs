//! Small random histories that are hard to judge: about half have an explanation, half do not.
//!
//! A history is first *simulated*, so that its outputs have an explanation; then, more often than
//! not, a few things about it are changed. Everything follows from the seed.

use super::{Case, End, Op, V, brute};
use assay_check::ModelKind;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::collections::BTreeMap;

/// How long histories are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Size {
    pub ops_max: i64,
    pub processes_max: i64,
}

/// Short enough for brute force.
pub const SMALL: Size = Size { ops_max: 7, processes_max: 4 };

/// Too long for brute force, and long enough for searches to cut a history in pieces.
pub const LONG: Size = Size { ops_max: 14, processes_max: 4 };

/// Draws from a seed.
pub struct Dice {
    rng: ChaCha8Rng,
    /// Whether elements are all different in this history.
    unique: bool,
    drawn: i64,
}

impl Dice {
    pub fn new(seed: u64) -> Dice {
        Dice { rng: ChaCha8Rng::seed_from_u64(seed), unique: false, drawn: 0 }
    }

    /// An integer from 0 up to but not including `n`.
    pub fn below(&mut self, n: i64) -> i64 {
        self.rng.random_range(0..n)
    }

    pub fn percent(&mut self, chance: i64) -> bool {
        self.below(100) < chance
    }

    fn pick<T: Clone>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as i64) as usize].clone()
    }

    fn element(&mut self) -> V {
        self.drawn += 1;
        V::Int(if self.unique { 10 + self.drawn } else { 1 + self.below(3) })
    }

    fn text(&mut self) -> V {
        self.drawn += 1;
        if self.unique {
            return V::Str(format!("{} ", self.drawn));
        }
        self.pick(&[V::str("a"), V::str("b"), V::str("ab"), V::str("aa"), V::Null])
    }
}

/// The history of a seed.
pub fn generate(model: ModelKind, size: Size, seed: u64) -> Case {
    let mut dice = Dice::new(seed);
    dice.unique = dice.percent(50);
    let initial = if dice.percent(30) { V::Int(1) } else { V::Null };
    let mut case = Case {
        model,
        initial,
        ops: timeline(size, &mut dice),
        by_position: false,
        revisions: vec![],
    };
    simulate(&mut case, &mut dice);
    for _ in 0..changes(model, size, &mut dice) {
        super::mutate::change(&mut case, &mut dice);
    }
    if dice.percent(15) {
        order_by_position(&mut case);
    }
    case.ops.sort_by_key(|op| op.start);
    if dice.percent(20) {
        case.revisions = case.ops.iter().map(|op| op.start + dice.below(4)).collect();
    }
    case
}

/// How many things to change so that about half of the histories have no explanation.
fn changes(model: ModelKind, size: Size, dice: &mut Dice) -> i64 {
    let most = match model {
        _ if size == LONG => return 1 + dice.below(3),
        ModelKind::Counter => 4,
        ModelKind::Mutex | ModelKind::Queue | ModelKind::Stack => 14,
        _ => 8,
    };
    if dice.percent(15) { 0 } else { 1 + dice.below(most) }
}

/// Operations without content: who and when.
fn timeline(size: Size, dice: &mut Dice) -> Vec<Op> {
    let keys: &[V] = match dice.below(10) {
        0..=2 => &[V::Null, V::Int(7)],
        3..=5 => &[V::Null],
        _ => &[V::Int(7)],
    };
    let mut clocks = vec![0; 1 + dice.below(size.processes_max) as usize];
    let (gap, length) = (1 + dice.below(4), 1 + dice.below(6));
    let count = 1 + dice.below(size.ops_max).max(dice.below(size.ops_max));
    // Several unknown operations in a row are where searches go wrong.
    let unknown = dice.pick(&[6, 16, 40]);
    let mut ops = Vec::new();
    for _ in 0..count {
        let process = dice.below(clocks.len() as i64);
        let start = clocks[process as usize] + dice.below(gap);
        let end = start + dice.below(length);
        clocks[process as usize] = end;
        let how = match dice.below(100) {
            n if n < 4 => End::Fail,
            n if n < 4 + unknown / 2 => End::TimedOut,
            n if n < 4 + unknown => End::Open,
            _ => End::Ok,
        };
        let key = dice.pick(keys);
        let (f, input, output) = ("", V::Null, V::Null);
        ops.push(Op { process, f, key, input, output, start, end, how });
    }
    ops
}

/// Lets the operations happen one by one, each at some time between its start and its end.
fn simulate(case: &mut Case, dice: &mut Dice) {
    let mut turns: Vec<(i64, i64, usize)> = Vec::new();
    for (i, op) in case.ops.iter().enumerate() {
        let late = if op.how.is_unknown() { 12 } else { op.end - op.start };
        turns.push((op.start + dice.below(late + 1), dice.below(1_000), i));
    }
    turns.sort();
    let mut states: BTreeMap<V, V> = BTreeMap::new();
    for (_, _, i) in turns {
        let nothing = brute::initial(case);
        let state = states.entry(case.ops[i].key.clone()).or_insert(nothing);
        let op = &mut case.ops[i];
        (op.f, op.input, op.output) = propose(case.model, state, op.process, dice);
        let never = op.how == End::Fail || (op.how.is_unknown() && dice.percent(40));
        match brute::step(case.model, state, op) {
            Some(next) if !never => *state = next,
            Some(_) => {}
            // A mutex that someone else holds, for one.
            None if op.how == End::Ok => op.how = dice.pick(&[End::Fail, End::Open]),
            None => {}
        }
    }
}

/// Something to do in a state, with the output it has there.
pub fn propose(model: ModelKind, state: &V, process: i64, dice: &mut Dice) -> (&'static str, V, V) {
    let says = |value: V, dice: &mut Dice| if dice.percent(50) { V::Null } else { value };
    match (model, dice.below(10)) {
        (ModelKind::Register, 0..=3) => (dice.pick(&["read", "get"]), V::Null, state.clone()),
        (ModelKind::Register, 4..=6) => (dice.pick(&["write", "put"]), dice.element(), V::Null),
        (ModelKind::Register, _) => {
            let from = if dice.percent(60) { state.clone() } else { dice.element() };
            let swapped = if dice.percent(50) { V::Null } else { V::Bool(true) };
            let output = if from == *state { swapped } else { V::Bool(false) };
            ("cas", V::List(vec![from, dice.element()]), output)
        }
        (ModelKind::Kv, 0..=4) if *state == V::str("") => ("get", V::Null, V::Null),
        (ModelKind::Kv, 0..=4) => (dice.pick(&["get", "read"]), V::Null, state.clone()),
        (ModelKind::Kv, 5..=6) => (dice.pick(&["put", "write"]), dice.text(), V::Null),
        (ModelKind::Kv, _) => ("append", dice.text(), V::Null),
        (ModelKind::Counter, 0..=3) => (dice.pick(&["read", "get"]), V::Null, state.clone()),
        (ModelKind::Counter, kind) => {
            let by = dice.pick(&[1, 1, 1, 2, 3, 0, -1]);
            let input = if by == 1 && dice.percent(50) { V::Null } else { V::Int(by) };
            let (names, sign) =
                if kind < 8 { (["add", "inc"], 1) } else { (["dec", "decrement"], -1) };
            (dice.pick(&names), input, says(V::Int(state.int() + sign * by), dice))
        }
        (ModelKind::Set, kind) => propose_set(state.list(), kind, dice),
        (ModelKind::Queue, 0..=3) => ("enqueue", dice.element(), V::Null),
        (ModelKind::Queue, _) => {
            ("dequeue", V::Null, state.list().first().cloned().unwrap_or(V::Null))
        }
        (ModelKind::Stack, 0..=3) => ("push", dice.element(), V::Null),
        (ModelKind::Stack, _) => ("pop", V::Null, state.list().last().cloned().unwrap_or(V::Null)),
        (ModelKind::Log, 0..=4) => {
            ("append", dice.element(), says(V::Int(state.list().len() as i64), dice))
        }
        (ModelKind::Log, 5..=7) => ("read", V::Null, state.clone()),
        (ModelKind::Log, _) => {
            let offset = dice.below(3);
            let there = state.list().get(offset as usize).cloned();
            ("read", V::Int(offset), there.unwrap_or(V::Null))
        }
        (ModelKind::Mutex, 0..=8) if *state == V::Int(process) => ("release", V::Null, V::Null),
        (ModelKind::Mutex, _) => ("acquire", V::Null, V::Null),
        (ModelKind::Lease, kind) => propose_lease(state.list(), kind, dice),
    }
}

fn propose_set(members: &[V], kind: i64, dice: &mut Dice) -> (&'static str, V, V) {
    let known = !members.is_empty() && dice.percent(60);
    let x = if known { dice.pick(members) } else { dice.element() };
    let there = members.contains(&x);
    let says = |fact: bool, dice: &mut Dice| {
        if dice.percent(50) { V::Null } else { V::Bool(fact) }
    };
    match kind {
        0..=3 => ("add", x, says(!there, dice)),
        4..=5 => ("remove", x, says(there, dice)),
        6..=7 => ("contains", x, V::Bool(there)),
        _ => ("read", V::Null, V::List(members.iter().rev().cloned().collect())),
    }
}

fn propose_lease(lease: &[V], kind: i64, dice: &mut Dice) -> (&'static str, V, V) {
    let granted = if lease[0] == V::Null { 0 } else { lease[0].int() };
    let used = if lease[2] == V::Null { granted.min(1) } else { lease[2].int() };
    match kind {
        0..=3 => ("acquire", V::Null, V::Int(granted + 1 + dice.below(2))),
        4 => ("renew", V::Int(granted), V::Null),
        5..=6 => ("release", V::Int(granted), V::Null),
        _ => ("use", V::Int(used + dice.below(granted - used + 1)), V::Null),
    }
}

/// Takes the order from the place of records instead of from times: no two are the same.
fn order_by_position(case: &mut Case) {
    let mut records: Vec<(i64, bool, usize)> = Vec::new();
    for (i, op) in case.ops.iter().enumerate() {
        records.push((op.start, false, i));
        records.push((op.end, true, i));
    }
    records.sort();
    for (place, (_, is_end, i)) in records.into_iter().enumerate() {
        let op = &mut case.ops[i];
        *(if is_end { &mut op.end } else { &mut op.start }) = place as i64 + 1;
    }
    case.by_position = true;
}
