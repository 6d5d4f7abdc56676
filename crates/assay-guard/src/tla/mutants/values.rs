//! Mistakes in what has a value.

use super::Mistake;
use super::change::Change;
use super::scope::Scope;
use crate::syntax::{field, named, text};
use tree_sitter::Node;

/// The changes of one expression, without what is inside of it.
pub fn of<'t>(scope: &Scope<'t>, node: Node<'t>) -> Vec<Change> {
    let one = |text: String, mistake| vec![Change::instead(node, text, mistake)];
    let own = text(node, scope.source);
    match node.kind() {
        "nat_number" => number(node, own),
        "string" => other_string(scope, own).map_or(Vec::new(), |s| one(s, Mistake::Value)),
        "boolean" if own == "TRUE" => one("FALSE".into(), Mistake::Value),
        "boolean" => one("TRUE".into(), Mistake::Value),
        "bound_infix_op" => infix(scope, node),
        "bound_op" => call(scope, node),
        "except" => except(scope, node),
        _ => Vec::new(),
    }
}

fn number(node: Node<'_>, own: &str) -> Vec<Change> {
    let Ok(number) = own.parse::<u64>() else { return Vec::new() };
    let change = |text: u64| Change::instead(node, text.to_string(), Mistake::OffByOne);
    let mut found: Vec<Change> = number.checked_add(1).map(change).into_iter().collect();
    if number >= 2 {
        found.push(change(number - 1));
    }
    found
}

/// The string that follows in the order of the alphabet; after the last one comes the first.
fn other_string(scope: &Scope<'_>, own: &str) -> Option<String> {
    let after = scope.strings.iter().find(|other| other.as_str() > own);
    after.or_else(|| scope.strings.iter().find(|other| other.as_str() != own)).cloned()
}

fn infix<'t>(scope: &Scope<'t>, node: Node<'t>) -> Vec<Change> {
    let part = |name| node.child_by_field_name(name);
    let (Some(left), Some(symbol), Some(right)) = (part("lhs"), part("symbol"), part("rhs")) else {
        return Vec::new();
    };
    let own = |node: Node<'t>| text(node, scope.source);
    match symbol.kind() {
        "plus" => vec![Change::instead(symbol, "-", Mistake::Arithmetic)],
        "minus" => vec![Change::instead(symbol, "+", Mistake::Arithmetic)],
        "cup" | "setminus" | "cap" => vec![Change::instead(node, own(left), Mistake::Lose)],
        // A number at the end of a range is changed as a number.
        "dots_2" if right.kind() != "nat_number" => {
            vec![Change::instead(right, format!("({} - 1)", own(right)), Mistake::OffByOne)]
        }
        _ => Vec::new(),
    }
}

/// `Append(s, x)` that appends nothing, `Tail(s)` that takes nothing away.
fn call<'t>(scope: &Scope<'t>, node: Node<'t>) -> Vec<Change> {
    let name = node.child_by_field_name("name").map_or("", |name| text(name, scope.source));
    match (name, field(node, "parameter").first()) {
        ("Append" | "Tail", Some(first)) => {
            vec![Change::instead(node, text(*first, scope.source), Mistake::Lose)]
        }
        _ => Vec::new(),
    }
}

/// `[f EXCEPT ![a] = x, ![b] = y]` with one of the updates missing.
fn except<'t>(scope: &Scope<'t>, node: Node<'t>) -> Vec<Change> {
    let updates: Vec<Node<'t>> =
        named(node).into_iter().filter(|inner| inner.kind() == "except_update").collect();
    if updates.len() < 2 {
        return Vec::new();
    }
    let without = |at: usize| {
        let (start, end) = match updates.get(at + 1) {
            Some(next) => (updates[at].start_byte(), next.start_byte()),
            None => (updates[at - 1].end_byte(), updates[at].end_byte()),
        };
        let source = scope.source;
        let before = source.get(node.start_byte()..start).unwrap_or_default();
        let after = source.get(end..node.end_byte()).unwrap_or_default();
        Change::instead(node, format!("{before}{after}"), Mistake::Skip)
    };
    (0..updates.len()).map(without).collect()
}
