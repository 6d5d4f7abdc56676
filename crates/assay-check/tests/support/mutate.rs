//! Small changes to a history that keep every operation well-formed.

use super::generate::Dice;
use super::{Case, End, V};
use assay_check::ModelKind;

/// Changes one thing.
pub fn change(case: &mut Case, dice: &mut Dice) {
    let count = case.ops.len() as i64;
    let (i, j) = (dice.below(count) as usize, dice.below(count) as usize);
    let shape = |i: usize| (case.ops[i].f, case.ops[i].input == V::Null);
    let alike = shape(i) == shape(j);
    match dice.below(12) {
        0..=5 if matches!(case.ops[j].f, "get" | "read" | "dequeue" | "pop") => {
            other_output(case, j, dice);
        }
        0..=5 => other_output(case, i, dice),
        6 if alike && case.ops[i].input == case.ops[j].input => {
            let output = case.ops[i].output.clone();
            case.ops[i].output = std::mem::replace(&mut case.ops[j].output, output);
        }
        7 if alike => {
            let input = case.ops[i].input.clone();
            case.ops[i].input = std::mem::replace(&mut case.ops[j].input, input);
        }
        6..=8 => {
            let op = &mut case.ops[i];
            op.how = match op.how {
                End::Ok if dice.percent(80) => End::Ok,
                End::Ok => *[End::Fail, End::TimedOut, End::Open]
                    .get(dice.below(3) as usize)
                    .expect("three of them"),
                End::Fail | End::TimedOut | End::Open => End::Ok,
            };
        }
        9 => case.ops[i].end = case.ops[i].start,
        10 => case.ops[i].start = case.ops[i].end,
        _ => {
            let by = dice.below(9) - 4;
            case.ops[i].start += by;
            case.ops[i].end += by;
        }
    }
}

/// Gives an operation the output that one of its kind could have had in some other state.
fn other_output(case: &mut Case, i: usize, dice: &mut Dice) {
    let small = V::Int(dice.below(4));
    let element = case.ops[dice.below(case.ops.len() as i64) as usize].input.clone();
    let is_element = matches!(element, V::Int(_));
    let flip = |flag: &V| V::Bool(*flag != V::Bool(true));
    let op = &mut case.ops[i];
    match (case.model, op.f) {
        (ModelKind::Register, "cas") => op.output = flip(&op.output),
        (ModelKind::Register, "read" | "get") => {
            op.output = if is_element { element } else { small };
        }
        (ModelKind::Kv, "get" | "read") => match (&op.output, element) {
            (V::Str(text), V::Str(more)) => op.output = V::Str(format!("{text}{more}")),
            (_, V::Str(more)) => op.output = V::Str(more),
            _ => op.output = V::str("b"),
        },
        (ModelKind::Counter, _) | (ModelKind::Log, "append") => op.output = small,
        (ModelKind::Set, "read") | (ModelKind::Log, "read") if op.input == V::Null => {
            let mut items = op.output.list().to_vec();
            if dice.percent(40) || !is_element {
                items.pop();
            } else {
                items.push(element);
            }
            op.output = V::List(items);
        }
        (ModelKind::Set, _) => op.output = flip(&op.output),
        (ModelKind::Queue | ModelKind::Stack, "dequeue" | "pop") | (ModelKind::Log, "read") => {
            let wrong = if dice.percent(50) { V::Null } else { small };
            op.output = if is_element { element } else { wrong };
        }
        (ModelKind::Lease, "acquire") => op.output = V::Int(1 + small.int()),
        (ModelKind::Lease, _) => op.input = small,
        // A mutex has no outputs: something else may have been done, or by someone else.
        (ModelKind::Mutex, f) if small < V::Int(2) => {
            op.f = if f == "acquire" { "release" } else { "acquire" };
        }
        (ModelKind::Mutex, _) => op.process = small.int(),
        _ => op.input = if matches!(op.input, V::Int(_)) { small } else { op.input.clone() },
    }
}
