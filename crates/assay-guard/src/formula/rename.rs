//! Bound variables by depth, substitution, and definitions put in the place of their names.

use super::{Formula, Term};
use std::collections::BTreeMap;

/// The operators of [`Term::Apply`] that bind a variable: its name, its domain, its body.
pub const BINDERS: [&str; 4] = ["filter", "function", "choose", "collect"];

/// How many nodes an expanded term may have; what would be larger stays as it is written.
const NODES_MAX: usize = 20_000;

/// How deep terms may be nested; what lies deeper is left as it is.
const DEPTH_MAX: usize = 150;

/// A definition: its parameters and its body.
#[derive(Clone, Debug)]
pub struct Definition {
    /// The names of its parameters.
    pub parameters: Vec<String>,
    /// What it stands for.
    pub body: Term,
}

/// Definitions by name.
pub type Definitions = BTreeMap<String, Definition>;

/// The same term with bound variables named by their depth, so that names do not matter.
pub fn canonical(term: &Term) -> Term {
    let none = Definitions::new();
    let mut expander = Expander { definitions: &none, nodes: 0, fresh: 0, open: Vec::new() };
    expander.by_depth(term)
}

/// The same term with definitions in the place of their names, and bound variables by depth.
pub fn expanded(term: &Term, definitions: &Definitions) -> Term {
    let mut expander = Expander { definitions, nodes: 0, fresh: 0, open: Vec::new() };
    let whole = expander.term(term, &BTreeMap::new(), 0);
    if expander.nodes > NODES_MAX { canonical(term) } else { canonical(&whole) }
}

struct Expander<'d> {
    definitions: &'d Definitions,
    nodes: usize,
    fresh: usize,
    open: Vec<String>,
}

type Names = BTreeMap<String, Term>;

impl Expander<'_> {
    fn by_depth(&mut self, term: &Term) -> Term {
        rename_term(term, &BTreeMap::new(), 0, 0)
    }

    fn fresh(&mut self) -> String {
        self.fresh += 1;
        format!("?{}", self.fresh)
    }

    fn term(&mut self, term: &Term, names: &Names, depth: usize) -> Term {
        self.nodes += 1;
        if self.nodes > NODES_MAX || depth > DEPTH_MAX {
            return term.clone();
        }
        match term {
            Term::Name(name) => match names.get(name) {
                Some(known) => known.clone(),
                None => self.defined(name, &[], depth).unwrap_or_else(|| term.clone()),
            },
            Term::Number(_) => term.clone(),
            Term::Apply(operator, args) if is_binder(operator, args) => {
                let domain = self.term(&args[1], names, depth + 1);
                let fresh = self.fresh();
                let mut inner = names.clone();
                if let Term::Name(variable) = &args[0] {
                    inner.insert(variable.clone(), Term::Name(fresh.clone()));
                }
                let body = self.term(&args[2], &inner, depth + 1);
                Term::Apply(operator.clone(), vec![Term::Name(fresh), domain, body])
            }
            Term::Apply(operator, args) => {
                let args: Vec<Term> = args.iter().map(|a| self.term(a, names, depth + 1)).collect();
                let called = operator.strip_prefix("call ");
                if let Some(whole) = called.and_then(|name| self.defined(name, &args, depth)) {
                    return whole;
                }
                Term::Apply(operator.clone(), args)
            }
            Term::Logic(formula) => match self.formula(formula, names, depth + 1) {
                Formula::Atom(term) => term,
                other => Term::Logic(Box::new(other)),
            },
        }
    }

    fn defined(&mut self, name: &str, args: &[Term], depth: usize) -> Option<Term> {
        let definition = self.definitions.get(name)?;
        if definition.parameters.len() != args.len() || self.open.iter().any(|open| open == name) {
            return None;
        }
        let names: Names =
            definition.parameters.iter().cloned().zip(args.iter().cloned()).collect();
        self.open.push(name.to_string());
        let whole = self.term(&definition.body, &names, depth + 1);
        self.open.pop();
        Some(whole)
    }

    fn formula(&mut self, formula: &Formula, names: &Names, depth: usize) -> Formula {
        self.nodes += 1;
        if self.nodes > NODES_MAX || depth > DEPTH_MAX {
            return formula.clone();
        }
        let deeper = depth + 1;
        match formula {
            Formula::True | Formula::False => formula.clone(),
            Formula::Atom(term) => match self.term(term, names, deeper) {
                Term::Logic(inner) => *inner,
                term => Formula::Atom(term),
            },
            Formula::Rel(rel, a, b) => {
                Formula::Rel(*rel, self.term(a, names, deeper), self.term(b, names, deeper))
            }
            Formula::Quant { all, variable, domain, body } => {
                let domain = domain.as_ref().map(|d| self.term(d, names, deeper));
                let fresh = self.fresh();
                let mut inner = names.clone();
                inner.insert(variable.clone(), Term::Name(fresh.clone()));
                let body = Box::new(self.formula(body, &inner, deeper));
                Formula::Quant { all: *all, variable: fresh, domain, body }
            }
            other => each_part(other, &mut |part| self.formula(part, names, deeper)),
        }
    }
}

fn is_binder(operator: &str, args: &[Term]) -> bool {
    args.len() == 3 && BINDERS.contains(&operator)
}

/// A formula without terms of its own, with each of its parts changed.
fn each_part(formula: &Formula, change: &mut impl FnMut(&Formula) -> Formula) -> Formula {
    let mut boxed = |part: &Formula| Box::new(change(part));
    match formula {
        Formula::Not(f) => Formula::Not(boxed(f)),
        Formula::And(parts) => Formula::And(parts.iter().map(|part| *boxed(part)).collect()),
        Formula::Or(parts) => Formula::Or(parts.iter().map(|part| *boxed(part)).collect()),
        Formula::Implies(a, b) => Formula::Implies(boxed(a), boxed(b)),
        Formula::Iff(a, b) => Formula::Iff(boxed(a), boxed(b)),
        Formula::Always(f) => Formula::Always(boxed(f)),
        Formula::Eventually(f) => Formula::Eventually(boxed(f)),
        Formula::LeadsTo(a, b) => Formula::LeadsTo(boxed(a), boxed(b)),
        other => other.clone(),
    }
}

type Levels = BTreeMap<String, String>;

fn rename_term(term: &Term, names: &Levels, level: usize, depth: usize) -> Term {
    if depth > DEPTH_MAX * 4 {
        return term.clone();
    }
    match term {
        Term::Name(name) => Term::Name(names.get(name).unwrap_or(name).clone()),
        Term::Number(_) => term.clone(),
        Term::Apply(operator, args) if is_binder(operator, args) => {
            let domain = rename_term(&args[1], names, level, depth + 1);
            let own = format!("${level}");
            let mut inner = names.clone();
            if let Term::Name(variable) = &args[0] {
                inner.insert(variable.clone(), own.clone());
            }
            let body = rename_term(&args[2], &inner, level + 1, depth + 1);
            Term::Apply(operator.clone(), vec![Term::Name(own), domain, body])
        }
        Term::Apply(operator, args) => Term::Apply(
            operator.clone(),
            args.iter().map(|arg| rename_term(arg, names, level, depth + 1)).collect(),
        ),
        Term::Logic(f) => Term::Logic(Box::new(rename(f, names, level, depth + 1))),
    }
}

fn rename(formula: &Formula, names: &Levels, level: usize, depth: usize) -> Formula {
    if depth > DEPTH_MAX * 4 {
        return formula.clone();
    }
    let term = |t: &Term| rename_term(t, names, level, depth + 1);
    match formula {
        Formula::Atom(t) => Formula::Atom(term(t)),
        Formula::Rel(rel, a, b) => Formula::Rel(*rel, term(a), term(b)),
        Formula::Quant { all, variable, domain, body } => {
            let domain = domain.as_ref().map(term);
            let own = format!("${level}");
            let mut inner = names.clone();
            inner.insert(variable.clone(), own.clone());
            let body = Box::new(rename(body, &inner, level + 1, depth + 1));
            Formula::Quant { all: *all, variable: own, domain, body }
        }
        other => each_part(other, &mut |part| rename(part, names, level, depth + 1)),
    }
}
