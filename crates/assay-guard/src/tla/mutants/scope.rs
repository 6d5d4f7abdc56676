//! Which operators of a module make up its behaviour, and which of them take steps.

use crate::syntax::{self, children, named, text};
use crate::tla::cfg::Cfg;
use std::collections::{BTreeMap, BTreeSet};
use tree_sitter::{Node, Tree};

/// An operator as a node.
#[derive(Clone)]
pub struct Defined<'t> {
    /// Its name.
    pub name: String,
    /// The names of its parameters.
    pub parameters: Vec<String>,
    /// What it stands for.
    pub body: Node<'t>,
    uses: BTreeSet<String>,
    has_prime: bool,
}

/// A module with what drives it.
pub struct Scope<'t> {
    /// The text.
    pub source: &'t str,
    /// Its variables.
    pub variables: BTreeSet<String>,
    /// The strings in it.
    pub strings: BTreeSet<String>,
    /// Where the specification or the initial predicate and the steps begin.
    roots: Vec<String>,
    /// The operators that say where it begins.
    pub initial: BTreeSet<String>,
    /// The names that are checked.
    pub checked: Vec<String>,
    /// Whether something is checked that needs steps to be taken.
    pub wants_progress: bool,
    operators: BTreeMap<String, Defined<'t>>,
    order: Vec<String>,
    stepping: BTreeSet<String>,
}

impl<'t> Scope<'t> {
    /// Reads what matters of a module.
    pub fn of(tree: &'t Tree, source: &'t str, cfg: &Cfg) -> Scope<'t> {
        let entries = |section| cfg.section(section).map(|entry| entry.name.clone());
        let mut roots: Vec<String> = entries("SPECIFICATION").collect();
        roots.extend(entries("INIT").chain(entries("NEXT")));
        if roots.is_empty() {
            roots.push("Spec".to_string());
        }
        let mut scope = Scope {
            source,
            variables: BTreeSet::new(),
            strings: BTreeSet::new(),
            roots,
            initial: entries("INIT").collect(),
            checked: cfg.checked().map(|(name, _)| name.to_string()).collect(),
            wants_progress: cfg.section("PROPERTY").next().is_some()
                || cfg.deadlock.is_none_or(|(wanted, _)| wanted),
            operators: BTreeMap::new(),
            order: Vec::new(),
            stepping: BTreeSet::new(),
        };
        for module in named(tree.root_node()) {
            if module.kind() == "module" {
                scope.units(module);
            }
        }
        scope.find_strings(tree.root_node());
        scope.find_steps();
        scope.find_initial();
        scope
    }

    fn units(&mut self, module: Node<'t>) {
        for unit in named(module) {
            match unit.kind() {
                "operator_definition" => self.define(unit),
                "local_definition" => {
                    named(unit).into_iter().for_each(|inner| self.define(inner));
                }
                "variable_declaration" => {
                    let names = named(unit).into_iter().map(|n| text(n, self.source).to_string());
                    self.variables.extend(names);
                }
                _ => {}
            }
        }
    }

    fn define(&mut self, unit: Node<'t>) {
        let parts = (unit.child_by_field_name("name"), unit.child_by_field_name("definition"));
        let (Some(name), Some(body)) = parts else { return };
        if unit.kind() != "operator_definition" {
            return;
        }
        let name = text(name, self.source).to_string();
        let parameters = syntax::field(unit, "parameter")
            .into_iter()
            .map(|node| node.child_by_field_name("name").unwrap_or(node))
            .map(|node| text(node, self.source).to_string())
            .collect();
        let uses = all(body)
            .into_iter()
            .filter(|node| node.kind() == "identifier_ref")
            .map(|node| text(node, self.source).to_string())
            .collect();
        let has_prime = all(body).into_iter().any(is_prime);
        self.order.push(name.clone());
        let defined = Defined { name: name.clone(), parameters, body, uses, has_prime };
        self.operators.insert(name, defined);
    }

    fn find_strings(&mut self, root: Node<'t>) {
        let strings = all(root).into_iter().filter(|node| node.kind() == "string");
        self.strings = strings.map(|node| text(node, self.source).to_string()).collect();
    }

    /// Operators with primes, and those that use them.
    fn find_steps(&mut self) {
        let own = self.operators.values().filter(|operator| operator.has_prime);
        self.stepping = own.map(|operator| operator.name.clone()).collect();
        loop {
            let more: Vec<String> = self
                .operators
                .values()
                .filter(|operator| !self.stepping.contains(&operator.name))
                .filter(|operator| operator.uses.iter().any(|used| self.stepping.contains(used)))
                .map(|operator| operator.name.clone())
                .collect();
            if more.is_empty() {
                return;
            }
            self.stepping.extend(more);
        }
    }

    /// What a specification names outside of `[Next]_vars` and takes no step says how it begins.
    fn find_initial(&mut self) {
        let specs: Vec<Defined<'t>> = self
            .roots
            .iter()
            .filter_map(|name| self.operators.get(name))
            .filter(|operator| all(operator.body).iter().any(|n| n.kind().starts_with("step_expr")))
            .cloned()
            .collect();
        for spec in specs {
            let direct = conjuncts(spec.body).into_iter().map(|part| text(part, self.source));
            let found: Vec<String> = direct
                .filter(|name| self.operators.contains_key(*name) && !self.stepping.contains(*name))
                .map(str::to_string)
                .collect();
            self.initial.extend(found);
        }
    }

    /// An operator.
    pub fn operator(&self, name: &str) -> Option<&Defined<'t>> {
        self.operators.get(name)
    }

    /// The operator of the next steps with the variables it is about, as `[Next]_vars` has them.
    pub fn next(&self) -> Option<(Node<'t>, Option<Node<'t>>)> {
        for root in self.roots.iter().filter_map(|name| self.operators.get(name)) {
            let step = all(root.body).into_iter().find(|n| n.kind() == "step_expr_or_stutter");
            if let Some(parts) = step.map(named)
                && let Some(action) = parts.first()
            {
                return Some((*action, parts.get(1).copied()));
            }
        }
        let stepping = |name: &&String| self.stepping.contains(*name);
        let direct = self.roots.iter().find(stepping).and_then(|name| self.operators.get(name));
        direct.map(|operator| (operator.body, None))
    }

    /// The operators that may be changed, in the order they stand in the module: what the
    /// behaviour rests on, without what properties rest on unless it takes steps.
    pub fn changeable(&self) -> Vec<Defined<'t>> {
        let behaviour = self.closure(&self.roots);
        let asked = self.closure(&self.checked);
        let wanted = |name: &&String| {
            behaviour.contains(*name)
                && (self.stepping.contains(*name)
                    || self.initial.contains(*name)
                    || !asked.contains(*name))
        };
        self.order
            .iter()
            .filter(wanted)
            .filter_map(|name| self.operators.get(name))
            .cloned()
            .collect()
    }

    fn closure(&self, names: &[String]) -> BTreeSet<String> {
        let mut found: BTreeSet<String> = BTreeSet::new();
        let mut open: Vec<String> = names.to_vec();
        while let Some(name) = open.pop() {
            if let Some(operator) = self.operators.get(&name)
                && found.insert(name)
            {
                open.extend(operator.uses.iter().cloned());
            }
        }
        found
    }

    /// Whether an expression takes a step: it has a prime, or names something that does.
    pub fn steps(&self, node: Node<'t>) -> bool {
        all(node).into_iter().any(|inner| {
            is_prime(inner)
                || (inner.kind() == "identifier_ref"
                    && self.stepping.contains(text(inner, self.source)))
        })
    }

    /// Whether an expression depends on variables.
    pub fn varies(&self, node: Node<'t>) -> bool {
        let names = all(node).into_iter().filter(|inner| inner.kind() == "identifier_ref");
        let names: Vec<String> = names.map(|inner| text(inner, self.source).to_string()).collect();
        let below = self.closure(&names);
        let inner = below.iter().filter_map(|name| self.operators.get(name));
        names.iter().any(|name| self.variables.contains(name))
            || inner.into_iter().any(|op| op.uses.iter().any(|u| self.variables.contains(u)))
    }
}

fn is_prime(node: Node<'_>) -> bool {
    let symbol = || node.child_by_field_name("symbol").map(|symbol| symbol.kind());
    match node.kind() {
        "bound_postfix_op" => symbol() == Some("prime"),
        "bound_prefix_op" => symbol() == Some("unchanged"),
        _ => false,
    }
}

/// A node and everything below it, in order.
pub fn all(node: Node<'_>) -> Vec<Node<'_>> {
    let mut found = Vec::new();
    let mut open = vec![node];
    while let Some(next) = open.pop() {
        found.push(next);
        open.extend(children(next).into_iter().rev());
    }
    found
}

/// The parts that all have to hold.
pub fn conjuncts(node: Node<'_>) -> Vec<Node<'_>> {
    let symbol = node.child_by_field_name("symbol").map(|symbol| symbol.kind());
    match node.kind() {
        "conj_list" => named(node).into_iter().flat_map(conjuncts).collect(),
        "conj_item" | "parentheses" => {
            named(node).last().map_or(Vec::new(), |inner| conjuncts(*inner))
        }
        "bound_infix_op" if symbol == Some("land") => {
            let sides = ["lhs", "rhs"].into_iter();
            sides.filter_map(|side| node.child_by_field_name(side)).flat_map(conjuncts).collect()
        }
        _ => vec![node],
    }
}
