//! Where mistakes can be made, and which.

use super::Mistake;
use super::change::Change;
use super::scope::{Defined, Scope, conjuncts};
use crate::syntax::{named, text};
use tree_sitter::Node;

/// How deep expressions are followed.
const DEPTH_MAX: usize = 150;

/// The changes of one operator.
pub fn changes(scope: &Scope<'_>, operator: &Defined<'_>) -> Vec<Change> {
    let initial = scope.initial.contains(&operator.name);
    let mut finder = Finder { scope, initial, changes: Vec::new(), depth: 0 };
    finder.condition(operator.body);
    finder.changes
}

struct Finder<'s, 't> {
    scope: &'s Scope<'t>,
    /// Whether equalities give variables their first values.
    initial: bool,
    changes: Vec<Change>,
    depth: usize,
}

fn symbol(node: Node<'_>) -> &str {
    node.child_by_field_name("symbol").map_or("", |symbol| symbol.kind())
}

fn side<'t>(node: Node<'t>, name: &str) -> Option<Node<'t>> {
    node.child_by_field_name(name)
}

impl<'t> Finder<'_, 't> {
    fn text(&self, node: Node<'_>) -> &'t str {
        text(node, self.scope.source)
    }

    fn push(&mut self, node: Node<'_>, text: impl Into<String>, mistake: Mistake) {
        self.changes.push(Change::instead(node, text, mistake));
    }

    /// Something that holds or not, or takes a step.
    fn condition(&mut self, node: Node<'t>) {
        if self.depth > DEPTH_MAX {
            return;
        }
        self.depth += 1;
        let parts = conjuncts(node);
        match parts[..] {
            [only] => self.part(only),
            _ => parts.iter().for_each(|part| self.conjunct(*part)),
        }
        self.depth -= 1;
    }

    /// One of several conditions.
    fn conjunct(&mut self, node: Node<'t>) {
        if node.kind() == "fairness" {
            self.unfair(node);
            return;
        }
        if !self.scope.steps(node) && !self.assigns(node) && !self.is_plain_name_of_begin(node) {
            self.push(node, "TRUE", Mistake::Drop);
            self.changes.push(Change::negated(node, self.scope.source));
        }
        self.part(node);
    }

    /// `Init` in a specification is no condition that could be left out.
    fn is_plain_name_of_begin(&self, node: Node<'t>) -> bool {
        let name = self.text(node);
        self.scope.initial.contains(name)
            || node.kind().starts_with("step_expr")
            || matches!(symbol(node), "always" | "eventually")
    }

    /// Whether it gives a variable its first value.
    fn assigns(&self, node: Node<'t>) -> bool {
        let left = side(node, "lhs").map(|left| self.text(left));
        self.initial
            && matches!(symbol(node), "eq" | "in")
            && left.is_some_and(|name| self.scope.variables.contains(name))
    }

    fn unfair(&mut self, node: Node<'t>) {
        if self.scope.wants_progress {
            self.push(node, "TRUE", Mistake::Unfair);
        }
    }

    fn part(&mut self, node: Node<'t>) {
        match node.kind() {
            "fairness" => self.unfair(node),
            "step_expr_or_stutter" | "step_expr_no_stutter" => {}
            "parentheses" => named(node).into_iter().for_each(|inner| self.condition(inner)),
            "disj_list" => named(node).into_iter().for_each(|item| {
                if let Some(inner) = named(item).last() {
                    self.alternative(*inner);
                }
            }),
            "bound_infix_op" => self.infix(node),
            "bound_prefix_op" => {
                if symbol(node) != "unchanged"
                    && let Some(inner) = side(node, "rhs")
                {
                    match symbol(node) {
                        "always" | "eventually" => self.part(inner),
                        _ => self.condition(inner),
                    }
                }
            }
            "bounded_quantification" => self.quantified(node),
            "if_then_else" => {
                if let Some(asked) = side(node, "if") {
                    self.changes.push(Change::negated(asked, self.scope.source));
                }
                let parts = ["if", "then", "else"].into_iter();
                parts.filter_map(|name| side(node, name)).for_each(|part| self.condition(part));
            }
            "let_in" => {
                for definition in crate::syntax::field(node, "definitions") {
                    if let Some(body) = side(definition, "definition") {
                        self.condition(body);
                    }
                }
                if let Some(body) = side(node, "expression") {
                    self.condition(body);
                }
            }
            _ => self.value(node),
        }
    }

    /// One of several things that may hold or happen.
    fn alternative(&mut self, node: Node<'t>) {
        let stepping = self.scope.steps(node);
        match stepping {
            true if self.scope.wants_progress => self.push(node, "FALSE", Mistake::Never),
            true => {}
            false => self.push(node, "FALSE", Mistake::Drop),
        }
        self.condition(node);
    }

    fn quantified(&mut self, node: Node<'t>) {
        let Some(quantifier) = side(node, "quantifier") else { return };
        if !self.scope.steps(node) && !self.initial {
            let other = if quantifier.kind() == "exists" { "\\A" } else { "\\E" };
            self.push(quantifier, other, Mistake::Quantify);
        }
        for bound in crate::syntax::field(node, "bound") {
            if let Some(set) = side(bound, "set") {
                self.value(set);
            }
        }
        if let Some(body) = side(node, "expression") {
            self.condition(body);
        }
    }

    fn infix(&mut self, node: Node<'t>) {
        let (Some(left), Some(right)) = (side(node, "lhs"), side(node, "rhs")) else { return };
        match symbol(node) {
            "land" | "implies" | "iff" | "equiv" => {
                self.condition(left);
                self.condition(right);
            }
            "lor" => {
                self.alternative(left);
                self.alternative(right);
            }
            "eq" | "in" if self.scope.steps(left) => {
                let own = self.text(left).trim_end_matches('\'').trim_end();
                if symbol(node) == "eq" && own != self.text(right) {
                    self.push(right, own, Mistake::Freeze);
                }
                self.value(right);
            }
            "eq" | "in" if self.assigns(node) => self.value(right),
            _ => self.relation(node),
        }
    }

    fn relation(&mut self, node: Node<'t>) {
        let other = match symbol(node) {
            "lt" => "<=",
            "leq" => "<",
            "gt" => ">=",
            "geq" => ">",
            _ => "",
        };
        if let Some(sign) = side(node, "symbol")
            && !other.is_empty()
        {
            self.push(sign, other, Mistake::Compare);
        }
        self.value(node);
    }

    /// An expression with a value.
    fn value(&mut self, node: Node<'t>) {
        if self.depth > DEPTH_MAX {
            return;
        }
        self.depth += 1;
        self.changes.extend(super::values::of(self.scope, node));
        for inner in named(node) {
            match inner.kind() {
                "if_then_else"
                | "let_in"
                | "bounded_quantification"
                | "conj_list"
                | "disj_list" => self.condition(inner),
                "bound_infix_op" if is_relation(symbol(inner)) => self.condition(inner),
                _ => self.value(inner),
            }
        }
        self.depth -= 1;
    }
}

fn is_relation(symbol: &str) -> bool {
    matches!(symbol, "land" | "lor" | "implies" | "lt" | "leq" | "gt" | "geq")
}
