//! Kinds of steps: the alternatives of the next-state relation.

use super::formula::{Around, exists, piece, shown};
use super::{About, Probe, Probes};
use crate::syntax::{field, named, text};
use crate::tla::mutants::scope::Scope;
use tree_sitter::Node;

/// How deep definitions are followed.
const DEPTH_MAX: usize = 30;

/// Adds a question for each kind of step.
pub fn of(scope: &Scope<'_>, found: &mut Probes) {
    match scope.next() {
        Some((next, _)) => alternatives(scope, next, &mut Vec::new(), DEPTH_MAX, found),
        None => found.notes.push(
            "no `[Next]_vars` and no NEXT was found; whether each kind of step is taken was not \
             asked"
                .to_string(),
        ),
    }
}

fn alternatives<'t>(
    scope: &Scope<'t>,
    node: Node<'t>,
    around: &mut Vec<Around<'t>>,
    depth: usize,
    found: &mut Probes,
) {
    let symbol = node.child_by_field_name("symbol").map_or("", |symbol| symbol.kind());
    let is_some = || node.child_by_field_name("quantifier").map(|q| q.kind()) == Some("exists");
    if depth == 0 {
        return;
    }
    let depth = depth - 1;
    match node.kind() {
        "parentheses" | "disj_item" if !named(node).is_empty() => {
            let parts = named(node);
            alternatives(scope, parts[parts.len() - 1], around, depth, found);
        }
        "disj_list" => {
            named(node).into_iter().for_each(|item| alternatives(scope, item, around, depth, found))
        }
        "bound_infix_op" if symbol == "lor" => {
            let sides = ["lhs", "rhs"].into_iter().filter_map(|n| node.child_by_field_name(n));
            sides.for_each(|side| alternatives(scope, side, around, depth, found));
        }
        "bounded_quantification" if is_some() => {
            if let Some(body) = node.child_by_field_name("expression") {
                around.push(Around::Bound(field(node, "bound")));
                alternatives(scope, body, around, depth, found);
                around.pop();
            }
        }
        "identifier_ref" => {
            let operator = scope.operator(text(node, scope.source));
            match operator.filter(|operator| is_choice(operator.body)) {
                Some(operator) => alternatives(scope, operator.body, around, depth, found),
                None => leaf(scope, node, around, found),
            }
        }
        _ => leaf(scope, node, around, found),
    }
}

/// Whether a definition only lists alternatives.
fn is_choice(node: Node<'_>) -> bool {
    let symbol = node.child_by_field_name("symbol").map_or("", |symbol| symbol.kind());
    let some = node.child_by_field_name("quantifier").map(|q| q.kind()) == Some("exists");
    match node.kind() {
        "disj_list" => true,
        "bound_infix_op" => symbol == "lor",
        "bounded_quantification" => some,
        "parentheses" => named(node).last().is_some_and(|inner| is_choice(*inner)),
        _ => false,
    }
}

fn leaf<'t>(scope: &Scope<'t>, node: Node<'t>, around: &[Around<'t>], found: &mut Probes) {
    let (line, shown) = shown(node, scope.source);
    let name = node.child_by_field_name("name").map_or(shown.as_str(), |n| text(n, scope.source));
    let inner = format!("({})", piece(node, scope.source));
    let formula = exists(around, inner, scope.source);
    let name = name.to_string();
    found.steps.push(Probe { name, text: shown, line, about: About::Step, formula });
}
