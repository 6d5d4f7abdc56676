//! The slow twin: linearizability straight from its definition, by trying every order.
//!
//! There is no memory and no cleverness here, so it is for histories of a handful of operations. It
//! does not look at how the checker or the verifier do it; `docs/models.md` is all it rests on.

use super::{Case, End, Op, V};
use assay_check::ModelKind;

/// What is left of a history: the operations of one key whose completions are kept.
#[derive(Clone, Debug)]
pub struct Part {
    pub key: V,
    /// The operations that must have taken effect, by their place in the case.
    pub core: Vec<usize>,
    /// Whether the state before is not known, and then what ended before `from` is left out.
    pub any: bool,
    pub from: i64,
    /// What began later is left out.
    pub cut: i64,
}

/// Whether some order of the operations that took effect explains the history, for every key.
pub fn linearizable(case: &Case) -> bool {
    let is_ok = |&i: &usize| case.ops[i].how == End::Ok;
    let core: Vec<usize> = (0..case.ops.len()).filter(is_ok).collect();
    let mut keys: Vec<&V> = case.ops.iter().map(|op| &op.key).collect();
    keys.sort();
    keys.dedup();
    keys.into_iter().all(|key| {
        let core = core.iter().copied().filter(|&i| case.ops[i].key == *key).collect();
        let part = Part { key: key.clone(), core, any: false, from: i64::MIN, cut: i64::MAX };
        explains_part(case, &part)
    })
}

/// Whether some order explains a part. Whatever is not in the core may happen at any time after it
/// began (as it was recorded, if it was), or never.
pub fn explains_part(case: &Case, part: &Part) -> bool {
    let mut left: Vec<(&Op, bool)> = Vec::new();
    for (i, op) in case.ops.iter().enumerate() {
        let end = if op.how == End::Ok { op.end } else { i64::MAX };
        let is_out = op.start > part.cut || (part.any && end < part.from);
        if op.key == part.key && op.how != End::Fail && !is_out {
            left.push((op, part.core.contains(&i)));
        }
    }
    let mut starts = vec![initial(case)];
    if part.any {
        starts.push(V::str("anything else"));
        for (op, _) in &left {
            let pair = if op.f == "cas" { op.input.list() } else { &[] };
            starts.extend([&op.input, &op.output].into_iter().chain(pair).cloned());
        }
    }
    starts.iter().any(|state| explains(case.model, state, &mut left))
}

/// Whether the core operations in `left` can all follow on `state`; the others may stay behind.
fn explains(model: ModelKind, state: &V, left: &mut Vec<(&Op, bool)>) -> bool {
    if left.iter().all(|(_, in_core)| !in_core) {
        return true;
    }
    for i in 0..left.len() {
        let (op, in_core) = left[i];
        if left.iter().any(|(other, in_core)| *in_core && other.end < op.start) {
            continue;
        }
        if let Some(next) = step(model, state, op) {
            left.remove(i);
            let explained = explains(model, &next, left);
            left.insert(i, (op, in_core));
            if explained {
                return true;
            }
        }
    }
    false
}

/// The state of an object that nothing has happened to.
pub fn initial(case: &Case) -> V {
    match case.model {
        ModelKind::Register => case.initial.clone(),
        ModelKind::Kv => V::str(""),
        ModelKind::Counter => V::Int(0),
        ModelKind::Set | ModelKind::Queue | ModelKind::Stack | ModelKind::Log => V::List(vec![]),
        ModelKind::Mutex => V::Null,
        // Granted, active, used.
        ModelKind::Lease => V::List(vec![V::Null, V::Bool(false), V::Null]),
    }
}

/// The state after an operation took effect, or `None` if it cannot have in this state.
pub fn step(model: ModelKind, state: &V, op: &Op) -> Option<V> {
    let unknown = op.how.is_unknown();
    // An output that must be as said, if it is known and not left out.
    let says = |value: V| unknown || op.output == V::Null || op.output == value;
    let sees = |value: &V| unknown || op.output == *value;
    let unchanged = |legal: bool| legal.then(|| state.clone());
    match (model, op.f) {
        (ModelKind::Register, "read" | "get") => unchanged(sees(state)),
        (ModelKind::Register, "write" | "put") => Some(op.input.clone()),
        (ModelKind::Register, "cas") => {
            let [from, to] = op.input.list() else { panic!("cas takes a pair") };
            let equal = state == from;
            if unknown {
                return Some(if equal { to.clone() } else { state.clone() });
            }
            let swapped = op.output != V::Bool(false);
            (swapped == equal).then(|| if equal { to.clone() } else { state.clone() })
        }
        (ModelKind::Kv, "get" | "read") => unchanged(unknown || text(&op.output) == text(state)),
        (ModelKind::Kv, "put" | "write") => Some(V::str(text(&op.input))),
        (ModelKind::Kv, "append") => Some(V::Str(format!("{}{}", text(state), text(&op.input)))),
        (ModelKind::Counter, "read" | "get") => unchanged(sees(state)),
        (ModelKind::Counter, f) => {
            let by = if op.input == V::Null { 1 } else { op.input.int() };
            let sign = if matches!(f, "dec" | "decrement") { -1 } else { 1 };
            let after = V::Int(state.int() + sign * by);
            says(after.clone()).then_some(after)
        }
        (ModelKind::Set, _) => step_set(state.list(), op, unknown),
        (ModelKind::Queue | ModelKind::Stack, f) => {
            let mut items = state.list().to_vec();
            if matches!(f, "enqueue" | "push") {
                items.push(op.input.clone());
                return Some(V::List(items));
            }
            let place = if f == "dequeue" { 0 } else { items.len().saturating_sub(1) };
            let taken = if items.is_empty() { V::Null } else { items.remove(place) };
            sees(&taken).then_some(V::List(items))
        }
        (ModelKind::Log, "append") => {
            let mut items = state.list().to_vec();
            let offset = V::Int(items.len() as i64);
            items.push(op.input.clone());
            says(offset).then_some(V::List(items))
        }
        (ModelKind::Log, "read") if op.input == V::Null => unchanged(sees(state)),
        (ModelKind::Log, "read") => {
            let there = state.list().get(op.input.int() as usize);
            unchanged(sees(there.unwrap_or(&V::Null)))
        }
        (ModelKind::Mutex, "acquire") => (*state == V::Null).then_some(V::Int(op.process)),
        (ModelKind::Mutex, "release") => (*state == V::Int(op.process)).then_some(V::Null),
        (ModelKind::Lease, _) => step_lease(state.list(), op, unknown),
        (model, f) => panic!("{model:?} has no {f}"),
    }
}

fn text(value: &V) -> &str {
    match value {
        V::Null => "",
        V::Str(text) => text,
        other => panic!("{other:?} should be a string"),
    }
}

fn step_set(members: &[V], op: &Op, unknown: bool) -> Option<V> {
    let mut after: Vec<V> = members.to_vec();
    let says = |fact: bool| unknown || op.output == V::Null || op.output == V::Bool(fact);
    let there = members.contains(&op.input);
    let legal = match op.f {
        "add" => {
            if !there {
                after.push(op.input.clone());
                after.sort();
            }
            says(!there)
        }
        "remove" => {
            after.retain(|member| *member != op.input);
            says(there)
        }
        "contains" => says(there),
        _ if unknown => true,
        _ => {
            let mut seen = op.output.list().to_vec();
            seen.sort();
            seen.dedup();
            seen == members
        }
    };
    legal.then_some(V::List(after))
}

fn step_lease(state: &[V], op: &Op, unknown: bool) -> Option<V> {
    let [granted, active, used] = state else { panic!("a lease has three parts") };
    let lease = |granted: &V, active: bool, used: &V| {
        Some(V::List(vec![granted.clone(), V::Bool(active), used.clone()]))
    };
    let is_active = *active == V::Bool(true);
    match op.f {
        "acquire" if unknown => lease(granted, false, used),
        "acquire" if *granted == V::Null || op.output.int() > granted.int() => {
            lease(&op.output, true, used)
        }
        "renew" if is_active && op.input == *granted => lease(granted, true, used),
        "release" if is_active && op.input == *granted => lease(granted, false, used),
        "use"
            if *granted != V::Null
                && op.input.int() <= granted.int()
                && (*used == V::Null || used.int() <= op.input.int()) =>
        {
            lease(granted, is_active, &op.input)
        }
        _ => None,
    }
}
