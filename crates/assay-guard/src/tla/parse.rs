//! A module as a list of definitions.

use super::terms::Reader;
use crate::formula::{Definition, Definitions, Formula, Term};
use crate::syntax;
use std::collections::BTreeSet;
use tree_sitter::Node;

/// A module, as far as it is looked at.
#[derive(Clone, Debug, Default)]
pub struct Module {
    /// Its name.
    pub name: String,
    /// What it defines, in order.
    pub operators: Vec<Operator>,
    /// `ASSUME`: line, text, formula.
    pub assumptions: Vec<(usize, String, Formula)>,
    /// Its variables.
    pub variables: BTreeSet<String>,
    /// Names that theorems claim always hold.
    pub claimed: BTreeSet<String>,
    /// The line of the first place that is not TLA+.
    pub error: Option<usize>,
}

/// A definition.
#[derive(Clone, Debug)]
pub struct Operator {
    /// Its name.
    pub name: String,
    /// Its parameters.
    pub parameters: Vec<String>,
    /// The line it starts on.
    pub line: usize,
    /// Its text without comments.
    pub text: String,
    /// What it stands for.
    pub body: Term,
    /// The names in it.
    pub uses: BTreeSet<String>,
}

impl Module {
    /// The operator of a name.
    pub fn operator(&self, name: &str) -> Option<&Operator> {
        self.operators.iter().find(|operator| operator.name == name)
    }

    /// All definitions by name.
    pub fn definitions(&self) -> Definitions {
        let definition = |operator: &Operator| {
            let parameters = operator.parameters.clone();
            (operator.name.clone(), Definition { parameters, body: operator.body.clone() })
        };
        self.operators.iter().map(definition).collect()
    }

    /// The operators that one rests on, itself not included.
    pub fn closure(&self, name: &str) -> BTreeSet<&str> {
        let mut found = BTreeSet::new();
        let mut open = vec![name];
        while let Some(next) = open.pop() {
            let Some(operator) = self.operator(next) else { continue };
            for used in &operator.uses {
                if let Some(known) = self.operator(used)
                    && known.name != name
                    && found.insert(known.name.as_str())
                {
                    open.push(&known.name);
                }
            }
        }
        found
    }
}

/// A term as a formula.
pub fn as_formula(term: &Term) -> Formula {
    match term {
        Term::Logic(formula) => (**formula).clone(),
        other => Formula::Atom(other.clone()),
    }
}

/// Reads a module. Never fails: what is not TLA+ is left out, and its first line is told.
pub fn parse(source: &str) -> Option<Module> {
    let tree = syntax::parse(&tree_sitter_tlaplus::LANGUAGE.into(), source)?;
    let mut module = Module { error: syntax::first_error(&tree), ..Module::default() };
    for child in syntax::named(tree.root_node()) {
        if child.kind() == "module" {
            units(child, source, &mut module);
        }
    }
    Some(module)
}

fn units(node: Node<'_>, source: &str, module: &mut Module) {
    if let Some(name) = node.child_by_field_name("name")
        && module.name.is_empty()
    {
        module.name = syntax::text(name, source).to_string();
    }
    for unit in syntax::named(node) {
        match unit.kind() {
            "operator_definition" | "function_definition" => operator(unit, source, module),
            "local_definition" => {
                for inner in syntax::named(unit) {
                    if matches!(inner.kind(), "operator_definition" | "function_definition") {
                        operator(inner, source, module);
                    }
                }
            }
            "assumption" => {
                let formula = syntax::named(unit)
                    .last()
                    .map(|expression| Reader::new(source).formula(*expression));
                if let Some(formula) = formula {
                    let text = stripped(unit, source);
                    module.assumptions.push((syntax::line(unit), text, formula));
                }
            }
            "variable_declaration" => {
                let names = syntax::named(unit).into_iter().map(|n| syntax::text(n, source));
                module.variables.extend(names.map(str::to_string));
            }
            "theorem" => claims(unit, source, module),
            "module" => units(unit, source, module),
            _ => {}
        }
    }
}

fn operator(unit: Node<'_>, source: &str, module: &mut Module) {
    let (Some(name), Some(body)) =
        (unit.child_by_field_name("name"), unit.child_by_field_name("definition"))
    else {
        return;
    };
    let name = syntax::text(name, source).to_string();
    // TLA+ forbids a second definition of a name: what others mean by it is the first.
    if module.operator(&name).is_some() {
        return;
    }
    let mut reader = Reader::new(source);
    let parameters: Vec<String> = syntax::field(unit, "parameter")
        .into_iter()
        .map(|parameter| reader.parameter(parameter))
        .collect();
    let body = match unit.kind() {
        "function_definition" => reader.function(unit, body),
        _ => reader.term(body),
    };
    let mut uses = BTreeSet::new();
    names(body_names(unit), source, &mut uses);
    module.operators.push(Operator {
        name,
        parameters,
        line: syntax::line(unit),
        text: stripped(unit, source),
        body,
        uses,
    });
}

fn body_names(unit: Node<'_>) -> Node<'_> {
    unit.child_by_field_name("definition").unwrap_or(unit)
}

/// Every name that is referred to below a node.
fn names(node: Node<'_>, source: &str, found: &mut BTreeSet<String>) {
    let mut open = vec![node];
    while let Some(next) = open.pop() {
        if next.kind() == "identifier_ref" {
            found.insert(syntax::text(next, source).to_string());
        }
        open.extend(syntax::children(next));
    }
}

/// `THEOREM Spec => []Inv`: the names on the right.
fn claims(unit: Node<'_>, source: &str, module: &mut Module) {
    let Some(statement) = unit.child_by_field_name("statement") else { return };
    let Some(right) = statement.child_by_field_name("rhs") else { return };
    names(right, source, &mut module.claimed);
}

/// The text of a node without comments.
fn stripped(node: Node<'_>, source: &str) -> String {
    let mut comments = Vec::new();
    let mut open = vec![node];
    while let Some(next) = open.pop() {
        match syntax::is_comment(next.kind()) {
            true => comments.push((next.start_byte(), next.end_byte())),
            false => open.extend(syntax::children(next)),
        }
    }
    comments.sort_unstable();
    let (mut text, mut at) = (String::new(), node.start_byte());
    for (start, end) in comments {
        text.push_str(source.get(at..start).unwrap_or_default());
        at = at.max(end);
    }
    text.push_str(source.get(at..node.end_byte()).unwrap_or_default());
    text.trim().to_string()
}
