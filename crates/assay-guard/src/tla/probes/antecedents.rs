//! Conditions of implications, and the sets of quantifiers.

use super::formula::{Around, exists, piece, shown};
use super::{About, Probe, Probes, Shape};
use crate::syntax::{field, named, text};
use crate::tla::mutants::scope::{Scope, all};
use tree_sitter::Node;

/// How deep definitions and formulas are followed.
const DEPTH_MAX: usize = 60;

/// Adds the questions of one property.
pub fn of(scope: &Scope<'_>, name: &str, found: &mut Probes) {
    let Some(operator) = scope.operator(name) else {
        found.notes.push(format!("{name}: is not defined in this module; it was not looked into"));
        return;
    };
    let body = operator.body;
    let mut walk = Walk { scope, name, about: About::State, around: Vec::new(), depth: 0, found };
    walk.formula(body);
}

/// How a property is meant.
pub fn shape(scope: &Scope<'_>, name: &str) -> Shape {
    let Some(mut node) = scope.operator(name).map(|operator| operator.body) else {
        return Shape::Temporal;
    };
    for _ in 0..DEPTH_MAX {
        match (node.kind(), symbol(node)) {
            ("parentheses", _) => match named(node).last() {
                Some(inner) => node = *inner,
                None => break,
            },
            ("identifier_ref", _) => match scope.operator(text(node, scope.source)) {
                Some(operator) if operator.parameters.is_empty() => node = operator.body,
                _ => break,
            },
            ("bound_prefix_op", "always") => {
                let Some(inner) = node.child_by_field_name("rhs") else { break };
                let inner = match inner.kind() {
                    "parentheses" => named(inner).last().copied().unwrap_or(inner),
                    _ => inner,
                };
                return match inner.kind() {
                    "step_expr_or_stutter" => match named(inner)[..] {
                        [action, variables] => Shape::Step {
                            action: piece(action, scope.source),
                            variables: text(variables, scope.source).to_string(),
                        },
                        _ => Shape::Temporal,
                    },
                    _ if is_temporal(inner) => Shape::Temporal,
                    _ => Shape::State,
                };
            }
            _ => break,
        }
    }
    if is_temporal(node) { Shape::Temporal } else { Shape::State }
}

fn is_temporal(node: Node<'_>) -> bool {
    all(node).into_iter().any(|inner| {
        matches!(inner.kind(), "fairness" | "step_expr_or_stutter" | "step_expr_no_stutter")
            || matches!(symbol(inner), "always" | "eventually" | "leads_to")
    })
}

fn symbol(node: Node<'_>) -> &str {
    node.child_by_field_name("symbol").map_or("", |symbol| symbol.kind())
}

struct Walk<'s, 't> {
    scope: &'s Scope<'t>,
    name: &'s str,
    about: About,
    around: Vec<Around<'t>>,
    depth: usize,
    found: &'s mut Probes,
}

impl<'t> Walk<'_, 't> {
    /// Asks whether something holds somewhere.
    fn ask(&mut self, node: Node<'t>) {
        let (line, text) = shown(node, self.scope.source);
        let inner = format!("({})", piece(node, self.scope.source));
        self.push(line, text, inner, self.scope.steps(node));
    }

    /// Of a step, only what has primes is asked of steps: `[][ended => UNCHANGED v]_v` says itself
    /// that no step which changes something begins where it ended.
    fn push(&mut self, line: usize, text: String, inner: String, has_prime: bool) {
        let formula = exists(&self.around, inner, self.scope.source);
        let around = self.around.iter().flat_map(Around::nodes);
        let of_step = has_prime || around.into_iter().any(|node| self.scope.steps(node));
        let about = if of_step { self.about } else { About::State };
        let probe = Probe { name: self.name.into(), text, line, about, formula };
        if !self.found.antecedents.iter().any(|own| own.formula == probe.formula) {
            self.found.antecedents.push(probe);
        }
    }

    fn inside(&mut self, around: Around<'t>, node: Node<'t>) {
        self.around.push(around);
        self.formula(node);
        self.around.pop();
    }

    /// A formula that has to hold.
    fn formula(&mut self, node: Node<'t>) {
        if self.depth > DEPTH_MAX {
            return;
        }
        self.depth += 1;
        match node.kind() {
            "parentheses" | "conj_item" => {
                if let Some(inner) = named(node).last() {
                    self.formula(*inner);
                }
            }
            "conj_list" => named(node).into_iter().for_each(|part| self.formula(part)),
            "bound_infix_op" => self.infix(node),
            "bound_prefix_op" if symbol(node) == "always" => {
                if let Some(inner) = node.child_by_field_name("rhs") {
                    self.formula(inner);
                }
            }
            "step_expr_or_stutter" => {
                if let Some(action) = named(node).first() {
                    let before = std::mem::replace(&mut self.about, About::Step);
                    self.formula(*action);
                    self.about = before;
                }
            }
            "bounded_quantification" => self.quantified(node),
            "if_then_else" => {
                let part = |name| node.child_by_field_name(name);
                if let (Some(asked), Some(then), Some(other)) =
                    (part("if"), part("then"), part("else"))
                {
                    self.inside(Around::Given(asked), then);
                    self.inside(Around::Unless(asked), other);
                }
            }
            "let_in" => {
                if let Some(body) = node.child_by_field_name("expression") {
                    self.inside(Around::Let(field(node, "definitions")), body);
                }
            }
            "identifier_ref" => self.named(text(node, self.scope.source), &[]),
            "bound_op" => {
                let name =
                    node.child_by_field_name("name").map_or("", |n| text(n, self.scope.source));
                self.named(name, &field(node, "parameter"));
            }
            _ => {}
        }
        self.depth -= 1;
    }

    fn infix(&mut self, node: Node<'t>) {
        let part = |name| node.child_by_field_name(name);
        let (Some(left), Some(right)) = (part("lhs"), part("rhs")) else { return };
        match symbol(node) {
            "land" => {
                self.formula(left);
                self.formula(right);
            }
            "implies" => {
                self.ask(left);
                self.inside(Around::Given(left), right);
            }
            "leads_to" => self.ask(left),
            "lor" if symbol(left) == "lnot" => {
                if let Some(condition) = left.child_by_field_name("rhs") {
                    self.ask(condition);
                }
            }
            _ => {}
        }
    }

    fn quantified(&mut self, node: Node<'t>) {
        let all_of = node.child_by_field_name("quantifier").map(|q| q.kind()) == Some("forall");
        let Some(body) = node.child_by_field_name("expression") else { return };
        let bounds = field(node, "bound");
        if !all_of {
            return;
        }
        let own: Vec<&str> = bounds.iter().flat_map(|bound| self.introduced(*bound)).collect();
        let taken = self.around.iter().any(|around| match around {
            Around::Bound(outer) => {
                outer.iter().flat_map(|bound| self.introduced(*bound)).any(|n| own.contains(&n))
            }
            Around::Argument(name, _) => own.contains(&name.as_str()),
            _ => false,
        });
        if taken {
            let (line, _) = shown(node, self.scope.source);
            let note = "binds a name again; conditions in it were not looked at";
            self.found.notes.push(format!("{}: line {line} {note}", self.name));
            return;
        }
        let sets = bounds.iter().filter_map(|bound| bound.child_by_field_name("set"));
        if sets.into_iter().any(|set| self.scope.varies(set)) {
            let texts: Vec<String> =
                bounds.iter().map(|bound| shown(*bound, self.scope.source).1).collect();
            let (line, _) = shown(node, self.scope.source);
            self.around.push(Around::Bound(bounds.clone()));
            self.push(line, format!("\\E {}", texts.join(", ")), "TRUE".to_string(), false);
            self.around.pop();
        }
        self.inside(Around::Bound(bounds), body);
    }

    fn introduced(&self, bound: Node<'t>) -> Vec<&'t str> {
        let names = field(bound, "intro").into_iter().flat_map(all);
        let plain = names.filter(|node| node.kind() == "identifier");
        plain.map(|node| text(node, self.scope.source)).collect()
    }

    /// A definition is looked into with what is given to it.
    fn named(&mut self, name: &str, arguments: &[Node<'t>]) {
        let Some(operator) = self.scope.operator(name).cloned() else { return };
        if operator.parameters.len() != arguments.len() {
            return;
        }
        let before = self.around.len();
        for (parameter, argument) in operator.parameters.iter().zip(arguments) {
            if text(*argument, self.scope.source) != parameter {
                self.around.push(Around::Argument(parameter.clone(), *argument));
            }
        }
        self.formula(operator.body);
        self.around.truncate(before);
    }
}
